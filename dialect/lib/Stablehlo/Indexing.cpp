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

/// The components of the index vectors in an operand, along `dimension`. If it is the number of dimensions, there is
/// one component.
FailureOr<SmallVector<Value>> components(Source &source, unsigned operand, int64_t dimension, size_t count) {
  RankedTensorType type = source.type(operand);
  if (dimension < 0 || dimension > type.getRank())
    return source.error() << "expected an 'index_vector_dim' of 0 to " << type.getRank() << ", but got " << dimension;
  if (dimension < type.getRank() && type.isDynamicDim(dimension))
    return source.error() << "expected index vectors of a known number of components";
  size_t there = dimension == type.getRank() ? 1 : type.getDimSize(dimension);
  if (there != count)
    return source.error() << "expected index vectors of " << count << " components, but got " << there;
  Value ready = asIndex(source, source.operand(operand));
  if (dimension == type.getRank() || !ready)
    return SmallVector<Value>{ready};
  SmallVector<AffineExpr> sizes = source.sizesOf(source.operandExtents(operand)), kept(sizes);
  if (source.failed())
    return failure();
  kept.erase(kept.begin() + dimension);
  SmallVector<int64_t> starts(type.getRank(), 0), strides(type.getRank(), 1), shape(type.getShape()), rest(shape);
  shape[dimension] = 1;
  rest.erase(rest.begin() + dimension);
  auto piece = cast<RankedTensorType>(ready.getType()).clone(shape);
  SmallVector<Value> parts;
  for (size_t index = 0; index < count; ++index) {
    starts[dimension] = index;
    sizes[dimension] = getAffineConstantExpr(index + 1, source.op->getContext());
    SmallVector<Value> operands = {ready};
    NamedAttribute limits = source.named("limit_indices", source.split(sizes, operands));
    Value part = source.make("slice", piece, operands,
                             {source.named("start_indices", starts), limits, source.named("strides", strides)});
    parts.push_back(source.reshape(part, Extents(rest, kept)));
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

/// A gather of one window: a slice if it is known to be inside, or else a block at a clamped position.
LogicalResult convertWindow(Source &source, ArrayRef<AffineExpr> sizes, ArrayRef<int64_t> map) {
  SmallVector<AffineExpr> dims = source.sizesOf(source.operandExtents(0)), places;
  if (source.failed())
    return failure();
  MLIRContext *context = source.op->getContext();
  AffineExpr zero = getAffineConstantExpr(0, context);
  if (source.hasElements(1))
    places = source.elements(1);
  SmallVector<AffineExpr> starts(dims.size(), zero), limits;
  for (auto [dimension, place] : llvm::zip(map, places))
    starts[dimension] = place;
  bool isInside = places.size() == map.size();
  for (auto [start, size, whole] : llvm::zip_equal(starts, sizes, dims)) {
    limits.push_back(start + size);
    auto rest =
        dyn_cast<AffineConstantExpr>(simplifyAffineExpr(whole - limits.back(), /*numDims=*/0, /*numSymbols=*/0));
    auto first = dyn_cast<AffineConstantExpr>(start);
    isInside &= start == zero || (first && first.getValue() >= 0 && rest && rest.getValue() >= 0);
  }
  SmallVector<int64_t> shape;
  for (AffineExpr size : sizes) {
    auto number = dyn_cast<AffineConstantExpr>(size);
    shape.push_back(number ? number.getValue() : ShapedType::kDynamic);
  }
  RankedTensorType window = source.type(0).clone(shape);
  SmallVector<Value> operands = {source.operand(0)};
  Value made;
  if (isInside) {
    NamedAttribute first = source.named("start_indices", source.split(starts, operands));
    NamedAttribute last = source.named("limit_indices", source.split(limits, operands));
    made = source.make("slice", window, operands,
                       {first, last, source.named("strides", SmallVector<int64_t>(dims.size(), 1))});
  } else {
    Value indices = asIndex(source, source.operand(1));
    if (!indices)
      return failure();
    auto scalar = cast<RankedTensorType>(indices.getType()).clone(ArrayRef<int64_t>());
    operands.append(dims.size(), source.number(scalar, 0));
    for (auto [component, dimension] : llvm::enumerate(map))
      operands[1 + dimension] = scalar == indices.getType() ? indices : source.elementAt(indices, component);
    NamedAttribute counts = source.named("slice_sizes", source.split(sizes, operands));
    made = source.make("dynamic_slice", window, operands, {counts});
  }
  if (window.getRank() == source.resultType().getRank() && window == source.resultType())
    return source.replace(made);
  return source.replace(source.reshape(made, source.extents()));
}

/// Also of window sizes that are an operand.
LogicalResult convertGather(Source &source, bool isDynamic) {
  DictionaryAttr numbers = source.structure({"dimension_numbers"});
  SmallVector<AffineExpr> window;
  if (isDynamic)
    window = source.elements(2);
  else
    for (int64_t size : source.integers({"slice_sizes"}))
      window.push_back(getAffineConstantExpr(size, source.op->getContext()));
  SmallVector<int64_t> map = source.entry(numbers, "start_index_map"), offsets = source.entry(numbers, "offset_dims");
  int64_t vectors = vectorDimension(numbers);
  if (source.failed())
    return failure();
  bool isOne = static_cast<int64_t>(offsets.size()) == source.resultType().getRank() && source.type(1).getRank() <= 1;
  bool fits = static_cast<int64_t>(window.size()) == source.type(0).getRank() &&
              llvm::all_of(map, [&](int64_t dim) { return dim >= 0 && dim < source.type(0).getRank(); }) &&
              (source.type(1).getRank() == 0 ? map.size() == 1
                                             : static_cast<int64_t>(map.size()) == source.type(1).getDimSize(0));
  if (isDynamic && isOne && vectors == 0 && fits)
    return convertWindow(source, window, map);
  SmallVector<Value> sizes;
  SmallVector<NamedAttribute> attributes = {
      source.named("offset_dims", offsets),
      source.named("collapsed_slice_dims", source.entry(numbers, "collapsed_slice_dims")),
      source.named("start_index_map", map),
      source.named("operand_batching_dims", source.entry(numbers, "operand_batching_dims")),
      source.named("start_indices_batching_dims",
                   withoutVectors(source.entry(numbers, "start_indices_batching_dims"), vectors)),
      source.named("slice_sizes", source.split(window, sizes)),
      source.namedWord("mode", "clip"),
      source.namedFlag("indices_are_sorted", source.flag({"indices_are_sorted"}, false))};
  if (source.failed())
    return failure();
  FailureOr<SmallVector<Value>> indices = components(source, 1, vectors, map.size());
  if (failed(indices))
    return failure();
  SmallVector<Value> operands = {source.operand(0)};
  operands.append(*indices);
  operands.append(sizes);
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
    whole = source.sizesOf(source.operandExtents(0));
    SmallVector<AffineExpr> ofUpdate = source.sizesOf(source.operandExtents(count + 1));
    if (source.failed())
      return failure();
    SmallVector<int64_t> order;
    Extents cells{ArrayRef<int64_t>()};
    auto add = [&](Extents &extents, int64_t dimension) {
      extents.shape.push_back(update.getDimSize(dimension));
      extents.sizes.push_back(ofUpdate[dimension]);
    };
    for (int64_t dimension : llvm::seq(update.getRank()))
      if (!llvm::is_contained(windowDims, dimension)) {
        order.push_back(dimension);
        add(cells, dimension);
      }
    order.append(windowDims.begin(), windowDims.end());
    for (int64_t dimension : windowDims)
      add(window, dimension);
    unsigned next = 0;
    for (int64_t dimension : llvm::seq(operand.getRank())) {
      bool isOne = llvm::is_contained(inserted, dimension) || llvm::is_contained(batching, dimension);
      if (!isOne && next == window.shape.size())
        return source.error() << "expected a window dimension of the updates for each dimension of the operand";
      block.shape.push_back(isOne ? 1 : window.shape[next]);
      block.sizes.push_back(isOne ? getAffineConstantExpr(1, source.op->getContext()) : window.sizes[next++]);
    }
    // The scattered dimensions as one.
    AffineExpr steps = getAffineConstantExpr(1, source.op->getContext());
    for (AffineExpr size : cells.sizes)
      steps = steps * size;
    bool isUnknown = llvm::any_of(cells.shape, ShapedType::isDynamic);
    int64_t known = isUnknown ? ShapedType::kDynamic : countElements(cells.shape).value_or(ShapedType::kDynamic);
    Extents flat{ArrayRef<int64_t>(known), ArrayRef<AffineExpr>(steps)};
    Extents flatUpdate = flat;
    flatUpdate.shape.append(window.shape);
    flatUpdate.sizes.append(window.sizes);
    SmallVector<Value> inputs;
    for (unsigned index = 0; index < count; ++index)
      inputs.push_back(source.reshape(source.transpose(source.operand(count + 1 + index), order), flatUpdate));
    // The position of a batch is an index, too.
    Type element = source.builder.getI32Type();
    if (!indices.empty())
      element = cast<RankedTensorType>(indices[0].getType()).getElementType();
    for (int64_t dimension : batches)
      indices.push_back(source.makeShaped("iota", element, cells, {}, {source.namedNumber("dimension", dimension)}));
    SmallVector<int64_t> indexed(map);
    indexed.append(batching.begin(), batching.end());
    for (Value index : indices)
      inputs.push_back(source.reshape(index, flat));
    if (llvm::is_contained(inputs, Value()))
      return failure();
    auto step = [&](Source &within, ValueRange carries, ValueRange slices) {
      return updated(within, carries, slices.take_front(count), slices.drop_front(count), indexed, element);
    };
    auto scanned = scan(source, source.op->getOperands().take_front(count), inputs, steps, /*reverse=*/false,
                        /*joined=*/std::nullopt, step);
    return failed(scanned) ? failure() : source.replace(*scanned);
  }

private:
  FailureOr<SmallVector<Value>> updated(Source &within, ValueRange carries, ValueRange updates, ValueRange indices,
                                        ArrayRef<int64_t> indexed, Type element) {
    auto index = RankedTensorType::get({}, element);
    auto flag = RankedTensorType::get({}, within.builder.getI1Type());
    SmallVector<Value> starts(whole.size(), within.number(index, 0));
    Value isInside = within.number(flag, 1);
    for (auto [dimension, start] : llvm::zip_equal(indexed, indices)) {
      starts[dimension] = start;
      Value last = within.make("dim_as_value", index, {within.index(whole[dimension] - block.sizes[dimension])});
      Value low = within.make("ge", flag, {start, within.number(index, 0)});
      Value high = within.make("le", flag, {start, last});
      isInside = within.make("and", flag, {isInside, within.make("and", flag, {low, high})});
    }
    SmallVector<Value> arguments;
    for (Value carry : carries) {
      auto type = cast<RankedTensorType>(carry.getType());
      SmallVector<Value> operands = {carry};
      operands.append(starts);
      for (Value size : within.unknownSizes(block))
        operands.push_back(size);
      arguments.push_back(within.reshape(
          within.make("dynamic_slice", type.clone(block.shape), operands, {within.named("slice_sizes", block.shape)}),
          window));
    }
    SmallVector<Value> before(arguments), results;
    arguments.append(updates.begin(), updates.end());
    FailureOr<SmallVector<Value>> after = applyRegion(within, source.op->getRegion(0), arguments, window);
    if (failed(after) || llvm::is_contained(before, Value()))
      return failure();
    Value chosen = within.broadcast(isInside, window);
    for (auto [carry, old, made] : llvm::zip_equal(carries, before, *after)) {
      Value kept = within.make("select", old.getType(), {chosen, made, old});
      SmallVector<Value> operands = {carry, within.reshape(kept, block)};
      operands.append(starts);
      results.push_back(within.make("dynamic_update_slice", carry.getType(), operands));
    }
    return results;
  }

  Source &source;
  const unsigned count;
  const ArrayRef<int64_t> map;
  const SmallVector<int64_t> windowDims, inserted, batching, batches;
  /// The shape of the operand, of a window of the updates, and the same with a size for each dimension of the operand.
  SmallVector<AffineExpr> whole;
  Extents window{ArrayRef<int64_t>()}, block{ArrayRef<int64_t>()};
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
  FailureOr<SmallVector<Value>> indices = components(source, count, vectors, map.size());
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
  rules["stablehlo.gather"] = {[](Source &source) { return convertGather(source, /*isDynamic=*/false); }, parseClauses,
                               2, 2};
  rules["stablehlo.dynamic_gather"] = {[](Source &source) { return convertGather(source, /*isDynamic=*/true); },
                                       parseClauses, 3, 3};
  rules["stablehlo.scatter"] = {convertScatter, parseClauses, 3, ~0u, 1};
}

} // namespace mlir::array::stablehlo
