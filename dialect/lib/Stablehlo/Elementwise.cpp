// Elementwise operations of StableHLO and CHLO: most correspond to an op of the array dialect, by a row of a table.
#include "Rules.h"

namespace mlir::array::stablehlo {
namespace {

struct Row {
  StringLiteral name;
  StringLiteral counterpart;
  unsigned operands;
  /// The op for bools, if it differs.
  StringLiteral ofBools = "";
};

constexpr Row kRows[] = {
    {"stablehlo.abs", "abs", 1},
    {"stablehlo.add", "add", 2, "or"},
    {"stablehlo.and", "and", 2},
    {"stablehlo.atan2", "atan2", 2},
    {"stablehlo.cbrt", "cbrt", 1},
    {"stablehlo.ceil", "ceil", 1},
    {"stablehlo.complex", "complex", 2},
    {"stablehlo.convert", "convert", 1},
    {"stablehlo.cosine", "cos", 1},
    {"stablehlo.count_leading_zeros", "clz", 1},
    {"stablehlo.divide", "div", 2},
    {"stablehlo.exponential", "exp", 1},
    {"stablehlo.exponential_minus_one", "expm1", 1},
    {"stablehlo.floor", "floor", 1},
    {"stablehlo.is_finite", "is_finite", 1},
    {"stablehlo.log", "log", 1},
    {"stablehlo.log_plus_one", "log1p", 1},
    {"stablehlo.logistic", "logistic", 1},
    {"stablehlo.maximum", "max", 2},
    {"stablehlo.minimum", "min", 2},
    {"stablehlo.multiply", "mul", 2, "and"},
    {"stablehlo.negate", "neg", 1},
    {"stablehlo.not", "not", 1},
    {"stablehlo.or", "or", 2},
    {"stablehlo.popcnt", "population_count", 1},
    {"stablehlo.power", "pow", 2},
    {"stablehlo.remainder", "rem", 2},
    {"stablehlo.round_nearest_even", "round", 1},
    {"stablehlo.rsqrt", "rsqrt", 1},
    {"stablehlo.shift_left", "shift_left", 2},
    {"stablehlo.shift_right_arithmetic", "shift_right_arithmetic", 2},
    {"stablehlo.shift_right_logical", "shift_right_logical", 2},
    {"stablehlo.sign", "sign", 1},
    {"stablehlo.sine", "sin", 1},
    {"stablehlo.sqrt", "sqrt", 1},
    {"stablehlo.subtract", "sub", 2},
    {"stablehlo.tan", "tan", 1},
    {"stablehlo.tanh", "tanh", 1},
    {"stablehlo.xor", "xor", 2},
    {"chlo.acos", "acos", 1},
    {"chlo.acosh", "acosh", 1},
    {"chlo.asin", "asin", 1},
    {"chlo.asinh", "asinh", 1},
    {"chlo.atan", "atan", 1},
    {"chlo.atanh", "atanh", 1},
    {"chlo.bessel_i1e", "bessel_i1e", 1},
    {"chlo.cosh", "cosh", 1},
    {"chlo.digamma", "digamma", 1},
    {"chlo.erf", "erf", 1},
    {"chlo.erf_inv", "erf_inv", 1},
    {"chlo.erfc", "erfc", 1},
    {"chlo.lgamma", "lgamma", 1},
    {"chlo.mulhi", "mulhi", 2},
    {"chlo.next_after", "nextafter", 2},
    {"chlo.polygamma", "polygamma", 2},
    {"chlo.sinh", "sinh", 1},
    {"chlo.tan", "tan", 1},
    {"chlo.zeta", "zeta", 2},
};

LogicalResult convertRow(Source &source, const Row &row) {
  bool isOfBools = !row.ofBools.empty() && source.type(0).getElementType().isInteger(1);
  StringRef name = isOfBools ? row.ofBools : row.counterpart;
  return source.replace(source.make(name, source.resultType(), source.op->getOperands()));
}

/// A scalar bound or predicate applies to all elements.
Value spread(Source &source, unsigned operand) {
  Value value = source.operand(operand);
  bool isScalar = source.type(operand).getRank() == 0 && source.resultType().getRank() != 0;
  return isScalar ? source.broadcast(value, source.extents()) : value;
}

/// Integers in the order of floats with -nan < -inf < ... < -0 < +0 < ... < inf < nan: the bits, with all but the sign
/// inverted for negative numbers. A type without a sign has the order of its bits.
Value totalOrder(Source &source, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  unsigned width = type.getElementTypeBitWidth();
  if (isa<Float8E8M0FNUType>(type.getElementType()))
    return source.make("bitcast", type.clone(source.builder.getIntegerType(width, /*isSigned=*/false)), {value});
  auto integers = type.clone(source.builder.getIntegerType(width));
  Value bits = source.make("bitcast", integers, {value});
  Value sign = source.make("shift_right_arithmetic", integers, {bits, source.number(integers, width - 1)});
  Attribute allButSign = IntegerAttr::get(integers.getElementType(), APInt::getSignedMaxValue(width));
  Value turned = source.make("and", integers, {sign, source.constant(integers, allButSign)});
  return source.make("xor", integers, {bits, turned});
}

LogicalResult convertCompare(Source &source) {
  StringRef direction = source.wordAt(0, {"comparison_direction"});
  StringRef kind = source.wordAt(1, {"compare_type"}, "NOTYPE");
  if (source.failed())
    return failure();
  SmallVector<Value> operands(source.op->getOperands());
  // For integers and bools every order is total.
  if (kind == "TOTALORDER" && isa<FloatType>(source.type(0).getElementType()))
    for (Value &operand : operands)
      operand = totalOrder(source, operand);
  static constexpr std::pair<StringLiteral, StringLiteral> kDirections[] = {{"EQ", "eq"}, {"NE", "ne"}, {"LT", "lt"},
                                                                            {"LE", "le"}, {"GT", "gt"}, {"GE", "ge"}};
  for (auto [given, name] : kDirections)
    if (direction == given)
      return source.replace(source.make(name, source.resultType(), operands));
  return source.error() << "expected EQ, NE, LT, LE, GT or GE, but got '" << direction << "'";
}

LogicalResult convertSelect(Source &source) {
  Value pred = spread(source, 0);
  return source.replace(source.make("select", source.resultType(), {pred, source.operand(1), source.operand(2)}));
}

/// Limits to the bounds, the upper one last; nan stays.
LogicalResult convertClamp(Source &source) {
  RankedTensorType type = source.resultType();
  Value low = spread(source, 0), high = spread(source, 2);
  return source.replace(source.make("min", type, {source.make("max", type, {source.operand(1), low}), high}));
}

/// To the nearest, ties away from zero: floor(|x|), plus one if the rest is at least a half, with the sign of x.
LogicalResult convertRoundAway(Source &source) {
  RankedTensorType type = source.resultType();
  auto bools = type.clone(source.builder.getI1Type());
  Value x = source.operand(0);
  Value size = source.make("abs", type, {x});
  Value whole = source.make("floor", type, {size});
  Value rest = source.make("sub", type, {size, whole});
  Value isUp = source.make("ge", bools, {rest, source.number(type, 0.5)});
  Value up = source.make("add", type, {whole, source.number(type, 1)});
  Value rounded = source.make("select", type, {isUp, up, whole});
  return source.replace(source.make("mul", type, {source.make("sign", type, {x}), rounded}));
}

LogicalResult convertPart(Source &source, StringRef name) {
  if (!isa<ComplexType>(source.type(0).getElementType()))
    return source.replace(name == "real" ? source.operand(0) : source.number(source.resultType(), 0));
  return source.replace(source.make(name, source.resultType(), {source.operand(0)}));
}

LogicalResult convertReducePrecision(Source &source) {
  // Printed as e5m10.
  StringRef format = source.word({"format"}, "");
  int64_t exponent = 0, mantissa = 0;
  if (format.empty()) {
    exponent = source.integer({"exponent_bits"});
    mantissa = source.integer({"mantissa_bits"});
  } else if (StringRef rest = format; !rest.consume_front("e") || rest.consumeInteger(10, exponent) ||
                                      !rest.consume_front("m") || rest.getAsInteger(10, mantissa)) {
    return source.error() << "expected a format such as e5m10, but got '" << format << "'";
  }
  return source.replace(
      source.make("reduce_precision", source.resultType(), {source.operand(0)},
                  {source.namedNumber("exponent_bits", exponent), source.namedNumber("mantissa_bits", mantissa)}));
}

LogicalResult convertConj(Source &source) {
  RankedTensorType type = source.resultType();
  auto complex = dyn_cast<ComplexType>(type.getElementType());
  if (!complex)
    return source.replace(source.operand(0));
  auto part = type.clone(complex.getElementType());
  Value real = source.make("real", part, {source.operand(0)});
  Value imaginary = source.make("neg", part, {source.make("imag", part, {source.operand(0)})});
  return source.replace(source.make("complex", type, {real, imaginary}));
}

/// Whether infinite: `of` is "abs" for both signs, "neg" for the negative one, empty for the positive one.
LogicalResult convertIsInfinite(Source &source, StringRef of) {
  Value x = source.operand(0);
  if (!isa<FloatType>(source.type(0).getElementType()))
    return source.error() << "expected floats, but got " << source.type(0);
  Value seen = of.empty() ? x : source.make(of, x.getType(), {x});
  Value infinity = source.number(source.type(0), std::numeric_limits<double>::infinity());
  return source.replace(source.make("eq", source.resultType(), {seen, infinity}));
}

LogicalResult convertConstantLike(Source &source) {
  auto value = dyn_cast_or_null<TypedAttr>(source.attribute({"value"}));
  if (!value || value.getType() != source.resultType().getElementType())
    return source.error() << "expected the attribute 'value', an element of the result";
  return source.replace(source.constant(source.resultType(), value));
}

} // namespace

void addElementwiseRules(Rules &rules) {
  auto add = [&](StringRef name, unsigned operands, ConvertRule convert) {
    rules[name] = {std::move(convert), parseClauses, operands, operands, 0, /*isElementwise=*/true};
  };
  for (const Row &row : kRows)
    add(row.name, row.operands, [&row](Source &source) { return convertRow(source, row); });
  add("stablehlo.compare", 2, convertCompare);
  add("stablehlo.select", 3, convertSelect);
  add("stablehlo.clamp", 3, convertClamp);
  add("stablehlo.round_nearest_afz", 1, convertRoundAway);
  add("stablehlo.real", 1, [](Source &source) { return convertPart(source, "real"); });
  add("stablehlo.imag", 1, [](Source &source) { return convertPart(source, "imag"); });
  add("stablehlo.reduce_precision", 1, convertReducePrecision);
  add("chlo.square", 1, [](Source &source) {
    return source.replace(source.make("mul", source.resultType(), {source.operand(0), source.operand(0)}));
  });
  add("chlo.conj", 1, convertConj);
  add("chlo.is_inf", 1, [](Source &source) { return convertIsInfinite(source, "abs"); });
  add("chlo.is_pos_inf", 1, [](Source &source) { return convertIsInfinite(source, ""); });
  add("chlo.is_neg_inf", 1, [](Source &source) { return convertIsInfinite(source, "neg"); });
  add("chlo.constant_like", 1, convertConstantLike);
}

} // namespace mlir::array::stablehlo
