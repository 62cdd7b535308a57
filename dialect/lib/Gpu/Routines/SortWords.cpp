// The launches that sort words (SortWords.h). Short lines: a block sorts a chunk, then merges double the length of
// sorted runs. Long lines: by radix.
#include "SortWords.h"

#include "llvm/Support/MathExtras.h"

namespace mlir::array {

static constexpr int64_t kThreads = 256;
/// The maximum number of words that a block sorts in shared memory, and the bytes of each.
static constexpr int64_t kMostOfChunk = 1024, kSharedBytesOfWord = 16;
/// From this length on, for each bit of the keys, a line is sorted by radix. Its launches for eight bits take as long
/// as the merges of a short line; every doubling of the length adds a merge.
static constexpr int64_t kRadixLengthOfBit = 2048;
/// Sizes of dialect/device/RadixSort.cpp: bits of a digit, words of a chunk, shared memory of a block that moves them.
static constexpr int64_t kDigitBits = 8, kDigits = 1 << kDigitBits, kRadixChunk = 2048;
static constexpr int64_t kRadixSharedBytes =
    (kRadixChunk + kRadixChunk / 8) * 12 + 16 * kThreads * 2 + 2 * 4 * kThreads;

SortWords::SortWords(DeviceLauncher &launcher, AxisSizes sizes)
    : launcher(launcher), sizes(sizes), lines(sizes.outer * sizes.inner), count(lines * sizes.length),
      keys(launcher.scratch(count * sizeof(uint64_t))), positions(launcher.scratch(count * sizeof(uint32_t))) {}

void SortWords::take(Value operand, Type element, bool isFirst, bool isDescending) {
  keyBits = 8 * elementBytes(element);
  launcher.launch("sort_keys_" + elementName(element), blocksFor(count, kThreads), kThreads,
                  {operand, keys, positions, launcher.number(sizes.length), launcher.number(sizes.inner),
                   launcher.number(count), launcher.number(isFirst), launcher.number(isDescending)});
}

void SortWords::sort() {
  if (sizes.length >= kRadixLengthOfBit * keyBits)
    sortByRadix();
  else
    sortByMerging();
}

void SortWords::advance() {
  std::swap(keys, nextKeys);
  std::swap(positions, nextPositions);
}

void SortWords::sortByRadix() {
  int64_t chunks = llvm::divideCeil(sizes.length, kRadixChunk);
  AxisSizes table({lines, kDigits * chunks}, 1);
  Type u32 = launcher.builder().getIntegerType(32, /*isSigned=*/false);
  Value counts = launcher.scratch(lines * kDigits * chunks * sizeof(uint32_t)),
        sums = launcher.scratch(lines * kDigits * chunks * sizeof(uint32_t)), length = launcher.number(sizes.length),
        chunkCount = launcher.number(chunks);
  if (!nextKeys) {
    nextKeys = launcher.scratch(count * sizeof(uint64_t));
    nextPositions = launcher.scratch(count * sizeof(uint32_t));
  }
  for (int64_t bit = 0; bit < keyBits; bit += kDigitBits) {
    Value shift = launcher.number(bit);
    launcher.launch("radix_count", lines * chunks, kThreads, {keys, counts, length, chunkCount, shift},
                    kDigits * sizeof(uint32_t));
    launchCumulative(launcher, "sum", u32, counts, sums, table, /*isReverse=*/false);
    launcher.launch("radix_move", lines * chunks, kThreads,
                    {keys, positions, nextKeys, nextPositions, counts, sums, length, chunkCount, shift},
                    kRadixSharedBytes);
    advance();
  }
}

void SortWords::sortByMerging() {
  int64_t chunk = std::clamp<int64_t>(llvm::PowerOf2Ceil(sizes.length), 2, kMostOfChunk);
  int64_t chunksOfLine = llvm::divideCeil(sizes.length, chunk);
  launcher.launch(
      "sort_chunks", lines * chunksOfLine, std::max<int64_t>(32, chunk / 2),
      {keys, positions, launcher.number(sizes.length), launcher.number(chunk), launcher.number(chunksOfLine)},
      chunk * kSharedBytesOfWord);
  if (chunk < sizes.length && !nextKeys) {
    nextKeys = launcher.scratch(count * sizeof(uint64_t));
    nextPositions = launcher.scratch(count * sizeof(uint32_t));
  }
  for (int64_t run = chunk; run < sizes.length; run *= 2) {
    launcher.launch("sort_merge", blocksFor(count, kThreads), kThreads,
                    {keys, positions, nextKeys, nextPositions, launcher.number(sizes.length), launcher.number(run),
                     launcher.number(count)});
    advance();
  }
}

void SortWords::permute(Value source, Value target, Type element, int64_t kept) {
  int64_t results = lines * kept;
  launcher.launch("sort_permute_" + std::to_string(elementBytes(element)), blocksFor(results, kThreads), kThreads,
                  {source, target, positions, launcher.number(sizes.length), launcher.number(kept),
                   launcher.number(sizes.inner), launcher.number(results)});
}

void SortWords::places(Value target, int64_t kept) {
  int64_t results = lines * kept;
  launcher.launch("sort_places", blocksFor(results, kThreads), kThreads,
                  {target, positions, launcher.number(sizes.length), launcher.number(kept),
                   launcher.number(sizes.inner), launcher.number(results)});
}

} // namespace mlir::array
