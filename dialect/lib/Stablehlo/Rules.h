// The parsing and the conversion of each operation of StableHLO, of CHLO and of Shardy: one table, to which each family
// adds its rows. Internal to this folder.
#ifndef ARRAY_LIB_STABLEHLO_RULES_H
#define ARRAY_LIB_STABLEHLO_RULES_H

#include "Assembly.h"
#include "array/IR/Array.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"
#include <functional>

namespace mlir::array::stablehlo {

/// A shape. For a `?` there is an expression in the symbols of the program, which is null if it is not known.
struct Extents {
  Extents(ArrayRef<int64_t> shape, ArrayRef<AffineExpr> sizes = {}) : shape(shape), sizes(sizes) {}
  Extents(const SmallVectorImpl<int64_t> &shape) : Extents(ArrayRef<int64_t>(shape)) {}

  SmallVector<int64_t> shape;
  /// One for each dimension, or none.
  SmallVector<AffineExpr> sizes;
};

/// One operation during its conversion. Getters of attributes emit an error that names the operation, and record it: a
/// rule reads all that it needs and then checks once whether that `failed`. New operations are placed before the
/// operation.
class Source {
public:
  Source(Operation *op, OpBuilder &builder) : op(op), builder(builder) {}

  Operation *op;
  OpBuilder &builder;

  Location loc() const { return op->getLoc(); }
  Value operand(unsigned index) const { return op->getOperand(index); }
  /// The ranked type of an operand or a result; every value of a rule has one, by `requireTensors`.
  RankedTensorType type(unsigned operand) const { return cast<RankedTensorType>(op->getOperand(operand).getType()); }
  RankedTensorType resultType(unsigned result = 0) const {
    return cast<RankedTensorType>(op->getResult(result).getType());
  }

  /// An error; once emitted, the conversion fails.
  InFlightDiagnostic error() const;
  bool failed() const { return hasFailed; }

  /// The attribute with the first of `names` that exists: the name in the printed form or in the generic one. Null,
  /// without an error, if there is none.
  Attribute attribute(ArrayRef<StringRef> names) const;
  SmallVector<int64_t> integers(ArrayRef<StringRef> names, std::optional<SmallVector<int64_t>> absent = {});
  int64_t integer(ArrayRef<StringRef> names, std::optional<int64_t> absent = {});
  bool flag(ArrayRef<StringRef> names, std::optional<bool> absent = {});
  StringRef word(ArrayRef<StringRef> names, std::optional<StringRef> absent = {});
  DictionaryAttr structure(ArrayRef<StringRef> names);
  /// `word` at a position of the printed form, or else the attribute with a name.
  StringRef wordAt(unsigned position, ArrayRef<StringRef> names, std::optional<StringRef> absent = {});
  /// An entry of a structure, by default no integers.
  SmallVector<int64_t> entry(DictionaryAttr structure, StringRef key);

  // Sizes that are not known, as the reader has noted them (Sizes.h).
  Extents extents(unsigned result = 0) const;
  Extents operandExtents(unsigned operand) const;
  /// Those of the result of this type, or else of this shape, if it has a `?`.
  std::optional<Extents> extentsLike(RankedTensorType type) const;
  /// Whether the elements of an operand are sizes or numbers. `elements` and `numbers` emit an error if they are not.
  bool hasElements(unsigned operand) const;
  SmallVector<AffineExpr> elements(unsigned operand);
  SmallVector<int64_t> numbers(unsigned operand);
  Value index(AffineExpr expression);
  /// The expressions as an attribute of sizes, with a `?` for each value that is appended to `sizes`.
  SmallVector<int64_t> split(ArrayRef<AffineExpr> expressions, SmallVectorImpl<Value> &sizes);
  /// A value for each `?`, and an expression for each dimension; an error if one is not known.
  SmallVector<Value> unknownSizes(const Extents &extents);
  SmallVector<AffineExpr> sizesOf(const Extents &extents);
  /// `array.<name>` with a result of this shape, whose unknown sizes are its last operands.
  Value makeShaped(StringRef name, Type element, const Extents &extents, ValueRange operands,
                   ArrayRef<NamedAttribute> attributes = {});

  // Building blocks of rules.
  Value constant(RankedTensorType type, Attribute element);
  /// A number in every element; of a complex type with no imaginary part. Unknown sizes are those of the result
  /// of this type.
  Value number(RankedTensorType type, double value);
  Value broadcast(Value value, const Extents &extents, ArrayRef<int64_t> dimensions = {});
  Value reshape(Value value, const Extents &extents);
  Value transpose(Value value, ArrayRef<int64_t> permutation);
  Value convert(Value value, Type element);
  /// An element of a vector, as a scalar.
  Value elementAt(Value vector, int64_t place);
  /// `array.<name>` with one result. If the op refuses its operands, the error belongs to this operation, and the
  /// result is null.
  Value make(StringRef name, Type result, ValueRange operands, ArrayRef<NamedAttribute> attributes = {});
  SmallVector<Value> makeAll(StringRef name, TypeRange results, ValueRange operands,
                             ArrayRef<NamedAttribute> attributes = {});

  NamedAttribute named(StringRef name, ArrayRef<int64_t> values);
  NamedAttribute namedNumber(StringRef name, int64_t value);
  NamedAttribute namedFlag(StringRef name, bool value);
  NamedAttribute namedWord(StringRef name, StringRef value);

  /// Replaces the operation; succeeds unless a value is missing.
  LogicalResult replace(ValueRange values);

private:
  void complain(ArrayRef<StringRef> names, StringRef expected, Attribute given);
  /// The op, or null with the reason why it does not verify.
  Operation *tryMake(StringRef name, TypeRange results, ValueRange operands, ArrayRef<NamedAttribute> attributes,
                     std::string &why);
  /// The op on numbers of 8 or 32 bits, if there are smaller ones among its operands and results, and it takes that.
  std::optional<SmallVector<Value>> makeWidened(StringRef name, TypeRange results, ValueRange operands,
                                                ArrayRef<NamedAttribute> attributes);
  mutable bool hasFailed = false;
};

/// For a small element type in which the array dialect does not compute: the one in which the results are those of the
/// small one, once they are converted to it. Else the type itself.
Type widened(Type type);

using ParseRule = ParseResult (*)(OpAsmParser &, OperationState &);
using ConvertRule = std::function<LogicalResult(Source &)>;

struct Rule {
  ConvertRule convert;
  ParseRule parse = parseClauses;
  /// The minimum and maximum number of operands.
  unsigned least = 0, most = ~0u;
  unsigned regions = 0;
  /// Each element of its results depends only on the elements at the same position.
  bool isElementwise = false;
  /// It has values that are not tensors, or is only a marker.
  bool takesAnything = false;
};

/// By the full name, "stablehlo.add".
using Rules = llvm::StringMap<Rule>;
const Rules &rules();

void addElementwiseRules(Rules &rules);
void addMovementRules(Rules &rules);
void addReductionRules(Rules &rules);
void addWindowRules(Rules &rules);
void addIndexingRules(Rules &rules);
void addContractionRules(Rules &rules);
void addBatchNormRules(Rules &rules);
void addSortRules(Rules &rules);
void addControlFlowRules(Rules &rules);
void addLinearAlgebraRules(Rules &rules);
void addCallRules(Rules &rules);
void addCollectiveRules(Rules &rules);

/// Of a module that is one device's part of a program: how many devices run it together.
inline constexpr StringLiteral kParticipantsAttr = "pycompiler.participants";

/// The error for an operation without a rule, at its location, with its name.
InFlightDiagnostic noCounterpart(Location location, StringRef name);

/// Converts the operations of a block, and of the regions in it.
LogicalResult convertBlock(Block &block);
LogicalResult convertOperation(Operation *op);

} // namespace mlir::array::stablehlo

#endif // ARRAY_LIB_STABLEHLO_RULES_H
