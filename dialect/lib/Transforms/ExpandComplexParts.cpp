// The arithmetic of array-expand-complex: ops on the parts of complex numbers (ExpandComplex.h).
#include "ExpandComplex.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::array {

/// A constant of the type; its dynamic sizes are those of `like`.
static Value splat(PartBuilder &builder, Value like, RankedTensorType type, Attribute element) {
  if (type.hasStaticShape())
    return ConstantOp::create(builder.b, builder.loc, DenseElementsAttr::get(type, element));
  auto scalarType = RankedTensorType::get({}, type.getElementType());
  Value scalar = ConstantOp::create(builder.b, builder.loc, DenseElementsAttr::get(scalarType, element));
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(tensor::DimOp::create(builder.b, builder.loc, like, dim));
  return BroadcastInDimOp::create(builder.b, builder.loc, type, scalar, ArrayRef<int64_t>{}, sizes);
}

Parts PartBuilder::split(Value z) {
  if (auto whole = z.getDefiningOp<ComplexOp>(); whole && !known.contains(z))
    return {whole.getLhs(), whole.getRhs()};
  auto [entry, isNew] = known.try_emplace(z);
  if (isNew) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(z);
    entry->second = {make<RealOp>(z), make<ImagOp>(z)};
  }
  return entry->second;
}

Value PartBuilder::joinWhole(Parts z) {
  Value whole = ComplexOp::create(b, loc, z.re, z.im);
  known[whole] = {RealOp::create(b, loc, whole), ImagOp::create(b, loc, whole)};
  return whole;
}

Value PartBuilder::number(Value like, double value) {
  auto type = cast<RankedTensorType>(like.getType());
  return splat(*this, like, type, b.getFloatAttr(type.getElementType(), value));
}

/// The bits of x that a mask selects, as integers.
Value PartBuilder::bits(Value x, const APInt &mask) {
  auto bitsType = cast<RankedTensorType>(x.getType()).clone(b.getIntegerType(mask.getBitWidth()));
  Value all = BitcastOp::create(b, loc, bitsType, x);
  return both(all, splat(*this, x, bitsType, b.getIntegerAttr(bitsType.getElementType(), mask)));
}

Value PartBuilder::masked(Value x, uint64_t mask) {
  unsigned width = getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth();
  return BitcastOp::create(b, loc, x.getType(), bits(x, APInt(width, mask)));
}

Value PartBuilder::copySign(Value x, Value y) {
  unsigned width = getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth();
  Value magnitude = bits(x, APInt::getSignedMaxValue(width)), sign = bits(y, APInt::getSignedMinValue(width));
  return BitcastOp::create(b, loc, x.getType(), either(magnitude, sign));
}

/// A power of two that moves a number away from the ends of the range, and its inverse; 1 if the number is not near
/// them.
PartBuilder::Scale PartBuilder::scaleOf(Parts z) {
  Value size = add(abs(z.re), abs(z.im)), one = number(size, 1); // infinite if it overflows, which also counts as large
  bool isDouble = getElementTypeOrSelf(size.getType()).isF64();
  double down = 0x1p-3, up = isDouble ? 0x1p200 : 0x1p60;
  Value isHuge = less(number(size, isDouble ? 0x1p1021 : 0x1p125), size);
  Value isTiny = less(size, number(size, isDouble ? 0x1p-900 : 0x1p-80));
  auto choose = [&](double ofHuge, double ofTiny) {
    return select(isHuge, number(size, ofHuge), select(isTiny, number(size, ofTiny), one));
  };
  return {choose(down, up), choose(1 / down, 1 / up)};
}

Parts PartBuilder::product(Parts x, Parts y) {
  return {sub(mul(x.re, y.re), mul(x.im, y.im)), add(mul(x.re, y.im), mul(x.im, y.re))};
}

/// The infinite parts as ones and the others as zeros, with their signs: a finite number divided by an infinite one is
/// zero times its quotient by these.
Parts PartBuilder::box(Parts z) {
  Value infinity = number(z.re, std::numeric_limits<double>::infinity());
  auto unit = [&](Value part) {
    return copySign(select(equal(abs(part), infinity), number(part, 1), number(part, 0)), part);
  };
  return {unit(z.re), unit(z.im)};
}

Value PartBuilder::isInfinite(Parts z) {
  Value infinity = number(z.re, std::numeric_limits<double>::infinity());
  return either(equal(abs(z.re), infinity), equal(abs(z.im), infinity));
}

/// With a zero divisor each part becomes an infinity with its sign, or nan, as in NumPy; with an infinite one the parts
/// of a finite number become zeros (C99 Annex G).
Parts PartBuilder::quotient(Parts x, Parts y) {
  return getElementTypeOrSelf(y.re.getType()).isF32() ? quotientOfSingles(x, y) : quotientOfDoubles(x, y);
}

/// x * conj(y) / |y|^2 in double precision, in which products of single numbers are within the range, so nothing is
/// scaled. It has a third of the operations of the other formula, and one division instead of three.
Parts PartBuilder::quotientOfSingles(Parts x, Parts y) {
  Type singles = y.re.getType(), doubles = cast<RankedTensorType>(singles).clone(b.getF64Type());
  auto converted = [&](Parts z, Type type) -> Parts {
    return {b.createOrFold<ConvertOp>(loc, type, z.re), b.createOrFold<ConvertOp>(loc, type, z.im)};
  };
  Value vanishes = isInfinite(y);
  y = converted(select(vanishes, box(y), y), doubles);
  x = converted(x, doubles);
  Value square = add(mul(y.re, y.re), mul(y.im, y.im)), zero = number(square, 0);
  Value inverse = select(vanishes, zero, div(number(square, 1), square));
  Parts overSquare = select(equal(square, zero), x, product(x, {y.re, neg(y.im)}));
  return converted(scaled(overSquare, inverse), singles);
}

/// Smith's quotient ("Algorithm 116: Complex division", 1962), which has no intermediate overflow or underflow: the
/// ratio of the divisor's parts is at most 1, and numbers near the ends of the range are scaled.
Parts PartBuilder::quotientOfDoubles(Parts x, Parts y) {
  Value vanishes = isInfinite(y);
  y = select(vanishes, box(y), y);
  Scale ofNumber = scaleOf(x), ofDivisor = scaleOf(y);
  x = scaled(x, ofNumber.factor);
  y = scaled(y, ofDivisor.factor);
  Value realIsLess = less(abs(y.re), abs(y.im));
  Value big = select(realIsLess, y.im, y.re), small = select(realIsLess, y.re, y.im);
  Value ratio = div(small, big), zero = number(big, 0);
  Value byZero = both(equal(y.re, zero), equal(y.im, zero));
  Value divisor = select(byZero, zero, add(big, mul(small, ratio)));
  Value first = select(realIsLess, x.im, x.re), second = select(realIsLess, x.re, x.im);
  Parts above = select(byZero, x, {add(first, mul(second, ratio)), sub(second, mul(first, ratio))});
  Value re = div(above.re, divisor), im = div(above.im, divisor);
  Value back = select(vanishes, zero, mul(ofDivisor.factor, ofNumber.inverse));
  return scaled({re, select(realIsLess, neg(im), im)}, back);
}

/// sqrt(re^2 + im^2) without overflow: infinite if either part is, even beside a nan.
Value PartBuilder::magnitude(Parts z) {
  Value x = abs(z.re), y = abs(z.im);
  Value big = max(x, y), small = min(x, y);
  Value zero = number(x, 0), one = number(x, 1), infinity = number(x, std::numeric_limits<double>::infinity());
  Value ratio = div(small, select(equal(big, zero), one, big));
  Value length = mul(big, sqrt(add(one, mul(ratio, ratio))));
  return select(either(equal(x, infinity), equal(y, infinity)), infinity, length);
}

} // namespace mlir::array
