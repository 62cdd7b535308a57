// conv_general_dilated: verification.
#include "Inference.h"
#include "Windows.h"
#include "array/IR/Plan.h"
#include "array/IR/Precision.h"

using namespace mlir;
using namespace mlir::array;

static LogicalResult verifySpecs(ConvGeneralDilatedOp op, int64_t rank) {
  auto isPermutation = [&](ArrayRef<int64_t> spec) {
    return int64_t(spec.size()) == rank && areDistinctDims(spec, rank);
  };
  for (ArrayRef<int64_t> spec : {op.getLhsSpec(), op.getRhsSpec(), op.getOutSpec()})
    if (!isPermutation(spec))
      return op.emitOpError("has ") << listed(spec) << ", expected a permutation of " << rank << " dimensions (C2)";
  ArrayRef<int64_t> strides = op.getWindowStrides(), lhsDilation = op.getLhsDilation(),
                    rhsDilation = op.getRhsDilation();
  for (ArrayRef<int64_t> numbers : {strides, op.getLow(), op.getHigh(), lhsDilation, rhsDilation})
    if (int64_t(numbers.size()) != rank - 2)
      return op.emitOpError("describes windows of ")
             << numbers.size() << " dimensions, expected " << rank - 2 << " (C3)";
  for (ArrayRef<int64_t> numbers : {strides, lhsDilation, rhsDilation})
    if (llvm::any_of(numbers, [](int64_t number) { return number < 1; }))
      return op.emitOpError("has a stride or dilation below 1: ") << listed(numbers) << " (C3)";
  return success();
}

/// Checks static sizes only: a dynamic one is assumed to fit.
static bool divides(int64_t groups, int64_t size) { return ShapedType::isDynamic(size) || size % groups == 0; }

static LogicalResult verifyGroups(ConvGeneralDilatedOp op, int64_t batch, int64_t features, int64_t rhsFeatures,
                                  int64_t outFeatures) {
  int64_t featureGroups = op.getFeatureGroupCount(), batchGroups = op.getBatchGroupCount();
  if (featureGroups < 1 || batchGroups < 1 || (featureGroups > 1 && batchGroups > 1) ||
      !divides(featureGroups, outFeatures) || !divides(batchGroups, outFeatures) || !divides(batchGroups, batch))
    return op.emitOpError("has ") << featureGroups << " feature groups and " << batchGroups << " batch groups for "
                                  << op.getLhs().getType() << " and " << op.getRhs().getType() << " (C4)";
  if (!ShapedType::isDynamic(features) && !ShapedType::isDynamic(rhsFeatures) &&
      features != multiplySizes(rhsFeatures, featureGroups))
    return op.emitOpError("lhs has ") << features << " input features, rhs " << rhsFeatures << " in " << featureGroups
                                      << " groups (C5)";
  return success();
}

LogicalResult ConvGeneralDilatedOp::verify() {
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType(), result = getType();
  int64_t rank = lhs.getRank();
  if (rank < 2 || rhs.getRank() != rank || result.getRank() != rank || lhs.getElementType() != rhs.getElementType())
    return emitOpError("takes arrays of one rank, at least 2, and one element type, got ")
           << lhs << ", " << rhs << " -> " << result << " (C1)";
  if (failed(verifySpecs(*this, rank)) ||
      failed(checkSizes(getLoc(), getOperationName(), {getLow(), getHigh()}, getSizes().size(), "C8")))
    return failure();
  ArrayRef<int64_t> lhsSpec = getLhsSpec(), rhsSpec = getRhsSpec(), outSpec = getOutSpec();
  int64_t batch = lhs.getDimSize(lhsSpec[0]), outFeatures = rhs.getDimSize(rhsSpec[0]);
  if (failed(verifyGroups(*this, batch, lhs.getDimSize(lhsSpec[1]), rhs.getDimSize(rhsSpec[1]), outFeatures)))
    return failure();
  SmallVector<int64_t> shape(rank, ShapedType::kDynamic);
  shape[outSpec[0]] = ShapedType::isDynamic(batch) ? batch : batch / int64_t(getBatchGroupCount());
  shape[outSpec[1]] = outFeatures;
  for (int64_t i = 0; i + 2 < rank; ++i) {
    auto count = [&](int64_t size, int64_t window, int64_t low, int64_t high) {
      int64_t padded = addSizes(dilatedSize(size, getLhsDilation()[i]), addSizes(low, high));
      return countWindows(padded, dilatedSize(window, getRhsDilation()[i]), getWindowStrides()[i]);
    };
    shape[outSpec[i + 2]] =
        ifKnown(count, lhs.getDimSize(lhsSpec[i + 2]), rhs.getDimSize(rhsSpec[i + 2]), getLow()[i], getHigh()[i]);
  }
  if (failed(verifyCompatibleShape(shape, result.getShape())))
    return emitOpError("result is ") << result << ", expected " << result.clone(shape) << " (C6)";
  if (!isSameOrWider(lhs.getElementType(), result.getElementType()))
    return emitOpError("result is ") << result << ", expected the element type of " << lhs
                                     << " or a wider one of its kind (C7)";
  return success(succeeded(verifyPlan(*this)) && succeeded(verifyPrecision(*this)));
}
