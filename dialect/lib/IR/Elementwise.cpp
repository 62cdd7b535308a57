// Elementwise ops: inference, verification.
#include "Inference.h"

using namespace mlir;
using namespace mlir::array;

/// C2 of the binary ops. The operands' shapes are compatible and their element types are equal.
LogicalResult array::inferElementwise(std::optional<Location> location, StringRef op, TypeRange operands, Type element,
                                      SmallVectorImpl<Type> &inferred) {
  std::optional<SmallVector<int64_t>> shape = mergedShape(operands);
  auto elementOf = [](Type type) { return getElementTypeOrSelf(type); };
  if (!shape || !llvm::all_equal(llvm::map_range(operands, elementOf)))
    return fail(location, op, "operand types differ: ", operands, " (C2)");
  inferred.push_back(RankedTensorType::get(*shape, element));
  return success();
}

Type array::partElement(Type element) {
  auto complex = dyn_cast<ComplexType>(element);
  return complex ? complex.getElementType() : element;
}

LogicalResult SelectOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                         SmallVectorImpl<Type> &inferred) {
  TypeRange operands = adaptor.getOperands().getTypes();
  Type element = getElementTypeOrSelf(adaptor.getOnTrue());
  std::optional<SmallVector<int64_t>> shape = mergedShape(operands);
  if (!shape || element != getElementTypeOrSelf(adaptor.getOnFalse()))
    return fail(location, getOperationName(), "operand types differ: ", operands, " (C2)");
  inferred.push_back(RankedTensorType::get(*shape, element));
  return success();
}

LogicalResult Threefry2x32Op::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                               SmallVectorImpl<Type> &inferred) {
  Type element = getElementTypeOrSelf(adaptor.getX0());
  if (failed(inferElementwise(location, getOperationName(), adaptor.getOperands().getTypes(), element, inferred)))
    return failure();
  inferred.push_back(inferred.front());
  return success();
}
