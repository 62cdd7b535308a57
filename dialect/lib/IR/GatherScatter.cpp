// gather and scatter: inference, folding.
#include "Constants.h"
#include "Inference.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::array;

namespace {

/// The dimension numbers of both ops for the operand: the dimensions that a window keeps, and the positions that are
/// data. Reports the constraints whose numbers gather and scatter share.
struct Windows {
  std::optional<Location> location;
  StringRef op;
  RankedTensorType operand;
  SmallVector<int64_t> indicesShape;

  /// C1 without the fill, C2.
  LogicalResult readIndices(TypeRange indices, size_t expected) {
    if (indices.size() != expected)
      return fail(location, op, "has ", indices.size(), " indices, expected ", expected, " (C1)");
    if (indices.empty())
      return success();
    bool isIndex = llvm::all_of(indices, [](Type type) {
      Type element = cast<RankedTensorType>(type).getElementType();
      return element.isSignlessInteger(32) || element.isSignlessInteger(64);
    });
    auto shape = mergedShape(indices);
    if (!isIndex || !shape)
      return fail(location, op, "indices are ", indices, ", expected i32 or i64 of compatible shapes (C2)");
    indicesShape = *shape;
    return success();
  }

  /// C3.
  LogicalResult checkDims(ArrayRef<int64_t> dropped, ArrayRef<int64_t> batching, ArrayRef<int64_t> indexed) {
    auto alone = llvm::to_vector(dropped), positions = llvm::to_vector(indexed);
    llvm::append_range(alone, batching);
    llvm::append_range(positions, batching);
    int64_t rank = operand.getRank();
    if (areIncreasingDims(dropped, rank) && areDistinctDims(alone, rank) && areDistinctDims(positions, rank))
      return success();
    return fail(location, op, "dropped, batching and indexed dimensions ", listed(dropped), ", ", listed(batching),
                ", ", listed(indexed), " are not distinct dimensions of ", operand, " (C3)");
  }

  /// C6.
  LogicalResult checkBatching(ArrayRef<int64_t> batching, ArrayRef<int64_t> ofIndices) {
    bool fits = batching.size() == ofIndices.size() && areDistinctDims(ofIndices, indicesShape.size());
    for (size_t i = 0; fits && i < batching.size(); ++i)
      fits = mergedSize(operand.getDimSize(batching[i]), indicesShape[ofIndices[i]]).has_value();
    return fits ? success()
                : LogicalResult(fail(location, op, "batching dimensions ", listed(batching), " of ", operand, " and ",
                                     listed(ofIndices), " of indices of shape ", listed(indicesShape), " differ (C6)"));
  }

  LogicalResult checkMode(StringRef mode) {
    return mode == "clip" || mode == "fill" || mode == "promise_in_bounds"
               ? success()
               : LogicalResult(
                     fail(location, op, "mode is '", mode, "', expected clip, fill or promise_in_bounds (C7)"));
  }
};

} // namespace

LogicalResult GatherOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                         SmallVectorImpl<Type> &inferred) {
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  Windows windows{location, getOperationName(), operand, {}};
  ArrayRef<int64_t> collapsed = adaptor.getCollapsedSliceDims(), batching = adaptor.getOperandBatchingDims();
  TypeRange given = adaptor.getInputs().getTypes();
  SmallVector<Type> inputs(given.drop_back(countSizes(given)));
  if (failed(windows.checkMode(adaptor.getMode())) ||
      failed(checkLastSizes(location, getOperationName(), adaptor.getSliceSizes(), given, "C8")))
    return failure();
  if (adaptor.getMode() == "fill" && !inputs.empty()) {
    auto fillType = cast<RankedTensorType>(inputs.pop_back_val());
    if (fillType.getRank() != 0 || fillType.getElementType() != operand.getElementType())
      return fail(location, getOperationName(), "fill is ", fillType, ", expected a scalar of the element type of ",
                  operand, " (C1)");
  }
  if (failed(windows.readIndices(inputs, adaptor.getStartIndexMap().size())) ||
      failed(windows.checkDims(collapsed, batching, adaptor.getStartIndexMap())) ||
      failed(windows.checkBatching(batching, adaptor.getStartIndicesBatchingDims())))
    return failure();

  SmallVector<int64_t> kept;
  ArrayRef<int64_t> sizes = adaptor.getSliceSizes();
  bool fits = int64_t(sizes.size()) == operand.getRank();
  for (int64_t dim = 0; fits && dim < operand.getRank(); ++dim) {
    int64_t size = sizes[dim] == -1 ? operand.getDimSize(dim) : sizes[dim];
    bool isDropped = llvm::is_contained(collapsed, dim) || llvm::is_contained(batching, dim);
    fits = !isBelow(sizes[dim], -1) && (operand.isDynamicDim(dim) || size <= operand.getDimSize(dim)) &&
           (!isDropped || size == 1);
    if (!isDropped)
      kept.push_back(size);
  }
  if (!fits)
    return fail(location, getOperationName(), "slice_sizes ", listed(sizes), " do not lie in ", operand,
                ", or are not 1 in dimensions that are collapsed or batching (C4)");
  ArrayRef<int64_t> offsetDims = adaptor.getOffsetDims();
  int64_t rank = kept.size() + windows.indicesShape.size();
  if (offsetDims.size() != kept.size() || !areIncreasingDims(offsetDims, rank))
    return fail(location, getOperationName(), "offset_dims ", listed(offsetDims), " are not ", kept.size(),
                " increasing dimensions of a result of rank ", rank, " (C5)");
  SmallVector<int64_t> shape;
  ArrayRef<int64_t> window = kept, batch = windows.indicesShape;
  for (int64_t dim = 0; dim < rank; ++dim) {
    ArrayRef<int64_t> &from = llvm::is_contained(offsetDims, dim) ? window : batch;
    shape.push_back(from.front());
    from = from.drop_front();
  }
  inferred.push_back(operand.clone(shape));
  return success();
}

/// Windows of equal elements are equal, wherever they lie, unless another number replaces them.
OpFoldResult GatherOp::fold(FoldAdaptor adaptor) {
  if (getMode() == "fill") {
    size_t fill = getTensorInputs().size() - 1;
    if (adaptor.getInputs()[fill] != resizedSplat(adaptor.getOperand(), getInputs()[fill].getType()))
      return {};
  }
  return resizedSplat(adaptor.getOperand(), getType());
}

ValueRange GatherOp::getSizes() { return getInputs().take_back(countSizes(getInputs().getTypes())); }

LogicalResult ScatterOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                          SmallVectorImpl<Type> &inferred) {
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  auto updates = cast<RankedTensorType>(adaptor.getUpdates().getType());
  Windows windows{location, getOperationName(), operand, {}};
  ArrayRef<int64_t> inserted = adaptor.getInsertedWindowDims(), batching = adaptor.getOperandBatchingDims();
  StringRef kind = adaptor.getKind();
  if (failed(windows.checkMode(adaptor.getMode())))
    return failure();
  Type element = operand.getElementType();
  bool isNumber = element.isF16() || element.isBF16() || element.isF32() || element.isF64() ||
                  (isa<IntegerType>(element) && element.getIntOrFloatBitWidth() >= 8);
  bool isTaken = llvm::StringSwitch<bool>(kind)
                     .Case("set", true)
                     .Cases({"add", "mul"}, isNumber || isa<ComplexType>(element))
                     .Cases({"min", "max"}, isNumber || isa<ComplexType>(element) || element.isInteger(1))
                     .Default(false);
  if (!isTaken)
    return fail(location, getOperationName(), "kind is '", kind, "' for ", operand,
                ", expected set, for numbers add or mul, for bools and numbers min or max (C7)");
  if (operand.getElementType() != updates.getElementType())
    return fail(location, getOperationName(), "operand and updates differ in element type: ", operand, " and ", updates,
                " (C8)");
  if (failed(windows.readIndices(adaptor.getIndices().getTypes(), adaptor.getScatterDimsToOperandDims().size())) ||
      failed(windows.checkDims(inserted, batching, adaptor.getScatterDimsToOperandDims())) ||
      failed(windows.checkBatching(batching, adaptor.getScatterIndicesBatchingDims())))
    return failure();

  ArrayRef<int64_t> windowDims = adaptor.getUpdateWindowDims();
  bool fits = areIncreasingDims(windowDims, updates.getRank()) &&
              windowDims.size() + inserted.size() + batching.size() == size_t(operand.getRank());
  size_t number = 0;
  for (int64_t dim = 0; fits && dim < operand.getRank(); ++dim) {
    if (llvm::is_contained(inserted, dim) || llvm::is_contained(batching, dim))
      continue;
    int64_t size = updates.getDimSize(windowDims[number++]);
    fits = ShapedType::isDynamic(size) || operand.isDynamicDim(dim) || size <= operand.getDimSize(dim);
  }
  if (!fits)
    return fail(location, getOperationName(), "update_window_dims ", listed(windowDims), " of ", updates,
                " are no window of ", operand, " (C4)");
  SmallVector<int64_t> batch;
  for (int64_t dim = 0; dim < updates.getRank(); ++dim)
    if (!llvm::is_contained(windowDims, dim))
      batch.push_back(updates.getDimSize(dim));
  if (failed(verifyCompatibleShape(batch, windows.indicesShape)))
    return fail(location, getOperationName(), "updates are ", updates, " with the window in ", listed(windowDims),
                ", expected the other dimensions to be those of the indices, ", listed(windows.indicesShape), " (C5)");
  inferred.push_back(operand);
  return success();
}
