// The library routine of `top_k`: the maximum elements of each line in descending order, and their positions; nan
// first, and of equal elements the first.
//
// A candidate is one word of the inverted key and the position, so the smallest words are the result. In a long line
// not all elements become candidates. The minimum of the best elements of a sample is a lower bound of the results, and
// smaller elements are skipped, many at a time. If there are many candidates nonetheless, all but the best are dropped,
// and the bound rises to the last of those. So the time is linear for any order of the line.
#include "Rows.h"
#include "SortKeys.h"
#include "SortWords.h"
#include "support/LibraryCalls.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <vector>

using namespace pcrt;

namespace {

/// Candidates for keys of up to 32 bits. The position is in a line of less than 2^32 elements.
struct PackedCandidates {
  using Word = uint64_t;
  static Word make(uint64_t key, size_t position) { return ~key << 32 | position; }
  static uint64_t key(Word word) { return ~word >> 32; }
  static size_t position(Word word) { return word & UINT32_MAX; }
  static void select(Word *words, size_t rank, size_t count) { selectWord(words, rank, count); }
  void sort(Word *words, size_t count) { sortWords(words, count, scratch, 0, 64); }

  std::vector<Word> scratch;
};

struct WideCandidates {
  using Word = std::pair<uint64_t, size_t>;
  static Word make(uint64_t key, size_t position) { return {~key, position}; }
  static uint64_t key(const Word &word) { return ~word.first; }
  static size_t position(const Word &word) { return word.second; }
  static void select(Word *words, size_t rank, size_t count) { std::nth_element(words, words + rank, words + count); }
  void sort(Word *words, size_t count) { std::sort(words, words + count); }
};

/// In lines up to this length all elements become candidates; also if more than one in `fewest` is requested.
constexpr size_t shortLength = 1024, fewest = 16;
/// The number of elements that are compared with the bound at once, and of elements, about a cache line, that are
/// sampled together.
constexpr size_t blockLength = 32, sampleLength = 16;
/// The minimum length of a block of a long line that threads share.
constexpr size_t sharedBlock = size_t(1) << 16;

template <typename Kind> class LineChooser {
  using Bits = typename Kind::Bits;
  using Candidates = std::conditional_t<sizeof(Bits) <= 4, PackedCandidates, WideCandidates>;

public:
  using Word = typename Candidates::Word;

  LineChooser(size_t length, size_t count) : length(length), count(count) {
    isWhole = length <= shortLength || count * fewest > length;
    if (isWhole) {
      words.resize(length);
      return;
    }
    // The cost of the sample and the number of elements above its bound are balanced at the root of count * length.
    auto root = static_cast<size_t>(std::sqrt(static_cast<double>(count) * static_cast<double>(length)));
    chunks = std::clamp<size_t>(2 * root, count, length / 2) / sampleLength + 1;
    limit = std::max(2 * count, 4 * root);
    words.resize(std::max(limit + blockLength, chunks * sampleLength));
  }

  /// The words of the maximum elements of a contiguous line, in order.
  const Word *choose(const Bits *line) {
    if (isWhole) {
      for (size_t i = 0; i < length; ++i)
        words[i] = Candidates::make(Kind::key(line[i]), i);
      if (count < length)
        Candidates::select(words.data(), count - 1, length);
    } else {
      collect(line, boundOfSample(line));
    }
    candidates.sort(words.data(), count);
    return words.data();
  }

private:
  Bits boundOfSample(const Bits *line) {
    size_t size = 0, step = length / chunks;
    for (size_t chunk = 0; chunk < chunks; ++chunk)
      for (size_t i = 0; i < std::min(sampleLength, step); ++i, ++size)
        words[size] = Candidates::make(Kind::key(line[chunk * step + i]), size);
    return boundOf(size);
  }

  /// Moves the best candidates to the front; returns the key of the last of them.
  Bits boundOf(size_t size) {
    Candidates::select(words.data(), count - 1, size);
    return static_cast<Bits>(Candidates::key(words[count - 1]));
  }

  static bool anyFrom(const Bits *block, Bits bound) {
    Bits any = 0;
    for (size_t i = 0; i < blockLength; ++i)
      any |= Kind::key(block[i]) >= bound;
    return any != 0;
  }

  void collect(const Bits *line, Bits bound) {
    size_t size = 0, i = 0;
    auto add = [&](size_t at) {
      Bits key = Kind::key(line[at]);
      words[size] = Candidates::make(key, at);
      size += key >= bound;
    };
    for (; i + blockLength <= length; i += blockLength) {
      if (!anyFrom(line + i, bound))
        continue;
      for (size_t k = 0; k < blockLength; ++k)
        add(i + k);
      if (size < limit)
        continue;
      Bits last = boundOf(size);
      size = count;
      // Later equal elements come after it.
      if (last == static_cast<Bits>(~Bits(0)))
        return;
      bound = static_cast<Bits>(last + 1);
    }
    for (; i < length; ++i)
      add(i);
    Candidates::select(words.data(), count - 1, size);
  }

  const size_t length, count;
  bool isWhole;
  size_t chunks = 0, limit = 0;
  std::vector<Word> words;
  Candidates candidates;

public:
  static size_t position(const Word &word) { return Candidates::position(word); }

  /// The words of the maximum elements of a contiguous line, in order, by a block for each thread: each block has a
  /// sample of its own.
  static std::vector<Word> chooseShared(const PcrtFrame *frame, const Bits *line, size_t length, size_t count) {
    auto blocks = std::min(static_cast<size_t>(library::threadsOf(frame)), length / sharedBlock);
    size_t block = (length + blocks - 1) / blocks;
    std::vector<Word> best(blocks * count);
    library::overBlocks(frame, length, block, .7 * static_cast<double>(block), [&](size_t low, size_t high) {
      LineChooser chooser(high - low, std::min(count, high - low));
      const Word *chosen = chooser.choose(line + low);
      Word *to = &best[low / block * count];
      for (size_t i = 0; i < chooser.count; ++i)
        to[i] = Candidates::make(Candidates::key(chosen[i]), low + Candidates::position(chosen[i]));
      // A last block may have fewer elements: what fills it up comes after all elements.
      std::fill(to + chooser.count, to + count, Candidates::make(0, length));
    });
    Candidates().sort(best.data(), best.size());
    return best;
  }
};

template <typename Kind>
void chooseOfLines(const PcrtFrame *frame, const PcrtTensor &input, const PcrtTensor &values, const PcrtTensor &places,
                   int64_t dimension) {
  using Bits = typename Kind::Bits;
  Lines from(input, dimension), to(values, dimension);
  if (to.length == 0)
    return;
  auto length = static_cast<size_t>(from.length), count = static_cast<size_t>(to.length);
  const bool isShared = length >= 2 * sharedBlock && count * fewest <= sharedBlock && library::threadsOf(frame) > 1;
  LineChooser<Kind> chooser(isShared ? 0 : length, isShared ? 0 : count);
  std::vector<typename LineChooser<Kind>::Word> best;
  std::vector<Bits> gathered(from.stride == 1 ? 0 : static_cast<size_t>(from.length));
  for (int64_t line = 0; line < from.count(); ++line) {
    const Bits *elements = static_cast<const Bits *>(input.data) + from.start(line);
    if (from.stride != 1) {
      for (int64_t i = 0; i < from.length; ++i)
        gathered[static_cast<size_t>(i)] = elements[i * from.stride];
      elements = gathered.data();
    }
    if (isShared)
      best = LineChooser<Kind>::chooseShared(frame, elements, length, count);
    const auto *chosen = isShared ? best.data() : chooser.choose(elements);
    Bits *value = static_cast<Bits *>(values.data) + to.start(line);
    int32_t *place = static_cast<int32_t *>(places.data) + to.start(line);
    for (int64_t i = 0; i < to.length; ++i) {
      size_t position = LineChooser<Kind>::position(chosen[i]);
      value[i * to.stride] = elements[position];
      place[i * to.stride] = static_cast<int32_t>(position);
    }
  }
}

} // namespace

static int32_t top_kWhole(const PcrtFrame *frame, const PcrtTensor *inputs, int32_t inputCount,
                          const PcrtTensor *outputs, int32_t outputCount, const int64_t *params) {
  if (inputCount != 1 || outputCount != 2 || params[0] < 0 || params[0] >= inputs[0].rank ||
      outputs[0].dtype != inputs[0].dtype || outputs[1].dtype != PCRT_DTYPE_Int32 ||
      outputs[0].dims[params[0]] > inputs[0].dims[params[0]])
    return PCRT_INVALID_ARGUMENT;
  try {
    bool isKnown = withKeys(inputs[0].dtype, [&](auto kind) {
      chooseOfLines<decltype(kind)>(frame, inputs[0], outputs[0], outputs[1], params[0]);
    });
    return isKnown ? PCRT_OK : PCRT_INVALID_ARGUMENT;
  } catch (const std::bad_alloc &) {
    return PCRT_OUT_OF_MEMORY;
  }
}

int32_t library::top_k(const PcrtFrame *frame, const PcrtTensor *inputs, int32_t inputCount, const PcrtTensor *outputs,
                       int32_t outputCount, const int64_t *params) {
  return overRows(top_kWhole, params[0] != 0, 10, frame, inputs, inputCount, outputs, outputCount, params);
}
