// The library routines behind `sort`, several operands sorted together along one dimension by the first of them, and
// `top_k`. Floats order as in NumPy and XLA: nan last, -0 equal to +0.
//
// Every key becomes an unsigned integer of the same order. Short lines are sorted by comparisons, long ones by the
// digits of the key, least significant first, which keeps equal keys in order. What is sorted are the keys alone where
// there is one operand, 64-bit words of key and position for one key of up to 32 bits, and pairs of both otherwise.
#include "../LibraryCalls.h"
#include "Rows.h"
#include "runtime/DType.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

using namespace pcrt;

namespace {

/// How a line along the sorted dimension lies in memory, and how many there are.
struct Lines {
  int64_t length = 1, stride = 1, outer = 1;

  Lines(const PcrtTensor &tensor, int64_t dimension) {
    length = tensor.dims[dimension];
    for (int64_t i = 0; i < dimension; ++i)
      outer *= tensor.dims[i];
    for (int64_t i = dimension + 1; i < tensor.rank; ++i)
      stride *= tensor.dims[i];
  }
  int64_t count() const { return outer * stride; }
  int64_t start(int64_t line) const { return (line / stride) * length * stride + line % stride; }
};

template <typename Bits> Bits signedKey(Bits bits) {
  return bits ^ static_cast<Bits>(Bits(1) << (8 * sizeof(Bits) - 1));
}

template <typename Bits> Bits floatKey(Bits bits, Bits infinity) {
  constexpr auto sign = static_cast<Bits>(Bits(1) << (8 * sizeof(Bits) - 1));
  auto magnitude = static_cast<Bits>(bits & ~sign);
  if (magnitude > infinity)
    return static_cast<Bits>(~Bits(0));
  if (magnitude == 0)
    return sign;
  return static_cast<Bits>(bits & sign ? ~bits : bits | sign);
}

template <typename Bits, typename Key, typename Word>
void readKeys(const PcrtTensor &tensor, const Lines &lines, int64_t line, Key key, Word *keys) {
  const Bits *element = static_cast<const Bits *>(tensor.data) + lines.start(line);
  for (int64_t i = 0; i < lines.length; ++i, element += lines.stride)
    keys[i] = static_cast<Word>(key(*element));
}

/// The keys of one line, as unsigned integers in the elements' order.
template <typename Word> void keysOf(const PcrtTensor &tensor, const Lines &lines, int64_t line, Word *keys) {
  auto read = [&](auto zero, auto key) { readKeys<decltype(zero)>(tensor, lines, line, key, keys); };
  auto same = [](auto bits) { return bits; };
  auto flipped = [](auto bits) { return signedKey(bits); };
  switch (static_cast<DType>(tensor.dtype)) {
  case DType::Bool:
  case DType::UInt8:
    return read(uint8_t(), same);
  case DType::UInt16:
    return read(uint16_t(), same);
  case DType::UInt32:
    return read(uint32_t(), same);
  case DType::UInt64:
    return read(uint64_t(), same);
  case DType::Int8:
    return read(uint8_t(), flipped);
  case DType::Int16:
    return read(uint16_t(), flipped);
  case DType::Int32:
    return read(uint32_t(), flipped);
  case DType::Int64:
    return read(uint64_t(), flipped);
  case DType::Float16:
    return read(uint16_t(), [](uint16_t bits) { return floatKey<uint16_t>(bits, 0x7c00); });
  case DType::BFloat16:
    return read(uint16_t(), [](uint16_t bits) { return floatKey<uint16_t>(bits, 0x7f80); });
  case DType::Float32:
    return read(uint32_t(), [](uint32_t bits) { return floatKey<uint32_t>(bits, 0x7f800000u); });
  case DType::Float64:
    return read(uint64_t(), [](uint64_t bits) { return floatKey<uint64_t>(bits, 0x7ff0000000000000u); });
  default: // no keys: sort() refuses the others
    return;
  }
}

//===-- Sorting keys --------------------------------------------------------------------------------------------===//

/// A key with the position of its element.
struct Placed {
  uint64_t key;
  uint64_t position;
};

/// From this length on, sorting by digits is faster than by comparisons.
constexpr size_t radixLength = 512;

/// Sorts by the bytes of `keyOf(word)` from bit `begin` to `end`, least significant first: one pass counts every byte,
/// then each has one stable pass that moves the words. Wider digits need fewer passes, but more places to write to than
/// the caches have lines for.
template <typename Word, typename KeyOf>
void radixSort(std::vector<Word> &words, std::vector<Word> &scratch, unsigned begin, unsigned end, KeyOf keyOf) {
  auto digitOf = [&](const Word &word, unsigned shift) { return (keyOf(word) >> shift) & 255; };
  size_t starts[8][256] = {};
  for (const Word &word : words)
    for (unsigned shift = begin, pass = 0; shift < end; shift += 8)
      ++starts[pass++][digitOf(word, shift)];
  scratch.resize(words.size());
  for (unsigned shift = begin, pass = 0; shift < end; shift += 8) {
    size_t *start = starts[pass++];
    if (start[digitOf(words[0], shift)] == words.size())
      continue; // all alike in this digit
    size_t next = 0;
    for (size_t digit = 0; digit < 256; ++digit)
      next += std::exchange(start[digit], next);
    for (const Word &word : words)
      scratch[start[digitOf(word, shift)]++] = word;
    words.swap(scratch);
  }
}

/// The positions of a line's elements in sorted order. Equal keys keep their order.
class LineSorter {
public:
  LineSorter(const PcrtTensor *inputs, int64_t keyCount, const Lines &lines)
      : inputs(inputs), keyCount(keyCount), lines(lines), length(static_cast<size_t>(lines.length)), keys(length),
        order(length) {}

  const std::vector<int64_t> &sort(int64_t line) {
    if (keyCount == 1 && byteSize(static_cast<DType>(inputs[0].dtype)) <= 4 && length <= UINT32_MAX)
      sortPacked(line);
    else
      sortPlaced(line);
    return order;
  }

private:
  unsigned keyBits(int64_t key) const {
    return 8 * static_cast<unsigned>(byteSize(static_cast<DType>(inputs[key].dtype)));
  }

  void sortPacked(int64_t line) {
    keysOf(inputs[0], lines, line, keys.data());
    for (size_t i = 0; i < length; ++i)
      keys[i] = keys[i] << 32 | i;
    if (length >= radixLength)
      radixSort(keys, scratch, 32, 32 + keyBits(0), [](uint64_t word) { return word; });
    else
      std::sort(keys.begin(), keys.end());
    for (size_t i = 0; i < length; ++i)
      order[i] = static_cast<int64_t>(keys[i] & UINT32_MAX);
  }

  /// The last key first: each pass is stable, so earlier keys win.
  void sortPlaced(int64_t line) {
    placed.resize(length);
    for (size_t i = 0; i < length; ++i)
      placed[i].position = i;
    for (int64_t k = keyCount; k-- > 0;) {
      keysOf(inputs[k], lines, line, keys.data());
      for (Placed &element : placed)
        element.key = keys[element.position];
      if (length >= radixLength)
        radixSort(placed, placedScratch, 0, keyBits(k), [](const Placed &element) { return element.key; });
      else
        std::stable_sort(placed.begin(), placed.end(), [](const Placed &a, const Placed &b) { return a.key < b.key; });
    }
    for (size_t i = 0; i < length; ++i)
      order[i] = static_cast<int64_t>(placed[i].position);
  }

  const PcrtTensor *inputs;
  const int64_t keyCount;
  const Lines &lines;
  const size_t length;
  std::vector<uint64_t> keys, scratch;
  std::vector<Placed> placed, placedScratch;
  std::vector<int64_t> order;
};

//===-- One operand ---------------------------------------------------------------------------------------------===//

/// The bits that have a given key; one zero stands for both, and one nan for all.
template <typename Bits> Bits bitsOfKey(Bits key, bool isSigned, bool isFloat) {
  constexpr auto sign = static_cast<Bits>(Bits(1) << (8 * sizeof(Bits) - 1));
  if (isFloat)
    return static_cast<Bits>(key & sign ? key ^ sign : ~key);
  return isSigned ? signedKey(key) : key;
}

/// Puts the zeros and the nans of a line into their places among its sorted keys' bits, in the line's order.
template <typename Bits> class SpecialFloats {
public:
  explicit SpecialFloats(const std::vector<Bits> &keys) {
    constexpr auto zero = static_cast<Bits>(Bits(1) << (8 * sizeof(Bits) - 1));
    auto zeros = std::equal_range(keys.begin(), keys.end(), zero);
    nextZero = static_cast<size_t>(zeros.first - keys.begin());
    nextNan =
        static_cast<size_t>(std::lower_bound(zeros.second, keys.end(), static_cast<Bits>(~Bits(0))) - keys.begin());
    any = zeros.first != zeros.second || nextNan != keys.size();
  }

  void restore(const Bits *element, int64_t stride, Bits infinity, std::vector<Bits> &sorted) {
    for (size_t i = 0; any && i < sorted.size(); ++i, element += stride) {
      auto magnitude = static_cast<Bits>(*element & static_cast<Bits>(~Bits(0)) >> 1);
      if (magnitude == 0)
        sorted[nextZero++] = *element;
      else if (magnitude > infinity)
        sorted[nextNan++] = *element;
    }
  }

private:
  size_t nextZero, nextNan;
  bool any;
};

/// The pattern of infinity, 0 for types that are not floats.
uint64_t infinityOf(DType dtype) {
  switch (dtype) {
  case DType::Float16:
    return 0x7c00;
  case DType::BFloat16:
    return 0x7f80;
  case DType::Float32:
    return 0x7f800000;
  case DType::Float64:
    return 0x7ff0000000000000;
  default:
    return 0;
  }
}

/// Sorts the lines of a single operand: its elements are the bits of their keys.
template <typename Bits> void sortValues(const PcrtTensor &input, const PcrtTensor &output, const Lines &lines) {
  auto dtype = static_cast<DType>(input.dtype);
  bool isSigned = dtype == DType::Int8 || dtype == DType::Int16 || dtype == DType::Int32 || dtype == DType::Int64;
  auto infinity = static_cast<Bits>(infinityOf(dtype));
  std::vector<Bits> keys(static_cast<size_t>(lines.length)), scratch;
  for (int64_t line = 0; line < lines.count(); ++line) {
    int64_t start = lines.start(line);
    keysOf(input, lines, line, keys.data());
    if (keys.size() >= radixLength)
      radixSort(keys, scratch, 0, 8 * sizeof(Bits), [](Bits key) { return key; });
    else
      std::sort(keys.begin(), keys.end());
    SpecialFloats<Bits> special(keys);
    for (Bits &key : keys)
      key = bitsOfKey(key, isSigned, infinity != 0);
    if (infinity != 0)
      special.restore(static_cast<const Bits *>(input.data) + start, lines.stride, infinity, keys);
    Bits *target = static_cast<Bits *>(output.data) + start;
    for (size_t i = 0; i < keys.size(); ++i)
      target[static_cast<int64_t>(i) * lines.stride] = keys[i];
  }
}

void sortValues(const PcrtTensor &input, const PcrtTensor &output, const Lines &lines) {
  switch (byteSize(static_cast<DType>(input.dtype))) {
  case 1:
    return sortValues<uint8_t>(input, output, lines);
  case 2:
    return sortValues<uint16_t>(input, output, lines);
  case 4:
    return sortValues<uint32_t>(input, output, lines);
  default:
    return sortValues<uint64_t>(input, output, lines);
  }
}

/// The bits of a complex128.
struct Pair {
  uint64_t first, second;
};

/// output[i] = input[order[i]] along one line. The operands may share memory: the line is read before it is written.
template <typename Bits>
void permuteAs(const PcrtTensor &input, const PcrtTensor &output, int64_t start, int64_t stride,
               const std::vector<int64_t> &order, std::vector<uint64_t> &scratch) {
  auto *copy = reinterpret_cast<Bits *>(scratch.data());
  const Bits *source = static_cast<const Bits *>(input.data) + start;
  Bits *target = static_cast<Bits *>(output.data) + start;
  for (size_t i = 0; i < order.size(); ++i)
    copy[i] = source[order[i] * stride];
  for (size_t i = 0; i < order.size(); ++i)
    target[static_cast<int64_t>(i) * stride] = copy[i];
}

void permute(const PcrtTensor &input, const PcrtTensor &output, int64_t start, int64_t stride,
             const std::vector<int64_t> &order, std::vector<uint64_t> &scratch) {
  switch (byteSize(static_cast<DType>(input.dtype))) {
  case 1:
    return permuteAs<uint8_t>(input, output, start, stride, order, scratch);
  case 2:
    return permuteAs<uint16_t>(input, output, start, stride, order, scratch);
  case 4:
    return permuteAs<uint32_t>(input, output, start, stride, order, scratch);
  case 8:
    return permuteAs<uint64_t>(input, output, start, stride, order, scratch);
  default:
    return permuteAs<Pair>(input, output, start, stride, order, scratch);
  }
}

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

static int32_t sortWhole(const PcrtFrame *, const PcrtTensor *inputs, int32_t inputCount, const PcrtTensor *outputs,
                         int32_t outputCount, const int64_t *params) {
  if (!valid(inputs, inputCount, outputs, outputCount, params))
    return PCRT_INVALID_ARGUMENT;
  Lines lines(inputs[0], params[0]);
  try {
    if (inputCount == 1) {
      sortValues(inputs[0], outputs[0], lines);
      return PCRT_OK;
    }
    LineSorter sorter(inputs, params[1], lines);
    // Wide enough for the widest elements.
    std::vector<uint64_t> scratch(2 * static_cast<size_t>(lines.length));
    for (int64_t line = 0; line < lines.count(); ++line) {
      const std::vector<int64_t> &order = sorter.sort(line);
      for (int32_t i = 0; i < inputCount; ++i)
        permute(inputs[i], outputs[i], lines.start(line), lines.stride, order, scratch);
    }
  } catch (const std::bad_alloc &) {
    return PCRT_OUT_OF_MEMORY;
  }
  return PCRT_OK;
}

int32_t library::sort(const PcrtFrame *frame, const PcrtTensor *inputs, int32_t inputCount, const PcrtTensor *outputs,
                      int32_t outputCount, const int64_t *params) {
  bool isCut = params[0] != 0;
  return isCut ? overRows(sortWhole, frame, inputs, inputCount, outputs, outputCount, params, 20)
               : sortWhole(frame, inputs, inputCount, outputs, outputCount, params);
}

namespace {

/// The positions of the greatest `count` keys of one line in descending order, equal ones in their own.
void chooseGreatest(const std::vector<uint64_t> &keys, size_t count,
                    std::vector<std::pair<uint64_t, int64_t>> &chosen) {
  chosen.resize(keys.size());
  for (size_t i = 0; i < keys.size(); ++i)
    chosen[i] = {~keys[i], static_cast<int64_t>(i)};
  auto end = chosen.begin() + static_cast<int64_t>(count);
  if (end != chosen.end())
    std::nth_element(chosen.begin(), end, chosen.end());
  std::sort(chosen.begin(), end);
}

/// target[i] = source[chosen[i]] along lines of both.
template <typename Bits>
void takeChosen(const Bits *source, Bits *target, int64_t stride, size_t count,
                const std::vector<std::pair<uint64_t, int64_t>> &chosen) {
  for (size_t i = 0; i < count; ++i)
    target[static_cast<int64_t>(i) * stride] = source[chosen[i].second * stride];
}

} // namespace

static int32_t top_kWhole(const PcrtFrame *, const PcrtTensor *inputs, int32_t inputCount, const PcrtTensor *outputs,
                          int32_t outputCount, const int64_t *params) {
  if (inputCount != 1 || outputCount != 2 || params[0] < 0 || params[0] >= inputs[0].rank ||
      outputs[0].dtype != inputs[0].dtype || outputs[1].dtype != PCRT_DTYPE_Int32 ||
      outputs[0].dims[params[0]] > inputs[0].dims[params[0]])
    return PCRT_INVALID_ARGUMENT;
  Lines from(inputs[0], params[0]), to(outputs[0], params[0]);
  auto count = static_cast<size_t>(to.length);
  try {
    std::vector<uint64_t> keys(static_cast<size_t>(from.length));
    std::vector<std::pair<uint64_t, int64_t>> chosen;
    for (int64_t line = 0; count > 0 && line < from.count(); ++line) {
      keysOf(inputs[0], from, line, keys.data());
      chooseGreatest(keys, count, chosen);
      auto take = [&](auto zero) {
        using Bits = decltype(zero);
        takeChosen(static_cast<const Bits *>(inputs[0].data) + from.start(line),
                   static_cast<Bits *>(outputs[0].data) + to.start(line), from.stride, count, chosen);
      };
      switch (byteSize(static_cast<DType>(inputs[0].dtype))) {
      case 1:
        take(uint8_t());
        break;
      case 2:
        take(uint16_t());
        break;
      case 4:
        take(uint32_t());
        break;
      default:
        take(uint64_t());
      }
      auto *indices = static_cast<int32_t *>(outputs[1].data) + to.start(line);
      for (size_t i = 0; i < count; ++i)
        indices[static_cast<int64_t>(i) * to.stride] = static_cast<int32_t>(chosen[i].second);
    }
  } catch (const std::bad_alloc &) {
    return PCRT_OUT_OF_MEMORY;
  }
  return PCRT_OK;
}

int32_t library::top_k(const PcrtFrame *frame, const PcrtTensor *inputs, int32_t inputCount, const PcrtTensor *outputs,
                       int32_t outputCount, const int64_t *params) {
  bool isCut = params[0] != 0;
  return isCut ? overRows(top_kWhole, frame, inputs, inputCount, outputs, outputCount, params, 10)
               : top_kWhole(frame, inputs, inputCount, outputs, outputCount, params);
}
