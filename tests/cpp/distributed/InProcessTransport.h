// A transport between threads that stand for processes, for tests: messages lie in mailboxes. It can delay them, in an
// order by chance.
#ifndef PYCOMPILER_TESTS_CPP_INPROCESSTRANSPORT_H
#define PYCOMPILER_TESTS_CPP_INPROCESSTRANSPORT_H

#include "runtime/Transport.h"

#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>

namespace test {

using namespace pcrt;

/// What all processes share.
class Network {
public:
  using Name = std::tuple<unsigned, unsigned, uint64_t, uint64_t, uint64_t, uint64_t>;
  std::mutex lock;
  std::map<Name, std::string> messages;
  size_t count = 0;
};

class InProcessTransport final : public Transport {
public:
  InProcessTransport(Network &network, unsigned rank, unsigned size, unsigned seed = 0)
      : network(network), ownRank(rank), processCount(size), random(seed + rank), delays(seed != 0) {}

  unsigned rank() const override { return ownRank; }
  unsigned size() const override { return processCount; }
  bool maySpin() const override { return false; }

  void send(unsigned to, const SharedLaunch &, const MessageKey &key, const void *data, size_t bytes,
            Transfer &transfer) override {
    std::lock_guard<std::mutex> guard(network.lock);
    network.messages.emplace(nameOf(ownRank, to, key), std::string(static_cast<const char *>(data), bytes));
    ++network.count;
    transfer.arrived();
  }

  void receive(unsigned from, SharedLaunch &, const MessageKey &key, void *data, size_t bytes,
               Transfer &transfer) override {
    std::lock_guard<std::mutex> guard(lock);
    awaited.emplace(nameOf(from, ownRank, key), Awaited{data, bytes, RefPtr<Transfer>(&transfer)});
  }

  bool progress() override {
    std::lock_guard<std::mutex> guard(lock);
    bool moved = false;
    for (auto each = awaited.begin(); each != awaited.end();) {
      if (delays && random() % 4 != 0) {
        ++each;
        continue;
      }
      std::lock_guard<std::mutex> all(network.lock);
      auto found = network.messages.find(each->first);
      if (found == network.messages.end()) {
        ++each;
        continue;
      }
      if (found->second.size() != each->second.bytes)
        hasWrongSize = true;
      std::memcpy(each->second.data, found->second.data(), std::min(found->second.size(), each->second.bytes));
      each->second.transfer->arrived();
      network.messages.erase(found);
      each = awaited.erase(each);
      moved = true;
    }
    return moved;
  }

  void abandon(SharedLaunch &, Transfer &transfer) override {
    std::lock_guard<std::mutex> guard(lock);
    for (auto each = awaited.begin(); each != awaited.end();) {
      bool isOurs = each->second.transfer.get() == &transfer;
      if (isOurs)
        transfer.arrived();
      each = isOurs ? awaited.erase(each) : std::next(each);
    }
  }

  void announce(unsigned, const SharedLaunch &) override {}
  void drop(uint64_t, uint64_t) override {}
  void failThoseWithout(unsigned, const std::function<RefPtr<Error>(const SharedLaunch &)> &) override {}

  bool isDrained() override { return true; }
  void finish() override {}

  std::atomic<bool> hasWrongSize{false};

private:
  struct Awaited {
    void *data;
    size_t bytes;
    RefPtr<Transfer> transfer;
  };
  static Network::Name nameOf(unsigned from, unsigned to, const MessageKey &key) {
    return {from, to, key.processes, key.launch, key.group, key.step};
  }

  Network &network;
  const unsigned ownRank, processCount;
  std::mutex lock;
  std::map<Network::Name, Awaited> awaited;
  std::mt19937 random;
  const bool delays;
};

/// The launch of one process; `tell` fails those of the others.
class TestLaunch final : public SharedLaunch {
public:
  using SharedLaunch::SharedLaunch;
  void tell(Error &error) override {
    fail(RefPtr<Error>(&error));
    for (SharedLaunch *other : others)
      other->fail(RefPtr<Error>(&error));
  }
  std::vector<SharedLaunch *> others;
};

} // namespace test

#endif // PYCOMPILER_TESTS_CPP_INPROCESSTRANSPORT_H
