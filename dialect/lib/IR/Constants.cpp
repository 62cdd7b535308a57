// Reading and making splats.
#include "Constants.h"

using namespace mlir;
using namespace mlir::array;

std::optional<APInt> array::splatInt(Attribute constant) {
  auto splat = dyn_cast_if_present<SplatElementsAttr>(constant);
  if (!splat || !isa<IntegerType>(splat.getElementType()))
    return std::nullopt;
  return splat.getSplatValue<APInt>();
}

std::optional<APFloat> array::splatFloat(Attribute constant) {
  auto splat = dyn_cast_if_present<SplatElementsAttr>(constant);
  if (!splat || !isa<FloatType>(splat.getElementType()))
    return std::nullopt;
  return splat.getSplatValue<APFloat>();
}

bool array::isIntSplat(Attribute constant, int64_t number) {
  std::optional<APInt> value = splatInt(constant);
  return value && *value == APInt(value->getBitWidth(), number, /*isSigned=*/true, /*implicitTrunc=*/true);
}

bool array::isFloatSplat(Attribute constant, double number) {
  std::optional<APFloat> value = splatFloat(constant);
  if (!value)
    return false;
  APFloat expected(number);
  bool losesInfo;
  expected.convert(value->getSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return value->bitwiseIsEqual(expected);
}

static bool canHold(Type result) { return cast<RankedTensorType>(result).hasStaticShape(); }

Attribute array::splatOf(Type result, const std::optional<APInt> &number) {
  return number && canHold(result) ? DenseElementsAttr::get(cast<ShapedType>(result), *number) : Attribute();
}

Attribute array::splatOf(Type result, const std::optional<APFloat> &number) {
  return number && !number->isNaN() && canHold(result) ? DenseElementsAttr::get(cast<ShapedType>(result), *number)
                                                       : Attribute();
}

Attribute array::resizedSplat(Attribute constant, Type result) {
  auto splat = dyn_cast_if_present<SplatElementsAttr>(constant);
  return splat && canHold(result) ? splat.resizeSplat(cast<ShapedType>(result)) : Attribute();
}
