// Operations whose positions are data: dynamic slices, gather, scatter. The array dialect has a separate operand for
// each component of an index vector; in StableHLO they are along a dimension of one array.
#include "Regions.h"

namespace mlir::array::stablehlo {
namespace {

/// Indices are i32 or i64.
Value asIndex(Source &source, Value value) {
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  if (element.isSignlessInteger(32) || element.isSignlessInteger(64))
    return value;
  bool isSmall = element.isInteger() && element.getIntOrFloatBitWidth() < 32;
  return source.convert(value, source.builder.getIntegerType(isSmall ? 32 : 64));
}

LogicalResult convertDynamicSlice(Source &source) {
  SmallVector<int64_t> sizes = source.integers({"sizes", "slice_sizes"});
  SmallVector<Value> operands = {source.operand(0)};
  for (Value start : source.op->getOperands().drop_front(1))
    operands.push_back(asIndex(source, start));
  return source.replace(
      source.make("dynamic_slice", source.resultType(), operands, {source.named("slice_sizes", sizes)}));
}

LogicalResult convertDynamicUpdateSlice(Source &source) {
  SmallVector<Value> operands = {source.operand(0), source.operand(1)};
  for (Value start : source.op->getOperands().drop_front(2))
    operands.push_back(asIndex(source, start));
  return source.replace(source.make("dynamic_update_slice", source.resultType(), operands));
}

/// The components of the index vectors along `dimension`. If it is the number of dimensions, there is one component.
FailureOr<SmallVector<Value>> components(Source &source, Value indices, int64_t dimension, size_t count) {
  auto type = cast<RankedTensorType>(indices.getType());
  if (dimension < 0 || dimension > type.getRank())
    return source.error() << "expected an 'index_vector_dim' of 0 to " << type.getRank() << ", but got " << dimension;
  size_t there = dimension == type.getRank() ? 1 : type.getDimSize(dimension);
  if (there != count)
    return source.error() << "expected index vectors of " << count << " components, but got " << there;
  Value ready = asIndex(source, indices);
  if (dimension == type.getRank() || !ready)
    return SmallVector<Value>{ready};
  SmallVector<int64_t> shape(type.getShape()), starts(type.getRank(), 0), limits(shape), strides(type.getRank(), 1);
  shape.erase(shape.begin() + dimension);
  auto piece = cast<RankedTensorType>(ready.getType());
  SmallVector<int64_t> pieceShape(type.getShape());
  pieceShape[dimension] = 1;
  SmallVector<Value> parts;
  for (size_t index = 0; index < count; ++index) {
    starts[dimension] = index;
    limits[dimension] = index + 1;
    Value part = source.make("slice", piece.clone(pieceShape), {ready},
                             {source.named("start_indices", starts), source.named("limit_indices", limits),
                              source.named("strides", strides)});
    parts.push_back(source.reshape(part, shape));
  }
  return parts;
}

/// Dimensions of the indices, counted without that of the vectors.
SmallVector<int64_t> withoutVectors(ArrayRef<int64_t> dimensions, int64_t vectors) {
  return llvm::map_to_vector(dimensions, [&](int64_t dimension) { return dimension - (dimension > vectors); });
}

int64_t vectorDimension(DictionaryAttr numbers) {
  auto given = numbers ? numbers.getAs<IntegerAttr>("index_vector_dim") : IntegerAttr();
  return given ? given.getInt() : 0;
}

LogicalResult convertGather(Source &source) {
  DictionaryAttr numbers = source.structure({"dimension_numbers"});
  SmallVector<int64_t> sizes = source.integers({"slice_sizes"});
  SmallVector<int64_t> map = source.entry(numbers, "start_index_map");
  int64_t vectors = vectorDimension(numbers);
  SmallVector<NamedAttribute> attributes = {
      source.named("offset_dims", source.entry(numbers, "offset_dims")),
      source.named("collapsed_slice_dims", source.entry(numbers, "collapsed_slice_dims")),
      source.named("start_index_map", map),
      source.named("operand_batching_dims", source.entry(numbers, "operand_batching_dims")),
      source.named("start_indices_batching_dims",
                   withoutVectors(source.entry(numbers, "start_indices_batching_dims"), vectors)),
      source.named("slice_sizes", sizes),
      source.namedWord("mode", "clip"),
      source.namedFlag("indices_are_sorted", source.flag({"indices_are_sorted"}, false))};
  if (source.failed())
    return failure();
  FailureOr<SmallVector<Value>> indices = components(source, source.operand(1), vectors, map.size());
  if (failed(indices))
    return failure();
  SmallVector<Value> operands = {source.operand(0)};
  operands.append(*indices);
  return source.replace(source.make("gather", source.resultType(), operands, attributes));
}

/// The combination of a scatter; the updates are negated for a difference.
struct Kind {
  StringRef name;
  bool isNegated = false;
};

std::optional<Kind> kindOf(Region &region, Type element, unsigned index, unsigned count) {
  if (argumentOf(region, index) == count + index)
    return Kind{"set"};
  if (const Combination *known = combinationOf(region, element, index, count))
    return known->scatter.empty() ? std::nullopt : std::optional(Kind{known->scatter});
  Operation *end = terminatorOf(region);
  Operation *difference = index < end->getNumOperands() ? end->getOperand(index).getDefiningOp() : nullptr;
  Block &block = region.front();
  if (difference && difference->getName().getStringRef() == "stablehlo.subtract" &&
      block.getNumArguments() == 2 * count && difference->getOperand(0) == block.getArgument(index) &&
      difference->getOperand(1) == block.getArgument(count + index))
    return Kind{"add", /*isNegated=*/true};
  return std::nullopt;
}

LogicalResult convertScatter(Source &source) {
  unsigned count = source.op->getNumResults();
  if (source.op->getNumOperands() != 2 * count + 1)
    return source.error() << "expected inputs, indices, and as many updates as inputs";
  DictionaryAttr numbers = source.structure({"scatter_dimension_numbers"});
  SmallVector<int64_t> map = source.entry(numbers, "scatter_dims_to_operand_dims");
  int64_t vectors = vectorDimension(numbers);
  SmallVector<NamedAttribute> attributes = {
      source.named("update_window_dims", source.entry(numbers, "update_window_dims")),
      source.named("inserted_window_dims", source.entry(numbers, "inserted_window_dims")),
      source.named("scatter_dims_to_operand_dims", map),
      source.named("operand_batching_dims", source.entry(numbers, "input_batching_dims")),
      source.named("scatter_indices_batching_dims",
                   withoutVectors(source.entry(numbers, "scatter_indices_batching_dims"), vectors)),
      source.namedWord("mode", "fill"),
      source.namedFlag("indices_are_sorted", source.flag({"indices_are_sorted"}, false)),
      source.namedFlag("unique_indices", source.flag({"unique_indices"}, false))};
  if (source.failed())
    return failure();
  FailureOr<SmallVector<Value>> indices = components(source, source.operand(count), vectors, map.size());
  if (failed(indices))
    return failure();
  SmallVector<Value> results;
  for (unsigned index = 0; index < count; ++index) {
    RankedTensorType type = source.type(index);
    std::optional<Kind> kind = kindOf(source.op->getRegion(0), type.getElementType(), index, count);
    if (!kind)
      return source.error() << "its update computation has no counterpart: expected the update, a sum, a difference, a "
                               "product, the greater or the less of both";
    Value updates = source.operand(count + 1 + index);
    if (kind->isNegated)
      updates = source.make("neg", updates.getType(), {updates});
    SmallVector<Value> operands = {source.operand(index), updates};
    operands.append(*indices);
    SmallVector<NamedAttribute> all = attributes;
    all.push_back(source.namedWord("kind", kind->name));
    results.push_back(source.make("scatter", source.resultType(index), operands, all));
  }
  return source.replace(results);
}

} // namespace

void addIndexingRules(Rules &rules) {
  rules["stablehlo.dynamic_slice"] = {convertDynamicSlice, parseClauses, 1};
  rules["stablehlo.dynamic_update_slice"] = {convertDynamicUpdateSlice, parseClauses, 2};
  rules["stablehlo.gather"] = {convertGather, parseClauses, 2, 2};
  rules["stablehlo.scatter"] = {convertScatter, parseClauses, 3, ~0u, 1};
}

} // namespace mlir::array::stablehlo
