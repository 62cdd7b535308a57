// reduce_window and select_and_scatter. A window over all previous elements is a running reduction. A region that is no
// single operation is applied to the shifted arrays, one for each position of the window. As in XLA, and unlike the
// specification, padding has no elements: the init counts once for each window, and not also for each padded position.
#include "Regions.h"
#include "array/IR/Bytes.h"

namespace mlir::array::stablehlo {
namespace {

/// The maximum positions of a window that are combined one by one, for a region without an op.
constexpr int64_t kMostPlaces = 1 << 20;
/// More of them are combined by a loop.
constexpr int64_t kMostUnrolled = 256;

struct Windows {
  SmallVector<int64_t> dimensions, strides, low, high, baseDilation, dilation;
};

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
  if (source.failed())
    return failure();
  auto scanned = scanSlices(source, source.op->getRegion(0), source.op->getOperands().drop_front(count), inputs,
                            running.reverse, /*isRunning=*/true);
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
  if (type.getRank() != static_cast<int64_t>(windows.low.size()) || !type.hasStaticShape()) {
    source.error() << "expected arrays of " << windows.low.size() << " dimensions of known sizes, but got " << type;
    return {};
  }
  SmallVector<int64_t> interior, shape;
  for (auto [dimension, size] : llvm::enumerate(type.getShape())) {
    interior.push_back(windows.baseDilation[dimension] - 1);
    shape.push_back(size + std::max<int64_t>(size - 1, 0) * interior.back() + windows.low[dimension] +
                    windows.high[dimension]);
  }
  return source.make(
      "pad", type.clone(shape), {array, filler},
      {source.named("low", windows.low), source.named("high", windows.high), source.named("interior", interior)});
}

/// A tensor of bools that is true where the padded array has an element.
Value elementMask(Source &source, const Windows &windows) {
  auto type = source.type(0).clone(source.builder.getI1Type());
  return padTo(source, source.constant(type, source.builder.getBoolAttr(true)),
               source.constant(type.clone(ArrayRef<int64_t>()), source.builder.getBoolAttr(false)), windows);
}

/// For each window the element at `place`, from a padded array.
Value elementsAt(Source &source, Value padded, ArrayRef<int64_t> place, ArrayRef<int64_t> shape,
                 const Windows &windows) {
  SmallVector<int64_t> starts, limits;
  for (auto [dimension, size] : llvm::enumerate(shape)) {
    starts.push_back(place[dimension] * windows.dilation[dimension]);
    limits.push_back(size == 0 ? starts.back() : starts.back() + (size - 1) * windows.strides[dimension] + 1);
  }
  auto type = cast<RankedTensorType>(padded.getType()).clone(shape);
  return source.make("slice", type, {padded},
                     {source.named("start_indices", starts), source.named("limit_indices", limits),
                      source.named("strides", windows.strides)});
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

/// The next sums: those of the windows that have an element at a place, combined with it. The last argument says which.
FailureOr<SmallVector<Value>> combineElements(Source &source, Region &region, ValueRange sums, SmallVector<Value> parts,
                                              ArrayRef<int64_t> shape) {
  if (llvm::is_contained(parts, Value()))
    return failure();
  Value isElement = parts.size() > sums.size() ? parts.pop_back_val() : Value();
  SmallVector<Value> arguments(sums);
  llvm::append_range(arguments, parts);
  FailureOr<SmallVector<Value>> next = applyRegion(source, region, arguments, shape);
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
  return scan(source, sums, starts, /*reverse=*/false, /*isRunning=*/false, step);
}

LogicalResult convertPlaces(Source &source, const Windows &windows, unsigned count) {
  RankedTensorType result = source.resultType();
  int64_t places = countElements(windows.dimensions).value_or(0);
  if (places > kMostPlaces || places < 1 || !source.type(0).hasStaticShape())
    return source.error() << "a window of " << places << " elements with a region that is no single operation has no "
                          << "counterpart: at most " << kMostPlaces << " of known sizes are combined one by one";
  SmallVector<Value> padded, sums;
  for (unsigned index = 0; index < count; ++index) {
    padded.push_back(padTo(source, source.operand(index), source.operand(count + index), windows));
    sums.push_back(source.broadcast(source.operand(count + index), result.getShape()));
  }
  if (hasPadding(windows))
    padded.push_back(elementMask(source, windows));
  if (source.failed() || llvm::is_contained(padded, Value()) || llvm::is_contained(sums, Value()))
    return failure();
  if (places > kMostUnrolled) {
    auto last = loopOverPlaces(source, windows, places, sums, padded, result.getShape());
    return failed(last) ? failure() : source.replace(*last);
  }
  for (int64_t number = 0; number < places; ++number) {
    SmallVector<int64_t> place = placeOf(number, windows);
    auto parts = llvm::map_to_vector(
        padded, [&](Value array) { return elementsAt(source, array, place, result.getShape(), windows); });
    auto next = combineElements(source, source.op->getRegion(0), sums, parts, result.getShape());
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
      made = source.make(known->binary, result, {made, source.broadcast(source.operand(count), result.getShape())});
    return source.replace(made);
  }
  return running ? convertRunning(source, *running, count) : convertPlaces(source, windows, count);
}

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
    made = source.make("add", source.resultType(), {made, source.broadcast(source.operand(2), type.getShape())});
  return source.replace(made);
}

} // namespace

void addWindowRules(Rules &rules) {
  rules["stablehlo.reduce_window"] = {convertReduceWindow, parseClauses, 2, ~0u, 1};
  rules["stablehlo.select_and_scatter"] = {convertSelectAndScatter, parseClauses, 3, 3, 2};
}

} // namespace mlir::array::stablehlo
