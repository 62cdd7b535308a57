// Builds real ops on the parts of complex values. Private to array-expand-complex: its tables are in the files
// ExpandComplex*.cpp.
#ifndef ARRAY_LIB_TRANSFORMS_EXPANDCOMPLEX_H
#define ARRAY_LIB_TRANSFORMS_EXPANDCOMPLEX_H

#include "array/IR/Array.h"

namespace mlir::array {

/// The parts of a complex value: tensors of one float type.
struct Parts {
  Value re, im;
};

/// Builds array ops on values of one shape; each folds if possible.
class PartBuilder {
public:
  using Known = DenseMap<Value, Parts>;
  PartBuilder(OpBuilder &builder, Location loc, Known &known) : b(builder), loc(loc), known(known) {}

  template <typename Op> Value make(Value x) { return b.createOrFold<Op>(loc, x); }
  template <typename Op> Value make(Value x, Value y) { return b.createOrFold<Op>(loc, x, y); }

  /// The parts of a value, read once, right after it.
  Parts split(Value z);
  Value join(Parts z) { return make<ComplexOp>(z.re, z.im); }
  /// The same, for parts that many ops compute together: readers read the whole, which is one value to store or to
  /// fuse, where the parts are two whose ops are the same.
  Value joinWhole(Parts z);

  Value add(Value x, Value y) { return make<AddOp>(x, y); }
  Value sub(Value x, Value y) { return make<SubOp>(x, y); }
  Value mul(Value x, Value y) { return make<MulOp>(x, y); }
  Value div(Value x, Value y) { return make<DivOp>(x, y); }
  Value neg(Value x) { return make<NegOp>(x); }
  Value abs(Value x) { return make<AbsOp>(x); }
  Value max(Value x, Value y) { return make<MaxOp>(x, y); }
  Value min(Value x, Value y) { return make<MinOp>(x, y); }
  Value sqrt(Value x) { return make<SqrtOp>(x); }
  Value both(Value x, Value y) { return make<AndOp>(x, y); }
  Value either(Value x, Value y) { return make<OrOp>(x, y); }
  Value equal(Value x, Value y) { return make<EqOp>(x, y); }
  Value less(Value x, Value y) { return make<LtOp>(x, y); }
  Value isNan(Value x) { return make<NeOp>(x, x); }
  Value select(Value condition, Value onTrue, Value onFalse) {
    return b.createOrFold<SelectOp>(loc, condition, onTrue, onFalse);
  }
  Parts select(Value condition, Parts onTrue, Parts onFalse) {
    return {select(condition, onTrue.re, onFalse.re), select(condition, onTrue.im, onFalse.im)};
  }

  /// A number, or a boolean, in the shape of `like`.
  Value number(Value like, double value);
  /// The magnitude of x with the sign of y.
  Value copySign(Value x, Value y);
  /// x with only the bits of a mask, which is at most as wide as x.
  Value masked(Value x, uint64_t mask);

  /// Two factors that are powers of two and inverse to each other.
  struct Scale {
    Value factor, inverse;
  };
  Scale scaleOf(Parts z);

  // Operations on complex numbers.
  Parts sum(Parts x, Parts y) { return {add(x.re, y.re), add(x.im, y.im)}; }
  Parts difference(Parts x, Parts y) { return {sub(x.re, y.re), sub(x.im, y.im)}; }
  Parts negative(Parts z) { return {neg(z.re), neg(z.im)}; }
  Parts scaled(Parts z, Value factor) { return {mul(z.re, factor), mul(z.im, factor)}; }
  Parts product(Parts x, Parts y);
  Parts quotient(Parts x, Parts y);
  Value isInfinite(Parts z);
  Parts box(Parts z);
  Value magnitude(Parts z);

  OpBuilder &b;
  Location loc;

private:
  Value bits(Value x, const APInt &mask);
  Parts quotientOfSingles(Parts x, Parts y);
  Parts quotientOfDoubles(Parts x, Parts y);

  Known &known;
};

/// The expansion of a function of one complex number.
using PartFunction = Parts (*)(PartBuilder &b, Parts z);
struct PartRow {
  StringRef op;
  PartFunction function;
  /// Whether the parts have most operations in common (PartBuilder::joinWhole). Those of a sine and a cosine have none,
  /// but share them with each other.
  bool isWhole = false;
};

/// The functions of one number, in ExpandComplexFunctions.cpp.
ArrayRef<PartRow> complexFunctions();
Parts complexPower(PartBuilder &b, Parts base, Parts exponent);

} // namespace mlir::array

#endif // ARRAY_LIB_TRANSFORMS_EXPANDCOMPLEX_H
