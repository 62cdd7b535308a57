// The layout of a segment: the bell, then a ring for each process of the node, in their order.
#include "distributed/NodeMemory.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <ctime>
#include <linux/futex.h>
#include <new>
#include <sys/syscall.h>
#include <unistd.h>

using namespace pcrt;

/// The first bytes of a segment.
struct NodeMemory::Bell {
  alignas(64) std::atomic<uint32_t> number;
  alignas(64) std::atomic<uint32_t> sleepers;
};

/// Rings hold a few pieces of a message each, and are smaller where many processes have a ring from many.
static constexpr size_t mostRing = size_t(1) << 20, leastRing = size_t(1) << 16, mostOfNode = size_t(1) << 27;

static size_t ringBytes(size_t count) {
  size_t bytes = mostRing;
  while (bytes > leastRing && bytes * count * count > mostOfNode)
    bytes /= 2;
  return bytes;
}

static constexpr size_t page = 4096;
static size_t ringStart(size_t place, size_t count) { return page + place * (page + ringBytes(count)); }

size_t NodeMemory::segmentBytes(size_t count) { return ringStart(count, count); }

void NodeMemory::clear(char *segment, size_t count) {
  // All of it: if the system can't provide a page, this must fail now, not in the middle of a message.
  std::memset(segment, 0, segmentBytes(count));
  new (segment) Bell{};
  for (size_t place = 0; place < count; ++place)
    new (segment + ringStart(place, count)) Ring::Header{};
}

NodeMemory::NodeMemory(size_t own, const std::vector<unsigned> &ranks, std::vector<char *> given)
    : ownPlace(own), segments(std::move(given)) {
  const size_t count = ranks.size();
  auto ringOf = [&](size_t from, size_t to) {
    char *start = segments[to] + ringStart(from, count);
    return Ring(reinterpret_cast<Ring::Header *>(start), start + page, ringBytes(count));
  };
  for (size_t place = 0; place < count; ++place)
    if (place != own)
      peers.push_back({ranks[place], ringOf(place, own), ringOf(own, place), place});
}

//===-- Rings
//------------------------------------------------------------------------------------------------------===//

void Ring::write(const void *from, size_t count) {
  if (count == 0) // a record without bytes, from a null pointer
    return;
  size_t at = written % capacity, first = std::min(count, capacity - at);
  std::memcpy(bytes + at, from, first);
  std::memcpy(bytes, static_cast<const char *>(from) + first, count - first);
  written += count;
}

void Ring::read(void *to, size_t count) {
  size_t at = taken % capacity, first = std::min(count, capacity - at);
  std::memcpy(to, bytes + at, first);
  std::memcpy(static_cast<char *>(to) + first, bytes, count - first);
  taken += count;
}

bool Ring::lacksRoom(size_t count) {
  if (room() >= count)
    return false;
  // The reader releases before it reads this flag, and the writer reads the room after setting it: one of them sees the
  // other's store.
  header->wantsRoom.store(1);
  return room() < count;
}

bool Ring::release() {
  header->released.store(taken);
  return header->wantsRoom.load() && header->wantsRoom.exchange(0);
}

//===-- Sleep
//------------------------------------------------------------------------------------------------------===//

NodeMemory::Bell &NodeMemory::bellOf(size_t place) const { return *reinterpret_cast<Bell *>(segments[place]); }

uint32_t NodeMemory::changes() const { return bellOf(ownPlace).number.load(); }

void NodeMemory::waitForChange(uint32_t seen, int64_t ns) {
  Bell &bell = bellOf(ownPlace);
  timespec time{ns / 1'000'000'000, ns % 1'000'000'000};
  bell.sleepers.fetch_add(1);
  // The word is of several processes: no FUTEX_PRIVATE.
  syscall(SYS_futex, &bell.number, FUTEX_WAIT, seen, &time, nullptr, 0);
  bell.sleepers.fetch_sub(1);
}

void NodeMemory::wakeAt(size_t place) {
  Bell &bell = bellOf(place);
  bell.number.fetch_add(1);
  if (bell.sleepers.load())
    syscall(SYS_futex, &bell.number, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}
