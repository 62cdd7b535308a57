// The sizes of tensors and buffers that a call decides, as values that stand at the start of the function: equal sizes
// are the same value, so that passes compare them without looking further. array-resolve-sizes brings a function into
// this form; what is asked here of a function in it makes no new operation where there is a value already.
#ifndef ARRAY_ANALYSIS_SYMBOLICSIZES_H
#define ARRAY_ANALYSIS_SYMBOLICSIZES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/DenseMap.h"
#include <limits>
#include <optional>

namespace mlir::array {

/// The name of the C function that says how large the arena of a call is, from the sizes of the program's symbols; of
/// programs that have some.
inline constexpr llvm::StringLiteral kPlanName = "pcrt_plan";

/// The attribute of an argument or a result of @main: its dimensions, as a map from the symbols.
inline constexpr llvm::StringLiteral kDimsAttr = "array.dims";

/// The attribute of @main with what is known of each symbol's size: dictionaries of min, max, multiple_of, expected.
inline constexpr llvm::StringLiteral kSymbolsAttr = "array.symbols";

/// What is known of a size. Code may rest on all but `expected`, which is a size to choose code for.
struct SizeFacts {
  int64_t min = 0, max = std::numeric_limits<int64_t>::max(), multipleOf = 1, expected = 256;
};
SizeFacts factsOf(OpFoldResult size);
/// The size that is expected, where it is a constant or follows from the symbols; nothing where it depends on data.
std::optional<int64_t> expectedSize(OpFoldResult size);

/// Finds and makes the sizes of one function. Expressions are affine in the symbols, but for their products.
class SymbolicSizes {
public:
  explicit SymbolicSizes(func::FuncOp function);

  /// The size of a dimension of a tensor or a buffer: a constant or a value at the start of the function. Null where it
  /// is no function of the symbols that can be seen.
  OpFoldResult sizeOf(Value shaped, unsigned dim);
  /// The same for all dimensions; nothing if one is not known.
  std::optional<SmallVector<OpFoldResult>> sizesOf(Value shaped);

  /// What an index is in terms of the symbols; null if it is no such.
  AffineExpr expressionOf(OpFoldResult size);
  /// The value of an expression at the start of the function.
  OpFoldResult valueOf(AffineExpr expression);

  /// What is known of an expression.
  SizeFacts factsOf(AffineExpr expression);

  /// Moves what depends on the symbols alone to the start of the function, each expression once.
  void hoist();
  /// Behind what this put at the start of the function.
  Operation *end() const { return last; }

private:
  AffineExpr find(Value index);
  AffineExpr findInEntry(BlockArgument argument, unsigned dim);
  Value symbol(unsigned number);

  func::FuncOp function;
  MLIRContext *context;
  Operation *last = nullptr; ///< The last one of the sizes' operations, at the start of the function.
  llvm::DenseMap<AffineExpr, Value> values;
  llvm::DenseMap<Value, AffineExpr> expressions;
  llvm::DenseMap<unsigned, Operation *> symbols;
};

/// How many symbols the arguments and the operations of a function name.
unsigned countSymbols(func::FuncOp function);

} // namespace mlir::array

#endif // ARRAY_ANALYSIS_SYMBOLICSIZES_H
