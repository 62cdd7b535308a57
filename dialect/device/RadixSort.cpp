// Stable sorts of words along long lines by the radix of their keys, eight bits after eight bits from the lowest on.
// For each digit of eight bits, a first launch counts the words of each digit in each chunk of a line, running sums
// (Cumulative.cpp) turn the counts into places, and a second launch sorts its chunk in shared memory, by four bits
// twice, and moves runs of equal digits to their places. See Satish, Harris and Garland, "Designing efficient sorting
// algorithms for manycore GPUs" (2009).
#include "Device.h"

namespace device {

/// Words of a thread, and threads of a block: a chunk has their product.
constexpr int32_t ownWords = 8, threadsOfBlock = 256, wordsOfChunk = ownWords * threadsOfBlock;
constexpr int32_t digits = 256, halfDigits = 16;

/// Words of threads are neighbours. An unused word after each thread's puts equal words of threads into different
/// banks.
DEVICE_INLINE int32_t padded(int32_t word) { return word + word / ownWords; }
constexpr int32_t paddedWords = wordsOfChunk + wordsOfChunk / ownWords;

/// The words of a block's chunk.
struct Chunk {
  int64_t line, number, first;
  int32_t used;

  DEVICE_INLINE Chunk(int64_t length, int64_t chunks) : line(device_block() / chunks), number(device_block() % chunks) {
    int64_t low = number * wordsOfChunk;
    first = line * length + low;
    used = static_cast<int32_t>(length - low < wordsOfChunk ? length - low : wordsOfChunk);
  }
  /// Where the counts have the digit's number of this chunk: digits before chunks.
  DEVICE_INLINE int64_t place(int32_t digit, int64_t chunks) const { return (line * digits + digit) * chunks + number; }
};

DEVICE_INLINE int32_t digitOf(uint64_t key, int64_t shift) { return static_cast<int32_t>(key >> shift) & (digits - 1); }

/// One block for each chunk.
DEVICE_INLINE void countDigits(const uint64_t *keys, uint32_t *counts, int64_t length, int64_t chunks, int64_t shift,
                               uint32_t *shared) {
  Chunk chunk(length, chunks);
  int32_t thread = device_thread();
  shared[thread] = 0;
  device_barrier();
  for (int32_t i = thread; i < chunk.used; i += threadsOfBlock)
    __atomic_fetch_add(shared + digitOf(keys[chunk.first + i], shift), 1u, __ATOMIC_RELAXED);
  device_barrier();
  counts[chunk.place(thread, chunks)] = shared[thread];
}

/// Shared memory of a block that sorts its chunk.
struct Shared {
  uint64_t keys[paddedWords];
  uint32_t positions[paddedWords];
  /// For each half digit, the words of each thread; then, in this order, the words before.
  uint16_t before[halfDigits * threadsOfBlock];
  uint32_t sums[threadsOfBlock];
  uint32_t starts[digits];
};

/// Turns the counts in `before` into the numbers of words before.
DEVICE_INLINE void accumulate(Shared &shared) {
  int32_t thread = device_thread();
  uint32_t own = 0;
  for (int32_t i = 0; i < halfDigits; ++i)
    own += shared.before[thread * halfDigits + i];
  shared.sums[thread] = own;
  device_barrier();
  for (int32_t distance = 1; distance < threadsOfBlock; distance *= 2) {
    uint32_t other = thread >= distance ? shared.sums[thread - distance] : 0;
    device_barrier();
    shared.sums[thread] += other;
    device_barrier();
  }
  uint32_t running = shared.sums[thread] - own;
  for (int32_t i = 0; i < halfDigits; ++i) {
    uint32_t count = shared.before[thread * halfDigits + i];
    shared.before[thread * halfDigits + i] = static_cast<uint16_t>(running);
    running += count;
  }
}

/// Sorts the chunk by four bits of the keys, stably. Begins and ends with all words in place.
DEVICE_INLINE void sortByHalf(Shared &shared, int64_t shift) {
  int32_t thread = device_thread();
  uint64_t keys[ownWords];
  uint32_t positions[ownWords];
  int32_t counters[ownWords], ranks[ownWords];
  for (int32_t half = 0; half < halfDigits; ++half)
    shared.before[half * threadsOfBlock + thread] = 0;
#pragma clang loop unroll(full)
  for (int32_t i = 0; i < ownWords; ++i) {
    int32_t word = padded(thread * ownWords + i);
    keys[i] = shared.keys[word];
    positions[i] = shared.positions[word];
    counters[i] = (static_cast<int32_t>(keys[i] >> shift) & (halfDigits - 1)) * threadsOfBlock + thread;
    ranks[i] = shared.before[counters[i]]++;
  }
  device_barrier();
  accumulate(shared);
  device_barrier();
#pragma clang loop unroll(full)
  for (int32_t i = 0; i < ownWords; ++i) {
    int32_t word = padded(shared.before[counters[i]] + ranks[i]);
    shared.keys[word] = keys[i];
    shared.positions[word] = positions[i];
  }
  device_barrier();
}

/// One block for each chunk. `counts` are those of `countDigits`, `sums` their running sums along each line.
DEVICE_INLINE void moveDigits(const uint64_t *keys, const uint32_t *positions, uint64_t *movedKeys,
                              uint32_t *movedPositions, const uint32_t *counts, const uint32_t *sums, int64_t length,
                              int64_t chunks, int64_t shift, Shared &shared) {
  Chunk chunk(length, chunks);
  int32_t thread = device_thread();
  for (int32_t i = thread; i < wordsOfChunk; i += threadsOfBlock) {
    bool isUsed = i < chunk.used;
    // Unused words stay after all others: these precede them, and have no greater digit.
    shared.keys[padded(i)] = isUsed ? keys[chunk.first + i] : ~uint64_t(0);
    shared.positions[padded(i)] = isUsed ? positions[chunk.first + i] : 0;
  }
  device_barrier();
  sortByHalf(shared, shift);
  sortByHalf(shared, shift + 4);
  for (int32_t i = thread; i < chunk.used; i += threadsOfBlock) {
    int32_t digit = digitOf(shared.keys[padded(i)], shift);
    if (i == 0 || digitOf(shared.keys[padded(i - 1)], shift) != digit)
      shared.starts[digit] = static_cast<uint32_t>(i);
  }
  device_barrier();
  int64_t place = chunk.place(thread, chunks);
  shared.sums[thread] = sums[place] - counts[place] - shared.starts[thread]; // modulo 2^32
  device_barrier();
  int64_t line = chunk.line * length;
  for (int32_t i = thread; i < chunk.used; i += threadsOfBlock) {
    uint64_t key = shared.keys[padded(i)];
    uint32_t target = shared.sums[digitOf(key, shift)] + static_cast<uint32_t>(i);
    movedKeys[line + target] = key;
    movedPositions[line + target] = shared.positions[padded(i)];
  }
}

} // namespace device

extern "C" void radix_count(const uint64_t *keys, uint32_t *counts, int64_t length, int64_t chunks, int64_t shift,
                            uint32_t *shared) {
  device::countDigits(keys, counts, length, chunks, shift, shared);
}
extern "C" void radix_move(const uint64_t *keys, const uint32_t *positions, uint64_t *movedKeys,
                           uint32_t *movedPositions, const uint32_t *counts, const uint32_t *sums, int64_t length,
                           int64_t chunks, int64_t shift, device::Shared *shared) {
  device::moveDigits(keys, positions, movedKeys, movedPositions, counts, sums, length, chunks, shift, *shared);
}
