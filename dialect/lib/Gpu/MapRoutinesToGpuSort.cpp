// The routines `sort` and `top_k` as launches (dialect/device/Sort.cpp).
#include "RoutineLauncher.h"

#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::array {

namespace {

constexpr int64_t kThreads = 256;
/// What a block sorts in shared memory at the most: 16 bytes of it for each.
constexpr int64_t kMostOfChunk = 1024, kSharedBytesOfWord = 16;

/// The words of all lines.
class Words {
public:
  Words(RoutineLauncher &launcher, AxisSizes sizes)
      : launcher(launcher), sizes(sizes), lines(sizes.outer * sizes.inner), count(lines * sizes.length),
        keys(launcher.scratch(count * sizeof(uint64_t))), positions(launcher.scratch(count * sizeof(uint32_t))) {
    if (sizes.length > kMostOfChunk) {
      nextKeys = launcher.scratch(count * sizeof(uint64_t));
      nextPositions = launcher.scratch(count * sizeof(uint32_t));
    }
  }

  /// Sorts by one more key, which comes before those sorted by so far.
  void sortBy(Value operand, Type element, bool isFirst, bool isDescending) {
    launcher.launch("sort_keys_" + elementName(element), blocksFor(count, kThreads), kThreads,
                    {operand, keys, positions, launcher.number(sizes.length), launcher.number(sizes.inner),
                     launcher.number(count), launcher.number(isFirst), launcher.number(isDescending)});
    int64_t chunk = std::clamp<int64_t>(llvm::PowerOf2Ceil(sizes.length), 2, kMostOfChunk);
    int64_t chunksOfLine = llvm::divideCeil(sizes.length, chunk);
    launcher.launch(
        "sort_chunks", lines * chunksOfLine, std::max<int64_t>(32, chunk / 2),
        {keys, positions, launcher.number(sizes.length), launcher.number(chunk), launcher.number(chunksOfLine)},
        chunk * kSharedBytesOfWord);
    for (int64_t run = chunk; run < sizes.length; run *= 2) {
      launcher.launch("sort_merge", blocksFor(count, kThreads), kThreads,
                      {keys, positions, nextKeys, nextPositions, launcher.number(sizes.length), launcher.number(run),
                       launcher.number(count)});
      std::swap(keys, nextKeys);
      std::swap(positions, nextPositions);
    }
  }

  /// The first `kept` of each line in their order; `places` for those of the positions.
  void permute(Value source, Value target, Type element, int64_t kept) {
    int64_t results = lines * kept;
    launcher.launch("sort_permute_" + std::to_string(elementBytes(element)), blocksFor(results, kThreads), kThreads,
                    {source, target, positions, launcher.number(sizes.length), launcher.number(kept),
                     launcher.number(sizes.inner), launcher.number(results)});
  }
  void places(Value target, int64_t kept) {
    int64_t results = lines * kept;
    launcher.launch("sort_places", blocksFor(results, kThreads), kThreads,
                    {target, positions, launcher.number(sizes.length), launcher.number(kept),
                     launcher.number(sizes.inner), launcher.number(results)});
  }

private:
  RoutineLauncher &launcher;
  AxisSizes sizes;
  int64_t lines, count;
  Value keys, positions;
  Value nextKeys, nextPositions; ///< Where merges write.
};

/// The buffer of which a value is all.
Value base(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>())
    value = view.getViewSource();
  return value;
}

/// Whether a result is written where an operand is still to be read (array-reuse-buffers).
bool isInPlace(RoutineLauncher &launcher) {
  return llvm::any_of(launcher.outputs(), [&](Value output) {
    return llvm::any_of(launcher.inputs(), [&](Value input) { return base(input) == base(output); });
  });
}

LogicalResult mapSort(RoutineLauncher &launcher) {
  AxisSizes sizes(launcher.inputType(0).getShape(), launcher.param(0));
  int64_t count = launcher.inputType(0).getNumElements(), keyCount = launcher.param(1);
  if (count == 0)
    return success();
  Words words(launcher, sizes);
  for (int64_t key = keyCount; key-- > 0;)
    words.sortBy(launcher.input(key), launcher.element(key), /*isFirst=*/key == keyCount - 1, /*isDescending=*/false);
  if (!isInPlace(launcher)) {
    for (auto [i, output] : llvm::enumerate(launcher.outputs()))
      words.permute(launcher.input(i), output, launcher.element(i), sizes.length);
    return success();
  }
  // All is read before any of it is written.
  SmallVector<Value> copies;
  for (unsigned i = 0; i < launcher.outputs().size(); ++i) {
    copies.push_back(launcher.scratch(count * elementBytes(launcher.element(i))));
    words.permute(launcher.input(i), copies.back(), launcher.element(i), sizes.length);
  }
  for (auto [i, output] : llvm::enumerate(launcher.outputs()))
    launcher.launch("sort_copy_" + std::to_string(elementBytes(launcher.element(i))), blocksFor(count, kThreads),
                    kThreads, {copies[i], output, launcher.number(count)});
  return success();
}

LogicalResult mapTopK(RoutineLauncher &launcher) {
  int64_t axis = launcher.param(0), kept = launcher.outputType(0).getDimSize(axis);
  if (launcher.outputType(0).getNumElements() == 0)
    return success();
  Words words(launcher, AxisSizes(launcher.inputType(0).getShape(), axis));
  words.sortBy(launcher.input(0), launcher.element(0), /*isFirst=*/true, /*isDescending=*/true);
  words.permute(launcher.input(0), launcher.output(0), launcher.element(0), kept);
  words.places(launcher.output(1), kept);
  return success();
}

} // namespace

ArrayRef<Routine> sortRoutines() {
  static constexpr Routine rows[] = {
      {"sort", mapSort},
      {"top_k", mapTopK},
  };
  return rows;
}

} // namespace mlir::array
