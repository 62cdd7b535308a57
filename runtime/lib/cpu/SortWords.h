// Sorts and selects unsigned words, in ascending order: the core of all sorting routines. Equal words are identical, so
// no result depends on the sorting method, and every machine gives the same bits.
#ifndef PYCOMPILER_RUNTIME_LIB_CPU_SORTWORDS_H
#define PYCOMPILER_RUNTIME_LIB_CPU_SORTWORDS_H

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

// Whether vector code is available: GCC applies a pragma to templates, Clang does not support it.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define PCRT_HAS_VECTOR_SORT
#endif

namespace pcrt {

/// Vector code for one instruction set. `select` moves the word of a rank to its position, with no greater one before
/// it and no smaller one after it.
struct VectorSort {
  void (*sort32)(uint32_t *words, size_t count);
  void (*sort64)(uint64_t *words, size_t count);
  void (*sortI32)(int32_t *numbers, size_t count);
  void (*sortI64)(int64_t *numbers, size_t count);
  /// The numbers must not include -0 or nan.
  void (*sortF32)(float *numbers, size_t count);
  void (*sortF64)(double *numbers, size_t count);
  void (*select32)(uint32_t *words, size_t rank, size_t count);
  void (*select64)(uint64_t *words, size_t rank, size_t count);
  void (*selectI32)(int32_t *numbers, size_t rank, size_t count);
  void (*selectI64)(int64_t *numbers, size_t rank, size_t count);
  void (*selectF32)(float *numbers, size_t rank, size_t count);
  void (*selectF64)(double *numbers, size_t rank, size_t count);
};

extern const VectorSort vectorSortAvx2, vectorSortAvx512;

/// The best code for this machine, null if it has none.
const VectorSort *vectorSort();

/// Sorts by the bits from `begin` to `end`. The other bits are equal in all words, or ascend already.
void sortWords(uint32_t *words, size_t count, std::vector<uint32_t> &scratch, unsigned begin, unsigned end);
void sortWords(uint64_t *words, size_t count, std::vector<uint64_t> &scratch, unsigned begin, unsigned end);
void selectWord(uint64_t *words, size_t rank, size_t count);

/// From this length on, sorting by digits is faster than by comparisons.
constexpr size_t radixLength = 512;

/// Sorts by the bytes of `keyOf(word)` from bit `begin` to `end`, least significant first. One pass counts every byte;
/// then each byte has one stable pass that moves the words. Wider digits need fewer passes, but write to more places
/// than the caches have lines.
template <typename Word, typename KeyOf>
void radixSort(Word *words, size_t count, std::vector<Word> &scratch, unsigned begin, unsigned end, KeyOf keyOf) {
  auto digitOf = [&](const Word &word, unsigned shift) { return (keyOf(word) >> shift) & 255; };
  size_t starts[8][256] = {};
  for (size_t i = 0; i < count; ++i)
    for (unsigned shift = begin, pass = 0; shift < end; shift += 8)
      ++starts[pass++][digitOf(words[i], shift)];
  scratch.resize(count);
  Word *from = words, *to = scratch.data();
  for (unsigned shift = begin, pass = 0; shift < end; shift += 8) {
    size_t *start = starts[pass++];
    if (start[digitOf(words[0], shift)] == count)
      continue; // all alike in this digit
    size_t next = 0;
    for (size_t digit = 0; digit < 256; ++digit)
      next += std::exchange(start[digit], next);
    for (size_t i = 0; i < count; ++i)
      to[start[digitOf(from[i], shift)]++] = from[i];
    std::swap(from, to);
  }
  for (size_t i = 0; from != words && i < count; ++i)
    words[i] = from[i];
}

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_LIB_CPU_SORTWORDS_H
