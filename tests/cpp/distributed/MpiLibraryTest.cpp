// The tables of the three ABIs of MPI, against a fake library in each. A process loads one MPI: the test is registered
// once for each library, and once without one.
#include "distributed/MpiLibrary.h"
#include "Check.h"
#include "distributed/InProcessTransport.h"
#include "runtime/Processes.h"

#include <cstdlib>
#include <cstring>
#include <string>

using namespace pcrt;

namespace {
struct Events final : Transport::Events {
  void announced(unsigned from, uint64_t, uint64_t number, uint64_t fingerprint, const std::string &what) override {
    CHECK(from == 0 && number == 3 && fingerprint == 9 && what == "f");
    ++announcements;
  }
  void differs(unsigned, SharedLaunch &, const std::string &) override { ++differences; }
  void broke(const Status &status) override { failure = status.message(); }
  int announcements = 0, differences = 0;
  std::string failure;
};
} // namespace

static void movesMessages(Transport &transport) {
  Events events;
  transport.events = &events;
  auto launch = RefPtr<test::TestLaunch>::adopt(new test::TestLaunch(transport, {0}, {0}, 1, 3, 9, "f"));
  transport.announce(0, *launch);
  CHECK(transport.progress());
  CHECK(events.announcements == 1);

  // Received before and after it is asked for.
  for (bool isEarly : {false, true}) {
    char sent[] = "message", got[sizeof(sent)] = "";
    auto transfer = RefPtr<Transfer>::adopt(new Transfer());
    MessageKey key{1, 3, 4, isEarly ? 5u : 6u};
    auto receive = [&] {
      transfer->add();
      transport.receive(0, *launch, key, got, sizeof(got), *transfer);
    };
    if (!isEarly)
      receive();
    transfer->add();
    transport.send(0, *launch, key, sent, sizeof(sent), *transfer);
    transport.progress();
    if (isEarly)
      receive();
    transfer->arrived();
    CHECK(transfer->isDone() && std::strcmp(got, "message") == 0);
  }

  // A message of another program is told, and not delivered.
  auto other = RefPtr<test::TestLaunch>::adopt(new test::TestLaunch(transport, {0}, {0}, 1, 3, 10, "g"));
  char byte = 1, kept = 7;
  auto transfer = RefPtr<Transfer>::adopt(new Transfer());
  transfer->add();
  transfer->add();
  transport.receive(0, *launch, {1, 3, 4, 8}, &kept, 1, *transfer);
  transport.send(0, *other, {1, 3, 4, 8}, &byte, 1, *transfer);
  transport.progress();
  transfer->arrived();
  CHECK(events.differences == 1 && kept == 7 && transfer->isDone());
  CHECK(events.failure.empty());
  transport.progress();
  CHECK(transport.isDrained());
  transport.finish();
}

static int testLibrary(const std::string &path, const std::string &abi) {
  Result<std::string> version = Mpi::open(path);
  REQUIRE(version.isOk());
  CHECK(version.value() == "Fake MPI 1.0");
  CHECK(Mpi::abi() == abi);
  RefPtr<Reply> reply = Mpi::start();
  reply->wait();
  CHECK(!reply->isRefused);
  CHECK(Mpi::rank() == 0 && Mpi::size() == 1);
  RefPtr<Reply> connected = Mpi::connect(false, true);
  connected->wait();
  REQUIRE(!connected->isRefused);
  std::unique_ptr<Transport> transport = Mpi::takeTransport();
  movesMessages(*transport);
  Mpi::finish();
  return test::failures() ? 1 : 0;
}

int main(int argc, char **argv) {
  if (argc == 3)
    return testLibrary(argv[1], argv[2]);
  CHECK(Mpi::open("/no/such/libmpi.so").status().message().find("cannot open") != std::string::npos);
  CHECK(Mpi::open("libm.so.6").status().message().find("has no MPI_Initialized") != std::string::npos);
  return test::failures() ? 1 : 0;
}
