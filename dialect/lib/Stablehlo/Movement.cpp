// Constants, iota, and the operations that move elements to positions known at compile time.
#include "Rules.h"

namespace mlir::array::stablehlo {
namespace {

LogicalResult convertConstant(Source &source) {
  auto value = dyn_cast_or_null<ElementsAttr>(source.attribute({"value"}));
  if (!value || value.getType() != source.resultType())
    return source.error() << "expected the attribute 'value', elements of the result's type";
  return source.replace(
      source.make("constant", source.resultType(), {}, {source.builder.getNamedAttr("value", value)}));
}

/// Also of sizes that are an operand.
LogicalResult convertIota(Source &source) {
  RankedTensorType type = source.resultType();
  int64_t dimension = source.integer({"dim", "iota_dimension"});
  // Complex numbers and bools need another type for counting.
  Type element = type.getElementType();
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType();
  else if (element.isInteger(1) || element.getIntOrFloatBitWidth() < 8)
    element = source.builder.getI32Type();
  Value made = source.makeShaped("iota", element, source.extents(), {}, {source.namedNumber("dimension", dimension)});
  return source.replace(source.convert(made, type.getElementType()));
}

LogicalResult convertBroadcast(Source &source) {
  SmallVector<int64_t> dimensions = source.integers({"dims", "broadcast_dimensions"});
  return source.replace(source.broadcast(source.operand(0), source.extents(), dimensions));
}

/// Converts the trailing dimensions of an older program: `sizes` in front.
LogicalResult convertLeadingBroadcast(Source &source) {
  SmallVector<int64_t> sizes = source.integers({"sizes", "broadcast_sizes"});
  auto dimensions = llvm::to_vector(llvm::seq<int64_t>(sizes.size(), sizes.size() + source.type(0).getRank()));
  return source.replace(source.broadcast(source.operand(0), source.resultType().getShape(), dimensions));
}

LogicalResult convertReshape(Source &source) {
  return source.replace(
      source.makeShaped("reshape", source.resultType().getElementType(), source.extents(), {source.operand(0)}));
}

LogicalResult convertTranspose(Source &source) {
  SmallVector<int64_t> permutation = source.integers({"dims", "permutation"});
  return source.replace(
      source.make("transpose", source.resultType(), {source.operand(0)}, {source.named("permutation", permutation)}));
}

LogicalResult convertSlice(Source &source) {
  SmallVector<NamedAttribute> attributes;
  for (StringRef name : {"start_indices", "limit_indices", "strides"})
    attributes.push_back(source.named(name, source.integers({name})));
  return source.replace(source.make("slice", source.resultType(), {source.operand(0)}, attributes));
}

LogicalResult convertPad(Source &source) {
  SmallVector<NamedAttribute> attributes;
  for (auto [name, generic] : {std::pair<StringRef, StringRef>("low", "edge_padding_low"),
                               {"high", "edge_padding_high"},
                               {"interior", "interior_padding"}})
    attributes.push_back(source.named(name, source.integers({name, generic})));
  return source.replace(source.make("pad", source.resultType(), source.op->getOperands(), attributes));
}

LogicalResult convertConcatenate(Source &source) {
  int64_t dimension = source.integer({"dim", "dimension"});
  return source.replace(source.make("concatenate", source.resultType(), source.op->getOperands(),
                                    {source.namedNumber("dimension", dimension)}));
}

LogicalResult convertReverse(Source &source) {
  SmallVector<int64_t> dimensions = source.integers({"dims", "dimensions"});
  return source.replace(
      source.make("reverse", source.resultType(), {source.operand(0)}, {source.named("dimensions", dimensions)}));
}

LogicalResult convertDimensionSize(Source &source) {
  int64_t dimension = source.integer({"dim", "dimension"});
  if (source.failed())
    return failure();
  if (dimension < 0 || dimension >= source.type(0).getRank())
    return source.error() << "expected a dimension of " << source.type(0);
  if (!source.type(0).isDynamicDim(dimension))
    return source.replace(source.number(source.resultType(), source.type(0).getDimSize(dimension)));
  if (!source.hasElements(0))
    return source.error() << "the size of dimension " << dimension << " of " << source.type(0)
                          << " does not follow from the sizes of the arguments";
  return source.replace(source.make("dim_as_value", source.resultType(), {source.index(source.elements(0).front())}));
}

//===----------------------------------------------------------------------===//
// Sizes as operands
//===----------------------------------------------------------------------===//

LogicalResult convertDynamicPad(Source &source) {
  SmallVector<AffineExpr> low = source.elements(2), high = source.elements(3);
  SmallVector<int64_t> interior = source.numbers(4);
  if (source.failed())
    return failure();
  SmallVector<Value> operands = {source.operand(0), source.operand(1)};
  SmallVector<NamedAttribute> attributes = {source.named("low", source.split(low, operands)),
                                            source.named("high", source.split(high, operands)),
                                            source.named("interior", interior)};
  return source.replace(source.make("pad", source.resultType(), operands, attributes));
}

/// A slice at places that are sizes or numbers; else, of step 1, a block at a place from data.
LogicalResult convertRealDynamicSlice(Source &source) {
  SmallVector<int64_t> strides = source.numbers(3);
  if (source.failed())
    return failure();
  SmallVector<Value> operands = {source.operand(0)};
  if (source.hasElements(1) && source.hasElements(2)) {
    SmallVector<NamedAttribute> attributes = {source.named("start_indices", source.split(source.elements(1), operands)),
                                              source.named("limit_indices", source.split(source.elements(2), operands)),
                                              source.named("strides", strides)};
    return source.replace(source.make("slice", source.resultType(), operands, attributes));
  }
  if (llvm::any_of(strides, [](int64_t stride) { return stride != 1; }))
    return source.error() << "a slice at places from data has no counterpart with steps of more than 1";
  SmallVector<AffineExpr> sizes = source.sizesOf(source.extents());
  if (source.failed())
    return failure();
  for (unsigned dim = 0; dim < sizes.size(); ++dim)
    operands.push_back(source.elementAt(source.operand(1), dim));
  NamedAttribute counts = source.named("slice_sizes", source.split(sizes, operands));
  return source.replace(source.make("dynamic_slice", source.resultType(), operands, {counts}));
}

//===----------------------------------------------------------------------===//
// Bits as another type
//===----------------------------------------------------------------------===//

Type unsignedOf(Source &source, unsigned width) { return source.builder.getIntegerType(width, /*isSigned=*/false); }

Value bitcast(Source &source, Value value, Type element) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getElementType() == element ? value : source.make("bitcast", type.clone(element), {value});
}

/// 0, width, 2 width, ... along the last dimension.
Value places(Source &source, Type element, const Extents &extents, unsigned width) {
  Value index = source.makeShaped("iota", element, extents, {},
                                  {source.namedNumber("dimension", static_cast<int64_t>(extents.shape.size()) - 1)});
  auto scalar = RankedTensorType::get({}, element);
  Value factor = source.broadcast(source.number(scalar, width), extents);
  return index ? source.make("mul", index.getType(), {index, factor}) : Value();
}

/// Parts of an element along a new last dimension, the lowest first.
LogicalResult convertToParts(Source &source, unsigned width, unsigned part) {
  RankedTensorType result = source.resultType();
  auto wide = result.clone(unsignedOf(source, width));
  Value pattern = bitcast(source, source.operand(0), wide.getElementType());
  if (!pattern)
    return failure();
  Value spread =
      source.broadcast(pattern, source.extents(), llvm::to_vector(llvm::seq<int64_t>(source.type(0).getRank())));
  Value shifted =
      source.make("shift_right_logical", wide, {spread, places(source, wide.getElementType(), source.extents(), part)});
  Value masked = part < 8 ? source.make("and", wide, {shifted, source.number(wide, (1 << part) - 1)}) : shifted;
  Value parts = source.convert(masked, unsignedOf(source, part));
  return parts ? source.replace(bitcast(source, parts, result.getElementType())) : failure();
}

/// The elements of the last dimension are the parts of one, the lowest first.
LogicalResult convertFromParts(Source &source, unsigned part, unsigned width) {
  RankedTensorType type = source.type(0), result = source.resultType();
  auto wide = type.clone(unsignedOf(source, width));
  Value parts = bitcast(source, source.operand(0), unsignedOf(source, part));
  Value placed = source.make("shift_left", wide,
                             {source.convert(parts, wide.getElementType()),
                              places(source, wide.getElementType(), source.operandExtents(0), part)});
  Value joined = source.make("reduce_or", result.clone(wide.getElementType()), {placed},
                             {source.named("axes", {type.getRank() - 1})});
  return joined ? source.replace(bitcast(source, joined, result.getElementType())) : failure();
}

LogicalResult convertBitcast(Source &source) {
  Type from = source.type(0).getElementType(), to = source.resultType().getElementType();
  if (from == to)
    return source.replace(source.operand(0));
  if (isa<ComplexType>(from) || isa<ComplexType>(to))
    return source.error() << "the bits of complex numbers have no counterpart";
  unsigned width = from.getIntOrFloatBitWidth(), newWidth = to.getIntOrFloatBitWidth();
  if (width == newWidth)
    return source.replace(source.make("bitcast", source.resultType(), {source.operand(0)}));
  auto isPart = [](unsigned bits) { return bits % 8 == 0 || bits == 4 || bits == 2; };
  if (!isPart(width) || !isPart(newWidth))
    return source.error() << "elements of " << from << " as " << to << " have no counterpart";
  return width > newWidth ? convertToParts(source, width, newWidth) : convertFromParts(source, width, newWidth);
}

} // namespace

void addMovementRules(Rules &rules) {
  rules["stablehlo.constant"] = {convertConstant, parseConstant, 0, 0};
  rules["stablehlo.iota"] = {convertIota, parseClauses, 0, 0};
  rules["stablehlo.broadcast_in_dim"] = {convertBroadcast, parseClauses, 1, 1};
  rules["stablehlo.broadcast"] = {convertLeadingBroadcast, parseClauses, 1, 1};
  rules["stablehlo.reshape"] = {convertReshape, parseClauses, 1, 1};
  rules["stablehlo.transpose"] = {convertTranspose, parseClauses, 1, 1};
  rules["stablehlo.slice"] = {convertSlice, parseSlice, 1, 1};
  rules["stablehlo.pad"] = {convertPad, parseClauses, 2, 2};
  rules["stablehlo.concatenate"] = {convertConcatenate, parseClauses, 1};
  rules["stablehlo.reverse"] = {convertReverse, parseClauses, 1, 1};
  rules["stablehlo.get_dimension_size"] = {convertDimensionSize, parseClauses, 1, 1};
  rules["stablehlo.dynamic_iota"] = {convertIota, parseClauses, 1, 1};
  rules["stablehlo.dynamic_broadcast_in_dim"] = {convertBroadcast, parseClauses, 2, 2};
  rules["stablehlo.dynamic_reshape"] = {convertReshape, parseClauses, 2, 2};
  rules["stablehlo.dynamic_pad"] = {convertDynamicPad, parseClauses, 5, 5};
  rules["stablehlo.real_dynamic_slice"] = {convertRealDynamicSlice, parseClauses, 4, 4};
  rules["stablehlo.bitcast_convert"] = {convertBitcast, parseClauses, 1, 1};
}

} // namespace mlir::array::stablehlo
