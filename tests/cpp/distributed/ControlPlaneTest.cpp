// The control plane: secrets, values, meetings, and the news of processes that fail or go.
#include "Check.h"
#include "distributed/ControlClient.h"
#include "distributed/ControlServer.h"

#include <algorithm>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace pcrt;

namespace {

/// What a connection was told.
struct Told final : ControlEvents {
  void asked(unsigned, uint64_t processes, uint64_t number, const std::string &members) override {
    std::lock_guard<std::mutex> guard(lock);
    questions.emplace_back(processes, number);
    asking = members;
  }
  void peerLate(const PeerFailure &peer, uint64_t, uint64_t) override {
    std::lock_guard<std::mutex> guard(lock);
    late.push_back(peer);
  }
  void peerFailed(const PeerFailure &failure) override {
    std::lock_guard<std::mutex> guard(lock);
    failures.push_back(failure);
  }
  void peerAtEnd(const PeerFailure &peer) override {
    std::lock_guard<std::mutex> guard(lock);
    atEnd.push_back(peer.rank);
  }
  void launchFailed(const PeerFailure &failure, uint64_t, uint64_t number) override {
    std::lock_guard<std::mutex> guard(lock);
    launches.emplace_back(number, failure.cause);
  }
  template <typename Condition> bool waitUntil(Condition condition) {
    for (int i = 0; i < 2000; ++i) {
      {
        std::lock_guard<std::mutex> guard(lock);
        if (condition())
          return true;
      }
      usleep(5000);
    }
    return false;
  }
  /// A copy: the connection's thread appends, also after the wait.
  template <typename T> T copyOf(T Told::*member) {
    std::lock_guard<std::mutex> guard(lock);
    return this->*member;
  }

  std::mutex lock;
  std::vector<PeerFailure> failures, late;
  std::vector<std::pair<uint64_t, uint64_t>> questions;
  std::string asking;
  std::vector<unsigned> atEnd;
  std::vector<std::pair<uint64_t, std::string>> launches;
};

struct Plane {
  explicit Plane(unsigned size, int64_t silenceMs = 60'000) : size(size), silenceMs(silenceMs), told(size) {
    Result<int> listener = listenOn("127.0.0.1", port);
    REQUIRE(listener.isOk());
    server = std::make_unique<ControlServer>(listener.value(), size, "open", silenceMs);
    clients.resize(size);
  }

  /// A rank of no process is refused before it gets any news.
  Status join(unsigned rank, const std::string &secret = "open", unsigned claimed = 0) {
    Result<int> socket = connectTo("127.0.0.1", port, nowNs() + 5'000'000'000);
    REQUIRE(socket.isOk());
    auto client = std::make_unique<ControlClient>(socket.value(), silenceMs, told[std::min(rank, size - 1)]);
    Status status = client->greet({rank, claimed ? claimed : size, "host", 40 + rank}, secret, nowNs() + 5'000'000'000);
    if (status.isOk()) {
      client->start();
      clients[rank] = std::move(client);
    }
    return status;
  }

  void joinAll() {
    for (unsigned rank = 0; rank < size; ++rank)
      CHECK(join(rank).isOk());
  }

  RefPtr<Reply> gather(unsigned rank, const std::string &name, const std::string &own, int64_t milliseconds = 0) {
    return clients[rank]->ask(FrameKind::Gather, {name, "0,1,2", own, std::to_string(milliseconds)});
  }

  const unsigned size;
  const int64_t silenceMs;
  int port = 0;
  std::vector<Told> told;
  std::unique_ptr<ControlServer> server;
  std::vector<std::unique_ptr<ControlClient>> clients;
};

} // namespace

static bool mentions(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

static void framesAreCutAnywhere() {
  Frame frame{FrameKind::Set, 7, {"key", std::string("\0\n", 2), ""}};
  std::string bytes = frame.encoded() + frame.encoded();
  FrameReader reader;
  Frame taken;
  int count = 0;
  for (char byte : bytes) {
    reader.add(&byte, 1);
    while (reader.take(taken)) {
      CHECK(taken.kind == FrameKind::Set && taken.number == 7 && taken.fields == frame.fields);
      ++count;
    }
  }
  CHECK(count == 2 && !reader.isBroken);
  for (const char *wrong : {"\xff\xff\xff\xff\0", "\x02\0\0\0ab"}) {
    FrameReader other;
    other.add(wrong, 6);
    CHECK(!other.take(taken));
    CHECK(other.isBroken);
  }
}

static void refusesStrangers() {
  Plane plane(3);
  CHECK(mentions(plane.join(0, "guess").message(), "PYCOMPILER_SECRET"));
  CHECK(mentions(plane.join(0, "open", 4).message(), "one of 3 processes, process 0 as one of 4"));
  CHECK(mentions(plane.join(3).message(), "there is no process 3 of 3"));
  CHECK(plane.join(0).isOk());
  CHECK(mentions(plane.join(0).message(), "two processes") || mentions(plane.join(0).message(), "has joined already"));
}

static void keepsValuesAndMeets() {
  Plane plane(3);
  plane.joinAll();
  RefPtr<Reply> early = plane.clients[1]->ask(FrameKind::Get, {"a", "5000"});
  plane.clients[0]->tell(FrameKind::Set, {"a", "one"});
  early->wait();
  CHECK(!early->isRefused && early->fields[0] == "one");
  RefPtr<Reply> never = plane.clients[1]->ask(FrameKind::Get, {"b", "50"});
  never->wait();
  CHECK(never->isRefused && mentions(never->message, "no process has set b"));

  std::vector<RefPtr<Reply>> replies;
  for (unsigned rank : {2u, 0u, 1u})
    replies.push_back(plane.gather(rank, "meeting", std::to_string(rank)));
  for (auto &reply : replies) {
    reply->wait();
    CHECK(!reply->isRefused && (reply->fields == std::vector<std::string>{"0", "1", "2"}));
  }
  RefPtr<Reply> late = plane.gather(0, "barrier", "", 100);
  late->wait();
  CHECK(late->isRefused &&
        mentions(late->message, "timed out waiting for process 1 (host, pid 41), process 2 (host, pid 42)"));
}

static void addressesAreNamed() {
  int port = 0;
  Result<int> elsewhere = listenOn("no.such.host.invalid", port);
  CHECK(!elsewhere.isOk() && mentions(elsewhere.status().message(), "the address no.such.host.invalid is not known"));
  Result<int> unknown = connectTo("no.such.host.invalid", 1, nowNs());
  CHECK(!unknown.isOk() && mentions(unknown.status().message(), "the host no.such.host.invalid is not known"));
  Result<int> first = listenOn("127.0.0.1", port);
  REQUIRE(first.isOk());
  int same = port;
  Result<int> second = listenOn("127.0.0.1", same);
  CHECK(!second.isOk() &&
        mentions(second.status().message(), "process 0 can't listen on 127.0.0.1:" + std::to_string(port)));
  close(first.value());
  // Nobody listens there any more.
  Result<int> nobody = connectTo("127.0.0.1", port, nowNs() + 50'000'000);
  CHECK(!nobody.isOk() &&
        mentions(nobody.status().message(), "process 0 can't be reached at 127.0.0.1:" + std::to_string(port)));
}

static void meetingsOfOthersAreRefused() {
  Plane plane(3);
  plane.joinAll();
  auto refusal = [&](unsigned rank, const std::string &name, const std::string &members) {
    RefPtr<Reply> reply = plane.clients[rank]->ask(FrameKind::Gather, {name, members, "", "0"});
    reply->wait();
    return reply->isRefused ? reply->message : "";
  };
  CHECK(mentions(refusal(0, "far", "0,7"), "far: there is no process 7"));
  CHECK(mentions(refusal(2, "pair", "0,1"), "pair: process 2 is not a participant"));
  RefPtr<Reply> waits = plane.clients[0]->ask(FrameKind::Gather, {"some", "0,1", "zero", "0"});
  // The first member's message may be later than the second's.
  RefPtr<Reply> pair = plane.clients[0]->ask(FrameKind::Get, {"unset", "1"});
  pair->wait();
  CHECK(mentions(refusal(2, "some", "1,2"), "some: its participants do not agree on the list of participants"));
  RefPtr<Reply> comes = plane.clients[1]->ask(FrameKind::Gather, {"some", "0,1", "one", "0"});
  for (RefPtr<Reply> *reply : {&waits, &comes}) {
    (*reply)->wait();
    CHECK(!(*reply)->isRefused && ((*reply)->fields == std::vector<std::string>{"zero", "one"}));
  }
}

/// Who comes when the others have given up is told so, and waits for nobody; the next meeting is one of all.
static void lateProcessesAreToldThatAMeetingIsOver() {
  Plane plane(3);
  plane.joinAll();
  RefPtr<Reply> waits = plane.gather(0, "barrier", "", 50);
  waits->wait();
  CHECK(waits->isRefused && !waits->peer);
  for (unsigned rank : {1u, 2u}) {
    RefPtr<Reply> late = plane.gather(rank, "barrier", "");
    late->wait();
    CHECK(late->isRefused && mentions(late->message, "barrier: this process is late"));
  }
  std::vector<RefPtr<Reply>> next;
  for (unsigned rank : {0u, 1u, 2u})
    next.push_back(plane.gather(rank, "barrier", "again"));
  for (auto &reply : next) {
    reply->wait();
    CHECK(!reply->isRefused);
  }
}

/// A process at its end comes to the meetings of the end only.
static void nobodyWaitsForAProcessAtItsEnd() {
  Plane plane(3);
  plane.joinAll();
  RefPtr<Reply> waits = plane.gather(0, "barrier", "");
  RefPtr<Reply> end = plane.gather(0, "distributed.shutdown", "");
  plane.clients[1]->tell(FrameKind::AtEnd, {});
  waits->wait();
  CHECK(waits->isRefused && waits->peer && waits->peer->rank == 1 && waits->peer->host == "host");
  RefPtr<Reply> after = plane.gather(2, "another", "");
  after->wait();
  CHECK(after->isRefused && mentions(after->message, "process 1 (host, pid 41): it has reached its end"));
  // One that ends because of the first is no reason.
  plane.clients[0]->tell(FrameKind::AtEnd, {});
  CHECK(plane.told[2].waitUntil([&] { return plane.told[2].atEnd.size() == 2; }));
  RefPtr<Reply> later = plane.gather(2, "a third", "");
  later->wait();
  CHECK(later->peer && later->peer->rank == 1);
  RefPtr<Reply> one = plane.gather(1, "distributed.shutdown", ""), two = plane.gather(2, "distributed.shutdown", "");
  for (RefPtr<Reply> *reply : {&end, &one, &two}) {
    (*reply)->wait();
    CHECK(!(*reply)->isRefused);
  }
}

/// A process that waits long at a meeting learns where the missing one is.
static void missingProcessesAreAskedWhereTheyAre() {
  Processes::setCollectiveTimeout(1);
  Plane plane(3);
  plane.joinAll();
  RefPtr<Reply> first = plane.gather(0, "barrier", ""), second = plane.gather(2, "barrier", "");
  Told &missing = plane.told[1];
  CHECK(missing.waitUntil([&] { return missing.questions.size() == 1; }));
  const auto question = missing.copyOf(&Told::questions)[0];
  CHECK(question.first == 0 && missing.copyOf(&Told::asking) == "1");
  for (const char *to : {"0", "2"})
    plane.clients[1]->tell(FrameKind::Place, {to, "0", std::to_string(question.second), "it has not come", "a.py:9"});
  CHECK(plane.told[0].waitUntil([&] { return plane.told[0].late.size() == 1; }));
  const PeerFailure late = plane.told[0].copyOf(&Told::late)[0];
  CHECK(late.place == "a.py:9" && mentions(late.cause, "in barrier, for process 1 (host, pid 41): it has not come"));
  plane.gather(1, "barrier", "")->wait();
  first->wait();
  second->wait();
  CHECK(!first->isRefused && !second->isRefused);
  Processes::setCollectiveTimeout(300);
}

/// A process asks the others where they are in a launch, and one answers with its place.
static void placesAreAskedFor() {
  Plane plane(3);
  plane.joinAll();
  plane.clients[0]->tell(FrameKind::Ask, {"7", "17", "0,1,2"});
  for (unsigned rank : {1u, 2u}) {
    Told &told = plane.told[rank];
    CHECK(told.waitUntil([&] { return told.questions.size() == 1; }));
    CHECK(told.copyOf(&Told::questions)[0] == std::make_pair(uint64_t(7), uint64_t(17)) &&
          told.copyOf(&Told::asking) == "0,1,2");
  }
  plane.clients[2]->tell(FrameKind::Place, {"0", "7", "17", "it sleeps", "train.py:9"});
  CHECK(plane.told[0].waitUntil([&] { return plane.told[0].late.size() == 1; }));
  const PeerFailure late = plane.told[0].copyOf(&Told::late)[0];
  CHECK(late.rank == 2 && late.pid == 42 && late.cause == "it sleeps" && late.place == "train.py:9");
  CHECK(plane.told[0].copyOf(&Told::questions).empty() && plane.told[1].copyOf(&Told::late).empty());
}

static void aProcessThatLeavesHasNotFailed() {
  Plane plane(3);
  plane.joinAll();
  plane.clients[1]->ask(FrameKind::Bye, {});
  RefPtr<Reply> after = plane.clients[1]->ask(FrameKind::Get, {"unset", "1"});
  after->wait();
  plane.clients[1].reset();
  RefPtr<Reply> barrier = plane.gather(0, "barrier", "");
  barrier->wait();
  CHECK(barrier->isRefused && barrier->peer && barrier->peer->rank == 1);
  CHECK(mentions(barrier->message, "process 1 (host, pid 41): it has reached its end without barrier"));
  CHECK(plane.told[0].copyOf(&Told::failures).empty());
}

/// A process that connects after the failure of another one is told of it.
static void lateProcessesHearOfFailures() {
  Plane plane(3);
  CHECK(plane.join(0).isOk() && plane.join(1).isOk());
  plane.clients[1]->tell(FrameKind::Failed, {"KeyError: 'x'", "train.py:3"});
  CHECK(plane.told[0].waitUntil([&] { return plane.told[0].failures.size() == 1; }));
  CHECK(plane.join(2).isOk());
  CHECK(plane.told[2].waitUntil([&] { return plane.told[2].failures.size() == 1; }));
  CHECK(plane.told[2].copyOf(&Told::failures)[0].rank == 1 &&
        plane.told[2].copyOf(&Told::failures)[0].cause == "KeyError: 'x'");
}

/// Something that listens at the port, but is not process 0.
static void anotherServerDoesNotAnswer() {
  int port = 0;
  Result<int> listener = listenOn("127.0.0.1", port);
  REQUIRE(listener.isOk());
  Told told;
  auto greeting = [&](int64_t ns) {
    Result<int> socket = connectTo("127.0.0.1", port, nowNs() + 5'000'000'000);
    REQUIRE(socket.isOk());
    ControlClient client(socket.value(), 60'000, told);
    return client.greet({1, 2, "host", 41}, "open", nowNs() + ns).message();
  };
  CHECK(mentions(greeting(150'000'000), "process 0 accepted the connection, but does not answer"));
  std::thread closes([&] {
    for (int i = 0; i < 2; ++i)
      close(accept(listener.value(), nullptr, nullptr));
  });
  CHECK(mentions(greeting(60'000'000'000), "process 0 has closed the connection"));
  closes.join();
  close(listener.value());
}

static void tellsOfFailures() {
  Plane plane(3);
  plane.joinAll();
  RefPtr<Reply> waits = plane.gather(0, "barrier", "");
  plane.clients[2]->tell(FrameKind::Failed, {"KeyError: 'x'", "train.py:3"});
  waits->wait();
  CHECK(waits->isRefused && mentions(waits->message, "process 2 (host, pid 42) failed: KeyError: 'x'"));
  RefPtr<Reply> after = plane.gather(0, "barrier", "");
  after->wait();
  CHECK(after->isRefused && mentions(after->message, "process 2 (host, pid 42) failed: KeyError: 'x'"));
  CHECK(plane.told[1].waitUntil([&] { return plane.told[1].failures.size() == 1; }));
  CHECK(plane.told[1].copyOf(&Told::failures)[0].rank == 2 &&
        plane.told[1].copyOf(&Told::failures)[0].place == "train.py:3");
  plane.clients[0]->tell(FrameKind::Launch, {"5", "17", "f: no memory", ""});
  CHECK(plane.told[1].waitUntil([&] { return plane.told[1].launches.size() == 1; }));
  CHECK(plane.told[1].copyOf(&Told::launches)[0].first == 17 &&
        plane.told[1].copyOf(&Told::launches)[0].second == "f: no memory");
  plane.clients[1]->tell(FrameKind::AtEnd, {});
  CHECK(plane.told[0].waitUntil([&] { return plane.told[0].atEnd == std::vector<unsigned>{1}; }));
}

static void noticesClosedAndSilentConnections() {
  Plane plane(3, 400);
  plane.joinAll();
  plane.clients[1].reset();
  CHECK(plane.told[0].waitUntil([&] { return plane.told[0].failures.size() == 1; }));
  CHECK(plane.told[0].copyOf(&Told::failures)[0].rank == 1 &&
        mentions(plane.told[0].copyOf(&Told::failures)[0].cause, "closed its connection"));
  // A connection that sends nothing: it was greeted, and its thread has not started.
  Plane other(2, 300);
  CHECK(other.join(0).isOk());
  Result<int> socket = connectTo("127.0.0.1", other.port, nowNs() + 5'000'000'000);
  ControlClient silent(socket.value(), 300, other.told[1]);
  CHECK(silent.greet({1, 2, "host", 41}, "open", nowNs() + 5'000'000'000).isOk());
  CHECK(other.told[0].waitUntil([&] { return other.told[0].failures.size() == 1; }));
  CHECK(mentions(other.told[0].copyOf(&Told::failures)[0].cause, "silent"));
}

static void noticesTheServersEnd() {
  Plane plane(2);
  plane.joinAll();
  RefPtr<Reply> waits = plane.clients[1]->ask(FrameKind::Get, {"never", "60000"});
  plane.server.reset();
  waits->wait();
  CHECK(waits->isRefused && mentions(waits->message, "process 0 failed"));
  CHECK(plane.told[1].waitUntil([&] { return plane.told[1].failures.size() == 1; }));
}

/// Process 0 may end because of another one. Who asks after that learns of the first.
static void tellsWhoEndedBeforeTheServer() {
  Plane plane(3);
  plane.joinAll();
  RefPtr<Reply> waits = plane.clients[2]->ask(FrameKind::Gather, {"of two", "0,2", "", "0"});
  plane.clients[1]->tell(FrameKind::AtEnd, {});
  CHECK(plane.told[2].waitUntil([&] { return plane.told[2].atEnd == std::vector<unsigned>{1}; }));
  plane.clients[0]->tell(FrameKind::AtEnd, {});
  CHECK(plane.told[2].waitUntil([&] { return plane.told[2].atEnd.size() == 2; }));
  waits->wait();
  CHECK(waits->isRefused && waits->peer && waits->peer->rank == 0);
  plane.server.reset();
  RefPtr<Reply> value = plane.clients[2]->ask(FrameKind::Get, {"never", "60000"});
  value->wait();
  CHECK(value->isRefused && !value->peer && mentions(value->message, "process 0 has reached its end"));
  RefPtr<Reply> later = plane.gather(2, "barrier", "");
  later->wait();
  CHECK(later->isRefused && later->peer && later->peer->rank == 1 && later->peer->pid == 41 &&
        mentions(later->peer->cause, "it has reached its end without barrier"));
  RefPtr<Reply> end = plane.gather(2, "distributed.shutdown", "");
  end->wait();
  CHECK(end->isRefused && !end->peer && mentions(end->message, "process 0 has reached its end"));
  CHECK(plane.told[2].copyOf(&Told::failures).empty());
}

/// Process 0 leaves because process 1 has ended. Process 2 comes later, and the reason is process 1.
static void aServerThatLeavesHasNotFailed() {
  Plane plane(3);
  plane.joinAll();
  plane.clients[1]->tell(FrameKind::AtEnd, {});
  CHECK(plane.told[0].waitUntil([&] { return plane.told[0].atEnd.size() == 1; }));
  plane.clients[0]->ask(FrameKind::Bye, {})->wait();
  plane.server.reset();
  CHECK(plane.told[2].waitUntil([&] { return plane.told[2].atEnd == std::vector<unsigned>{1, 0}; }));
  RefPtr<Reply> later = plane.gather(2, "barrier", "");
  later->wait();
  CHECK(later->isRefused && later->peer && later->peer->rank == 1);
  CHECK(plane.told[2].copyOf(&Told::failures).empty());
}

int main() {
  RUN(framesAreCutAnywhere);
  RUN(refusesStrangers);
  RUN(keepsValuesAndMeets);
  RUN(addressesAreNamed);
  RUN(meetingsOfOthersAreRefused);
  RUN(lateProcessesAreToldThatAMeetingIsOver);
  RUN(nobodyWaitsForAProcessAtItsEnd);
  RUN(missingProcessesAreAskedWhereTheyAre);
  RUN(placesAreAskedFor);
  RUN(aProcessThatLeavesHasNotFailed);
  RUN(lateProcessesHearOfFailures);
  RUN(anotherServerDoesNotAnswer);
  RUN(tellsOfFailures);
  RUN(noticesClosedAndSilentConnections);
  RUN(noticesTheServersEnd);
  RUN(tellsWhoEndedBeforeTheServer);
  RUN(aServerThatLeavesHasNotFailed);
  return test::failures() ? 1 : 0;
}
