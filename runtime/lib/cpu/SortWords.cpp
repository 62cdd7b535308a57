// Sorts words by the fastest code for this machine. The library is built for the baseline; vector code for better
// machines is chosen at run time.
#include "SortWords.h"

#include <algorithm>

using namespace pcrt;

const VectorSort *pcrt::vectorSort() {
#ifdef PCRT_HAS_VECTOR_SORT
  static const VectorSort *const best = __builtin_cpu_supports("x86-64-v4")   ? &vectorSortAvx512
                                        : __builtin_cpu_supports("x86-64-v3") ? &vectorSortAvx2
                                                                              : nullptr;
  return best;
#else
  return nullptr;
#endif
}

template <typename Word, typename SortVectors>
static void sortBest(Word *words, size_t count, std::vector<Word> &scratch, unsigned begin, unsigned end,
                     SortVectors sortVectors) {
  const VectorSort *vectors = vectorSort();
  if (vectors)
    sortVectors(*vectors);
  else if (count >= radixLength)
    radixSort(words, count, scratch, begin, end, [](Word word) { return word; });
  else
    std::sort(words, words + count);
}

void pcrt::sortWords(uint32_t *words, size_t count, std::vector<uint32_t> &scratch, unsigned begin, unsigned end) {
  sortBest(words, count, scratch, begin, end, [=](const VectorSort &vectors) { vectors.sort32(words, count); });
}

void pcrt::sortWords(uint64_t *words, size_t count, std::vector<uint64_t> &scratch, unsigned begin, unsigned end) {
  sortBest(words, count, scratch, begin, end, [=](const VectorSort &vectors) { vectors.sort64(words, count); });
}

void pcrt::selectWord(uint64_t *words, size_t rank, size_t count) {
  if (const VectorSort *vectors = vectorSort())
    vectors->select64(words, rank, count);
  else
    std::nth_element(words, words + rank, words + count);
}
