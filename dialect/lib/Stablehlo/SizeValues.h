// Whole numbers that a program computes from the sizes of its arguments: polynomials of symbols, and other terms until
// a fact reduces them to polynomials. SizeReader, which propagates them through a program, uses them.
#ifndef ARRAY_LIB_STABLEHLO_SIZEVALUES_H
#define ARRAY_LIB_STABLEHLO_SIZEVALUES_H

#include "array/Analysis/SymbolicSizes.h"

namespace mlir::array::stablehlo {

/// For errors: how a size may follow from the sizes of the arguments.
inline constexpr llvm::StringLiteral kSizeOperations =
    "sums, products, maxima, minima, and quotients by numbers and by sizes of at least 1";

/// A value is an attribute, so that equal ones are the same: an affine map with one result, or the name of an operation
/// with its operands.
///
/// At first, each `?` of the entry's arguments has its own symbol. A condition of the program may define a symbol by
/// others; from then on, values use those.
class SizeValues {
public:
  /// `count` is the number of `?`. The entry's `array.symbols` hold the facts meanwhile.
  SizeValues(func::FuncOp entry, unsigned count);

  Attribute of(AffineExpr expression);
  Attribute number(int64_t value);
  Attribute symbol(unsigned number);
  /// The value as an expression of the symbols; null if it has none.
  AffineExpr expressionOf(Attribute value);
  /// The result of an operation of StableHLO, by its name without the dialect: "add", "compare EQ".
  Attribute apply(StringRef operation, ArrayRef<Attribute> operands);

  /// An expression by the latest meaning of its symbols.
  AffineExpr resolved(AffineExpr expression);
  /// The same in the sizes of the arguments themselves.
  AffineExpr inArguments(AffineExpr expression);

  /// Takes a condition that holds in each call: as a bound of a symbol, or as the meaning of one.
  void assumeAtLeast(AffineExpr lhs, AffineExpr rhs);
  void assumeEqual(AffineExpr lhs, AffineExpr rhs);

  /// The number of `?`; there are as many symbols again, for sizes that are multiples. Behind them are those that
  /// follow from others (kMaximumEntry, kQuotientEntry).
  unsigned count() const { return arguments; }
  unsigned symbolCount() const { return 2 * arguments; }
  unsigned derivedCount() const { return derived.size(); }
  /// The definition of a symbol that follows from others, in the latest meaning of their symbols.
  DerivedSymbol definition(unsigned number);
  bool hasDerived(AffineExpr expression);
  /// Whether sizes are in terms of this symbol.
  bool isFree(unsigned symbol);
  SizeFacts factsOf(AffineExpr expression);

private:
  AffineExpr fold(StringRef operation, ArrayRef<AffineExpr> operands);
  AffineExpr foldComparison(StringRef direction, AffineExpr lhs, AffineExpr rhs);
  /// The quotient rounded down, of which `quotient` is the one rounded towards zero, chosen by JAX's condition.
  AffineExpr roundedDown(Attribute condition, AffineExpr less, AffineExpr quotient);
  Attribute simplify(StringRef operation, ArrayRef<Attribute> operands);
  /// The factor of a symbol in an expression that is linear in it with an integer factor, and the rest; none otherwise.
  std::optional<std::pair<int64_t, AffineExpr>> linearIn(AffineExpr expression, unsigned symbol);
  AffineExpr simplified(AffineExpr expression) {
    return simplifyAffineExpr(expression, /*numDims=*/0, symbolCount() + kMostDerived);
  }
  AffineExpr symbolExpr(unsigned number) { return getAffineSymbolExpr(number, context); }
  AffineExpr constant(int64_t value) { return getAffineConstantExpr(value, context); }
  void mean(unsigned symbol, AffineExpr meaning);
  void setFacts(unsigned symbol, int64_t least, int64_t most);
  void setEntry(unsigned symbol, DictionaryAttr entry);
  /// The symbol with this definition; null if there are too many.
  AffineExpr derive(bool isMaximum, AffineExpr lhs, AffineExpr rhs);
  AffineExpr maximum(AffineExpr lhs, AffineExpr rhs);
  /// The quotient of a size by one that is at least 1.
  AffineExpr quotient(AffineExpr lhs, AffineExpr rhs);
  AffineExpr exactQuotient(AffineExpr lhs, AffineExpr rhs);
  SizeFacts factsByCases(AffineExpr expression, unsigned depth);

  /// Programs have a few.
  static constexpr unsigned kMostDerived = 64;

  func::FuncOp entry;
  MLIRContext *context;
  SymbolicSizes facts;
  const unsigned arguments;
  /// By symbol: its meaning in other symbols, and its expression in the sizes of the arguments.
  SmallVector<AffineExpr> meanings, sources;
  SmallVector<DerivedSymbol> derived;
};

} // namespace mlir::array::stablehlo

#endif // ARRAY_LIB_STABLEHLO_SIZEVALUES_H
