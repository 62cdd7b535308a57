// The library routine behind `sort`: several operands sorted together along one dimension by the first of them. Floats
// order as in NumPy and XLA: nan last, -0 equal to +0.
//
// Every key becomes an unsigned integer of the same order. One key of up to 32 bits is packed with its position into a
// 64-bit word, so that a plain sort of words is a stable sort of the keys; long lines of such words are sorted by the
// digits of the key, least significant first.
#include "../LibraryCalls.h"
#include "runtime/DType.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <numeric>
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

template <typename Bits, typename Key>
void readKeys(const PcrtTensor &tensor, const Lines &lines, int64_t line, Key key, uint64_t *keys) {
  const Bits *element = static_cast<const Bits *>(tensor.data) + lines.start(line);
  for (int64_t i = 0; i < lines.length; ++i, element += lines.stride)
    keys[i] = key(*element);
}

/// The keys of one line, as unsigned integers in the elements' order.
void keysOf(const PcrtTensor &tensor, const Lines &lines, int64_t line, uint64_t *keys) {
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

/// From this length on, sorting by digits is faster than by comparisons.
constexpr size_t radixLength = 512;

/// Sorts words by their upper halves, `keyBytes` bytes of which are used; a stable pass for each byte.
void radixSort(std::vector<uint64_t> &words, std::vector<uint64_t> &scratch, size_t keyBytes) {
  for (size_t shift = 32; shift < 32 + 8 * keyBytes; shift += 8) {
    size_t starts[256] = {};
    for (uint64_t word : words)
      ++starts[(word >> shift) & 255];
    if (starts[(words[0] >> shift) & 255] == words.size())
      continue; // all alike in this digit
    size_t next = 0;
    for (size_t &start : starts)
      next += std::exchange(start, next);
    for (uint64_t word : words)
      scratch[starts[(word >> shift) & 255]++] = word;
    words.swap(scratch);
  }
}

/// The positions of a line's elements in sorted order. Equal keys keep their order: positions break ties.
class LineSorter {
public:
  LineSorter(const PcrtTensor *inputs, int64_t keyCount, const Lines &lines)
      : inputs(inputs), keyCount(keyCount), lines(lines), length(static_cast<size_t>(lines.length)), keys(length),
        order(length) {}

  const std::vector<int64_t> &sort(int64_t line) {
    if (keyCount == 1 && byteSize(static_cast<DType>(inputs[0].dtype)) <= 4 && length <= UINT32_MAX)
      sortPacked(line);
    else
      sortPositions(line);
    return order;
  }

private:
  void sortPacked(int64_t line) {
    keysOf(inputs[0], lines, line, keys.data());
    for (size_t i = 0; i < length; ++i)
      keys[i] = keys[i] << 32 | i;
    if (length >= radixLength) {
      scratch.resize(length);
      radixSort(keys, scratch, byteSize(static_cast<DType>(inputs[0].dtype)));
    } else {
      std::sort(keys.begin(), keys.end());
    }
    for (size_t i = 0; i < length; ++i)
      order[i] = static_cast<int64_t>(keys[i] & UINT32_MAX);
  }

  void sortPositions(int64_t line) {
    std::iota(order.begin(), order.end(), 0);
    // The last key first: each pass is stable, so earlier keys win.
    for (int64_t k = keyCount; k-- > 0;) {
      keysOf(inputs[k], lines, line, keys.data());
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return keys[static_cast<size_t>(a)] < keys[static_cast<size_t>(b)];
      });
    }
  }

  const PcrtTensor *inputs;
  const int64_t keyCount;
  const Lines &lines;
  const size_t length;
  std::vector<uint64_t> keys, scratch;
  std::vector<int64_t> order;
};

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

int32_t library::sort(const PcrtFrame *, const PcrtTensor *inputs, int32_t inputCount, const PcrtTensor *outputs,
                      int32_t outputCount, const int64_t *params) {
  if (!valid(inputs, inputCount, outputs, outputCount, params))
    return PCRT_INVALID_ARGUMENT;
  Lines lines(inputs[0], params[0]);
  try {
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
