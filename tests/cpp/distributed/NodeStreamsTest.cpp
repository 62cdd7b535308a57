// Messages in the rings of a node: threads stand for the processes, and share the segments as processes do. All sizes,
// messages that nobody wants, senders that give up, and readers and writers that sleep.
#include "distributed/NodeStreams.h"
#include "Check.h"
#include "runtime/Futex.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <thread>

using namespace pcrt;

namespace {

/// The memory of a node of some processes, all in this one.
class Node {
public:
  explicit Node(size_t count) : count(count) {
    for (size_t place = 0; place < count; ++place) {
      segments.push_back(static_cast<char *>(std::aligned_alloc(4096, NodeMemory::segmentBytes(count))));
      NodeMemory::clear(segments.back(), count);
      ranks.push_back(static_cast<unsigned>(10 * place)); // not the places
    }
  }
  ~Node() {
    for (char *segment : segments)
      std::free(segment);
  }
  Node(const Node &) = delete;
  Node &operator=(const Node &) = delete;
  std::unique_ptr<NodeMemory> seenBy(size_t place) const {
    return std::make_unique<NodeMemory>(place, ranks, segments);
  }

  const size_t count;
  std::vector<unsigned> ranks;

private:
  std::vector<char *> segments;
};

/// What a message says of itself.
struct Head {
  uint64_t number, bytes;
  bool isWanted;
};

char byteOf(uint64_t number, size_t at) { return static_cast<char>(number * 31 + at * 7 + at / 251); }

std::string contents(const Head &head) {
  std::string bytes(head.bytes, '\0');
  for (size_t at = 0; at < bytes.size(); ++at)
    bytes[at] = byteOf(head.number, at);
  return bytes;
}

/// A process that checks what it gets: whole messages, in the order in which each process sends.
class Process final : public NodeStreams::Events {
public:
  Process(const Node &node, size_t place) : streams(node.seenBy(place), sizeof(Head), *this) {}

  std::optional<NodeStreams::Incoming> headArrived(unsigned from, const char *bytes) override {
    Head head;
    std::memcpy(&head, bytes, sizeof(head));
    CHECK(head.number == next[from]++);
    if (head.bytes == 0) {
      ++whole;
      return std::nullopt;
    }
    current[from] = head;
    std::string &target = targets[from];
    target.assign(head.bytes, '\0');
    NodeStreams::Incoming incoming;
    incoming.key = {0, 0, 0, head.number};
    incoming.data = head.isWanted ? target.data() : nullptr;
    incoming.bytes = head.bytes;
    incoming.transfer = wanted;
    return incoming;
  }
  void ended(unsigned from, NodeStreams::Incoming &message, bool isWhole) override {
    const Head &head = current[from];
    CHECK(message.key.step == head.number);
    if (!isWhole) {
      ++broken;
      return;
    }
    ++whole;
    if (message.data)
      CHECK(targets[from] == contents(head));
  }

  void send(unsigned to, uint64_t number, const std::string &data, Transfer *transfer, bool isWanted = true) {
    Head head{number, data.size(), isWanted};
    std::string bytes(reinterpret_cast<const char *>(&head), sizeof(head));
    streams.send(to, std::move(bytes), data.empty() ? nullptr : data.data(), data.size(), nullptr, transfer);
  }
  /// Moves bytes until it is over, and sleeps in between. False if a sleep ends by its time: nobody woke it.
  template <typename Over> bool moveUntil(Over isOver) {
    while (!isOver()) {
      uint32_t seen = streams.memory->changes();
      bool hasMoved = streams.write();
      hasMoved |= streams.read();
      if (hasMoved || isOver())
        continue;
      int64_t begin = nowNs();
      streams.memory->waitForChange(seen, 5'000'000'000);
      if (nowNs() - begin > 4'000'000'000)
        return false;
    }
    return true;
  }

  NodeStreams streams;
  RefPtr<Transfer> wanted;
  std::map<unsigned, uint64_t> next;
  unsigned whole = 0, broken = 0;

private:
  std::map<unsigned, Head> current;
  std::map<unsigned, std::string> targets;
};

RefPtr<Transfer> newTransfer() { return RefPtr<Transfer>::adopt(new Transfer()); }

/// Around the sizes of a piece, of the least piece, and of a ring, and many small ones.
std::vector<size_t> sizesFor(unsigned seed) {
  std::vector<size_t> sizes = {0,      1,      7,      4095,    16383,         16384,  16385,
                               262143, 262144, 262145, 1 << 20, (1 << 20) + 1, 5000000};
  std::mt19937 random(seed);
  for (int i = 0; i < 200; ++i)
    sizes.push_back(random() % 3000);
  std::shuffle(sizes.begin(), sizes.end(), random);
  return sizes;
}

} // namespace

/// Every process sends to every other one, and receives, at the same time.
static void everyMessageComesWholeAndInOrder() {
  constexpr size_t count = 3;
  Node node(count);
  std::vector<std::thread> threads;
  for (size_t place = 0; place < count; ++place)
    threads.emplace_back([&, place] {
      Process process(node, place);
      std::vector<size_t> sizes = sizesFor(static_cast<unsigned>(place));
      std::vector<std::string> sent;
      RefPtr<Transfer> transfer = newTransfer();
      for (uint64_t number = 0; number < sizes.size(); ++number)
        sent.push_back(contents({number, sizes[number], true}));
      for (uint64_t number = 0; number < sizes.size(); ++number)
        for (size_t other = 0; other < count; ++other)
          if (other != place) {
            transfer->add();
            process.send(node.ranks[other], number, sent[number], transfer.get(), number % 5 != 0);
          }
      transfer->arrived();
      size_t expected = (count - 1) * sizes.size();
      CHECK(process.moveUntil([&] { return process.whole == expected && process.streams.isDrained(); }));
      CHECK(transfer->isDone() && process.broken == 0);
    });
  for (std::thread &thread : threads)
    thread.join();
}

/// A reader that is late: the writer fills the ring, sleeps, and is woken when there is room.
static void aWriterWaitsForRoom() {
  Node node(2);
  std::atomic<bool> isFull{false};
  std::thread reader([&] {
    Process process(node, 1);
    while (!isFull)
      std::this_thread::yield();
    CHECK(process.moveUntil([&] { return process.whole == 1; }));
  });
  Process process(node, 0);
  std::string large = contents({0, size_t(4) << 20, true});
  RefPtr<Transfer> transfer = newTransfer();
  process.send(node.ranks[1], 0, large, transfer.get());
  CHECK(!transfer->isDone() && !process.streams.isDrained() && !process.streams.write());
  isFull = true;
  CHECK(process.moveUntil([&] { return process.streams.isDrained(); }));
  CHECK(transfer->isDone());
  reader.join();
}

/// Both sides of a failed launch let go of their memory at once; the stream goes on.
static void messagesOfFailedLaunchesAreGivenUp() {
  Node node(2);
  Process sender(node, 0), receiver(node, 1);
  auto given = std::make_unique<std::string>(contents({0, size_t(4) << 20, true}));
  RefPtr<Transfer> first = newTransfer(), second = newTransfer(), third = newTransfer();
  sender.send(node.ranks[1], 0, *given, first.get()); // begun: it does not fit
  auto unsent = std::make_unique<std::string>(contents({1, 100000, true}));
  sender.send(node.ranks[1], 1, *unsent, second.get()); // not begun
  sender.streams.abandon(*second);
  unsent = nullptr;
  CHECK(receiver.streams.read());
  CHECK(receiver.streams.arriving(node.ranks[0], {0, 0, 0, 0}) &&
        !receiver.streams.arriving(node.ranks[0], {0, 0, 0, 1}));
  sender.streams.abandon(*first);
  given = nullptr;
  CHECK(first->isDone() && second->isDone());
  std::string last = contents({1, 50000, true}); // the second head was never sent
  sender.send(node.ranks[1], 1, last, third.get());
  while (!sender.streams.isDrained() || receiver.whole < 1) {
    sender.streams.write();
    receiver.streams.read();
  }
  CHECK(receiver.broken == 1 && receiver.whole == 1 && third->isDone());

  // The receiver gives up: what comes is dropped.
  receiver.wanted = newTransfer();
  RefPtr<Transfer> awaited = receiver.wanted;
  std::string large = contents({2, size_t(4) << 20, true});
  RefPtr<Transfer> fourth = newTransfer();
  sender.send(node.ranks[1], 2, large, fourth.get());
  receiver.streams.read();
  receiver.streams.abandon(*awaited);
  CHECK(awaited->isDone());
  while (!sender.streams.isDrained() || receiver.whole < 2) {
    sender.streams.write();
    receiver.streams.read();
  }
  CHECK(fourth->isDone() && receiver.broken == 1);
}

static void onlyProcessesOfTheNodeAreReached() {
  Node node(2);
  Process process(node, 0);
  CHECK(process.streams.reaches(10) && !process.streams.reaches(0) && !process.streams.reaches(1));
  CHECK(!process.streams.read() && !process.streams.write() && process.streams.isDrained());
}

int main() {
  RUN(onlyProcessesOfTheNodeAreReached);
  RUN(everyMessageComesWholeAndInOrder);
  RUN(aWriterWaitsForRoom);
  RUN(messagesOfFailedLaunchesAreGivenUp);
  return test::failures() != 0;
}
