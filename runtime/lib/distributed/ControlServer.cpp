// The loop over the connections, and the server's record of each process.
#include "distributed/ControlServer.h"

#include "runtime/Futex.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace pcrt;

/// The limit on the bytes of a peer that has not shown the secret.
static constexpr size_t strangerBytes = 4096;

ControlServer::ControlServer(int listener, unsigned size, std::string secret, int64_t silenceMs)
    : listener(listener), size(size), secret(std::move(secret)), silenceNs(silenceMs * 1'000'000), processes(size) {
  if (pipe2(wakeUp, O_CLOEXEC | O_NONBLOCK) != 0)
    wakeUp[0] = wakeUp[1] = -1;
  fcntl(listener, F_SETFL, fcntl(listener, F_GETFL) | O_NONBLOCK);
  char name[256] = "";
  gethostname(name, sizeof(name) - 1);
  ownHost = name;
  thread = std::thread([this] { serve(); });
}

ControlServer::~ControlServer() {
  isStopped.store(true);
  if (char byte = 0; write(wakeUp[1], &byte, 1) != 1)
    isStopped.store(true);
  thread.join();
  for (const auto &each : connections)
    close(each->socket);
  for (int each : {listener, wakeUp[0], wakeUp[1]})
    close(each);
}

void ControlServer::serve() {
  // Signals, Ctrl-C among them, are for the program's threads.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  while (!isStopped.load()) {
    std::vector<pollfd> waited = {{listener, POLLIN, 0}, {wakeUp[0], POLLIN, 0}};
    for (const auto &each : connections)
      waited.push_back({each->socket, POLLIN, 0});
    poll(waited.data(), waited.size(), 100);
    // Handling one may make no new connection, and closes them after the round.
    for (size_t i = 2; i < waited.size(); ++i)
      if (waited[i].revents)
        read(*connections[i - 2]);
    if (waited[0].revents)
      accept();
    checkTimes();
    for (size_t i = 0; i < connections.size(); ++i)
      if (connections[i]->reader.isBroken)
        closed(*connections[i]);
    auto isClosed = [](const auto &each) { return each->isClosed; };
    for (const auto &each : connections)
      if (each->isClosed)
        close(each->socket);
    connections.erase(std::remove_if(connections.begin(), connections.end(), isClosed), connections.end());
  }
}

void ControlServer::accept() {
  while (true) {
    int made = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (made < 0)
      return;
    int yes = 1;
    setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    connections.push_back(std::make_unique<Connection>());
    connections.back()->socket = made;
    connections.back()->reader.limit = strangerBytes;
  }
}

void ControlServer::read(Connection &connection) {
  char bytes[65536];
  while (!connection.isClosed) {
    ssize_t count = recv(connection.socket, bytes, sizeof(bytes), 0);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
      return;
    if (count <= 0)
      return closed(connection);
    connection.lastHeard = nowNs();
    connection.reader.add(bytes, static_cast<size_t>(count));
    for (Frame frame; !connection.isClosed && connection.reader.take(frame);)
      handle(connection, frame);
    if (connection.reader.isBroken)
      return;
  }
}

ControlServer::Connection *ControlServer::of(unsigned rank) {
  for (const auto &each : connections)
    if (each->rank == rank && !each->isClosed)
      return each.get();
  return nullptr;
}

void ControlServer::send(Connection &connection, const Frame &frame) {
  // The loop closes it: callers iterate over data that a closed connection changes.
  if (!connection.isClosed && !sendAll(connection.socket, frame.encoded()))
    connection.reader.isBroken = true;
}

void ControlServer::answer(unsigned rank, uint64_t number, std::vector<std::string> fields) {
  if (Connection *connection = of(rank))
    send(*connection, {FrameKind::Answer, number, std::move(fields)});
}

void ControlServer::refuse(unsigned rank, uint64_t number, std::string message) {
  if (Connection *connection = of(rank))
    send(*connection, {FrameKind::Refusal, number, {std::move(message)}});
}

void ControlServer::broadcast(const Frame &frame, unsigned except) {
  for (size_t i = 0; i < connections.size(); ++i)
    if (connections[i]->rank != nobody && connections[i]->rank != except)
      send(*connections[i], frame);
}

std::string ControlServer::nameOf(unsigned rank) const {
  const Process &process = processes[rank];
  std::string name = "process " + std::to_string(rank);
  return process.hasJoined ? name + " (" + process.host + ", pid " + std::to_string(process.pid) + ")" : name;
}

//===-- Requests
//----------------------------------------------------------------------------------------------------===//

void ControlServer::greet(Connection &connection, Frame &frame) {
  auto rank = static_cast<unsigned>(frame.number);
  std::string refusal;
  if (frame.kind != FrameKind::Hello || frame.text(0) != secret)
    refusal = "the secret is another one: PYCOMPILER_SECRET must be the same for all processes of a program";
  else if (frame.integer(3) != size)
    refusal = "process 0 was started as one of " + std::to_string(size) + " processes, process " +
              std::to_string(rank) + " as one of " + frame.text(3);
  else if (rank >= size)
    refusal = "there is no process " + std::to_string(rank) + " of " + std::to_string(size);
  else if (processes[rank].hasJoined)
    refusal = "process " + std::to_string(rank) + " has joined already: " + nameOf(rank) +
              ". Two processes have the same number";
  if (!refusal.empty()) {
    send(connection, {FrameKind::Refusal, 0, {refusal}});
    return closed(connection);
  }
  connection.rank = rank;
  connection.reader.limit = size_t(1) << 30;
  Process &process = processes[rank];
  process.host = frame.text(1);
  process.pid = frame.integer(2);
  process.hasJoined = true;
  joined.fetch_add(1);
  send(connection, {FrameKind::Answer, 0, {ownHost, std::to_string(getpid())}});
  for (unsigned other = 0; other < size; ++other)
    if (processes[other].hasFailed)
      send(connection, {FrameKind::PeerFailed,
                        0,
                        {std::to_string(other), processes[other].host, std::to_string(processes[other].pid),
                         processes[other].cause, ""}});
}

void ControlServer::handle(Connection &connection, Frame &frame) {
  if (connection.rank == nobody)
    return greet(connection, frame);
  unsigned rank = connection.rank;
  switch (frame.kind) {
  case FrameKind::Set: {
    values[frame.text(0)] = frame.text(1);
    auto found = readers.find(frame.text(0));
    if (found == readers.end())
      return;
    std::vector<Waiting> waiting = std::move(found->second);
    readers.erase(found);
    for (const Waiting &each : waiting)
      answer(each.rank, each.number, {frame.text(1)});
    return;
  }
  case FrameKind::Get:
    if (auto found = values.find(frame.text(0)); found != values.end())
      return answer(rank, frame.number, {found->second});
    readers[frame.text(0)].push_back({rank, frame.number, nowNs() + int64_t(frame.integer(1)) * 1'000'000});
    return;
  case FrameKind::Gather:
    return gather(connection, frame);
  case FrameKind::Failed:
    return fail(rank, frame.text(0), frame.text(1));
  case FrameKind::Launch: {
    unsigned because = frame.fields.size() > 4 ? static_cast<unsigned>(frame.integer(4)) : rank;
    if (because >= size)
      return;
    return broadcast({FrameKind::LaunchFailed,
                      0,
                      {std::to_string(because), processes[because].host, std::to_string(processes[because].pid),
                       frame.text(2), frame.text(3), frame.text(0), frame.text(1)}},
                     rank);
  }
  case FrameKind::Ask:
    return broadcast({FrameKind::Asked, 0, {std::to_string(rank), frame.text(0), frame.text(1), frame.text(2)}}, rank);
  case FrameKind::Place:
    if (frame.integer(1) == 0)
      return tellWhereLate(rank, frame);
    if (Connection *to = of(static_cast<unsigned>(frame.integer(0))))
      send(*to, {FrameKind::PeerLate,
                 0,
                 {std::to_string(rank), processes[rank].host, std::to_string(processes[rank].pid), frame.text(3),
                  frame.text(4), frame.text(1), frame.text(2)}});
    return;
  case FrameKind::AtEnd:
    return atEnd(rank);
  case FrameKind::Bye:
    processes[rank].hasLeft = true;
    atEnd(rank);
    // Nor does it come to the meetings of the end.
    refuseMeetingsWithout(rank);
    return answer(rank, frame.number, {});
  case FrameKind::Alive:
    // The answer tells the process that this one is alive.
    return send(connection, {FrameKind::Alive, 0, {}});
  default:
    connection.reader.isBroken = true;
  }
}

void ControlServer::atEnd(unsigned rank) {
  Process &process = processes[rank];
  if (process.isAtEnd)
    return;
  process.isAtEnd = true;
  process.end = ++lastEnd;
  refuseMeetingsWithout(rank);
  // Of a failed process, all know more.
  if (!process.hasFailed)
    broadcast({FrameKind::PeerAtEnd, 0, {std::to_string(rank), process.host, std::to_string(process.pid)}}, rank);
}

//===-- Failures
//----------------------------------------------------------------------------------------------------===//

void ControlServer::closed(Connection &connection) {
  if (connection.isClosed)
    return;
  connection.isClosed = true;
  if (connection.rank == nobody)
    return;
  Process &process = processes[connection.rank];
  if (!process.hasLeft && !process.hasFailed)
    fail(connection.rank, "it closed its connection: it was killed, crashed, or ended without notice", "");
}

void ControlServer::fail(unsigned rank, const std::string &cause, const std::string &place) {
  Process &process = processes[rank];
  if (process.hasFailed)
    return;
  process.hasFailed = true;
  process.cause = cause;
  broadcast({FrameKind::PeerFailed, 0, {std::to_string(rank), process.host, std::to_string(process.pid), cause, place}},
            rank);
  failMeetingsOf(rank);
}

void ControlServer::checkTimes() {
  int64_t now = nowNs();
  for (size_t i = 0; i < connections.size(); ++i) {
    Connection &each = *connections[i];
    if (each.isClosed || now - each.lastHeard < silenceNs)
      continue;
    if (each.rank != nobody)
      fail(each.rank,
           "it has been silent for " + std::to_string(silenceNs / 1'000'000'000) +
               " s: it, or its machine, is stopped or out of reach",
           "");
    each.isClosed = true;
  }
  for (auto &[key, waiting] : readers)
    for (size_t i = 0; i < waiting.size();) {
      Waiting each = waiting[i];
      if (each.deadline > now) {
        ++i;
        continue;
      }
      waiting.erase(waiting.begin() + static_cast<ptrdiff_t>(i));
      refuse(each.rank, each.number, "no process has set " + key);
    }
  checkMeetings(now);
}
