// The library routine of `sort`: sorts several operands together along one dimension by the first of them. Equal keys
// keep their order.
//
// With one operand, the keys alone are sorted. With one key of up to 32 bits, 64-bit words of key and position are
// sorted, and otherwise pairs of both.
#include "Rows.h"
#include "SortKeys.h"
#include "SortWords.h"
#include "support/LibraryCalls.h"

#include <algorithm>
#include <new>
#include <vector>

using namespace pcrt;

namespace {

//===-- Long lines ----------------------------------------------------------------------------------------------===//

/// The minimum length of a line that threads share, and of a part of it.
constexpr size_t sharedLine = size_t(1) << 16, shortestPart = size_t(1) << 14;

/// Calls body(i) for the elements of a line, in as many threads as are free. `ns` is the time of a call.
template <typename Body> void forElements(const PcrtFrame *frame, size_t count, double ns, const Body &body) {
  auto parts = static_cast<int64_t>((count + shortestPart - 1) / shortestPart);
  library::overPieces(frame, parts, ns * shortestPart, [&](int64_t part) {
    size_t begin = static_cast<size_t>(part) * shortestPart, end = std::min(begin + shortestPart, count);
    for (size_t i = begin; i < end; ++i)
      body(i);
  });
}

/// Sorts a line in as many threads as are free: words are selected that divide it into parts, and the parts are sorted.
/// Equal words are identical, so the result does not depend on the threads.
template <typename Word>
void sortShared(const PcrtFrame *frame, Word *words, size_t count, void (*sort)(Word *, size_t),
                void (*select)(Word *, size_t, size_t)) {
  int64_t threads = count < sharedLine ? 1 : library::threadsOf(frame);
  if (threads < 2)
    return sort(words, count);
  auto begin = [&](int64_t part, int64_t parts) { return count * static_cast<size_t>(part) / size_t(parts); };
  auto ns = [&](int64_t parts) { return 2.0 * static_cast<double>(count / size_t(parts)); };
  int64_t parts = 1;
  // Twice as many parts as threads: one of them may be late.
  for (; parts < 2 * threads && count / size_t(2 * parts) >= shortestPart; parts *= 2)
    library::overPieces(frame, parts, ns(parts), [&](int64_t part) {
      size_t first = begin(part, parts), middle = begin(2 * part + 1, 2 * parts);
      select(words + first, middle - first, begin(part + 1, parts) - first);
    });
  library::overPieces(frame, parts, 4 * ns(parts), [&](int64_t part) {
    size_t first = begin(part, parts);
    sort(words + first, begin(part + 1, parts) - first);
  });
}

//===-- Several operands ----------------------------------------------------------------------------------------===//

/// A key with the position of its element.
struct Placed {
  uint64_t key;
  uint64_t position;
};

/// The positions of a line's elements in sorted order.
class LineSorter {
public:
  LineSorter(const PcrtFrame *frame, const PcrtTensor *inputs, int64_t keyCount, const Lines &lines)
      : frame(frame), inputs(inputs), keyCount(keyCount), lines(lines), length(static_cast<size_t>(lines.length)),
        words(length) {}

  const std::vector<uint64_t> &sort(int64_t line) {
    if (keyCount == 1 && keyBits(0) <= 32 && length <= UINT32_MAX)
      sortPacked(line);
    else
      sortPlaced(line);
    return words;
  }

private:
  unsigned keyBits(int64_t key) const {
    return 8 * static_cast<unsigned>(byteSize(static_cast<DType>(inputs[key].dtype)));
  }

  template <typename Use> void forKeys(int64_t key, int64_t line, Use use) const {
    withKeys(inputs[key].dtype, [&](auto kind) {
      using Kind = decltype(kind);
      const auto *elements = static_cast<const typename Kind::Bits *>(inputs[key].data) + lines.start(line);
      forElements(frame, length, .5, [&](size_t i) {
        use(i, static_cast<uint64_t>(Kind::key(elements[static_cast<int64_t>(i) * lines.stride])));
      });
    });
  }

  void sortPacked(int64_t line) {
    forKeys(0, line, [&](size_t i, uint64_t key) { words[i] = key << 32 | i; });
    if (const VectorSort *vectors = vectorSort())
      sortShared(frame, words.data(), length, vectors->sort64, vectors->select64);
    else
      sortWords(words.data(), length, scratch, 32, 32 + keyBits(0));
    forElements(frame, length, .3, [&](size_t i) { words[i] &= UINT32_MAX; });
  }

  /// The last key first: each pass is stable, so earlier keys win.
  void sortPlaced(int64_t line) {
    placed.resize(length);
    for (size_t i = 0; i < length; ++i)
      placed[i].position = i;
    for (int64_t k = keyCount; k-- > 0;) {
      forKeys(k, line, [&](size_t i, uint64_t key) { words[i] = key; });
      for (Placed &element : placed)
        element.key = words[element.position];
      if (length >= radixLength)
        radixSort(placed.data(), length, placedScratch, 0, keyBits(k),
                  [](const Placed &element) { return element.key; });
      else
        std::stable_sort(placed.begin(), placed.end(), [](const Placed &a, const Placed &b) { return a.key < b.key; });
    }
    for (size_t i = 0; i < length; ++i)
      words[i] = placed[i].position;
  }

  const PcrtFrame *const frame;
  const PcrtTensor *inputs;
  const int64_t keyCount;
  const Lines &lines;
  const size_t length;
  /// Keys, keys with positions, and in the end the positions.
  std::vector<uint64_t> words;
  std::vector<uint64_t> scratch;
  std::vector<Placed> placed, placedScratch;
};

/// The bits of a complex128.
struct Pair {
  uint64_t first, second;
};

/// output[i] = input[order[i]] along one line. An operand may share the memory of its result: the line is then read
/// before it is written.
template <typename Bits>
void permuteAs(const PcrtFrame *frame, const PcrtTensor &input, const PcrtTensor &output, int64_t start, int64_t stride,
               const std::vector<uint64_t> &order, std::vector<uint64_t> &scratch) {
  const Bits *source = static_cast<const Bits *>(input.data) + start;
  Bits *target = static_cast<Bits *>(output.data) + start;
  size_t length = order.size();
  auto ordered = [&](size_t i) { return source[static_cast<int64_t>(order[i]) * stride]; };
  if (source != target) {
    forElements(frame, length, 1, [&](size_t i) { target[static_cast<int64_t>(i) * stride] = ordered(i); });
    return;
  }
  scratch.resize((length * sizeof(Bits) + 7) / 8);
  auto *copy = reinterpret_cast<Bits *>(scratch.data());
  forElements(frame, length, 1, [&](size_t i) { copy[i] = ordered(i); });
  forElements(frame, length, .3, [&](size_t i) { target[static_cast<int64_t>(i) * stride] = copy[i]; });
}

void permute(const PcrtFrame *frame, const PcrtTensor &input, const PcrtTensor &output, int64_t start, int64_t stride,
             const std::vector<uint64_t> &order, std::vector<uint64_t> &scratch) {
  switch (byteSize(static_cast<DType>(input.dtype))) {
  case 1:
    return permuteAs<uint8_t>(frame, input, output, start, stride, order, scratch);
  case 2:
    return permuteAs<uint16_t>(frame, input, output, start, stride, order, scratch);
  case 4:
    return permuteAs<uint32_t>(frame, input, output, start, stride, order, scratch);
  case 8:
    return permuteAs<uint64_t>(frame, input, output, start, stride, order, scratch);
  default:
    return permuteAs<Pair>(frame, input, output, start, stride, order, scratch);
  }
}

//===-- One operand ---------------------------------------------------------------------------------------------===//

/// Sorts the lines of a single operand: its elements are the bits of their keys.
template <typename Kind> class ValueSorter {
public:
  ValueSorter(const PcrtFrame *frame, const PcrtTensor &input, const PcrtTensor &output, const Lines &lines)
      : frame(frame), lines(lines), length(static_cast<size_t>(lines.length)),
        source(static_cast<const Bits *>(input.data)), target(static_cast<Bits *>(output.data)) {}

  void sort() {
    if (lines.stride == 1)
      for (int64_t i = 0; i < lines.outer; ++i)
        sortLine(source + i * lines.length, target + i * lines.length);
    else
      for (int64_t i = 0; i < lines.outer; ++i)
        for (int64_t lane = 0; lane < lines.stride; lane += atOnce)
          sortNeighbours(i * lines.length * lines.stride + lane, std::min(atOnce, lines.stride - lane));
  }

private:
  using Bits = typename Kind::Bits;
  /// Words are sorted, not bytes.
  using Word = std::conditional_t<sizeof(Bits) < 4, uint32_t, Bits>;
  /// The number of strided lines that are read together: a cache line for each of their elements.
  static constexpr int64_t atOnce = 64 / sizeof(Bits);

  void sortNeighbours(int64_t start, int64_t lanes) {
    gathered.resize(length * static_cast<size_t>(atOnce));
    const Bits *from = source + start;
    for (int64_t i = 0; i < lines.length; ++i, from += lines.stride)
      for (int64_t lane = 0; lane < lanes; ++lane)
        gathered[static_cast<size_t>(lane * lines.length + i)] = from[lane];
    for (int64_t lane = 0; lane < lanes; ++lane) {
      Bits *line = gathered.data() + lane * lines.length;
      sortLine(line, line);
    }
    Bits *to = target + start;
    for (int64_t i = 0; i < lines.length; ++i, to += lines.stride)
      for (int64_t lane = 0; lane < lanes; ++lane)
        to[lane] = gathered[static_cast<size_t>(lane * lines.length + i)];
  }

  static bool isLost(Bits bits) {
    if constexpr (Kind::isFloat)
      return Kind::isLost(bits);
    else
      return false;
  }

  void sortLine(const Bits *from, Bits *to) {
    if constexpr (sizeof(Bits) >= 4) {
      const VectorSort *vectors = vectorSort();
      if (vectors && sortNumbers(from, to, *vectors))
        return;
    }
    sortKeys(from, to);
  }

  /// Sorts a line in its original type; false if it has floats whose order differs from that of their bits.
  bool sortNumbers(const Bits *from, Bits *to, const VectorSort &vectors) const {
    if (from == to ? hasLost(from) : copyAndLook(from, to))
      return false;
    sortInPlace(to, vectors);
    return true;
  }

  bool hasLost(const Bits *from) const {
    Bits lost = 0;
    for (size_t i = 0; Kind::isFloat && i < length; ++i)
      lost |= isLost(from[i]);
    return lost;
  }

  /// Copies a line in one pass; returns whether it has elements that keys lose.
  bool copyAndLook(const Bits *__restrict from, Bits *__restrict to) const {
    Bits lost = 0;
    for (size_t i = 0; i < length; ++i) {
      to[i] = from[i];
      lost |= isLost(from[i]);
    }
    return lost;
  }

  void sortInPlace(Bits *line, const VectorSort &vectors) const {
    constexpr bool isSingle = sizeof(Bits) == 4;
    auto sort = [&](auto *words, auto... functions) { sortShared(frame, words, length, functions...); };
    if constexpr (Kind::isFloat && isSingle)
      sort(reinterpret_cast<float *>(line), vectors.sortF32, vectors.selectF32);
    else if constexpr (Kind::isFloat)
      sort(reinterpret_cast<double *>(line), vectors.sortF64, vectors.selectF64);
    else if constexpr (Kind::isSigned && isSingle)
      sort(reinterpret_cast<int32_t *>(line), vectors.sortI32, vectors.selectI32);
    else if constexpr (Kind::isSigned)
      sort(reinterpret_cast<int64_t *>(line), vectors.sortI64, vectors.selectI64);
    else if constexpr (isSingle)
      sort(line, vectors.sort32, vectors.select32);
    else
      sort(line, vectors.sort64, vectors.select64);
  }

  void sortKeys(const Bits *from, Bits *to) {
    keys.resize(length);
    Bits lost = 0;
    for (size_t i = 0; i < length; ++i) {
      keys[i] = Kind::key(from[i]);
      lost |= isLost(from[i]);
    }
    sortWords(keys.data(), length, scratch, 0, 8 * sizeof(Bits));
    if (lost && from == to) {
      original.assign(from, from + length);
      from = original.data();
    }
    for (size_t i = 0; i < length; ++i)
      to[i] = Kind::bits(static_cast<Bits>(keys[i]));
    if constexpr (Kind::isFloat)
      if (lost)
        restoreLost(from, to);
  }

  /// Puts the zeros and the nans of a line at their positions among its sorted elements, in the line's order.
  void restoreLost(const Bits *from, Bits *to) const {
    auto first = [&](Bits key) { return to + (std::lower_bound(keys.begin(), keys.end(), key) - keys.begin()); };
    Bits *zero = first(signBit<Bits>), *nan = first(static_cast<Bits>(~Bits(0)));
    for (size_t i = 0; i < length; ++i)
      if (Kind::isZero(from[i]))
        *zero++ = from[i];
      else if (Kind::isNan(from[i]))
        *nan++ = from[i];
  }

  const PcrtFrame *const frame;
  const Lines &lines;
  const size_t length;
  const Bits *const source;
  Bits *const target;
  std::vector<Word> keys, scratch;
  std::vector<Bits> gathered, original;
};

//===-- The routine ---------------------------------------------------------------------------------------------===//

bool valid(const PcrtTensor *inputs, int32_t inputCount, const PcrtTensor *outputs, int32_t outputCount,
           const int64_t *params) {
  if (inputCount < 1 || outputCount != inputCount || params[1] < 1 || params[1] > inputCount)
    return false;
  if (params[0] < 0 || params[0] >= inputs[0].rank)
    return false;
  for (int32_t i = 0; i < inputCount; ++i) {
    if (inputs[i].dtype < 0 || inputs[i].dtype >= dtypeCount || outputs[i].dtype != inputs[i].dtype)
      return false;
    if (i < params[1] && inputs[i].dtype > PCRT_DTYPE_Float64)
      return false;
    if (inputs[i].rank != inputs[0].rank || outputs[i].rank != inputs[0].rank)
      return false;
    for (int32_t d = 0; d < inputs[0].rank; ++d)
      if (inputs[i].dims[d] != inputs[0].dims[d] || outputs[i].dims[d] != inputs[0].dims[d])
        return false;
  }
  return true;
}

} // namespace

static int32_t sortWhole(const PcrtFrame *frame, const PcrtTensor *inputs, int32_t inputCount,
                         const PcrtTensor *outputs, int32_t outputCount, const int64_t *params) {
  if (!valid(inputs, inputCount, outputs, outputCount, params))
    return PCRT_INVALID_ARGUMENT;
  Lines lines(inputs[0], params[0]);
  try {
    if (inputCount == 1) {
      withKeys(inputs[0].dtype,
               [&](auto kind) { ValueSorter<decltype(kind)>(frame, inputs[0], outputs[0], lines).sort(); });
      return PCRT_OK;
    }
    LineSorter sorter(frame, inputs, params[1], lines);
    std::vector<uint64_t> scratch;
    for (int64_t line = 0; line < lines.count(); ++line) {
      const std::vector<uint64_t> &order = sorter.sort(line);
      for (int32_t i = 0; i < inputCount; ++i)
        permute(frame, inputs[i], outputs[i], lines.start(line), lines.stride, order, scratch);
    }
  } catch (const std::bad_alloc &) {
    return PCRT_OUT_OF_MEMORY;
  }
  return PCRT_OK;
}

int32_t library::sort(const PcrtFrame *frame, const PcrtTensor *inputs, int32_t inputCount, const PcrtTensor *outputs,
                      int32_t outputCount, const int64_t *params) {
  return overRows(sortWhole, params[0] != 0, 20, frame, inputs, inputCount, outputs, outputCount, params);
}
