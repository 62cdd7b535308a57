// Calls of the runtime's routine `check`, for conditions of modules from files that are known only at run time. Private
// to this directory: array-check-input and array-guard-sizes make them.
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

/// The attribute of a module that array-check-input has checked.
inline constexpr llvm::StringLiteral kCheckedAttr = "array.checked";

/// The attribute of a runtime call that replaces another operation: the name of that operation.
inline constexpr llvm::StringLiteral kStandsForAttr = "array.stands_for";

/// One condition on numbers of an operation. PcrtCheck defines the meaning of the values.
struct Guard {
  PcrtCheck kind;
  int64_t operand, dimension;
  SmallVector<OpFoldResult> values;
};

/// The name of an operation in errors: "add" for the dialect, also after lowering; "tensor.extract".
StringRef nameInErrors(Operation *op);

/// The text of an expression in errors.
std::string textOf(AffineExpr expression);

/// A location for operations that replace this one. It keeps the name.
Location namedLocation(Operation *op);

/// Stores the name of an operation in its location, for the operations that replace it.
void keepName(Operation *op);

/// Emits a run-time check at the builder's position, unless the condition is known to hold.
void emitGuard(OpBuilder &builder, Operation *op, const Guard &guard);

/// Erases a check of constants that holds. If a check of constants fails, emits a diagnostic and returns failure.
LogicalResult settle(RuntimeCallOp check);

/// Whether a call of `check` has the params of its kind.
bool isCheck(ArrayRef<int64_t> params);

/// Emits run-time checks for the conditions of an array op on symbolic sizes.
void guardDialect(Operation *op);

/// Whether an index is known to be within a dimension.
bool isWithin(Value index, RankedTensorType type, int64_t dim);

/// Emits a run-time check of a loop's step.
void guardStep(scf::ForOp loop);

/// Turns tensor.generate, tensor.pad and linalg operations with an explicit body into linalg.generic. On failure a
/// diagnostic has been emitted.
LogicalResult generalizeBodies(ModuleOp module);

/// Emits run-time checks of the indices in the body of an operation, before it. On failure, a diagnostic names an
/// operation that cannot be checked.
LogicalResult guardBody(linalg::LinalgOp op);

} // namespace mlir::array

#endif // ARRAY_LIB_ENTRY_GUARDS_H
