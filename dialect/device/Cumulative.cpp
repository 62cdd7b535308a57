// Running reductions along the middle one of the dimensions [outer, length, inner], forward or from the end. Many
// lines, or short ones, have one thread each. Of a long line, each block takes a chunk: a first launch reduces the
// chunks, a second computes the running result before each chunk, and a third writes the results. The threads of a
// block share a chunk in rounds, in which they have neighbouring elements. Accumulators are as wide as on the CPU
// (cpu/CumulativeOperations.h).
#include "Device.h"
#include "Elements.h"
#include "cpu/CumulativeOperations.h"

using namespace pcrt::cumulative;

namespace device {

/// The elements of a line.
struct Line {
  int64_t first, step;

  DEVICE_INLINE Line(int64_t line, int64_t length, int64_t inner, int64_t reverse) {
    first = line / inner * length * inner + line % inner;
    step = reverse ? -inner : inner;
    first += reverse ? (length - 1) * inner : 0;
  }
  DEVICE_INLINE int64_t at(int64_t i) const { return first + i * step; }
};

/// The combined value of the block's threads before this one; `total` becomes the combined value of all its threads.
template <typename Operation, typename Running>
DEVICE_INLINE Running before(Running own, Running *shared, Running &total) {
  int32_t thread = device_thread(), threads = device_threads();
  shared[thread] = own;
  device_barrier();
  for (int32_t distance = 1; distance < threads; distance *= 2) {
    Running other = thread >= distance ? shared[thread - distance] : Operation::neutral;
    device_barrier();
    if (thread >= distance)
      shared[thread] = Operation::combine(other, shared[thread]);
    device_barrier();
  }
  total = shared[threads - 1];
  Running result = thread > 0 ? shared[thread - 1] : Operation::neutral;
  device_barrier();
  return result;
}

/// One thread for each line.
template <typename T, typename Operation>
DEVICE_INLINE void lines(const T *source, T *target, int64_t length, int64_t inner, int64_t count, int64_t reverse) {
  int64_t number = threadOfGrid();
  if (number >= count)
    return;
  Line line(number, length, inner, reverse);
  auto running = static_cast<typename Operation::Running>(source[line.first]);
  target[line.first] = source[line.first];
  for (int64_t i = 1; i < length; ++i) {
    running = Operation::next(running, source[line.at(i)]);
    target[line.at(i)] = static_cast<T>(running);
  }
}

/// The elements of this thread in a round of its block's chunk: [low, high) of the line.
struct Share {
  int64_t low, high;

  DEVICE_INLINE Share(int64_t length, int64_t chunks, int64_t rounds, int64_t round, int64_t items) {
    int64_t chunk = device_block() % chunks * rounds + round;
    low = (chunk * device_threads() + device_thread()) * items;
    low = low < length ? low : length;
    high = low + items < length ? low + items : length;
  }
};

template <typename T, typename Operation>
DEVICE_INLINE typename Operation::Running totalOf(const T *source, const Line &line, const Share &share) {
  typename Operation::Running running = Operation::neutral;
  for (int64_t i = share.low; i < share.high; ++i)
    running = Operation::next(running, source[line.at(i)]);
  return running;
}

/// One block for each chunk: the combined value of the chunk.
template <typename T, typename Operation>
DEVICE_INLINE void totals(const T *source, typename Operation::Running *totals, int64_t length, int64_t inner,
                          int64_t chunks, int64_t rounds, int64_t items, int64_t reverse,
                          typename Operation::Running *shared) {
  Line line(device_block() / chunks, length, inner, reverse);
  typename Operation::Running own = Operation::neutral, total;
  for (int64_t round = 0; round < rounds; ++round)
    own = Operation::combine(own, totalOf<T, Operation>(source, line, Share(length, chunks, rounds, round, items)));
  before<Operation>(own, shared, total);
  if (device_thread() == 0)
    totals[device_block()] = total;
}

/// One block for each line: replaces the totals of its chunks by the running results before each chunk.
template <typename Operation>
DEVICE_INLINE void prefixes(typename Operation::Running *totals, int64_t chunks, typename Operation::Running *shared) {
  typename Operation::Running carry = Operation::neutral, total;
  totals += device_block() * chunks;
  for (int64_t first = 0; first < chunks; first += device_threads()) {
    int64_t i = first + device_thread();
    auto prefix = before<Operation>(i < chunks ? totals[i] : Operation::neutral, shared, total);
    if (i < chunks)
      totals[i] = Operation::combine(carry, prefix);
    carry = Operation::combine(carry, total);
  }
}

template <typename T, typename Operation>
DEVICE_INLINE void results(const T *source, T *target, const typename Operation::Running *prefixes, int64_t length,
                           int64_t inner, int64_t chunks, int64_t rounds, int64_t items, int64_t reverse,
                           typename Operation::Running *shared) {
  Line line(device_block() / chunks, length, inner, reverse);
  typename Operation::Running total, carry = prefixes[device_block()];
  for (int64_t round = 0; round < rounds; ++round) {
    Share share(length, chunks, rounds, round, items);
    auto running = before<Operation>(totalOf<T, Operation>(source, line, share), shared, total);
    running = Operation::combine(carry, running);
    for (int64_t i = share.low; i < share.high; ++i) {
      running = Operation::next(running, source[line.at(i)]);
      target[line.at(i)] = static_cast<T>(running);
    }
    carry = Operation::combine(carry, total);
  }
}

} // namespace device

#define DEVICE_CUMULATIVE(operation, name, T, ...)                                                                     \
  extern "C" void cumulative_lines_##operation##_##name(const T *source, T *target, int64_t length, int64_t inner,     \
                                                        int64_t count, int64_t reverse) {                              \
    device::lines<T, __VA_ARGS__>(source, target, length, inner, count, reverse);                                      \
  }                                                                                                                    \
  extern "C" void cumulative_totals_##operation##_##name(                                                              \
      const T *source, __VA_ARGS__::Running *totals, int64_t length, int64_t inner, int64_t chunks, int64_t rounds,    \
      int64_t items, int64_t reverse, __VA_ARGS__::Running *shared) {                                                  \
    device::totals<T, __VA_ARGS__>(source, totals, length, inner, chunks, rounds, items, reverse, shared);             \
  }                                                                                                                    \
  extern "C" void cumulative_prefixes_##operation##_##name(__VA_ARGS__::Running *totals, int64_t chunks,               \
                                                           __VA_ARGS__::Running *shared) {                             \
    device::prefixes<__VA_ARGS__>(totals, chunks, shared);                                                             \
  }                                                                                                                    \
  extern "C" void cumulative_results_##operation##_##name(                                                             \
      const T *source, T *target, const __VA_ARGS__::Running *prefixes, int64_t length, int64_t inner, int64_t chunks, \
      int64_t rounds, int64_t items, int64_t reverse, __VA_ARGS__::Running *shared) {                                  \
    device::results<T, __VA_ARGS__>(source, target, prefixes, length, inner, chunks, rounds, items, reverse, shared);  \
  }

#define DEVICE_SUMS(name, T)                                                                                           \
  DEVICE_CUMULATIVE(sum, name, T, Sum<T>)                                                                              \
  DEVICE_CUMULATIVE(product, name, T, Product<T>)
#define DEVICE_EXTREMA(name, T)                                                                                        \
  DEVICE_CUMULATIVE(max, name, T, Max<T>)                                                                              \
  DEVICE_CUMULATIVE(min, name, T, Min<T>)
#define DEVICE_LOG_SUMS(name, T) DEVICE_CUMULATIVE(logsumexp, name, T, LogSumExp<T>)

DEVICE_REALS(DEVICE_SUMS)
DEVICE_COMPLEX(DEVICE_SUMS)
DEVICE_REALS(DEVICE_EXTREMA)
DEVICE_FLOATS(DEVICE_LOG_SUMS)
