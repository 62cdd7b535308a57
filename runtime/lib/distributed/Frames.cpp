// Encoding of frames, and sockets. A proxy of the environment is never used: these are plain connections.
#include "distributed/Frames.h"

#include "runtime/Futex.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace pcrt;

static void put(std::string &bytes, uint64_t value, size_t width) {
  for (size_t i = 0; i < width; ++i)
    bytes.push_back(static_cast<char>(value >> (8 * i)));
}

static uint64_t get(const char *bytes, size_t width) {
  uint64_t value = 0;
  for (size_t i = 0; i < width; ++i)
    value |= uint64_t(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return value;
}

/// Bytes after the frame's own length: kind, number, count of fields.
static constexpr size_t headBytes = 1 + 8 + 4;

std::string Frame::encoded() const {
  std::string body;
  put(body, static_cast<uint64_t>(kind), 1);
  put(body, number, 8);
  put(body, fields.size(), 4);
  for (const std::string &field : fields) {
    put(body, field.size(), 4);
    body += field;
  }
  std::string bytes;
  put(bytes, body.size(), 4);
  return bytes + body;
}

bool FrameReader::take(Frame &frame) {
  if (isBroken || buffer.size() < 4)
    return false;
  size_t length = get(buffer.data(), 4);
  isBroken = length < headBytes || length > limit;
  if (isBroken || buffer.size() < 4 + length)
    return false;
  const char *at = buffer.data() + 4, *end = at + length;
  frame.kind = static_cast<FrameKind>(get(at, 1));
  frame.number = get(at + 1, 8);
  size_t count = get(at + 9, 4);
  frame.fields.clear();
  at += headBytes;
  for (; count > 0; --count) {
    auto left = static_cast<size_t>(end - at);
    size_t size = left >= 4 ? get(at, 4) : 0;
    isBroken = left < 4 || size > left - 4;
    if (isBroken)
      return false;
    frame.fields.emplace_back(at + 4, size);
    at += 4 + size;
  }
  buffer.erase(0, 4 + length);
  return true;
}

//===-- Meetings
//----------------------------------------------------------------------------------------------------===//

bool pcrt::isAmong(unsigned rank, const std::string &members) {
  return ("," + members + ",").find("," + std::to_string(rank) + ",") != std::string::npos;
}

bool pcrt::isOfTheEnd(const std::string &name) { return name.rfind("distributed.shutdown", 0) == 0; }

std::string pcrt::causeOfAbsence(const std::string &name) { return "it has reached its end without " + name; }

//===-- Sockets
//-----------------------------------------------------------------------------------------------------===//

static Status failed(const std::string &what) { return Status(Code::LibraryFailed, what + ": " + strerror(errno)); }

namespace {
/// The addresses of a host.
struct Found {
  addrinfo *list = nullptr;
  ~Found() {
    if (list)
      freeaddrinfo(list);
  }
};
} // namespace

static int look(const std::string &host, int port, Found &found) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  return getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found.list);
}

Result<int> pcrt::listenOn(const std::string &address, int &port) {
  Found found;
  if (int code = look(address, port, found))
    return Status(Code::InvalidArgument, "the address " + address + " is not known here: " + gai_strerror(code));
  Status why;
  for (addrinfo *each = found.list; each; each = each->ai_next) {
    int made = socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int yes = 1;
    if (made >= 0)
      setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    sockaddr_storage bound{};
    socklen_t size = sizeof(bound);
    if (made >= 0 && bind(made, each->ai_addr, each->ai_addrlen) == 0 && listen(made, 1024) == 0 &&
        getsockname(made, reinterpret_cast<sockaddr *>(&bound), &size) == 0) {
      port = ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6 &>(bound).sin6_port
                                               : reinterpret_cast<sockaddr_in &>(bound).sin_port);
      return made;
    }
    why = failed("process 0 can't listen on " + address + ":" + std::to_string(port));
    if (made >= 0)
      close(made);
  }
  return why;
}

/// If nothing listens at a port from the system's range for outgoing connections, the system can give an attempt the
/// same port at both ends. Such an attempt connects with itself, and prevents process 0 from listening.
static bool leadsToItself(int socket) {
  sockaddr_storage own{}, peer{};
  socklen_t ownSize = sizeof(own), peerSize = sizeof(peer);
  return getsockname(socket, reinterpret_cast<sockaddr *>(&own), &ownSize) == 0 &&
         getpeername(socket, reinterpret_cast<sockaddr *>(&peer), &peerSize) == 0 && ownSize == peerSize &&
         std::memcmp(&own, &peer, ownSize) == 0;
}

/// One attempt, of at most a second.
static int connectOnce(const addrinfo &to) {
  int made = socket(to.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made < 0)
    return -1;
  if (connect(made, to.ai_addr, to.ai_addrlen) != 0 && errno != EINPROGRESS) {
    int error = errno;
    close(made);
    errno = error;
    return -1;
  }
  pollfd waited{made, POLLOUT, 0};
  int error = ETIMEDOUT;
  socklen_t size = sizeof(error);
  if (poll(&waited, 1, 1000) > 0)
    getsockopt(made, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error) {
    close(made);
    errno = error;
    return -1;
  }
  if (leadsToItself(made)) {
    close(made);
    errno = ECONNREFUSED;
    return -1;
  }
  int yes = 1;
  setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  return made;
}

Result<int> pcrt::connectTo(const std::string &host, int port, int64_t deadline) {
  Found found;
  if (int code = look(host, port, found))
    return Status(Code::InvalidArgument, "the host " + host + " is not known here: " + gai_strerror(code));
  Status why;
  do {
    for (addrinfo *each = found.list; each; each = each->ai_next) {
      int made = connectOnce(*each);
      if (made >= 0)
        return made;
      why = failed("process 0 can't be reached at " + host + ":" + std::to_string(port));
    }
    usleep(20'000);
  } while (nowNs() < deadline);
  return why;
}

bool pcrt::sendAll(int socket, const std::string &bytes) {
  for (size_t sent = 0; sent < bytes.size();) {
    ssize_t count = send(socket, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count > 0) {
      sent += static_cast<size_t>(count);
      continue;
    }
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      pollfd waited{socket, POLLOUT, 0};
      // A peer that takes nothing for so long is lost.
      if (poll(&waited, 1, 10'000) > 0)
        continue;
    }
    return false;
  }
  return true;
}
