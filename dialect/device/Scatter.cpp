// Scatters: an update of `width` neighbouring elements is combined with the row of the target that its key names, or is
// dropped if the key is negative. Neighbours of an update are neighbours of the grid. If several updates have one
// target, the result does not depend on the order in which threads run:
// - Operations that are exact in any order (integers, extrema) are combined atomically.
// - If values replace each other, the last one stays: updates claim their rows first, and the maximum number wins.
// - Sums and products of floats are split by the updates alone. Updates of one row follow each other (Sort.cpp), and a
//   thread takes a piece of them. A run that crosses the ends of a piece becomes an update of a later launch.
#include "Device.h"
#include "Elements.h"

#include <cstring>

namespace device {

//===-- Combinations ------------------------------------------------------------------------------------------===//

/// Sums and products, with their element type and accumulator type.
struct Add {
  template <typename T> static constexpr T neutral = T(-0.0); // changes no sum, not even -0
  template <typename T> static T combine(T a, T b) { return T(pcrt::Accumulator<T>(a) + pcrt::Accumulator<T>(b)); }
};
struct Mul {
  template <typename T> static constexpr T neutral = T(1);
  template <typename T> static T combine(T a, T b) { return T(pcrt::Accumulator<T>(a) * pcrt::Accumulator<T>(b)); }
};

/// The minimum or the maximum. A nan stays, always the same one; -0 is less than 0.
template <bool isMax> struct Extreme {
  template <typename T> static T combine(T a, T b) {
    pcrt::Compared<T> x = a, y = b;
    if constexpr (std::is_floating_point_v<pcrt::Compared<T>>) {
      if (x != x || y != y)
        return T(__builtin_nanf(""));
      if (x == y)
        return (__builtin_signbit(x) != 0) == isMax ? b : a;
    }
    return (x < y) == isMax ? b : a;
  }
};
using Max = Extreme<true>;
using Min = Extreme<false>;

template <typename T>
using BitsOf = std::conditional_t<
    sizeof(T) == 1, uint8_t,
    std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;

/// Combines an element of memory that other threads may change.
template <typename Operation, typename T> DEVICE_INLINE void change(T *place, T update) {
  using Bits = BitsOf<T>;
  auto *word = reinterpret_cast<Bits *>(place);
  if constexpr (std::is_same_v<Operation, Add> && std::is_integral_v<T> && sizeof(T) >= 4) {
    __atomic_fetch_add(word, static_cast<Bits>(update), __ATOMIC_RELAXED);
  } else {
    Bits before = __atomic_load_n(word, __ATOMIC_RELAXED), after;
    do {
      T old;
      std::memcpy(&old, &before, sizeof(T));
      T combined = Operation::combine(old, update);
      std::memcpy(&after, &combined, sizeof(T));
      // Most updates do not change an extremum.
    } while (after != before &&
             !__atomic_compare_exchange_n(word, &before, after, /*weak=*/true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  }
}

//===-- A thread for each element of the updates --------------------------------------------------------------===//

/// The target of this thread's element, if it has one.
struct Place {
  int64_t element, position, target;
  bool isInside;

  DEVICE_INLINE Place(const int64_t *keys, int64_t width, int64_t count)
      : element(threadOfGrid()), position(element / width), target(0), isInside(false) {
    if (element >= count)
      return;
    int64_t row = keys[position];
    isInside = row >= 0;
    target = row * width + element % width;
  }
};

/// For updates with distinct targets.
template <typename Operation, typename T>
DEVICE_INLINE void unique(const int64_t *keys, const T *updates, T *target, int64_t width, int64_t count) {
  Place place(keys, width, count);
  if (place.isInside)
    target[place.target] = Operation::combine(target[place.target], updates[place.element]);
}
template <typename Bits>
DEVICE_INLINE void uniqueSet(const int64_t *keys, const Bits *updates, Bits *target, int64_t width, int64_t count) {
  Place place(keys, width, count);
  if (place.isInside)
    target[place.target] = updates[place.element];
}

/// For operations that give the same result in any order.
template <typename Operation, typename T>
DEVICE_INLINE void atomic(const int64_t *keys, const T *updates, T *target, int64_t width, int64_t count) {
  Place place(keys, width, count);
  if (place.isInside)
    change<Operation>(target + place.target, updates[place.element]);
}

/// For many sums of single integers in few rows: a block first accumulates in its shared memory.
template <typename T>
DEVICE_INLINE void count(const int64_t *keys, const T *updates, T *target, int64_t rows, int64_t count, T *shared) {
  for (int64_t row = device_thread(); row < rows; row += device_threads())
    shared[row] = 0;
  device_barrier();
  for (int64_t i = threadOfGrid(); i < count; i += threadsOfGrid())
    if (int64_t row = keys[i]; row >= 0)
      change<Add>(shared + row, updates[i]);
  device_barrier();
  for (int64_t row = device_thread(); row < rows; row += device_threads())
    if (shared[row] != 0)
      change<Add>(target + row, shared[row]);
}

//===-- Few updates: a thread for each column of the window, which takes them in order ------------------------===//

template <typename Operation, typename T>
DEVICE_INLINE void inOrder(const int64_t *keys, const T *updates, T *target, int64_t width, int64_t positions) {
  int64_t column = threadOfGrid();
  if (column >= width)
    return;
  for (int64_t i = 0; i < positions; ++i)
    if (int64_t row = keys[i]; row >= 0)
      target[row * width + column] = Operation::combine(target[row * width + column], updates[i * width + column]);
}
template <typename Bits>
DEVICE_INLINE void inOrderSet(const int64_t *keys, const Bits *updates, Bits *target, int64_t width,
                              int64_t positions) {
  int64_t column = threadOfGrid();
  if (column >= width)
    return;
  for (int64_t i = 0; i < positions; ++i)
    if (int64_t row = keys[i]; row >= 0)
      target[row * width + column] = updates[i * width + column];
}

//===-- The last one stays ------------------------------------------------------------------------------------===//

/// Only claimed rows have a claim, so `claims` is not cleared as a whole.
DEVICE_INLINE void forget(const int64_t *keys, int32_t *claims, int64_t positions) {
  if (int64_t i = threadOfGrid(); i < positions && keys[i] >= 0)
    claims[keys[i]] = -1;
}
DEVICE_INLINE void claim(const int64_t *keys, int32_t *claims, int64_t positions) {
  if (int64_t i = threadOfGrid(); i < positions && keys[i] >= 0)
    change<Max>(claims + keys[i], static_cast<int32_t>(i));
}
template <typename Bits>
DEVICE_INLINE void store(const int64_t *keys, const int32_t *claims, const Bits *updates, Bits *target, int64_t width,
                         int64_t count) {
  Place place(keys, width, count);
  if (place.isInside && claims[keys[place.position]] == place.position)
    target[place.target] = updates[place.element];
}

//===-- Sums and products of floats ---------------------------------------------------------------------------===//

/// Updates of the same row follow each other (a run). Each thread has a column of the window and a piece of the
/// updates. It finishes runs that begin and end inside its piece. For the run that began before the piece, and for the
/// one that continues after it, the piece leaves two updates for a later launch, in this order. Both have the same row
/// if they are one run.
template <typename Operation, typename Value, typename T> struct Runs {
  T *target;
  int64_t *nextKeys;
  Value *nextValues;
  int64_t width, column, piece;

  DEVICE_INLINE void leave(int64_t slot, int64_t row, Value value) const {
    int64_t at = 2 * piece + slot;
    if (column == 0)
      nextKeys[at] = row;
    nextValues[at * width + column] = value;
  }

  DEVICE_INLINE void end(int64_t row, Value value, bool beganBefore, bool goesOn) const {
    if (row < 0)
      return;
    if (!beganBefore && !goesOn) {
      T &place = target[row * width + column];
      place = T(Operation::combine(Value(place), value));
      return;
    }
    leave(beganBefore ? 0 : 1, row, value);
    if (beganBefore && goesOn)
      leave(1, row, Operation::template neutral<Value>);
  }
};

/// Number of loads of a thread that are in flight at the same time.
constexpr int64_t kInFlight = 4;

/// `row` and `value` return the row and the value of the update at a position of the order.
template <typename Operation, typename Value, typename T, typename Row, typename Load>
DEVICE_INLINE void runs(T *target, int64_t *nextKeys, Value *nextValues, int64_t width, int64_t places, int64_t ofPiece,
                        Row row, Load value) {
  int64_t thread = threadOfGrid(), piece = thread / width, first = piece * ofPiece;
  if (first >= places)
    return;
  Runs<Operation, Value, T> runs{target, nextKeys, nextValues, width, thread % width, piece};
  int64_t last = first + ofPiece < places ? first + ofPiece : places;
  if (runs.column == 0)
    nextKeys[2 * piece] = nextKeys[2 * piece + 1] = -1;
  int64_t current = row(first);
  bool beganBefore = first > 0 && row(first - 1) == current;
  Value sum = Operation::template neutral<Value>;
  for (int64_t i = first; i < last; i += kInFlight) {
    int64_t rows[kInFlight];
    Value values[kInFlight];
#pragma unroll
    for (int64_t j = 0; j < kInFlight; ++j) {
      int64_t at = i + j < last ? i + j : last - 1;
      rows[j] = row(at);
      values[j] = value(at, runs.column);
    }
#pragma unroll
    for (int64_t j = 0; j < kInFlight; ++j) {
      if (i + j >= last)
        continue;
      if (rows[j] != current) {
        runs.end(current, sum, beganBefore, false);
        current = rows[j];
        beganBefore = false;
        sum = Operation::template neutral<Value>;
      }
      sum = Operation::combine(sum, values[j]);
    }
  }
  runs.end(current, sum, beganBefore, last < places && row(last) == current);
}

/// The first launch, on the updates themselves, in the order of their sorted keys (cpu/SortKeys.h inverts the sign).
template <typename Operation, typename T>
DEVICE_INLINE void firstRuns(const uint64_t *keys, const uint32_t *positions, const T *updates, T *target,
                             int64_t *nextKeys, pcrt::Accumulator<T> *nextValues, int64_t width, int64_t places,
                             int64_t ofPiece) {
  using Value = pcrt::Accumulator<T>;
  runs<Operation, Value>(
      target, nextKeys, nextValues, width, places, ofPiece,
      [&](int64_t i) __attribute__((always_inline)) { return static_cast<int64_t>(keys[i] ^ uint64_t(1) << 63); },
      [&](int64_t i, int64_t column)
          __attribute__((always_inline)) { return Value(updates[positions[i] * width + column]); });
}

/// Later launches, on the updates that pieces left.
template <typename Operation, typename T>
DEVICE_INLINE void nextRuns(const int64_t *keys, const pcrt::Accumulator<T> *values, T *target, int64_t *nextKeys,
                            pcrt::Accumulator<T> *nextValues, int64_t width, int64_t places, int64_t ofPiece) {
  runs<Operation, pcrt::Accumulator<T>>(
      target, nextKeys, nextValues, width, places, ofPiece,
      [&](int64_t i) __attribute__((always_inline)) { return keys[i]; },
      [&](int64_t i, int64_t column) __attribute__((always_inline)) { return values[i * width + column]; });
}

/// The bits of a complex128.
struct Wide {
  uint64_t first, second;
};

} // namespace device

#define SCATTER_ELEMENTS(T) const int64_t *keys, const T *updates, T *target, int64_t width, int64_t count
#define SCATTER_SET(bytes, Bits)                                                                                       \
  extern "C" void scatter_unique_set_##bytes(SCATTER_ELEMENTS(Bits)) {                                                 \
    device::uniqueSet(keys, updates, target, width, count);                                                            \
  }                                                                                                                    \
  extern "C" void scatter_in_order_set_##bytes(SCATTER_ELEMENTS(Bits)) {                                               \
    device::inOrderSet(keys, updates, target, width, count);                                                           \
  }                                                                                                                    \
  extern "C" void scatter_store_##bytes(const int64_t *keys, const int32_t *claims, const Bits *updates, Bits *target, \
                                        int64_t width, int64_t count) {                                                \
    device::store(keys, claims, updates, target, width, count);                                                        \
  }
SCATTER_SET(1, uint8_t)
SCATTER_SET(2, uint16_t)
SCATTER_SET(4, uint32_t)
SCATTER_SET(8, uint64_t)
SCATTER_SET(16, device::Wide)

extern "C" void scatter_forget(const int64_t *keys, int32_t *claims, int64_t positions) {
  device::forget(keys, claims, positions);
}
extern "C" void scatter_claim(const int64_t *keys, int32_t *claims, int64_t positions) {
  device::claim(keys, claims, positions);
}

#define SCATTER_UNIQUE(kind, Operation, name, T)                                                                       \
  extern "C" void scatter_unique_##kind##_##name(SCATTER_ELEMENTS(T)) {                                                \
    device::unique<device::Operation>(keys, updates, target, width, count);                                            \
  }
#define SCATTER_ATOMIC(kind, Operation, name, T)                                                                       \
  extern "C" void scatter_atomic_##kind##_##name(SCATTER_ELEMENTS(T)) {                                                \
    device::atomic<device::Operation>(keys, updates, target, width, count);                                            \
  }
#define SCATTER_ANY(name, T)                                                                                           \
  SCATTER_UNIQUE(add, Add, name, T)                                                                                    \
  SCATTER_UNIQUE(mul, Mul, name, T)                                                                                    \
  SCATTER_UNIQUE(min, Min, name, T)                                                                                    \
  SCATTER_UNIQUE(max, Max, name, T)                                                                                    \
  SCATTER_ATOMIC(min, Min, name, T)                                                                                    \
  SCATTER_ATOMIC(max, Max, name, T)
DEVICE_REALS(SCATTER_ANY)

#define SCATTER_EXACT(name, T)                                                                                         \
  SCATTER_ATOMIC(add, Add, name, T)                                                                                    \
  SCATTER_ATOMIC(mul, Mul, name, T)
DEVICE_INTEGERS(SCATTER_EXACT)

#define SCATTER_COUNT(name, T)                                                                                         \
  extern "C" void scatter_count_##name(const int64_t *keys, const T *updates, T *target, int64_t rows, int64_t count,  \
                                       T *shared) {                                                                    \
    device::count(keys, updates, target, rows, count, shared);                                                         \
  }
SCATTER_COUNT(i32, int32_t)
SCATTER_COUNT(u32, uint32_t)
SCATTER_COUNT(i64, int64_t)
SCATTER_COUNT(u64, uint64_t)

#define SCATTER_SUMS(kind, Operation, name, T)                                                                         \
  extern "C" void scatter_in_order_##kind##_##name(SCATTER_ELEMENTS(T)) {                                              \
    device::inOrder<device::Operation>(keys, updates, target, width, count);                                           \
  }                                                                                                                    \
  extern "C" void scatter_first_runs_##kind##_##name(                                                                  \
      const uint64_t *keys, const uint32_t *positions, const T *updates, T *target, int64_t *nextKeys,                 \
      pcrt::Accumulator<T> *nextValues, int64_t width, int64_t places, int64_t ofPiece) {                              \
    device::firstRuns<device::Operation>(keys, positions, updates, target, nextKeys, nextValues, width, places,        \
                                         ofPiece);                                                                     \
  }                                                                                                                    \
  extern "C" void scatter_next_runs_##kind##_##name(const int64_t *keys, const pcrt::Accumulator<T> *values,           \
                                                    T *target, int64_t *nextKeys, pcrt::Accumulator<T> *nextValues,    \
                                                    int64_t width, int64_t places, int64_t ofPiece) {                  \
    device::nextRuns<device::Operation>(keys, values, target, nextKeys, nextValues, width, places, ofPiece);           \
  }
#define SCATTER_FLOATS(name, T)                                                                                        \
  SCATTER_SUMS(add, Add, name, T)                                                                                      \
  SCATTER_SUMS(mul, Mul, name, T)
DEVICE_FLOATS(SCATTER_FLOATS)
