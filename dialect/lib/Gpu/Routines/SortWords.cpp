// The launches that sort words (SortWords.h): a block sorts a chunk, then merges double the length of sorted runs.
#include "SortWords.h"

#include "llvm/Support/MathExtras.h"

namespace mlir::array {

static constexpr int64_t kThreads = 256;
/// The maximum number of words that a block sorts in shared memory, and the bytes of each.
static constexpr int64_t kMostOfChunk = 1024, kSharedBytesOfWord = 16;

SortWords::SortWords(DeviceLauncher &launcher, AxisSizes sizes)
    : launcher(launcher), sizes(sizes), lines(sizes.outer * sizes.inner), count(lines * sizes.length),
      keys(launcher.scratch(count * sizeof(uint64_t))), positions(launcher.scratch(count * sizeof(uint32_t))) {}

void SortWords::take(Value operand, Type element, bool isFirst, bool isDescending) {
  launcher.launch("sort_keys_" + elementName(element), blocksFor(count, kThreads), kThreads,
                  {operand, keys, positions, launcher.number(sizes.length), launcher.number(sizes.inner),
                   launcher.number(count), launcher.number(isFirst), launcher.number(isDescending)});
}

void SortWords::sort() {
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
    std::swap(keys, nextKeys);
    std::swap(positions, nextPositions);
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
