// Stable sorts of lines along a dimension. Words of a key and the position of its element in the line are sorted, then
// the operands are permuted. With several key operands, the last is sorted first. A block sorts a chunk of a line in
// shared memory. Sorted runs are merged in pairs: each word finds its position by a search in the other run. The order
// of floats is the CPU's (cpu/SortKeys.h).
#include "Device.h"
#include "cpu/SortKeys.h"

namespace device {

/// The start of a line along the middle one of the dimensions [outer, length, inner].
DEVICE_INLINE int64_t startOf(int64_t line, int64_t length, int64_t inner) {
  return line / inner * length * inner + line % inner;
}

/// One thread for each word: the key of the element at its position. The first pass initializes the positions, too.
template <typename Kind>
DEVICE_INLINE void keys(const typename Kind::Bits *source, uint64_t *keys, uint32_t *positions, int64_t length,
                        int64_t inner, int64_t count, int64_t isFirst, int64_t isDescending) {
  int64_t i = threadOfGrid();
  if (i >= count)
    return;
  int64_t line = i / length;
  auto position = isFirst ? static_cast<uint32_t>(i % length) : positions[i];
  typename Kind::Bits key = Kind::key(source[startOf(line, length, inner) + position * inner]);
  keys[i] = isDescending ? static_cast<typename Kind::Bits>(~key) : key;
  positions[i] = position;
}

/// One block for each chunk, whose length is a power of two: Batcher's bitonic sort. Equal keys are ordered by their
/// positions.
DEVICE_INLINE void chunks(uint64_t *keys, uint32_t *positions, int64_t length, int64_t chunk, int64_t chunksOfLine,
                          uint64_t *shared) {
  auto *places = reinterpret_cast<uint32_t *>(shared + chunk), *moved = places + chunk;
  int64_t low = device_block() % chunksOfLine * chunk, first = device_block() / chunksOfLine * length + low;
  int64_t used = length - low < chunk ? length - low : chunk;
  for (int64_t i = device_thread(); i < chunk; i += device_threads()) {
    shared[i] = i < used ? keys[first + i] : ~uint64_t(0); // after all others, whose positions are smaller
    places[i] = static_cast<uint32_t>(i);
    moved[i] = i < used ? positions[first + i] : 0;
  }
  device_barrier();
  for (int64_t width = 2; width <= chunk; width *= 2)
    for (int64_t distance = width / 2; distance > 0; distance /= 2) {
      for (int64_t pair = device_thread(); pair < chunk / 2; pair += device_threads()) {
        int64_t a = pair / distance * 2 * distance + pair % distance, b = a + distance;
        bool isLess = shared[b] < shared[a] || (shared[b] == shared[a] && places[b] < places[a]);
        if (isLess == ((a & width) == 0)) {
          uint64_t key = shared[a];
          uint32_t place = places[a];
          shared[a] = shared[b], places[a] = places[b];
          shared[b] = key, places[b] = place;
        }
      }
      device_barrier();
    }
  for (int64_t i = device_thread(); i < used; i += device_threads()) {
    keys[first + i] = shared[i];
    positions[first + i] = moved[places[i]];
  }
}

/// The number of sorted keys in [low, high) that precede a key: the smaller ones, and equal ones if they go first.
DEVICE_INLINE int64_t countBefore(const uint64_t *keys, int64_t low, int64_t high, uint64_t key, bool equalFirst) {
  int64_t first = low;
  while (low < high) {
    int64_t middle = (low + high) / 2;
    if (keys[middle] < key || (equalFirst && keys[middle] == key))
      low = middle + 1;
    else
      high = middle;
  }
  return low - first;
}

/// One thread for each word: pairs of sorted runs become runs of twice the length.
DEVICE_INLINE void merge(const uint64_t *keys, const uint32_t *positions, uint64_t *mergedKeys,
                         uint32_t *mergedPositions, int64_t length, int64_t run, int64_t count) {
  int64_t word = threadOfGrid();
  if (word >= count)
    return;
  int64_t i = word % length, first = word - i, low = i / (2 * run) * (2 * run);
  int64_t middle = low + run < length ? low + run : length, high = middle + run < length ? middle + run : length;
  bool isRight = i >= middle;
  int64_t others = isRight ? countBefore(keys + first, low, middle, keys[word], true)
                           : countBefore(keys + first, middle, high, keys[word], false);
  int64_t target = first + (isRight ? i - run : i) + others;
  mergedKeys[target] = keys[word];
  mergedPositions[target] = positions[word];
}

/// One thread for each result: `kept` of each line.
template <typename Bits>
DEVICE_INLINE void permute(const Bits *source, Bits *target, const uint32_t *positions, int64_t length, int64_t kept,
                           int64_t inner, int64_t count) {
  int64_t i = threadOfGrid();
  if (i >= count)
    return;
  // Neighbours of the target are neighbours of the grid.
  int64_t line = i / (kept * inner) * inner + i % inner, rank = i / inner % kept;
  target[i] = source[startOf(line, length, inner) + positions[line * length + rank] * inner];
}

template <typename Bits> DEVICE_INLINE void copy(const Bits *source, Bits *target, int64_t count) {
  if (int64_t i = threadOfGrid(); i < count)
    target[i] = source[i];
}

/// The bits of a complex128.
struct Pair {
  uint64_t first, second;
};

} // namespace device

#define DEVICE_KEYS(name, Kind)                                                                                        \
  extern "C" void sort_keys_##name(const pcrt::Kind::Bits *source, uint64_t *keys, uint32_t *positions,                \
                                   int64_t length, int64_t inner, int64_t count, int64_t isFirst,                      \
                                   int64_t isDescending) {                                                             \
    device::keys<pcrt::Kind>(source, keys, positions, length, inner, count, isFirst, isDescending);                    \
  }
DEVICE_KEYS(u8, UnsignedKey<uint8_t>)
DEVICE_KEYS(u16, UnsignedKey<uint16_t>)
DEVICE_KEYS(u32, UnsignedKey<uint32_t>)
DEVICE_KEYS(u64, UnsignedKey<uint64_t>)
DEVICE_KEYS(i8, SignedKey<uint8_t>)
DEVICE_KEYS(i16, SignedKey<uint16_t>)
DEVICE_KEYS(i32, SignedKey<uint32_t>)
DEVICE_KEYS(i64, SignedKey<uint64_t>)
#define DEVICE_FLOAT_KEYS(name, bits, infinity)                                                                        \
  using Key_##name = pcrt::FloatKey<bits, infinity>;                                                                   \
  extern "C" void sort_keys_##name(const bits *source, uint64_t *keys, uint32_t *positions, int64_t length,            \
                                   int64_t inner, int64_t count, int64_t isFirst, int64_t isDescending) {              \
    device::keys<Key_##name>(source, keys, positions, length, inner, count, isFirst, isDescending);                    \
  }
DEVICE_FLOAT_KEYS(f16, uint16_t, 0x7c00)
DEVICE_FLOAT_KEYS(bf16, uint16_t, 0x7f80)
DEVICE_FLOAT_KEYS(f32, uint32_t, 0x7f800000)
DEVICE_FLOAT_KEYS(f64, uint64_t, 0x7ff0000000000000)

extern "C" void sort_chunks(uint64_t *keys, uint32_t *positions, int64_t length, int64_t chunk, int64_t chunksOfLine,
                            uint64_t *shared) {
  device::chunks(keys, positions, length, chunk, chunksOfLine, shared);
}
extern "C" void sort_merge(const uint64_t *keys, const uint32_t *positions, uint64_t *mergedKeys,
                           uint32_t *mergedPositions, int64_t length, int64_t run, int64_t count) {
  device::merge(keys, positions, mergedKeys, mergedPositions, length, run, count);
}
/// The positions themselves, for top_k.
extern "C" void sort_places(int32_t *target, const uint32_t *positions, int64_t length, int64_t kept, int64_t inner,
                            int64_t count) {
  if (int64_t i = device::threadOfGrid(); i < count)
    target[i] = static_cast<int32_t>(positions[(i / (kept * inner) * inner + i % inner) * length + i / inner % kept]);
}

#define DEVICE_MOVES(bytes, Bits)                                                                                      \
  extern "C" void sort_permute_##bytes(const Bits *source, Bits *target, const uint32_t *positions, int64_t length,    \
                                       int64_t kept, int64_t inner, int64_t count) {                                   \
    device::permute(source, target, positions, length, kept, inner, count);                                            \
  }                                                                                                                    \
  extern "C" void sort_copy_##bytes(const Bits *source, Bits *target, int64_t count) {                                 \
    device::copy(source, target, count);                                                                               \
  }
DEVICE_MOVES(1, uint8_t)
DEVICE_MOVES(2, uint16_t)
DEVICE_MOVES(4, uint32_t)
DEVICE_MOVES(8, uint64_t)
DEVICE_MOVES(16, device::Pair)
