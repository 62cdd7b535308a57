// Operations whose positions are data: dynamic slices, gather, scatter. The array dialect has a separate operand for
// each component of an index vector; in StableHLO they are along a dimension of one array.
#include "Regions.h"
#include "array/IR/Bytes.h"

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

/// A scatter by any computation: one update window after the other, in the order of the index vectors. Windows that are
/// not inside of the operand are left out.
class WindowScatter {
public:
  WindowScatter(Source &source, unsigned count, DictionaryAttr numbers, ArrayRef<int64_t> map, int64_t vectors)
      : source(source), count(count), map(map), windowDims(source.entry(numbers, "update_window_dims")),
        inserted(source.entry(numbers, "inserted_window_dims")), batching(source.entry(numbers, "input_batching_dims")),
        batches(withoutVectors(source.entry(numbers, "scatter_indices_batching_dims"), vectors)) {}

  LogicalResult convert(SmallVector<Value> indices) {
    RankedTensorType operand = source.type(0), update = source.type(count + 1);
    SmallVector<int64_t> order, cells;
    for (int64_t dimension : llvm::seq(update.getRank()))
      if (!llvm::is_contained(windowDims, dimension)) {
        order.push_back(dimension);
        cells.push_back(update.getDimSize(dimension));
      }
    std::optional<int64_t> steps = countElements(cells);
    if (!steps || !operand.hasStaticShape() || !update.hasStaticShape())
      return source.error() << "an update computation that is no single operation needs known sizes";
    order.append(windowDims.begin(), windowDims.end());
    for (int64_t dimension : windowDims)
      window.push_back(update.getDimSize(dimension));
    unsigned next = 0;
    for (int64_t dimension : llvm::seq(operand.getRank())) {
      bool isOne = llvm::is_contained(inserted, dimension) || llvm::is_contained(batching, dimension);
      if (!isOne && next == window.size())
        return source.error() << "expected a window dimension of the updates for each dimension of the operand";
      sizes.push_back(isOne ? 1 : window[next++]);
    }
    SmallVector<Value> inputs;
    for (unsigned index = 0; index < count; ++index)
      inputs.push_back(inSteps(source.transpose(source.operand(count + 1 + index), order), *steps));
    // The position of a batch is an index, too.
    auto ofIndices = cast<RankedTensorType>(indices.empty() ? source.type(count) : indices[0].getType());
    auto cell =
        RankedTensorType::get(cells, indices.empty() ? source.builder.getI32Type() : ofIndices.getElementType());
    for (int64_t dimension : batches)
      indices.push_back(source.make("iota", cell, {}, {source.namedNumber("dimension", dimension)}));
    SmallVector<int64_t> indexed(map);
    indexed.append(batching.begin(), batching.end());
    for (Value index : indices)
      inputs.push_back(inSteps(index, *steps));
    if (llvm::is_contained(inputs, Value()))
      return failure();
    auto step = [&](Source &within, ValueRange carries, ValueRange slices) {
      return updated(within, carries, slices.take_front(count), slices.drop_front(count), indexed, cell);
    };
    auto scanned = scan(source, source.op->getOperands().take_front(count), inputs, /*reverse=*/false,
                        /*isRunning=*/false, step);
    return failed(scanned) ? failure() : source.replace(*scanned);
  }

private:
  /// The scattered dimensions as one.
  Value inSteps(Value value, int64_t steps) {
    if (!value)
      return {};
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape = {steps};
    llvm::append_range(shape, type.getShape().take_back(type.getRank() - source.type(count + 1).getRank() +
                                                        static_cast<int64_t>(windowDims.size())));
    if (type.getRank() == source.type(count + 1).getRank() - static_cast<int64_t>(windowDims.size()))
      shape.resize(1);
    return source.reshape(value, shape);
  }

  FailureOr<SmallVector<Value>> updated(Source &within, ValueRange carries, ValueRange updates, ValueRange indices,
                                        ArrayRef<int64_t> indexed, RankedTensorType cell) {
    auto index = RankedTensorType::get({}, cell.getElementType());
    auto flag = RankedTensorType::get({}, within.builder.getI1Type());
    RankedTensorType operand = cast<RankedTensorType>(carries[0].getType());
    SmallVector<Value> starts(operand.getRank(), within.number(index, 0));
    Value isInside = within.number(flag, 1);
    for (auto [dimension, start] : llvm::zip_equal(indexed, indices)) {
      starts[dimension] = start;
      int64_t last = operand.getDimSize(dimension) - sizes[dimension];
      Value low = within.make("ge", flag, {start, within.number(index, 0)});
      Value high = within.make("le", flag, {start, within.number(index, static_cast<double>(last))});
      isInside = within.make("and", flag, {isInside, within.make("and", flag, {low, high})});
    }
    SmallVector<Value> arguments;
    for (Value carry : carries) {
      auto type = cast<RankedTensorType>(carry.getType());
      SmallVector<Value> operands = {carry};
      operands.append(starts);
      arguments.push_back(within.reshape(
          within.make("dynamic_slice", type.clone(sizes), operands, {within.named("slice_sizes", sizes)}), window));
    }
    SmallVector<Value> before(arguments), results;
    arguments.append(updates.begin(), updates.end());
    FailureOr<SmallVector<Value>> after = applyRegion(within, source.op->getRegion(0), arguments, window);
    if (failed(after) || llvm::is_contained(before, Value()))
      return failure();
    Value chosen = within.broadcast(isInside, window);
    for (auto [carry, old, made] : llvm::zip_equal(carries, before, *after)) {
      Value kept = within.make("select", old.getType(), {chosen, made, old});
      SmallVector<Value> operands = {carry, within.reshape(kept, sizes)};
      operands.append(starts);
      results.push_back(within.make("dynamic_update_slice", carry.getType(), operands));
    }
    return results;
  }

  Source &source;
  const unsigned count;
  const ArrayRef<int64_t> map;
  const SmallVector<int64_t> windowDims, inserted, batching, batches;
  /// The shape of a window of the updates, and the same with a size for each dimension of the operand.
  SmallVector<int64_t> window, sizes;
};

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
  SmallVector<std::optional<Kind>> kinds;
  for (unsigned index = 0; index < count; ++index)
    kinds.push_back(kindOf(source.op->getRegion(0), source.type(index).getElementType(), index, count));
  if (llvm::is_contained(kinds, std::nullopt))
    return WindowScatter(source, count, numbers, map, vectors).convert(std::move(*indices));
  for (unsigned index = 0; index < count; ++index) {
    const std::optional<Kind> &kind = kinds[index];
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
