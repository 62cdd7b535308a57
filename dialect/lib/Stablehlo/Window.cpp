// reduce_window and select_and_scatter. A window over all previous elements is a running reduction. A region with more
// than a single operation is applied to the shifted arrays, one for each position of the window. As in XLA, and unlike
// the specification, padding has no elements: the init counts once for each window, and not also for each padded
// position.
#include "Contraction.h"
#include "Regions.h"
#include "array/IR/Bytes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::array::stablehlo {

Windows readWindows(Source &source, int64_t rank) {
  Windows windows;
  SmallVector<int64_t> ones(rank, 1);
  windows.dimensions = source.integers({"window_dimensions"}, ones);
  windows.strides = source.integers({"window_strides"}, ones);
  windows.baseDilation = source.integers({"base_dilations"}, ones);
  windows.dilation = source.integers({"window_dilations"}, ones);
  SmallVector<int64_t> padding = source.integers({"padding"}, SmallVector<int64_t>(2 * rank, 0));
  // A splat is one value.
  if (padding.size() == 1)
    padding.assign(2 * rank, padding[0]);
  for (size_t side = 0; side + 1 < padding.size(); side += 2) {
    windows.low.push_back(padding[side]);
    windows.high.push_back(padding[side + 1]);
  }
  return windows;
}

namespace {

/// The maximum positions of a window that are combined one by one, for a region without an op.
constexpr int64_t kMostPlaces = 1 << 20;
/// More of them are combined by a loop, if the sizes are known.
constexpr int64_t kMostUnrolled = 256;

LogicalResult checkWindows(Source &source, const Windows &windows, int64_t rank) {
  for (ArrayRef<int64_t> list : {ArrayRef(windows.dimensions), ArrayRef(windows.strides), ArrayRef(windows.low),
                                 ArrayRef(windows.high), ArrayRef(windows.baseDilation), ArrayRef(windows.dilation)})
    if (static_cast<int64_t>(list.size()) != rank)
      return source.error() << "expected windows of " << rank << " dimensions, but got " << list.size();
  return failure(source.failed());
}

SmallVector<NamedAttribute> attributesOf(Source &source, const Windows &windows) {
  return {source.named("window_dimensions", windows.dimensions),
          source.named("window_strides", windows.strides),
          source.named("low", windows.low),
          source.named("high", windows.high),
          source.named("base_dilation", windows.baseDilation),
          source.named("window_dilation", windows.dilation)};
}

//===----------------------------------------------------------------------===//
// Running reductions
//===----------------------------------------------------------------------===//

struct Running {
  int64_t axis;
  bool reverse;
};

/// A window with the length of its only dimension, which ends (or, in reverse, begins) at each element.
std::optional<Running> runningOf(RankedTensorType type, const Windows &windows) {
  auto isOne = [](int64_t value) { return value == 1; };
  if (!llvm::all_of(windows.strides, isOne) || !llvm::all_of(windows.baseDilation, isOne) ||
      !llvm::all_of(windows.dilation, isOne))
    return std::nullopt;
  std::optional<Running> found;
  for (int64_t axis : llvm::seq(type.getRank())) {
    int64_t size = windows.dimensions[axis], low = windows.low[axis], high = windows.high[axis];
    if (size == 1 && low == 0 && high == 0)
      continue;
    if (found || size != type.getDimSize(axis) || !((low == size - 1 && high == 0) || (low == 0 && high == size - 1)))
      return std::nullopt;
    found = Running{axis, low == 0};
  }
  return found;
}

/// For any region: slice after slice.
LogicalResult convertRunning(Source &source, const Running &running, unsigned count) {
  SmallVector<Value> inputs, results;
  SmallVector<int64_t> order = {running.axis};
  for (int64_t dimension : llvm::seq(source.type(0).getRank()))
    if (dimension != running.axis)
      order.push_back(dimension);
  SmallVector<int64_t> back(order.size());
  for (auto [position, dimension] : llvm::enumerate(order))
    back[dimension] = position;
  for (unsigned index = 0; index < count; ++index)
    inputs.push_back(source.transpose(source.operand(index), order));
  SmallVector<AffineExpr> all = source.sizesOf(source.operandExtents(0)), sizes;
  if (source.failed())
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t dimension : order) {
    shape.push_back(source.type(0).getDimSize(dimension));
    sizes.push_back(all[dimension]);
  }
  auto scanned = scanSlices(source, source.op->getRegion(0), source.op->getOperands().drop_front(count), inputs,
                            Extents(shape, sizes), running.reverse, /*isRunning=*/true);
  if (failed(scanned))
    return failure();
  for (Value joined : ArrayRef(*scanned).drop_front(count))
    results.push_back(source.transpose(joined, back));
  return source.replace(results);
}

//===----------------------------------------------------------------------===//
// Any region, place by place
//===----------------------------------------------------------------------===//

/// Whether a window may cover positions without elements: padding, or holes between elements.
bool hasPadding(const Windows &windows) {
  auto isPositive = [](int64_t value) { return value > 0; };
  return llvm::any_of(windows.low, isPositive) || llvm::any_of(windows.high, isPositive) ||
         llvm::any_of(windows.baseDilation, [](int64_t value) { return value > 1; });
}

/// Pads an array to the range of the windows.
Value padTo(Source &source, Value array, Value filler, const Windows &windows) {
  if (!array || !filler)
    return {};
  auto type = cast<RankedTensorType>(array.getType());
  if (type.getRank() != static_cast<int64_t>(windows.low.size())) {
    source.error() << "expected arrays of " << windows.low.size() << " dimensions, but got " << type;
    return {};
  }
  SmallVector<int64_t> interior, shape;
  for (auto [dimension, size] : llvm::enumerate(type.getShape())) {
    interior.push_back(windows.baseDilation[dimension] - 1);
    bool isUnknown = ShapedType::isDynamic(size);
    shape.push_back(isUnknown ? size
                              : size + std::max<int64_t>(size - 1, 0) * interior.back() + windows.low[dimension] +
                                    windows.high[dimension]);
  }
  return source.make(
      "pad", type.clone(shape), {array, filler},
      {source.named("low", windows.low), source.named("high", windows.high), source.named("interior", interior)});
}

/// A tensor of bools that is true where the padded array has an element.
Value elementMask(Source &source, const Windows &windows) {
  auto scalar = RankedTensorType::get({}, source.builder.getI1Type());
  Value isElement = source.constant(scalar, source.builder.getBoolAttr(true));
  return padTo(source, source.broadcast(isElement, source.operandExtents(0)),
               source.constant(scalar, source.builder.getBoolAttr(false)), windows);
}

/// For each window the element at `place`, from a padded array; `counts` are the numbers of windows.
Value elementsAt(Source &source, Value padded, ArrayRef<int64_t> place, ArrayRef<AffineExpr> counts,
                 const Windows &windows) {
  SmallVector<int64_t> starts;
  SmallVector<AffineExpr> limits;
  for (auto [dimension, count] : llvm::enumerate(counts)) {
    starts.push_back(place[dimension] * windows.dilation[dimension]);
    limits.push_back(count == 0 ? count + starts.back() : (count - 1) * windows.strides[dimension] + 1 + starts.back());
  }
  SmallVector<Value> operands = {padded};
  NamedAttribute ends = source.named("limit_indices", source.split(limits, operands));
  auto type = cast<RankedTensorType>(padded.getType()).clone(source.resultType().getShape());
  return source.make("slice", type, operands,
                     {source.named("start_indices", starts), ends, source.named("strides", windows.strides)});
}

/// The elements of a padded array at the place that begins at `starts`, for each window.
Value elementsFrom(Source &source, Value padded, ValueRange starts, ArrayRef<int64_t> shape, const Windows &windows) {
  SmallVector<int64_t> sizes;
  for (auto [dimension, size] : llvm::enumerate(shape))
    sizes.push_back(size == 0 ? 0 : (size - 1) * windows.strides[dimension] + 1);
  SmallVector<Value> operands = {padded};
  llvm::append_range(operands, starts);
  auto type = cast<RankedTensorType>(padded.getType());
  Value part = source.make("dynamic_slice", type.clone(sizes), operands, {source.named("slice_sizes", sizes)});
  if (!part)
    return {};
  SmallVector<int64_t> zeros(sizes.size(), 0);
  return source.make("slice", type.clone(shape), {part},
                     {source.named("start_indices", zeros), source.named("limit_indices", sizes),
                      source.named("strides", windows.strides)});
}

/// The position of a place in a window, the last dimension first.
SmallVector<int64_t> placeOf(int64_t number, const Windows &windows) {
  SmallVector<int64_t> place(windows.dimensions.size());
  for (int64_t dimension = place.size(); dimension-- > 0; number /= windows.dimensions[dimension])
    place[dimension] = number % windows.dimensions[dimension];
  return place;
}

/// The next sums: if a window has an element at a place, its sum is combined with the element. The last argument is the
/// mask of these windows.
FailureOr<SmallVector<Value>> combineElements(Source &source, Region &region, ValueRange sums, SmallVector<Value> parts,
                                              const Extents &extents) {
  if (llvm::is_contained(parts, Value()))
    return failure();
  Value isElement = parts.size() > sums.size() ? parts.pop_back_val() : Value();
  SmallVector<Value> arguments(sums);
  llvm::append_range(arguments, parts);
  FailureOr<SmallVector<Value>> next = applyRegion(source, region, arguments, extents);
  if (succeeded(next) && isElement)
    for (auto [combined, sum] : llvm::zip_equal(*next, sums))
      combined = source.make("select", sum.getType(), {isElement, combined, sum});
  return next;
}

/// Place after place, in a loop.
FailureOr<SmallVector<Value>> loopOverPlaces(Source &source, const Windows &windows, int64_t places, ValueRange sums,
                                             ArrayRef<Value> padded, ArrayRef<int64_t> shape) {
  OpBuilder &builder = source.builder;
  SmallVector<Value> starts;
  for (size_t dimension = 0; dimension < windows.dimensions.size(); ++dimension) {
    SmallVector<int32_t> values;
    for (int64_t number = 0; number < places; ++number)
      values.push_back(placeOf(number, windows)[dimension] * windows.dilation[dimension]);
    auto type = RankedTensorType::get({places}, builder.getI32Type());
    starts.push_back(
        source.make("constant", type, {}, {builder.getNamedAttr("value", builder.getI32TensorAttr(values))}));
  }
  auto step = [&](Source &within, ValueRange sums, ValueRange place) {
    auto parts =
        llvm::map_to_vector(padded, [&](Value array) { return elementsFrom(within, array, place, shape, windows); });
    return combineElements(within, source.op->getRegion(0), sums, parts, shape);
  };
  return scan(source, sums, starts, builder.getAffineConstantExpr(places), /*reverse=*/false, std::nullopt, step);
}

LogicalResult convertPlaces(Source &source, const Windows &windows, unsigned count) {
  int64_t places = countElements(windows.dimensions).value_or(0);
  ArrayRef<int64_t> shape = source.resultType().getShape();
  bool isKnown = ShapedType::isStaticShape(shape) && source.type(0).hasStaticShape();
  int64_t most = isKnown ? kMostPlaces : kMostUnrolled;
  if (places > most || places < 1)
    return source.error() << "a window of " << places << " elements with a region that is no single operation has no "
                          << "counterpart: at most " << most << (isKnown ? " of known" : " of unknown")
                          << " sizes are combined one by one";
  SmallVector<AffineExpr> counts = source.sizesOf(source.extents());
  if (source.failed())
    return failure();
  SmallVector<Value> padded, sums;
  for (unsigned index = 0; index < count; ++index) {
    padded.push_back(padTo(source, source.operand(index), source.operand(count + index), windows));
    sums.push_back(source.broadcast(source.operand(count + index), source.extents()));
  }
  if (hasPadding(windows))
    padded.push_back(elementMask(source, windows));
  if (source.failed() || llvm::is_contained(padded, Value()) || llvm::is_contained(sums, Value()))
    return failure();
  if (places > kMostUnrolled) {
    auto last = loopOverPlaces(source, windows, places, sums, padded, shape);
    return failed(last) ? failure() : source.replace(*last);
  }
  for (int64_t number = 0; number < places; ++number) {
    SmallVector<int64_t> place = placeOf(number, windows);
    auto parts =
        llvm::map_to_vector(padded, [&](Value array) { return elementsAt(source, array, place, counts, windows); });
    auto next = combineElements(source, source.op->getRegion(0), sums, parts, source.extents());
    if (failed(next))
      return failure();
    sums = *next;
  }
  return source.replace(sums);
}

LogicalResult convertReduceWindow(Source &source) {
  Region &region = source.op->getRegion(0);
  unsigned count = source.op->getNumResults();
  if (source.op->getNumOperands() != 2 * count || terminatorOf(region)->getNumOperands() != count)
    return source.error() << "expected an init and a result for each input";
  RankedTensorType type = source.type(0), result = source.resultType();
  Windows windows = readWindows(source, type.getRank());
  if (failed(checkWindows(source, windows, type.getRank())))
    return failure();
  if (result.getRank() != type.getRank())
    return source.error() << "expected a result of " << type.getRank() << " dimensions, but got " << result;
  std::optional<Running> running = runningOf(type, windows);
  const Combination *known = count == 1 ? combinationOf(region, type.getElementType()) : nullptr;
  if (known && !known->window.empty()) {
    Value made =
        running
            ? source.make(known->cumulative, result, {source.operand(0)},
                          {source.namedNumber("axis", running->axis), source.namedFlag("reverse", running->reverse)})
            : source.make(known->window, result, {source.operand(0)}, attributesOf(source, windows));
    // The ops pad with the neutral value; any other init is combined with each window.
    if (!isNeutral(source.operand(count), *known))
      made = source.make(known->binary, result, {made, source.broadcast(source.operand(count), source.extents())});
    return source.replace(made);
  }
  return running ? convertRunning(source, *running, count) : convertPlaces(source, windows, count);
}

//===----------------------------------------------------------------------===//
// Windows of sizes
//===----------------------------------------------------------------------===//

bool areEqual(AffineExpr a, AffineExpr b, unsigned symbols) {
  return simplifyAffineExpr(a - b, /*numDims=*/0, symbols) == 0;
}

/// `runningOf` for sizes.
std::optional<Running> runningOf(ArrayRef<AffineExpr> dims, ArrayRef<AffineExpr> window, ArrayRef<AffineExpr> padding) {
  AffineExpr zero = getAffineConstantExpr(0, dims[0].getContext());
  unsigned symbols = 0;
  for (AffineExpr size : dims)
    size.walk([&](AffineExpr part) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
        symbols = std::max(symbols, symbol.getPosition() + 1);
    });
  std::optional<Running> found;
  for (auto [axis, size] : llvm::enumerate(dims)) {
    AffineExpr low = padding[2 * axis], high = padding[2 * axis + 1];
    if (window[axis] == 1 && low == zero && high == zero)
      continue;
    bool isForward = areEqual(low, size - 1, symbols) && high == zero;
    bool isBackward = low == zero && areEqual(high, size - 1, symbols);
    if (found || !areEqual(window[axis], size, symbols) || (!isForward && !isBackward))
      return std::nullopt;
    found = Running{static_cast<int64_t>(axis), !isForward};
  }
  return found;
}

} // namespace

LogicalResult convertDynamicReduceWindow(Source &source) {
  auto called = dyn_cast_or_null<ArrayAttr>(source.attribute({"called_computations"}));
  auto name = called && called.size() == 1 ? dyn_cast<FlatSymbolRefAttr>(called[0]) : FlatSymbolRefAttr();
  auto reducer = name ? source.op->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(name.getValue()) : nullptr;
  if (source.op->getNumOperands() != 7 || source.op->getNumResults() != 1 || !reducer ||
      !reducer.getBody().hasOneBlock() || source.type(0).getRank() == 0)
    return source.error() << "expected an array, an init, five lists for its windows, and a function that combines";
  SmallVector<AffineExpr> dims = source.sizesOf(source.operandExtents(0)), window = source.elements(2),
                          padding = source.elements(6);
  Windows windows;
  windows.strides = source.numbers(3);
  windows.baseDilation = source.numbers(4);
  windows.dilation = source.numbers(5);
  size_t rank = source.type(0).getRank();
  if (source.failed())
    return failure();
  if (window.size() != rank || padding.size() != 2 * rank || windows.strides.size() != rank ||
      windows.baseDilation.size() != rank || windows.dilation.size() != rank)
    return source.error() << "expected windows of " << rank << " dimensions";
  const Combination *known = combinationOf(reducer.getBody(), source.type(0).getElementType());
  if (!known || known->window.empty())
    return source.error() << "@" << name.getValue() << " is no single operation: over windows of sizes that each call "
                          << "decides, it has no counterpart";
  auto isOne = [](int64_t value) { return value == 1; };
  std::optional<Running> running;
  if (llvm::all_of(windows.strides, isOne) && llvm::all_of(windows.baseDilation, isOne) &&
      llvm::all_of(windows.dilation, isOne))
    running = runningOf(dims, window, padding);
  RankedTensorType result = source.resultType();
  Value made;
  if (running) {
    made = source.make(known->cumulative, result, {source.operand(0)},
                       {source.namedNumber("axis", running->axis), source.namedFlag("reverse", running->reverse)});
  } else {
    SmallVector<AffineExpr> low, high;
    for (size_t dim = 0; dim < rank; ++dim) {
      low.push_back(padding[2 * dim]);
      high.push_back(padding[2 * dim + 1]);
    }
    SmallVector<Value> operands = {source.operand(0)};
    windows.dimensions = source.split(window, operands);
    windows.low = source.split(low, operands);
    windows.high = source.split(high, operands);
    made = source.make(known->window, result, operands, attributesOf(source, windows));
  }
  if (!isNeutral(source.operand(1), *known))
    made = source.make(known->binary, result, {made, source.broadcast(source.operand(1), source.extents())});
  return source.replace(made);
}

namespace {

//===----------------------------------------------------------------------===//
// select_and_scatter
//===----------------------------------------------------------------------===//

/// 1 if the region of a selection takes the greater one, 0 if the less, -1 if neither.
int greatestOf(Region &region) {
  Operation *compare =
      terminatorOf(region)->getNumOperands() == 1 ? terminatorOf(region)->getOperand(0).getDefiningOp() : nullptr;
  Block &block = region.front();
  if (!compare || compare->getName().getStringRef() != "stablehlo.compare" || block.getNumArguments() != 2 ||
      !llvm::equal(compare->getOperands(), block.getArguments()))
    return -1;
  OpBuilder builder(compare);
  StringRef direction = Source(compare, builder).wordAt(0, {"comparison_direction"}, "");
  return direction == "GE" ? 1 : direction == "LE" ? 0 : -1;
}

LogicalResult convertSelectAndScatter(Source &source) {
  RankedTensorType type = source.type(0);
  Windows windows = readWindows(source, type.getRank());
  if (failed(checkWindows(source, windows, type.getRank())))
    return failure();
  int greatest = greatestOf(source.op->getRegion(0));
  const Combination *sum = combinationOf(source.op->getRegion(1), type.getElementType());
  if (greatest < 0 || !sum || sum->binary != "add")
    return source.error() << "expected that GE or LE selects and that a sum is scattered: another has no counterpart";
  SmallVector<NamedAttribute> attributes = attributesOf(source, windows);
  attributes.push_back(source.namedFlag("greatest", greatest == 1));
  Value made =
      source.make("select_and_scatter", source.resultType(), {source.operand(1), source.operand(0)}, attributes);
  if (!isNeutral(source.operand(2), *sum))
    made = source.make("add", source.resultType(), {made, source.broadcast(source.operand(2), source.extents())});
  return source.replace(made);
}

} // namespace

void addWindowRules(Rules &rules) {
  rules["stablehlo.reduce_window"] = {convertReduceWindow, parseClauses, 2, ~0u, 1};
  rules["stablehlo.select_and_scatter"] = {convertSelectAndScatter, parseClauses, 3, 3, 2};
}

} // namespace mlir::array::stablehlo
