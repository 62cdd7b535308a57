// Reads the regions of reductions, scatters and windows, and applies them to whole arrays. See Regions.h.
#include "Regions.h"
#include "Sizes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace mlir::array::stablehlo {

static constexpr Combination kCombinations[] = {
    {"stablehlo.add", "add", "reduce_sum", "reduce_window_sum", "cumsum", "add"},
    {"stablehlo.multiply", "mul", "reduce_prod", "reduce_window_prod", "cumprod", "mul"},
    {"stablehlo.maximum", "max", "reduce_max", "reduce_window_max", "cummax", "max"},
    {"stablehlo.minimum", "min", "reduce_min", "reduce_window_min", "cummin", "min"},
    {"stablehlo.and", "and", "reduce_and", "", "", ""},
    {"stablehlo.or", "or", "reduce_or", "", "", ""},
    {"stablehlo.xor", "xor", "reduce_xor", "", "", ""},
};

/// Bools are combined by these.
static constexpr Combination kBoolCombinations[] = {
    {"stablehlo.add", "or", "reduce_or", "reduce_window_max", "cummax", "max"},
    {"stablehlo.maximum", "or", "reduce_or", "reduce_window_max", "cummax", "max"},
    {"stablehlo.or", "or", "reduce_or", "reduce_window_max", "cummax", "max"},
    {"stablehlo.multiply", "and", "reduce_and", "reduce_window_min", "cummin", "min"},
    {"stablehlo.minimum", "and", "reduce_and", "reduce_window_min", "cummin", "min"},
    {"stablehlo.and", "and", "reduce_and", "reduce_window_min", "cummin", "min"},
    {"stablehlo.xor", "xor", "reduce_xor", "", "", ""},
};

Operation *terminatorOf(Region &region) { return &region.front().back(); }

std::optional<unsigned> argumentOf(Region &region, unsigned index) {
  Operation *end = terminatorOf(region);
  if (index >= end->getNumOperands())
    return std::nullopt;
  auto argument = dyn_cast<BlockArgument>(end->getOperand(index));
  if (!argument || argument.getOwner() != &region.front())
    return std::nullopt;
  return argument.getArgNumber();
}

const Combination *combinationOf(Region &region, Type element, unsigned index, unsigned count) {
  Operation *end = terminatorOf(region);
  Block &block = region.front();
  if (index >= end->getNumOperands() || block.getNumArguments() != 2 * count)
    return nullptr;
  Operation *computed = end->getOperand(index).getDefiningOp();
  if (!computed || computed->getBlock() != &block || computed->getNumOperands() != 2)
    return nullptr;
  Value first = block.getArgument(index), second = block.getArgument(count + index);
  Value lhs = computed->getOperand(0), rhs = computed->getOperand(1);
  if (!(lhs == first && rhs == second) && !(lhs == second && rhs == first))
    return nullptr;
  ArrayRef<Combination> table = element.isInteger(1) ? ArrayRef(kBoolCombinations) : ArrayRef(kCombinations);
  for (const Combination &combination : table)
    if (computed->getName().getStringRef() == combination.operation)
      return &combination;
  return nullptr;
}

bool isNeutral(Value init, const Combination &combination) {
  DenseElementsAttr value;
  if (!init || !matchPattern(init, m_Constant(&value)) || !value.isSplat())
    return false;
  StringRef kind = combination.binary;
  Type element = value.getElementType();
  if (auto complex = dyn_cast<ComplexType>(element)) {
    if (!isa<FloatType>(complex.getElementType()))
      return false;
    auto number = value.getSplatValue<std::complex<APFloat>>();
    return number.imag().isZero() &&
           ((kind == "add" && number.real().isZero()) || (kind == "mul" && number.real().isExactlyValue(1)));
  }
  if (isa<FloatType>(element)) {
    APFloat number = value.getSplatValue<APFloat>();
    return (kind == "add" && number.isZero()) || (kind == "mul" && number.isExactlyValue(1)) ||
           (kind == "max" && number.isInfinity() && number.isNegative()) ||
           (kind == "min" && number.isInfinity() && !number.isNegative());
  }
  APInt number = value.getSplatValue<APInt>();
  bool isUnsigned = element.isUnsignedInteger() || element.isInteger(1);
  if (kind == "add" || kind == "or" || kind == "xor")
    return number.isZero();
  if (kind == "mul")
    return number.isOne();
  if (kind == "and")
    return number.isAllOnes();
  if (kind == "max")
    return isUnsigned ? number.isMinValue() : number.isMinSignedValue();
  return kind == "min" && (isUnsigned ? number.isMaxValue() : number.isMaxSignedValue());
}

static bool isConstant(Operation &op) { return op.getName().getStringRef() == "stablehlo.constant"; }

/// The operations of a region but its end.
static auto operationsOf(Region &region) {
  Block &block = region.front();
  return llvm::make_range(block.begin(), std::prev(block.end()));
}

/// Converts a copy of an operation, which stands before the operation of `source`, and gives its results.
static FailureOr<SmallVector<Value>> converted(Source &source, Operation *copy) {
  // The rule erases the copy. An op that uses its results keeps the replacement.
  Operation *holder =
      source.builder.create(OperationState(copy->getLoc(), "stablehlo.return", copy->getResults(), {}, {}));
  OpBuilder::InsertionGuard guard(source.builder);
  bool isDone = succeeded(convertOperation(copy));
  SmallVector<Value> made(holder->getOperands());
  holder->erase();
  source.builder.setInsertionPoint(source.op);
  if (!isDone)
    return failure();
  return made;
}

/// The region's results for scalars.
static FailureOr<SmallVector<Value>> applyToScalars(Source &source, Region &region, ValueRange arguments) {
  IRMapping mapping;
  mapping.map(region.getArguments(), arguments);
  for (Operation &op : operationsOf(region)) {
    FailureOr<SmallVector<Value>> made = converted(source, source.builder.clone(op, mapping));
    if (failed(made))
      return failure();
    mapping.map(op.getResults(), *made);
  }
  return llvm::map_to_vector(terminatorOf(region)->getOperands(),
                             [&](Value result) { return mapping.lookupOrDefault(result); });
}

/// The region's results, computed for one element after the other: any operation can be in it.
static FailureOr<SmallVector<Value>> applyToEach(Source &source, Region &region, ValueRange arguments,
                                                 ArrayRef<int64_t> shape) {
  if (shape.empty())
    return applyToScalars(source, region, arguments);
  int64_t elements = ShapedType::getNumElements(shape);
  Extents line{ArrayRef(elements)};
  SmallVector<Value> inputs;
  for (Value argument : arguments)
    inputs.push_back(source.reshape(argument, line));
  size_t count = terminatorOf(region)->getNumOperands();
  // A scan joins a value for each input, of its type.
  auto step = [&](Source &within, ValueRange, ValueRange slices) -> FailureOr<SmallVector<Value>> {
    FailureOr<SmallVector<Value>> results = applyToScalars(within, region, slices);
    if (succeeded(results))
      llvm::append_range(*results, slices.drop_front(count));
    return results;
  };
  FailureOr<SmallVector<Value>> joined =
      scan(source, {}, inputs, source.builder.getAffineConstantExpr(elements), /*reverse=*/false, line, step);
  if (failed(joined))
    return failure();
  return llvm::map_to_vector(ArrayRef(*joined).take_front(count),
                             [&](Value value) { return source.reshape(value, shape); });
}

/// Whether `applyToEach` takes a region: it gives values of the types of its first arguments.
static bool isTaken(Region &region, ArrayRef<int64_t> shape) {
  OperandRange results = terminatorOf(region)->getOperands();
  return ShapedType::isStaticShape(shape) && results.size() <= region.getNumArguments() &&
         llvm::all_of(llvm::zip(results, region.getArguments()),
                      [](auto pair) { return std::get<0>(pair).getType() == std::get<1>(pair).getType(); });
}

FailureOr<SmallVector<Value>> applyRegion(Source &source, Region &region, ValueRange arguments,
                                          const Extents &extents) {
  Block &block = region.front();
  if (block.getNumArguments() != arguments.size())
    return source.error() << "expected a region of " << arguments.size() << " arguments, but got "
                          << block.getNumArguments();
  bool isElementwise = llvm::all_of(operationsOf(region), [](Operation &op) {
    auto rule = rules().find(op.getName().getStringRef());
    return rule == rules().end() || rule->second.isElementwise || isConstant(op);
  });
  if (!isElementwise && isTaken(region, extents.shape))
    return applyToEach(source, region, arguments, extents.shape);
  IRMapping mapping;
  mapping.map(block.getArguments(), arguments);
  auto wide = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getRank() == 0 ? tensor.clone(extents.shape) : RankedTensorType();
  };
  for (Operation &op : operationsOf(region)) {
    auto rule = rules().find(op.getName().getStringRef());
    if (rule == rules().end())
      return noCounterpart(op.getLoc(), op.getName().getStringRef());
    if (!rule->second.isElementwise && !isConstant(op))
      return emitError(op.getLoc()) << op.getName() << ": can't be applied to whole arrays, inside of "
                                    << source.op->getName();
    // Scalars from outside, and constants, are the same for all elements.
    for (Value operand : op.getOperands()) {
      if (mapping.contains(operand))
        continue;
      Value spread = isa<RankedTensorType>(operand.getType()) ? source.broadcast(operand, extents) : Value();
      if (!spread)
        return source.error() << "its region uses " << operand.getType() << " from outside, expected a scalar";
      mapping.map(operand, spread);
    }
    Operation *copy = source.builder.clone(op, mapping);
    for (Value result : copy->getResults()) {
      RankedTensorType type = wide(result.getType());
      if (!type)
        return emitError(op.getLoc()) << op.getName() << ": expected scalars inside of " << source.op->getName();
      if (!isConstant(op))
        result.setType(type);
    }
    if (!extents.sizes.empty())
      noteResultSizes(copy, extents.sizes);
    FailureOr<SmallVector<Value>> made = converted(source, copy);
    if (failed(made))
      return failure();
    for (auto [result, value] : llvm::zip_equal(op.getResults(), *made))
      mapping.map(result, isConstant(op) ? source.broadcast(value, extents) : value);
  }
  SmallVector<Value> results;
  for (Value result : terminatorOf(region)->getOperands()) {
    bool isScalar = isa<RankedTensorType>(result.getType());
    results.push_back(mapping.contains(result) ? mapping.lookup(result)
                      : isScalar               ? source.broadcast(result, extents)
                                               : Value());
    if (!results.back())
      return source.error() << "its region returns " << result.getType() << ", expected scalars";
  }
  return results;
}

/// Whether an operation is in the computation of another one, such as that of a reduction.
static bool isInComputation(Operation *op) {
  auto rule = rules().find(op->getParentOp()->getName().getStringRef());
  return rule != rules().end() && rule->second.regions > 0 && !rule->second.takesAnything;
}

void inlineComputations(ModuleOp module) {
  // If a function calls itself, the depth exceeds the number of functions; its call is refused later.
  size_t deepest = llvm::range_size(module.getOps<func::FuncOp>());
  SmallVector<std::pair<func::CallOp, size_t>> open;
  module.walk([&](func::CallOp call) {
    if (isInComputation(call))
      open.push_back({call, 1});
  });
  while (!open.empty()) {
    auto [call, depth] = open.pop_back_val();
    auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
    if (!callee || callee.isExternal() || !callee.getBody().hasOneBlock() || depth > deepest)
      continue;
    Block &body = callee.getBody().front();
    IRMapping mapping;
    mapping.map(body.getArguments(), call.getOperands());
    OpBuilder builder(call);
    for (Operation &op : body.without_terminator())
      if (auto inner = dyn_cast<func::CallOp>(builder.clone(op, mapping)))
        open.push_back({inner, depth + 1});
    for (auto [result, value] : llvm::zip_equal(call.getResults(), body.getTerminator()->getOperands()))
      result.replaceAllUsesWith(mapping.lookupOrDefault(value));
    call.erase();
  }
}

FailureOr<SmallVector<Value>> scan(Source &source, ValueRange carries, ValueRange inputs, AffineExpr length,
                                   bool reverse, const std::optional<Extents> &joined, Step step) {
  SmallVector<Value> operands(carries), sizes, outputDims;
  operands.append(inputs.begin(), inputs.end());
  int64_t steps = source.split({length}, sizes).front();
  SmallVector<Type> types(carries.getTypes());
  if (joined)
    for (Value input : inputs) {
      types.push_back(input.getType());
      outputDims.append(source.unknownSizes(*joined));
    }
  if (source.failed())
    return failure();
  operands.append(sizes);
  operands.append(outputDims);
  OperationState state(source.loc(), "array.scan", operands, types,
                       {source.namedNumber("length", steps), source.namedFlag("reverse", reverse)});
  auto count = [](const auto &values) { return static_cast<int32_t>(values.size()); };
  state.addAttribute("operandSegmentSizes", source.builder.getDenseI32ArrayAttr(
                                                {count(carries), count(inputs), count(sizes), count(outputDims)}));
  Block &body = state.addRegion()->emplaceBlock();
  for (Value carry : carries)
    body.addArgument(carry.getType(), source.loc());
  for (Value input : inputs) {
    auto type = cast<RankedTensorType>(input.getType());
    body.addArgument(type.clone(type.getShape().drop_front()), source.loc());
  }
  Operation *made = source.builder.create(state);

  // The step is built inside: a marker replaces the converted operation.
  OpBuilder inside = OpBuilder::atBlockEnd(&body);
  Operation *marker = inside.create(OperationState(source.loc(), source.op->getName(), {}, {}, {}));
  inside.setInsertionPoint(marker);
  Source within(marker, inside);
  FailureOr<SmallVector<Value>> yielded =
      step(within, body.getArguments().take_front(carries.size()), body.getArguments().drop_front(carries.size()));
  marker->erase();
  if (failed(yielded) || within.failed() || llvm::is_contained(*yielded, Value()))
    return failure();
  inside.setInsertionPointToEnd(&body);
  inside.create(OperationState(source.loc(), "array.yield", *yielded, {}, {}));
  return SmallVector<Value>(made->getResults());
}

FailureOr<SmallVector<Value>> scanSlices(Source &source, Region &region, ValueRange inits, ValueRange inputs,
                                         const Extents &extents, bool reverse, bool isRunning) {
  SmallVector<AffineExpr> sizes = source.sizesOf(extents);
  if (source.failed())
    return failure();
  Extents slice(ArrayRef(extents.shape).drop_front(), ArrayRef(sizes).drop_front());
  SmallVector<Value> carries;
  for (Value init : inits)
    carries.push_back(source.broadcast(init, slice));
  if (llvm::is_contained(carries, Value()))
    return failure();
  auto step = [&](Source &within, ValueRange carries, ValueRange slices) -> FailureOr<SmallVector<Value>> {
    SmallVector<Value> arguments(carries);
    arguments.append(slices.begin(), slices.end());
    FailureOr<SmallVector<Value>> next = applyRegion(within, region, arguments, slice);
    if (succeeded(next) && isRunning)
      next->append(SmallVector<Value>(*next));
    return next;
  };
  return scan(source, carries, inputs, sizes.front(), reverse, isRunning ? std::optional(extents) : std::nullopt, step);
}

} // namespace mlir::array::stablehlo
