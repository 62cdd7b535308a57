// dot_general, dot, convolution. Element types that the array dialect does not multiply, bools and small floats, are
// converted before.
#include "Contraction.h"
#include "array/IR/Precision.h"

namespace mlir::array::stablehlo {

DotDimensions dotDimensions(Source &source, StringRef printed, StringRef entry) {
  if (auto lists = dyn_cast_or_null<ArrayAttr>(source.attribute({printed})); lists && lists.size() == 2) {
    auto lhs = dyn_cast<DenseI64ArrayAttr>(lists[0]), rhs = dyn_cast<DenseI64ArrayAttr>(lists[1]);
    if (lhs && rhs)
      return {SmallVector<int64_t>(lhs.asArrayRef()), SmallVector<int64_t>(rhs.asArrayRef())};
  }
  auto numbers = dyn_cast_or_null<DictionaryAttr>(source.attribute({"dot_dimension_numbers"}));
  return {source.entry(numbers, ("lhs_" + entry).str()), source.entry(numbers, ("rhs_" + entry).str())};
}

SmallVector<int64_t> windowList(Source &source, StringRef printed, StringRef generic, size_t count, int64_t absent) {
  auto window = dyn_cast_or_null<DictionaryAttr>(source.attribute({"window"}));
  Attribute given = window ? window.get(printed) : Attribute();
  if (!given)
    return source.integers({generic}, SmallVector<int64_t>(count, absent));
  SmallVector<int64_t> flat;
  auto add = [&](Attribute entry) {
    if (auto list = dyn_cast<DenseI64ArrayAttr>(entry))
      flat.append(list.asArrayRef().begin(), list.asArrayRef().end());
    else if (auto flag = dyn_cast<IntegerAttr>(entry))
      flat.push_back(flag.getValue().getZExtValue());
  };
  if (auto lists = dyn_cast<ArrayAttr>(given))
    llvm::for_each(lists, add);
  else
    add(given);
  return flat;
}

namespace {

bool isMultiplied(Type element) {
  if (isa<ComplexType>(element))
    return true;
  unsigned width = element.getIntOrFloatBitWidth();
  return isa<FloatType>(element) ? width >= 16 : width >= 8;
}

/// Whether `to` may hold sums of products of `from`: the same type, or a wider one of the same kind.
bool holds(Type to, Type from) {
  if (to == from)
    return true;
  if (isa<FloatType>(to) && isa<FloatType>(from))
    return to.getIntOrFloatBitWidth() > from.getIntOrFloatBitWidth();
  auto wide = dyn_cast<IntegerType>(to), narrow = dyn_cast<IntegerType>(from);
  return wide && narrow && wide.getSignedness() == narrow.getSignedness() && wide.getWidth() > narrow.getWidth();
}

/// Builds a matmul or convolution of both operands, converted if necessary, and gives it the type of the result.
LogicalResult replaceByProduct(Source &source, StringRef name, Value lhs, Value rhs,
                               ArrayRef<NamedAttribute> attributes, ArrayRef<Value> sizes = {}) {
  RankedTensorType result = source.resultType();
  Type to = result.getElementType();
  if (!isMultiplied(to))
    to = isa<FloatType>(to) ? Type(source.builder.getF32Type()) : Type(source.builder.getI32Type());
  if (!lhs || !rhs)
    return failure();
  Type left = cast<RankedTensorType>(lhs.getType()).getElementType();
  Type right = cast<RankedTensorType>(rhs.getType()).getElementType();
  if (left != right || !isMultiplied(left) || !holds(to, left)) {
    lhs = source.convert(lhs, to);
    rhs = source.convert(rhs, to);
  }
  SmallVector<Value> operands = {lhs, rhs};
  llvm::append_range(operands, sizes);
  return source.replace(
      source.convert(source.make(name, result.clone(to), operands, attributes), result.getElementType()));
}

/// If an algorithm rounds factors to tf32, the op allows this precision; for any other algorithm it uses full
/// precision.
void addPrecision(Source &source, SmallVectorImpl<NamedAttribute> &attributes) {
  auto algorithm = dyn_cast_or_null<DictionaryAttr>(source.attribute({"algorithm"}));
  auto precision = algorithm ? algorithm.getAs<StringAttr>("lhs_precision_type") : StringAttr();
  if (precision && precision.getValue() == "tf32" && source.type(0).getElementType().isF32())
    attributes.push_back(source.namedWord(kPrecisionAttr, "tf32"));
}

LogicalResult convertDotGeneral(Source &source) {
  if (!source.attribute({"contracting_dims", "batching_dims", "dot_dimension_numbers"}) &&
      source.type(0).getRank() > 0 && source.type(1).getRank() > 0 &&
      source.resultType().getRank() != source.type(0).getRank() + source.type(1).getRank())
    return source.error() << "expected 'contracting_dims' or the attribute 'dot_dimension_numbers'";
  DotDimensions contracting = dotDimensions(source, "contracting_dims", "contracting_dimensions");
  DotDimensions batch = dotDimensions(source, "batching_dims", "batching_dimensions");
  SmallVector<NamedAttribute> attributes = {source.named("lhs_contracting", contracting.lhs),
                                            source.named("rhs_contracting", contracting.rhs),
                                            source.named("lhs_batch", batch.lhs), source.named("rhs_batch", batch.rhs)};
  addPrecision(source, attributes);
  return replaceByProduct(source, "dot_general", source.operand(0), source.operand(1), attributes);
}

/// For vectors and matrices: contracts the last dimension with the first.
LogicalResult convertDot(Source &source) {
  if (source.type(0).getRank() < 1 || source.type(1).getRank() < 1)
    return source.error() << "expected vectors or matrices, but got " << source.type(0) << " and " << source.type(1);
  SmallVector<NamedAttribute> attributes = {
      source.named("lhs_contracting", {source.type(0).getRank() - 1}), source.named("rhs_contracting", {0}),
      source.named("lhs_batch", ArrayRef<int64_t>()), source.named("rhs_batch", ArrayRef<int64_t>())};
  return replaceByProduct(source, "dot_general", source.operand(0), source.operand(1), attributes);
}

//===----------------------------------------------------------------------===//
// convolution
//===----------------------------------------------------------------------===//

/// Also of padding that is an operand.
LogicalResult convertConvolution(Source &source) {
  DictionaryAttr numbers = source.structure({"dimension_numbers"});
  if (source.failed())
    return failure();
  size_t spatial = std::max<int64_t>(source.type(0).getRank() - 2, 0);
  SmallVector<AffineExpr> padding, low, high;
  if (source.op->getNumOperands() == 3)
    padding = source.elements(2);
  else
    for (int64_t one : windowList(source, "pad", "padding", 2 * spatial, 0))
      padding.push_back(getAffineConstantExpr(one, source.op->getContext()));
  if (padding.size() == 1)
    padding.assign(2 * spatial, AffineExpr(padding[0]));
  for (size_t side = 0; side + 1 < padding.size(); side += 2) {
    low.push_back(padding[side]);
    high.push_back(padding[side + 1]);
  }
  SmallVector<Value> sizes;
  SmallVector<int64_t> kernel = source.entry(numbers, "rhs"), reversed;
  for (auto [dimension, flag] : llvm::enumerate(windowList(source, "reverse", "window_reversal", spatial, 0)))
    if (flag && dimension + 2 < kernel.size())
      reversed.push_back(kernel[dimension + 2]);
  SmallVector<NamedAttribute> attributes = {
      source.named("window_strides", windowList(source, "stride", "window_strides", spatial, 1)),
      source.named("low", source.split(low, sizes)),
      source.named("high", source.split(high, sizes)),
      source.named("lhs_dilation", windowList(source, "lhs_dilate", "lhs_dilation", spatial, 1)),
      source.named("rhs_dilation", windowList(source, "rhs_dilate", "rhs_dilation", spatial, 1)),
      source.named("lhs_spec", source.entry(numbers, "lhs")),
      source.named("rhs_spec", kernel),
      source.named("out_spec", source.entry(numbers, "out")),
      source.namedNumber("feature_group_count", source.integer({"feature_group_count"}, 1)),
      source.namedNumber("batch_group_count", source.integer({"batch_group_count"}, 1))};
  Value weights = source.operand(1);
  if (!reversed.empty())
    weights = source.make("reverse", weights.getType(), {weights}, {source.named("dimensions", reversed)});
  return replaceByProduct(source, "conv_general_dilated", source.operand(0), weights, attributes, sizes);
}

} // namespace

void addContractionRules(Rules &rules) {
  rules["stablehlo.dot_general"] = {convertDotGeneral, parseClauses, 2, 2};
  rules["stablehlo.dot"] = {convertDot, parseClauses, 2, 2};
  rules["stablehlo.dynamic_conv"] = {convertConvolution, parseConvolution, 3, 3};
  rules["stablehlo.convolution"] = {convertConvolution, parseConvolution, 2, 2};
}

} // namespace mlir::array::stablehlo
