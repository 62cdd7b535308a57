// Sizes of tensors and buffers that are known only at a call, as values at the start of the function. Equal sizes are
// the same value, so passes compare them directly. array-resolve-sizes brings a function into this form. On such a
// function, the queries of this class reuse existing values and create no duplicates.
#ifndef ARRAY_ANALYSIS_SYMBOLICSIZES_H
#define ARRAY_ANALYSIS_SYMBOLICSIZES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/DenseMap.h"
#include <limits>
#include <optional>

namespace mlir::array {

/// The name of the C function that returns the size of a call's arena, given the sizes of the program's symbols.
/// Programs without symbols do not have it.
inline constexpr llvm::StringLiteral kPlanName = "pcrt_plan";

/// The attribute of an argument or a result of @main: its dimensions, as a map from the symbols.
inline constexpr llvm::StringLiteral kDimsAttr = "array.dims";

/// The attribute of @main with the bounds of each symbol's size: dictionaries of min, max, multiple_of, expected. A
/// symbol that follows from those before it has its definition instead: maximum or quotient.
inline constexpr llvm::StringLiteral kSymbolsAttr = "array.symbols";

/// The entries of a symbol that is the maximum of two expressions, or the floor of their quotient: a map from the
/// symbols before it to both. Such symbols are the last ones; the caller gives no sizes for them.
inline constexpr llvm::StringLiteral kMaximumEntry = "maximum", kQuotientEntry = "quotient";

/// The attribute of @main with the conditions on the sizes of its arguments: dictionaries of `condition` ("equal",
/// "at_least"), `sizes`, a map from the `?` of the arguments to both sides and to the numbers of the message, and
/// `message`, in which {0} is the first of these numbers.
inline constexpr llvm::StringLiteral kRequiresAttr = "array.requires";

/// Facts about a size. Code may rely on all but `expected`, which is a hint for the choice of code.
struct SizeFacts {
  int64_t min = 0, max = std::numeric_limits<int64_t>::max(), multipleOf = 1, expected = 256;
};
SizeFacts factsOf(OpFoldResult size);

/// How a symbol follows from others.
struct DerivedSymbol {
  bool isMaximum;
  AffineExpr lhs, rhs;
};
/// By the attribute of a function; none for a symbol that the caller gives.
std::optional<DerivedSymbol> derivedSymbol(func::FuncOp function, unsigned number);
/// The expected size, if it is a constant or follows from the symbols; none if it depends on data.
std::optional<int64_t> expectedSize(OpFoldResult size);

/// Finds and creates the sizes of one function. Expressions are affine in the symbols, except for products of symbols.
class SymbolicSizes {
public:
  explicit SymbolicSizes(func::FuncOp function);

  /// The size of a dimension of a tensor or a buffer: a constant or a value at the start of the function. Null if it
  /// does not visibly follow from the symbols.
  OpFoldResult sizeOf(Value shaped, unsigned dim);
  /// The same for all dimensions; none if one is not known.
  std::optional<SmallVector<OpFoldResult>> sizesOf(Value shaped);

  /// An index as an expression of the symbols; null if it has no such expression.
  AffineExpr expressionOf(OpFoldResult size);
  /// The value of an expression at the start of the function.
  OpFoldResult valueOf(AffineExpr expression);

  /// The facts about an expression.
  SizeFacts factsOf(AffineExpr expression);

  /// Moves operations that depend on the symbols alone to the start of the function, each expression once.
  void hoist();
  /// The last operation that this class placed at the start of the function.
  Operation *end() const { return last; }

private:
  AffineExpr find(Value index);
  AffineExpr maximum(AffineExpr lhs, AffineExpr rhs);
  AffineExpr quotient(AffineExpr lhs, AffineExpr rhs);
  AffineExpr derive(bool isMaximum, AffineExpr lhs, AffineExpr rhs);
  AffineExpr findInEntry(BlockArgument argument, unsigned dim);
  Value symbol(unsigned number);

  func::FuncOp function;
  MLIRContext *context;
  Operation *last = nullptr;
  llvm::DenseMap<AffineExpr, Value> values;
  llvm::DenseMap<Value, AffineExpr> expressions;
  llvm::DenseMap<unsigned, Operation *> symbols;
};

/// The number of symbols that the arguments and the operations of a function name.
unsigned countSymbols(func::FuncOp function);

/// Those of them whose sizes the caller gives, which are the first.
unsigned countGivenSymbols(func::FuncOp function);

/// Declares all symbols of a function in `array.symbols`, so that a symbol whose uses are folded still counts.
void declareSymbols(func::FuncOp function);

} // namespace mlir::array

#endif // ARRAY_ANALYSIS_SYMBOLICSIZES_H
