// The array dialect in C++: dialect, types, ops. Conversions, transforms and the binding start from here.
#ifndef ARRAY_IR_ARRAY_H
#define ARRAY_IR_ARRAY_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <optional>

namespace mlir::array {

/// The mark of the scf ops that loops and conditionals of this dialect became. array-in-place-carries prepares these.
inline constexpr llvm::StringLiteral kControlFlowAttr = "array.control_flow";

/// The resource that an op with an effect outside of the program writes. Such ops are neither reordered nor erased.
struct HostResource : SideEffects::Resource::Base<HostResource> {
  StringRef getName() final { return "array host"; }
};
void addHostEffect(SmallVectorImpl<MemoryEffects::EffectInstance> &effects);

/// Whether the types agree pairwise: shapes are compatible ('?' with everything), and all else is equal.
bool areCompatible(TypeRange inferred, TypeRange given);

/// The element type of the parts of a complex type; any other type is returned unchanged.
Type partElement(Type element);

/// C0 of the ops whose result types can be inferred.
LogicalResult verifyInferredResults(Operation *op);

// Inference, folding and canonicalization that the ops of a family share. Their definitions in the .td files call
// these.
LogicalResult inferElementwise(std::optional<Location> location, StringRef op, TypeRange operands, Type element,
                               SmallVectorImpl<Type> &inferred);
LogicalResult inferReduction(std::optional<Location> location, StringRef op, Type operand, ArrayRef<int64_t> axes,
                             SmallVectorImpl<Type> &inferred);
OpFoldResult foldReduction(Value operand, ArrayRef<int64_t> axes, Type result);
void populateReductionCanonicalization(RewritePatternSet &patterns, StringRef op);
LogicalResult inferArgReduction(std::optional<Location> location, StringRef op, Type operand, int64_t axis,
                                Type indexType, SmallVectorImpl<Type> &inferred);

LogicalResult verifyMatrixShapes(Operation *op, StringRef shapes);

template <typename ConcreteOp> class MatrixShapes : public OpTrait::TraitBase<ConcreteOp, MatrixShapes> {
public:
  static LogicalResult verifyTrait(Operation *op) { return verifyMatrixShapes(op, cast<ConcreteOp>(op).getShapes()); }
};
LogicalResult inferCumulative(std::optional<Location> location, StringRef op, Type operand, int64_t axis,
                              SmallVectorImpl<Type> &inferred);

/// The windows over an operand: each list has one entry for each dimension. `sizes` is the number of operands that give
/// sizes for `?`; `sizesConstraint` is the number of the constraint on them.
struct WindowAttributes {
  ArrayRef<int64_t> dimensions, strides, low, high, baseDilation, dilation;
  size_t sizes;
  StringRef sizesConstraint;
};
LogicalResult inferWindows(std::optional<Location> location, StringRef op, Type operand,
                           const WindowAttributes &windows, SmallVectorImpl<Type> &inferred);

template <typename ConcreteOp> class InferredResults : public OpTrait::TraitBase<ConcreteOp, InferredResults> {
public:
  static LogicalResult verifyTrait(Operation *op) { return verifyInferredResults(op); }
};

} // namespace mlir::array

#include "array/IR/ArrayDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "array/IR/ArrayTypes.h.inc"

#define GET_OP_CLASSES
#include "array/IR/ArrayOps.h.inc"

#endif // ARRAY_IR_ARRAY_H
