// Calls of the runtime's routine `check`, for what modules from elsewhere can't know before they run. Private to this
// directory: array-check-input and array-guard-sizes make them.
#ifndef ARRAY_LIB_ENTRY_GUARDS_H
#define ARRAY_LIB_ENTRY_GUARDS_H

#include "array/IR/Array.h"
#include "runtime/Abi.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"
#include <string>

namespace mlir::array {

/// Of a module that array-check-input has checked.
inline constexpr llvm::StringLiteral kCheckedAttr = "array.checked";

/// The attribute of a call of the runtime that stands for another operation: the name of that one.
inline constexpr llvm::StringLiteral kStandsForAttr = "array.stands_for";

/// One condition on the numbers of an operation: PcrtCheck says what the values are.
struct Guard {
  PcrtCheck kind;
  int64_t operand, dimension;
  SmallVector<OpFoldResult> values;
};

/// What an operation is called in errors: "add" of the dialect, also where it has become others; "tensor.extract".
StringRef nameInErrors(Operation *op);

/// How an expression reads in errors.
std::string textOf(AffineExpr expression);

/// A location of what is made of an operation, which knows its name.
Location namedLocation(Operation *op);

/// Has what is made of an operation know its name.
void keepName(Operation *op);

/// Has the run check it where the builder stands, unless it is known to hold.
void emitGuard(OpBuilder &builder, Operation *op, const Guard &guard);

/// Removes a check of constants that holds. On failure a diagnostic has been emitted: one of constants that doesn't.
LogicalResult settle(RuntimeCallOp check);

/// Whether a call of `check` has the params of its kind.
bool isCheck(ArrayRef<int64_t> params);

/// Has the run check what an operation of the dialect asks of sizes that a call decides.
void guardDialect(Operation *op);

/// Whether an index is known to be within a dimension.
bool isWithin(Value index, RankedTensorType type, int64_t dim);

/// Has the run check the step of a loop.
void guardStep(scf::ForOp loop);

/// Makes tensor.generate, tensor.pad and operations of linalg with a body of their own linalg.generic. On failure a
/// diagnostic has been emitted.
LogicalResult generalizeBodies(ModuleOp module);

/// Has the run check what the body of an operation indexes by, before that. On failure a diagnostic has been emitted:
/// of what can't be checked.
LogicalResult guardBody(linalg::LinalgOp op);

} // namespace mlir::array

#endif // ARRAY_LIB_ENTRY_GUARDS_H
