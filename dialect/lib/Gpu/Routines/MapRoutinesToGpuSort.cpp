// The routines `sort` and `top_k` as launches (dialect/device/Sort.cpp).
#include "SortWords.h"

#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::array {

namespace {

constexpr int64_t kThreads = 256;

/// The buffer of a view of all its elements.
Value base(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>())
    value = view.getViewSource();
  return value;
}

/// Whether a result overwrites an operand that is still read (array-reuse-buffers).
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
  SortWords words(launcher, sizes);
  for (int64_t key = keyCount; key-- > 0;)
    words.sortBy(launcher.input(key), launcher.element(key), /*isFirst=*/key == keyCount - 1, /*isDescending=*/false);
  if (!isInPlace(launcher)) {
    for (auto [i, output] : llvm::enumerate(launcher.outputs()))
      words.permute(launcher.input(i), output, launcher.element(i), sizes.length);
    return success();
  }
  // All operands are read before any result is written.
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
  SortWords words(launcher, AxisSizes(launcher.inputType(0).getShape(), axis));
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
