// PMI-1: lines of "key=value" words; the word cmd names the request.
#include "distributed/PmiServer.h"

#include "distributed/Frames.h"
#include "runtime/Futex.h"
#include "runtime/Processes.h"

#include <algorithm>
#include <arpa/inet.h>
#include <csignal>
#include <cstdlib>
#include <dirent.h>
#include <netinet/in.h>
#include <poll.h>
#include <sstream>
#include <sys/socket.h>
#include <unistd.h>

using namespace pcrt;

static const char *const farewell = "cmd=finalize_ack";

/// A unique name of this start: MPICH uses it as the name of shared memory, and would find the leftovers of a killed
/// start under the same name.
static std::string uniqueName() { return "kvs_" + std::to_string(getpid()) + "_" + std::to_string(nowNs()); }

PmiServer::PmiServer(int listener, unsigned size, std::string mapping)
    : listener(listener), size(size), space(uniqueName()) {
  if (!mapping.empty())
    values["PMI_process_mapping"] = std::move(mapping);
  thread = std::thread([this] { serve(); });
}

PmiServer::~PmiServer() {
  isStopped.store(true);
  thread.join();
  for (const Connection &each : connections)
    close(each.socket);
  close(listener);
}

void PmiServer::serve() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  while (!isStopped.load()) {
    std::vector<pollfd> waited = {{listener, POLLIN, 0}};
    for (const Connection &each : connections)
      waited.push_back({each.socket, POLLIN, 0});
    if (poll(waited.data(), waited.size(), 50) <= 0)
      continue;
    for (size_t i = 1; i < waited.size(); ++i) {
      Connection &connection = connections[i - 1];
      if (!waited[i].revents)
        continue;
      char bytes[4096];
      ssize_t count = recv(connection.socket, bytes, sizeof(bytes), 0);
      connection.isClosed = count <= 0;
      connection.buffer.append(bytes, static_cast<size_t>(std::max<ssize_t>(count, 0)));
      for (size_t end; (end = connection.buffer.find('\n')) != std::string::npos;) {
        std::string line = connection.buffer.substr(0, end);
        connection.buffer.erase(0, end + 1);
        handle(connection, line);
      }
      // No line of the protocol is so long.
      connection.isClosed |= connection.buffer.size() > 65536;
    }
    if (waited[0].revents)
      if (int made = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC); made >= 0)
        connections.push_back({made, "", false, false});
    for (const Connection &each : connections)
      if (each.isClosed)
        close(each.socket);
    auto isClosed = [](const Connection &each) { return each.isClosed; };
    connections.erase(std::remove_if(connections.begin(), connections.end(), isClosed), connections.end());
  }
}

void PmiServer::handle(Connection &connection, const std::string &line) {
  std::map<std::string, std::string> words;
  std::istringstream stream(line);
  for (std::string word; stream >> word;) {
    size_t at = word.find('=');
    if (at != std::string::npos)
      words[word.substr(0, at)] = word.substr(at + 1);
  }
  const std::string command = words["cmd"];
  auto answer = [&](const std::string &text) { connection.isClosed |= !sendAll(connection.socket, text + "\n"); };
  if (command == "initack") {
    // A process that connected by PMI_PORT first gets its rank.
    answer("cmd=initack rc=0");
    answer("cmd=set size=" + std::to_string(size));
    answer("cmd=set rank=" + words["pmiid"]);
    answer("cmd=set debug=0");
  } else if (command == "init") {
    answer("cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0");
  } else if (command == "get_maxes") {
    answer("cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=4096");
  } else if (command == "get_appnum") {
    answer("cmd=appnum appnum=0");
  } else if (command == "get_my_kvsname") {
    answer("cmd=my_kvsname kvsname=" + space);
  } else if (command == "get_universe_size") {
    answer("cmd=universe_size size=" + std::to_string(size));
  } else if (command == "put") {
    values[words["key"]] = words["value"];
    answer("cmd=put_result rc=0 msg=success");
  } else if (command == "get") {
    auto found = values.find(words["key"]);
    answer(found == values.end() ? std::string("cmd=get_result rc=-1 msg=key_not_found value=unknown")
                                 : "cmd=get_result rc=0 msg=success value=" + found->second);
  } else if (command == "barrier_in") {
    connection.isAtBarrier = true;
    auto isThere = [](const Connection &each) { return each.isAtBarrier; };
    if (static_cast<unsigned>(std::count_if(connections.begin(), connections.end(), isThere)) < size)
      return;
    for (Connection &each : connections) {
      each.isAtBarrier = false;
      each.isClosed |= !sendAll(each.socket, "cmd=barrier_out\n");
    }
  } else if (command == "finalize") {
    answer(farewell);
  } else {
    answer("cmd=" + command + "_result rc=-1 msg=unknown_command");
  }
}

/// Whether a file is a connection to this port.
static bool leadsTo(int file, int port) {
  sockaddr_storage peer{};
  socklen_t size = sizeof(peer);
  if (getpeername(file, reinterpret_cast<sockaddr *>(&peer), &size) != 0)
    return false;
  return (peer.ss_family == AF_INET && ntohs(reinterpret_cast<sockaddr_in &>(peer).sin_port) == port) ||
         (peer.ss_family == AF_INET6 && ntohs(reinterpret_cast<sockaddr_in6 &>(peer).sin6_port) == port);
}

void Processes::replacePmi(int port) {
  DIR *files = opendir("/proc/self/fd");
  if (!files)
    return;
  while (dirent *each = readdir(files)) {
    int file = std::atoi(each->d_name), pair[2];
    if (!leadsTo(file, port) || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
      continue;
    // The other end stays open until the process exits.
    if (sendAll(pair[1], std::string(farewell) + "\n"))
      dup2(pair[0], file);
    close(pair[0]);
  }
  closedir(files);
}
