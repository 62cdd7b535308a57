// The vector code for sorting that this machine supports, and the fallback, compared with the standard library. Words
// of few values, in ascending or descending order, are hard cases for sorting by pivots.
#include "cpu/SortWords.h"
#include "Check.h"

#include <algorithm>
#include <random>

using namespace pcrt;

template <typename Word> static std::vector<std::vector<Word>> lines() {
  std::mt19937_64 random(3);
  std::vector<std::vector<Word>> all;
  for (size_t length : {0, 1, 2, 7, 31, 64, 100, 255, 256, 257, 511, 512, 1000, 5000, 40000}) {
    std::vector<Word> any(length), few(length), same(length, Word(5)), up(length);
    for (size_t i = 0; i < length; ++i) {
      any[i] = static_cast<Word>(random());
      few[i] = static_cast<Word>(random() % 3);
      up[i] = static_cast<Word>(i * 1000);
    }
    std::vector<Word> down(up.rbegin(), up.rend());
    all.insert(all.end(), {any, few, same, up, down});
  }
  return all;
}

template <typename Word, typename Sort> static void checkSort(Sort sort) {
  for (std::vector<Word> line : lines<Word>()) {
    std::vector<Word> expected = line;
    std::sort(expected.begin(), expected.end());
    sort(line);
    CHECK(line == expected);
  }
}

template <typename Select> static void checkSelect(Select select) {
  for (const std::vector<uint64_t> &line : lines<uint64_t>())
    for (size_t rank : {size_t(0), line.size() / 3, line.size() - 1}) {
      if (rank >= line.size())
        continue;
      std::vector<uint64_t> words = line, expected = line;
      std::sort(expected.begin(), expected.end());
      select(words, rank);
      CHECK(words[rank] == expected[rank]);
      std::sort(words.begin(), words.begin() + static_cast<long>(rank));
      std::sort(words.begin() + static_cast<long>(rank), words.end());
      CHECK(words == expected);
    }
}

[[maybe_unused]] static void checkVectors(const VectorSort &vectors) {
  checkSort<uint32_t>([&](auto &line) { vectors.sort32(line.data(), line.size()); });
  checkSort<uint64_t>([&](auto &line) { vectors.sort64(line.data(), line.size()); });
  checkSort<int32_t>([&](auto &line) { vectors.sortI32(line.data(), line.size()); });
  checkSort<int64_t>([&](auto &line) { vectors.sortI64(line.data(), line.size()); });
  checkSort<float>([&](auto &line) { vectors.sortF32(line.data(), line.size()); });
  checkSort<double>([&](auto &line) { vectors.sortF64(line.data(), line.size()); });
  checkSelect([&](auto &line, size_t rank) { vectors.select64(line.data(), rank, line.size()); });
}

static void vectors() {
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
  if (__builtin_cpu_supports("x86-64-v3"))
    checkVectors(vectorSortAvx2);
  if (__builtin_cpu_supports("x86-64-v4"))
    checkVectors(vectorSortAvx512);
#endif
}

static void digits() {
  std::vector<uint32_t> scratch32;
  std::vector<uint64_t> scratch64;
  auto same = [](auto word) { return word; };
  checkSort<uint32_t>([&](auto &line) {
    if (!line.empty())
      radixSort(line.data(), line.size(), scratch32, 0, 32, same);
  });
  checkSort<uint64_t>([&](auto &line) {
    if (!line.empty())
      radixSort(line.data(), line.size(), scratch64, 0, 64, same);
  });
}

static void chosen() {
  std::vector<uint32_t> scratch32;
  std::vector<uint64_t> scratch64;
  checkSort<uint32_t>([&](auto &line) { sortWords(line.data(), line.size(), scratch32, 0, 32); });
  checkSort<uint64_t>([&](auto &line) { sortWords(line.data(), line.size(), scratch64, 0, 64); });
  checkSelect([&](auto &line, size_t rank) { selectWord(line.data(), rank, line.size()); });
}

int main() {
  RUN(vectors);
  RUN(digits);
  RUN(chosen);
  return test::failures() != 0;
}
