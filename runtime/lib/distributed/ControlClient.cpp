// The thread of a connection, and the answers that threads wait for.
#include "distributed/ControlClient.h"

#include "runtime/Futex.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

using namespace pcrt;

ControlClient::ControlClient(int socket, int64_t silenceMs, ControlEvents &events)
    : socket(socket), silenceNs(silenceMs * 1'000'000), events(events) {}

ControlClient::~ControlClient() {
  isStopped.store(true);
  shutdown(socket, SHUT_RDWR);
  if (thread.joinable())
    thread.join();
  close(socket);
}

/// Reads the received bytes, within a time; false if the connection is closed.
static bool receiveInto(FrameReader &reader, int socket, int milliseconds) {
  pollfd waited{socket, POLLIN, 0};
  if (poll(&waited, 1, milliseconds) <= 0)
    return true;
  char bytes[65536];
  ssize_t count = recv(socket, bytes, sizeof(bytes), 0);
  if (count < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK))
    return true;
  if (count > 0)
    reader.add(bytes, static_cast<size_t>(count));
  return count > 0 && !reader.isBroken;
}

Status ControlClient::greet(const ProcessIdentity &self, const std::string &secret, int64_t deadline) {
  send({FrameKind::Hello, self.rank, {secret, self.host, std::to_string(self.pid), std::to_string(self.size)}});
  for (Frame frame; nowNs() < deadline;) {
    if (!receiveInto(reader, socket, 100))
      return Status(Code::LibraryFailed, "process 0 has closed the connection");
    if (!reader.take(frame))
      continue;
    if (frame.kind != FrameKind::Answer)
      return Status(Code::InvalidArgument, frame.text(0));
    server = {0, self.size, frame.text(0), static_cast<int64_t>(frame.integer(1))};
    return Status::ok();
  }
  return Status(Code::LibraryFailed, "process 0 accepted the connection, but does not answer");
}

void ControlClient::start() {
  thread = std::thread([this] { listen(); });
}

void ControlClient::listen() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  const int64_t beatNs = std::min<int64_t>(silenceNs / 4, 1'000'000'000);
  int64_t heard = nowNs(), beaten = 0;
  std::string cause;
  while (!isStopped.load()) {
    if (nowNs() - beaten >= beatNs) {
      send({FrameKind::Alive, 0, {}});
      beaten = nowNs();
    }
    if (!receiveInto(reader, socket, static_cast<int>(beatNs / 1'000'000))) {
      cause = "it closed its connection: it was killed, crashed, or ended without notice";
      break;
    }
    for (Frame frame; reader.take(frame); heard = nowNs())
      handle(frame);
    if (nowNs() - heard > silenceNs) {
      cause = "it has been silent for " + std::to_string(silenceNs / 1'000'000'000) +
              " s: it, or its machine, is stopped or out of reach";
      break;
    }
  }
  serverLeft(cause);
}

void ControlClient::serverLeft(const std::string &cause) {
  std::map<uint64_t, Question> left;
  bool hasFailed;
  {
    std::lock_guard<std::mutex> guard(asking);
    auto isServer = [](const PeerFailure &peer) { return peer.rank == 0; };
    hasFailed = std::none_of(ended.begin(), ended.end(), isServer);
    lost = cause.empty() ? "this process has left the program"
                         : "process 0 " + (hasFailed ? "failed: " + cause : "has reached its end");
    left.swap(asked);
  }
  // First the reason: who is refused looks for it.
  if (hasFailed && !isStopped.load())
    events.peerFailed({0, server.host, server.pid, cause, ""});
  for (auto &[number, question] : left)
    refuse(question, lost, ended);
}

/// The first member that has reached its end explains more than the end of process 0, which may be a consequence.
void ControlClient::refuse(const Question &question, const std::string &lost, const std::vector<PeerFailure> &ended) {
  for (const PeerFailure &peer : ended) {
    if (isOfTheEnd(question.name) || !isAmong(peer.rank, question.members))
      continue;
    question.reply->peer = peer;
    question.reply->peer->cause = causeOfAbsence(question.name);
    break;
  }
  question.reply->refuse(lost);
}

void ControlClient::handle(Frame &frame) {
  switch (frame.kind) {
  case FrameKind::Answer:
  case FrameKind::Refusal: {
    RefPtr<Reply> reply;
    {
      std::lock_guard<std::mutex> guard(asking);
      auto found = asked.find(frame.number);
      if (found == asked.end())
        return;
      reply = std::move(found->second.reply);
      asked.erase(found);
    }
    if (frame.kind == FrameKind::Answer)
      return reply->answer(std::move(frame.fields));
    if (frame.fields.size() > 1)
      reply->peer = PeerFailure{static_cast<unsigned>(frame.integer(1)), frame.text(2),
                                static_cast<int64_t>(frame.integer(3)), frame.text(4), ""};
    return reply->refuse(frame.text(0));
  }
  case FrameKind::PeerFailed:
    return events.peerFailed({static_cast<unsigned>(frame.integer(0)), frame.text(1),
                              static_cast<int64_t>(frame.integer(2)), frame.text(3), frame.text(4)});
  case FrameKind::PeerAtEnd: {
    PeerFailure peer{static_cast<unsigned>(frame.integer(0)), frame.text(1), static_cast<int64_t>(frame.integer(2)), "",
                     ""};
    {
      std::lock_guard<std::mutex> guard(asking);
      ended.push_back(peer);
    }
    return events.peerAtEnd(peer);
  }
  case FrameKind::Asked:
    return events.asked(static_cast<unsigned>(frame.integer(0)), frame.integer(1), frame.integer(2), frame.text(3));
  case FrameKind::PeerLate:
    return events.peerLate({static_cast<unsigned>(frame.integer(0)), frame.text(1),
                            static_cast<int64_t>(frame.integer(2)), frame.text(3), frame.text(4)},
                           frame.integer(5), frame.integer(6));
  case FrameKind::LaunchFailed:
    return events.launchFailed({static_cast<unsigned>(frame.integer(0)), frame.text(1),
                                static_cast<int64_t>(frame.integer(2)), frame.text(3), frame.text(4)},
                               frame.integer(5), frame.integer(6));
  default:
    return;
  }
}

void ControlClient::send(const Frame &frame) {
  std::lock_guard<std::mutex> guard(sending);
  // The reading thread finds out that the connection is closed.
  if (!sendAll(socket, frame.encoded()))
    shutdown(socket, SHUT_RDWR);
}

RefPtr<Reply> ControlClient::ask(FrameKind kind, std::vector<std::string> fields) {
  auto reply = RefPtr<Reply>::adopt(new Reply());
  Question question{reply, "", ""};
  if (kind == FrameKind::Gather) {
    question.name = fields[0];
    question.members = fields[1];
  }
  uint64_t number;
  {
    std::lock_guard<std::mutex> guard(asking);
    if (!lost.empty()) {
      refuse(question, lost, ended);
      return reply;
    }
    number = ++lastNumber;
    asked.emplace(number, std::move(question));
  }
  send({kind, number, std::move(fields)});
  return reply;
}

void ControlClient::tell(FrameKind kind, std::vector<std::string> fields) { send({kind, 0, std::move(fields)}); }
