// reduce_window_*, select_and_gather, select_and_scatter: inference, verification.
#include "Inference.h"
#include "Windows.h"

#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace mlir::array;

int64_t array::addSizes(int64_t lhs, int64_t rhs) {
  int64_t beyond = lhs < 0 ? std::numeric_limits<int64_t>::min() + 1 : std::numeric_limits<int64_t>::max();
  return llvm::checkedAdd(lhs, rhs).value_or(beyond);
}

int64_t array::multiplySizes(int64_t lhs, int64_t rhs) {
  bool isNegative = (lhs < 0) != (rhs < 0);
  int64_t beyond = isNegative ? std::numeric_limits<int64_t>::min() + 1 : std::numeric_limits<int64_t>::max();
  return llvm::checkedMul(lhs, rhs).value_or(beyond);
}

int64_t array::dilatedSize(int64_t size, int64_t dilation) {
  return size == 0 ? 0 : addSizes(multiplySizes(size - 1, dilation), 1);
}

int64_t array::countWindows(int64_t padded, int64_t window, int64_t stride) {
  return padded < window ? 0 : addSizes((padded - window) / stride, 1);
}

LogicalResult array::inferWindows(std::optional<Location> location, StringRef op, Type operand,
                                  const WindowAttributes &windows, SmallVectorImpl<Type> &inferred) {
  auto tensor = cast<RankedTensorType>(operand);
  auto rank = static_cast<size_t>(tensor.getRank());
  ArrayRef<int64_t> all[] = {windows.dimensions, windows.strides,      windows.low,
                             windows.high,       windows.baseDilation, windows.dilation};
  for (ArrayRef<int64_t> numbers : all)
    if (numbers.size() != rank)
      return fail(location, op, "describes windows of ", numbers.size(), " dimensions, expected ", rank, " for ",
                  tensor, " (C1)");
  if (failed(checkSizes(location, op, {windows.dimensions, windows.low, windows.high}, windows.sizes,
                        windows.sizesConstraint)))
    return failure();
  SmallVector<int64_t> shape(tensor.getShape());
  for (size_t dim = 0; dim < rank; ++dim) {
    if (isBelow(windows.dimensions[dim], 1) || windows.strides[dim] < 1 || windows.baseDilation[dim] < 1 ||
        windows.dilation[dim] < 1)
      return fail(location, op, "has a window, stride or dilation below 1 in dimension ", dim, " (C2)");
    auto paddedSize = [&](int64_t size, int64_t low, int64_t high) {
      return addSizes(dilatedSize(size, windows.baseDilation[dim]), addSizes(low, high));
    };
    int64_t padded = ifKnown(paddedSize, shape[dim], windows.low[dim], windows.high[dim]);
    if (isBelow(padded, 0))
      return fail(location, op, "leaves ", padded, " elements of dimension ", dim, " of ", tensor,
                  ", expected a size that is not negative (C3)");
    auto count = [&](int64_t padded, int64_t window) {
      return countWindows(padded, dilatedSize(window, windows.dilation[dim]), windows.strides[dim]);
    };
    shape[dim] = ifKnown(count, padded, windows.dimensions[dim]);
  }
  inferred.push_back(tensor.clone(shape));
  return success();
}

/// C1 to C5: `windows` has one element for each window, `whole` has the operand's shape.
template <typename Op> static LogicalResult verifySelection(Op op, Value windows, Value whole) {
  SmallVector<Type> inferred;
  if (failed(inferWindows(op.getLoc(), op.getOperationName(), op.getOperand().getType(),
                          {op.getWindowDimensions(), op.getWindowStrides(), op.getLow(), op.getHigh(),
                           op.getBaseDilation(), op.getWindowDilation(), op.getSizes().size(), "C6"},
                          inferred)))
    return failure();
  if (op.getSource().getType().getElementType() != op.getOperand().getType().getElementType())
    return op.emitOpError("element types of source and operand differ: ")
           << op.getSource().getType() << " and " << op.getOperand().getType() << " (C4)";
  Type expected[] = {inferred.front(), op.getOperand().getType()};
  Value given[] = {windows, whole};
  for (auto [type, value] : llvm::zip_equal(expected, given))
    if (!areCompatible(type, value.getType()))
      return op.emitOpError("has ") << value.getType() << ", expected " << type << " (C5)";
  return success();
}

LogicalResult SelectAndGatherOp::verify() { return verifySelection(*this, getResult(), getSource()); }
LogicalResult SelectAndScatterOp::verify() { return verifySelection(*this, getSource(), getResult()); }
