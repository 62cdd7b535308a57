// Runs kernels block by block.
#include "runtime/BlockKernel.h"

#include <algorithm>
#include <cstring>
#include <iterator>

using namespace pcrt;

/// Bytes of an element of every operand.
static constexpr int64_t operandBytes = 4;
static_assert(blockLengths[0] * operandBytes == PCRT_ALIGNMENT);
static constexpr int64_t longestBlock = blockLengths[blockCount - 1];
/// The elements that a thread takes at a time in a shared run.
static constexpr int64_t sharedElements = 64 * longestBlock;

BlockKernel::BlockKernel(const PcrtEntry (&given)[blockCount], DType operand, DType result)
    : operand(operand), result(result) {
  std::copy(std::begin(given), std::end(given), entries);
}

Result<RefPtr<BlockKernel>> BlockKernel::load(const std::string_view (&objects)[blockCount], const std::string &entry,
                                              DType operand, DType result) {
  MappedObject mapped[blockCount];
  PcrtEntry entries[blockCount];
  for (int i = 0; i < blockCount; ++i) {
    Result<MappedObject> loaded = MappedObject::load(objects[i], entry);
    if (!loaded.isOk())
      return Status(loaded.status().code(), loaded.status().message());
    mapped[i] = loaded.take();
    entries[i] = mapped[i].entryPoint();
  }
  auto kernel = RefPtr<BlockKernel>::adopt(new BlockKernel(entries, operand, result));
  std::move(std::begin(mapped), std::end(mapped), kernel->objects);
  return kernel;
}

//===-- Operands
//-----------------------------------------------------------------------------------------------------===//

namespace {
/// A copy of elements of an operand that cannot be read in place.
struct alignas(PCRT_ALIGNMENT) Pad {
  char bytes[longestBlock * operandBytes];
};
} // namespace

template <typename To, typename From> static void convertAs(void *to, const void *from, int64_t count) {
  auto *results = static_cast<To *>(to);
  const auto *values = static_cast<const From *>(from);
  for (int64_t i = 0; i < count; ++i)
    results[i] = static_cast<To>(values[i]);
}

/// `count` elements into a pad, as the kernel's dtype.
static void convert(Pad &pad, DType wanted, const void *from, DType given, int64_t count) {
  if (given == wanted)
    std::memcpy(pad.bytes, from, static_cast<size_t>(count * operandBytes));
  else if (given == DType::Int32)
    convertAs<float, int32_t>(pad.bytes, from, count);
  else if (wanted == DType::Float32)
    convertAs<float, uint8_t>(pad.bytes, from, count);
  else
    convertAs<int32_t, uint8_t>(pad.bytes, from, count);
}

/// One element, repeated for a whole block.
static void repeat(Pad &pad, DType wanted, const void *from, DType given, int64_t count) {
  convert(pad, wanted, from, given, 1);
  uint32_t element;
  std::memcpy(&element, pad.bytes, sizeof(element));
  auto *elements = reinterpret_cast<uint32_t *>(pad.bytes);
  std::fill(elements, elements + count, element);
}

/// Whether a whole block of minimum length can be read from its start: it is one line, so it ends on the same page.
static bool isLine(const void *memory) { return reinterpret_cast<uintptr_t>(memory) % PCRT_ALIGNMENT == 0; }

//===-- Running
//-----------------------------------------------------------------------------------------------------===//

/// Chooses the longest block that pays: a scalar is repeated to the length of a block, which costs time.
static int longestFor(int64_t count, bool anyScalar) {
  int longest = blockCount - 1;
  while (longest > 0 && count < (anyScalar && longest == blockCount - 1 ? 8 : 1) * blockLengths[longest])
    --longest;
  return longest;
}

namespace {
/// One run of a kernel.
struct BlockRun {
  const PcrtEntry *entries;
  DType operand, result;
  const std::vector<BlockOperand> &operands;
  const PcrtFrame &frame;
  const Pad *scalars; // for each operand that is a scalar
  int longest;

  int32_t elements(int64_t begin, int64_t end) const;

private:
  const char *argument(const BlockOperand &given, int64_t offset) const {
    return static_cast<const char *>(frame.args[given.argument]) + offset * static_cast<int64_t>(byteSize(given.given));
  }
};
} // namespace

/// Computes the elements [begin, end); `begin` is a multiple of the longest block.
int32_t BlockRun::elements(int64_t begin, int64_t end) const {
  Pad pads[BlockKernel::mostOperands];
  const void *args[BlockKernel::mostOperands];
  PcrtFrame block = frame;
  block.args = args;
  int kind = longest;
  for (int64_t offset = begin, length; offset < end; offset += length) {
    while (kind > 0 && end - offset < blockLengths[kind])
      --kind;
    length = blockLengths[kind];
    int64_t valid = std::min(length, end - offset);
    for (size_t i = 0; i < operands.size(); ++i) {
      if (operands[i].isScalar) {
        args[i] = scalars[i].bytes;
        continue;
      }
      const char *from = argument(operands[i], offset);
      bool isThere = operands[i].given == operand && (valid == length || isLine(from));
      if (!isThere)
        convert(pads[i], operand, from, operands[i].given, valid);
      args[i] = isThere ? from : pads[i].bytes;
    }
    void *results[] = {static_cast<char *>(frame.results[0]) + offset * static_cast<int64_t>(byteSize(result))};
    block.results = results;
    if (int32_t status = entries[kind](&block))
      return status;
  }
  return PCRT_OK;
}

int32_t BlockKernel::run(const PcrtFrame &frame, const std::vector<BlockOperand> &operands, int64_t count) const {
  Pad scalars[mostOperands];
  bool anyScalar = false;
  for (const BlockOperand &given : operands)
    anyScalar |= given.isScalar;
  BlockRun run{entries, operand, result, operands, frame, scalars, longestFor(count, anyScalar)};
  for (size_t i = 0; i < operands.size(); ++i)
    if (operands[i].isScalar)
      repeat(scalars[i], operand, frame.args[operands[i].argument], operands[i].given, blockLengths[run.longest]);
  if (count < 2 * sharedElements)
    return run.elements(0, count);
  // The pool's threads share the longest blocks.
  struct Shared {
    const BlockRun &run;
    int64_t count;
  } shared{run, count};
  auto body = [](const PcrtFrame *, const void *captured, int64_t low, int64_t high) {
    const auto &[run, count] = *static_cast<const Shared *>(captured);
    return run.elements(low * longestBlock, std::min(high * longestBlock, count));
  };
  int64_t blocks = (count + longestBlock - 1) / longestBlock;
  return frame.table->parallel_for(&frame, body, &shared, blocks, sharedElements / longestBlock);
}
