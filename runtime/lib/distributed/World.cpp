// Launches, and the consequences of failures for them.
#include "distributed/World.h"

#include "runtime/Futex.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <unistd.h>

using namespace pcrt;

/// Launches over processes that run at the same time in one process.
static constexpr size_t channelCount = 4;
/// The number of launches of which a process keeps the name and fingerprint.
static constexpr size_t remembered = 1024;
/// A process that has learned of a failure and does not end by itself is ended after this time.
static constexpr int64_t leaveNs = 5'000'000'000;
/// Messages that a process has sent before its end have arrived by then.
static constexpr int64_t lastMessagesNs = 2'000'000'000;

static World *current = nullptr;
static std::unique_ptr<ControlServer> server;
static std::unique_ptr<PmiServer> pmi;

std::string pcrt::nameOf(const PeerFailure &failure) {
  std::string name = "process " + std::to_string(failure.rank);
  if (!failure.host.empty())
    name += " (" + failure.host + ", pid " + std::to_string(failure.pid) + ")";
  return name;
}

RefPtr<Error> pcrt::errorOf(const PeerFailure &failure, const std::string &verb) {
  std::string message = nameOf(failure) + " " + verb + ": " + failure.cause;
  if (!failure.place.empty())
    message += " (" + failure.place + ")";
  return RefPtr<Error>::adopt(new Error(Code::PeerFailed, std::move(message), "", "", {},
                                        RefPtr<Payload>::adopt(new PeerFailurePayload(failure))));
}

//===-- Launches
//----------------------------------------------------------------------------------------------------===//

class World::Launch final : public SharedLaunch {
public:
  Launch(World &world, std::vector<unsigned> owners, std::vector<int> deviceIds, Number number, uint64_t fingerprint,
         std::string told)
      : SharedLaunch(*world.transport, std::move(owners), std::move(deviceIds), number.first, number.second,
                     fingerprint, std::move(told)),
        world(world) {}
  ~Launch() override { world.ended(*this); }

  void tell(Error &error) override {
    // All processes know a failure that came from another process.
    if (error.payload && error.payload->peerFailure())
      return;
    if (RefPtr<Error> known = failure(); known && known.get() != &error)
      return;
    fail(RefPtr<Error>(&error));
    std::string place = error.site.place.empty() ? error.place : error.site.place;
    world.client.tell(FrameKind::Launch,
                      {std::to_string(processes), std::to_string(number), what + ": " + error.message, place});
    transport.drop(processes, number);
  }

private:
  World &world;
};

static uint64_t hashOf(const std::vector<unsigned> &ranks) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned rank : ranks)
    hash = (hash ^ rank) * 0x100000001b3;
  return hash;
}

void World::remember(Number number, Program program, std::deque<std::pair<Number, Program>> &list) {
  list.emplace_back(number, std::move(program));
  if (list.size() > remembered)
    list.pop_front();
}

Result<RefPtr<SharedLaunch>> World::launch(std::vector<unsigned> owners, std::vector<int> deviceIds,
                                           uint64_t fingerprint, std::string told) {
  std::vector<unsigned> ranks = owners;
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  RefPtr<Launch> made;
  std::string difference;
  {
    std::lock_guard<std::mutex> guard(lock);
    if (failed)
      return Status(failed->code, failed->message, {}, RefPtr<Payload>(failed->payload));
    if (!transport || hasLeft)
      return Status(Code::InvalidArgument, "this process has left the program: it can launch nothing over processes");
    uint64_t processes = hashOf(ranks);
    Number number{processes, ++lastNumbers[processes]};
    made = RefPtr<Launch>::adopt(
        new Launch(*this, std::move(owners), std::move(deviceIds), number, fingerprint, std::move(told)));
    active[number] = made.get();
    launchCount += ranks.size() > 1;
    remember(number, {self.rank, fingerprint, made->told}, launched);
    for (auto &[other, program] : announcedBefore)
      if (other == number && program.fingerprint != fingerprint)
        difference = mismatch(number.second, {self.rank, fingerprint, made->told}, program);
    for (auto &[other, error] : failedBefore)
      if (other == number)
        made->fail(error);
  }
  auto next = std::upper_bound(ranks.begin(), ranks.end(), self.rank);
  unsigned to = next == ranks.end() ? ranks.front() : *next;
  if (to != self.rank)
    transport->announce(to, *made);
  if (made->failure())
    transport->drop(made->processes, made->number);
  if (!difference.empty()) {
    auto held = RefPtr<Error>::adopt(new Error(Code::InvalidArgument, difference, "", ""));
    made->tell(*held);
  }
  return RefPtr<SharedLaunch>(made.get());
}

void World::ended(Launch &launch) {
  std::lock_guard<std::mutex> guard(lock);
  active.erase({launch.processes, launch.number});
}

RefPtr<Token> World::turn(RefPtr<Token> ends) {
  std::lock_guard<std::mutex> guard(lock);
  channels.push_back(std::move(ends));
  if (channels.size() <= channelCount)
    return nullptr;
  RefPtr<Token> before = std::move(channels.front());
  channels.pop_front();
  return before->isDone() ? nullptr : before;
}

/// Of a launch with the name and place of another one, what may differ.
static std::string typesOf(const std::string &told) {
  size_t at = told.find('\x1f');
  return at == std::string::npos ? "" : " with " + told.substr(at + 1);
}

std::string World::mismatch(uint64_t number, Program first, Program second) const {
  if (second.rank < first.rank)
    std::swap(first, second);
  std::string one = SharedLaunch::shown(first.told), other = SharedLaunch::shown(second.told), more;
  if (one == other) {
    one += typesOf(first.told);
    other += typesOf(second.told);
    if (one == other)
      more = " (their operations differ, or the devices, or numbers that they contain)";
  }
  return "launch " + std::to_string(number) + ": process " + std::to_string(first.rank) + " runs " + one +
         ", process " + std::to_string(second.rank) + " runs " + other + more +
         ". All processes must make the same calls, on arrays of the same shapes, in the same order";
}

void World::announced(unsigned from, uint64_t processes, uint64_t number, uint64_t fingerprint,
                      const std::string &told) {
  std::string difference;
  {
    std::lock_guard<std::mutex> guard(lock);
    ++announcementCount;
    Number key{processes, number};
    auto found = std::find_if(launched.begin(), launched.end(), [&](const auto &each) { return each.first == key; });
    if (found == launched.end())
      return remember(key, {from, fingerprint, told}, announcedBefore);
    if (found->second.fingerprint == fingerprint)
      return;
    difference = mismatch(number, found->second, {from, fingerprint, told});
    // An ending launch waits for the lock, in `ended`.
    if (auto running = active.find(key); running != active.end())
      running->second->fail(RefPtr<Error>::adopt(new Error(Code::InvalidArgument, difference, "", "")));
  }
  // If the launch has ended here, it needed nothing of the other process, which may still wait in it.
  client.tell(FrameKind::Launch, {std::to_string(processes), std::to_string(number), difference, ""});
  transport->drop(processes, number);
}

void World::differs(unsigned from, SharedLaunch &launch, const std::string &told) {
  auto error = RefPtr<Error>::adopt(
      new Error(Code::InvalidArgument,
                mismatch(launch.number, {self.rank, launch.fingerprint, launch.told}, {from, 0, told}), "", ""));
  launch.tell(*error);
}

//===-- Failures
//----------------------------------------------------------------------------------------------------===//

RefPtr<Error> World::failure() {
  std::lock_guard<std::mutex> guard(lock);
  return failed;
}

void World::failAll(RefPtr<Error> error) {
  std::lock_guard<std::mutex> guard(lock);
  if (failed || hasLeft)
    return;
  failed = error;
  failedAt = nowNs();
  for (auto &[number, launch] : active)
    launch->fail(error);
}

void World::peerFailed(const PeerFailure &failure) { failAll(errorOf(failure, "failed")); }

void World::broke(const Status &status) {
  failAll(errorOf({self.rank, self.host, self.pid, status.message(), ""}, "can't reach the others"));
}

void World::peerAtEnd(const PeerFailure &peer) {
  std::lock_guard<std::mutex> guard(lock);
  ends.insert_or_assign(peer.rank, std::make_pair(peer, nowNs()));
}

void World::launchFailed(const PeerFailure &failure, uint64_t processes, uint64_t number) {
  RefPtr<Error> error = errorOf(failure, "failed in launch " + std::to_string(number));
  {
    std::lock_guard<std::mutex> guard(lock);
    Number key{processes, number};
    if (auto running = active.find(key); running != active.end())
      running->second->fail(error);
    failedBefore.emplace_back(key, error);
    if (failedBefore.size() > remembered)
      failedBefore.pop_front();
  }
  if (transport)
    transport->drop(processes, number);
}

static RefPtr<Error> withoutPeer(PeerFailure peer, const SharedLaunch &launch) {
  peer.cause = "it has reached its end without launch " + std::to_string(launch.number) + ", " + launch.what;
  return errorOf(peer, "does not come");
}

void World::poll() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  // Threads that wait move their own messages. This one handles other messages: announcements, and messages of failed
  // launches.
  static constexpr long shortest = 1'000'000, longest = 20'000'000;
  for (long sleepNs = shortest; !isStopped.load();) {
    bool moved = transport && transport->progress();
    sleepNs = moved ? shortest : std::min(2 * sleepNs, longest);
    std::vector<PeerFailure> over;
    bool mustLeave;
    {
      std::lock_guard<std::mutex> guard(lock);
      for (auto &[rank, end] : ends)
        if (nowNs() - end.second > lastMessagesNs)
          over.push_back(end.first);
      mustLeave = failed && nowNs() - failedAt > leaveNs;
    }
    for (const PeerFailure &peer : over)
      transport->failThoseWithout(peer.rank, [&peer](const SharedLaunch &launch) { return withoutPeer(peer, launch); });
    watchWaits();
    if (mustLeave) {
      std::fprintf(stderr, "pycompiler: process %u ends, because %s\n", self.rank, failure()->message.c_str());
      std::fflush(stderr);
      _exit(1);
    }
    timespec moment{0, sleepNs};
    nanosleep(&moment, nullptr);
  }
}

//===-- The control plane
//-------------------------------------------------------------------------------------------===//

World::World(ProcessIdentity self, int socket, int64_t silenceMs)
    : Processes(std::move(self)), client(socket, silenceMs, *this) {}

World::~World() = default;

Status World::greet(const std::string &secret, int64_t deadline) {
  if (Status status = client.greet(self, secret, deadline); !status.isOk())
    return status;
  client.start();
  return Status::ok();
}

void World::set(const std::string &key, const std::string &value) { client.tell(FrameKind::Set, {key, value}); }

RefPtr<Reply> World::get(const std::string &key, int64_t timeoutMs) {
  return client.ask(FrameKind::Get, {key, std::to_string(timeoutMs)});
}

RefPtr<Reply> World::gather(const std::string &name, const std::vector<unsigned> &members, const std::string &own,
                            int64_t timeoutMs) {
  std::string list;
  for (unsigned member : members)
    list += (list.empty() ? "" : ",") + std::to_string(member);
  return client.ask(FrameKind::Gather, {name, list, own, std::to_string(timeoutMs)});
}

void World::setTransport(std::unique_ptr<Transport> given) {
  given->events = this;
  transport = std::move(given);
  poller = std::thread([this] { poll(); });
}

void World::tellFailure(const std::string &cause, const std::string &place) {
  {
    std::lock_guard<std::mutex> guard(lock);
    if (std::exchange(toldFailure, true))
      return;
  }
  client.tell(FrameKind::Failed, {cause, place});
}

void World::tellEnd() { client.tell(FrameKind::AtEnd, {}); }

void World::leave() {
  {
    std::lock_guard<std::mutex> guard(lock);
    hasLeft = true;
  }
  RefPtr<Reply> heard = client.ask(FrameKind::Bye, {});
  // The server ends with its process. Without this wait, others would only see that the connection is closed, and take
  // the end for a crash, although its reason is the failure or the end of another process.
  if (self.rank == 0)
    heard->wait();
  isStopped.store(true);
  questionCame.notify_all();
  if (poller.joinable())
    poller.join();
  if (transport)
    transport->finish();
}

void World::drain() {
  auto isDone = [&] {
    std::lock_guard<std::mutex> guard(lock);
    return announcementCount >= launchCount;
  };
  for (int64_t end = nowNs() + lastMessagesNs; nowNs() < end && !(transport->isDrained() && isDone());) {
    if (transport->progress())
      continue;
    timespec moment{0, 100'000};
    nanosleep(&moment, nullptr);
  }
}

//===-- The beginning
//-----------------------------------------------------------------------------------------------===//

Processes *Processes::current() { return ::current; }

Result<int> Processes::serve(const std::string &address, int port, unsigned size, const std::string &secret,
                             int64_t silenceMs) {
  Result<int> listener = listenOn(address, port);
  if (!listener.isOk())
    return listener;
  server = std::make_unique<ControlServer>(listener.value(), size, secret, silenceMs);
  return port;
}

Result<int> Processes::servePmi(const std::string &address, unsigned size, const std::string &mapping) {
  int port = 0;
  Result<int> listener = listenOn(address, port);
  if (!listener.isOk())
    return listener;
  pmi = std::make_unique<PmiServer>(listener.value(), size, mapping);
  return port;
}

Status Processes::begin(const ProcessIdentity &self, const std::string &host, int port, const std::string &secret,
                        int64_t timeoutMs, int64_t silenceMs) {
  int64_t deadline = nowNs() + timeoutMs * 1'000'000;
  Result<int> socket = connectTo(host, port, deadline);
  if (!socket.isOk())
    return Status(socket.status().code(), socket.status().message());
  auto made = std::make_unique<World>(self, socket.value(), silenceMs);
  if (Status status = made->greet(secret, deadline); !status.isOk())
    return status;
  // It lives as long as the process: launches refer to it.
  ::current = made.release();
  return Status::ok();
}

void Processes::abandonStart() {
  pmi.reset();
  server.reset();
}
