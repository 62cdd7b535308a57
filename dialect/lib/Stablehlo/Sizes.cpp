// Follows sizes through functions, calls and regions. See Sizes.h.
#include "Sizes.h"
#include "Rules.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::array::stablehlo {

/// The maximum number of elements of an array of sizes.
static constexpr int64_t kMostElements = 64;

static bool isDynamic(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.hasStaticShape();
}

/// The number of elements of a small array of integers or bools; none of another.
static std::optional<int64_t> elementsOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || !isa<IntegerType>(tensor.getElementType()))
    return std::nullopt;
  unsigned width = tensor.getElementTypeBitWidth();
  bool isSmall = tensor.getRank() <= 2 && llvm::all_of(tensor.getShape(), [](int64_t n) { return n <= kMostElements; });
  return isSmall && (width == 1 || width == 32 || width == 64) ? std::optional(tensor.getNumElements()) : std::nullopt;
}

static bool isAssertion(Operation *op) {
  auto target = op->getAttrOfType<StringAttr>("call_target_name");
  return target && target.getValue() == kShapeAssertion;
}

static unsigned countUnknown(func::FuncOp entry) {
  unsigned count = 0;
  for (Type type : entry.getArgumentTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      count += tensor.getNumDynamicDims();
  return count;
}

SizeReader::SizeReader(ModuleOp module, func::FuncOp entry)
    : module(module), entry(entry), symbols(module), values(entry, countUnknown(entry)) {}

bool SizeReader::isNeeded(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        auto function = dyn_cast<func::FuncOp>(op);
        return isAssertion(op) || llvm::any_of(op->getResultTypes(), isDynamic) ||
                       (function && llvm::any_of(function.getArgumentTypes(), isDynamic))
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

//===----------------------------------------------------------------------===//
// Known facts about values
//===----------------------------------------------------------------------===//

SizeReader::Dims SizeReader::dimsOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return {};
  Dims dims = known.lookup(value).dims;
  dims.resize(type.getRank());
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    dims[dim] = ShapedType::isDynamic(size) ? values.resolved(dims[dim]) : number(size);
  return dims;
}

SizeReader::Dims SizeReader::sizesAt(Value value) {
  return llvm::map_to_vector(elementsAt(value), [&](Attribute element) { return values.expressionOf(element); });
}

void SizeReader::setDims(Value value, ArrayRef<AffineExpr> dims) {
  if (isDynamic(value.getType()))
    known[value].dims.assign(dims.begin(), dims.end());
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

LogicalResult SizeReader::read() {
  unsigned next = 0;
  SmallVector<Known> arguments;
  for (auto [index, type] : llvm::enumerate(entry.getArgumentTypes())) {
    Known &argument = arguments.emplace_back();
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      for (auto [dim, size] : llvm::enumerate(tensor.getShape())) {
        if (ShapedType::isDynamic(size))
          names[next] = "x" + std::to_string(index) + "_" + std::to_string(dim);
        argument.dims.push_back(ShapedType::isDynamic(size) ? values.expressionOf(values.symbol(next++))
                                                            : number(size));
      }
  }
  if (failed(readFunction(entry, arguments)))
    return failure();
  numberSymbols();
  for (Operation *op : visited)
    note(op);
  for (BlockArgument argument : entry.getArguments())
    argumentDims.push_back(dimsOf(argument));
  for (auto [index, result] : llvm::enumerate(returned[entry])) {
    for (AffineExpr &size : result.dims)
      if (!(size = values.resolved(size)))
        return emitError(entry.front().back().getLoc())
               << "result #" << index << " of @main has a size that does not follow from the sizes of the arguments by "
               << kSizeOperations;
    resultDims.push_back(result.dims);
  }
  return success();
}

LogicalResult SizeReader::readFunction(func::FuncOp function, ArrayRef<Known> arguments) {
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return success(); // the walk refuses it
  active.insert(function);
  for (auto [argument, given] : llvm::zip_equal(function.getArguments(), arguments))
    known[argument] = given;
  if (failed(readBlock(function.front())))
    return failure();
  SmallVector<Known> found;
  for (Value value : function.front().back().getOperands())
    found.push_back({dimsOf(value), elementsAt(value)});
  returned[function] = std::move(found);
  active.pop_back();
  return success();
}

LogicalResult SizeReader::readBlock(Block &block) {
  for (Operation &op : block)
    if (failed(readOperation(&op)))
      return failure();
  return success();
}

LogicalResult SizeReader::readCall(Operation *op, StringAttr callee) {
  auto function = callee ? symbols.lookup<func::FuncOp>(callee.getValue()) : func::FuncOp();
  if (!function || function.getNumArguments() != op->getNumOperands() ||
      function.getNumResults() != op->getNumResults())
    return success(); // the rule refuses it
  Builder builder(module.getContext());
  SmallVector<Known> arguments;
  SmallVector<Attribute> parts = {callee};
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    const Known &argument = arguments.emplace_back(Known{dimsOf(operand), elementsAt(operand)});
    parts.push_back(builder.getArrayAttr(argument.elements));
    for (AffineExpr size : argument.dims)
      parts.push_back(size ? values.of(size) : builder.getUnitAttr());
    // JAX's name of a size.
    auto name = function.getArgAttrOfType<StringAttr>(index, "jax.global_constant");
    AffineExpr size = argument.elements.size() == 1 ? values.expressionOf(argument.elements[0]) : AffineExpr();
    if (auto symbol = dyn_cast_or_null<AffineSymbolExpr>(size); symbol && name && !name.empty())
      names[symbol.getPosition()] = name.getValue().str();
  }
  Attribute key = builder.getArrayAttr(parts);
  if (!copies.contains(key)) {
    bool isRead = returned.contains(function) || active.contains(function);
    func::FuncOp made = isRead ? function.clone() : function;
    if (isRead)
      symbols.insert(made);
    copies[key] = made;
    if (failed(readFunction(made, arguments)))
      return failure();
  }
  func::FuncOp called = copies[key];
  if (active.contains(called))
    return op->emitError() << "@" << function.getName() << " calls itself, which can't be compiled";
  auto name = FlatSymbolRefAttr::get(called.getSymNameAttr());
  if (auto call = dyn_cast<func::CallOp>(op))
    call.setCalleeAttr(name);
  else
    op->setAttr("decomposition", name);
  for (auto [result, found] : llvm::zip(op->getResults(), returned[called]))
    known[result] = found;
  return success();
}

LogicalResult SizeReader::readRegions(Operation *op) {
  bool isLoop = op->getName().getStringRef() == "stablehlo.while";
  for (Region &region : op->getRegions())
    if (!region.hasOneBlock() || region.front().empty())
      return success(); // the walk refuses it
  auto endOf = [](Region &region) { return &region.front().back(); };
  if (isLoop)
    for (Region &region : op->getRegions())
      for (auto [argument, init] : llvm::zip(region.getArguments(), op->getOperands())) {
        setDims(argument, dimsOf(init));
        // A value that the loop does not change.
        unsigned index = argument.getArgNumber();
        Region &body = op->getRegions().back();
        if (index < body.getNumArguments() && index < endOf(body)->getNumOperands() &&
            endOf(body)->getOperand(index) == body.getArgument(index))
          known[argument].elements = elementsAt(init);
      }
  for (Region &region : op->getRegions())
    if (failed(readBlock(region.front())))
      return failure();
  for (auto [index, result] : llvm::enumerate(op->getResults()))
    if (isLoop && index < op->getNumOperands())
      setDims(result, dimsOf(op->getOperand(index)));
    else if (!isLoop && op->getNumRegions() != 0 && index < endOf(op->getRegion(0))->getNumOperands())
      setDims(result, dimsOf(endOf(op->getRegion(0))->getOperand(index)));
  return success();
}

LogicalResult SizeReader::readOperation(Operation *op) {
  StringRef name = op->getName().getStringRef();
  visited.push_back(op);
  if (auto call = dyn_cast<func::CallOp>(op))
    return readCall(op, call.getCalleeAttr().getAttr());
  if (name == "stablehlo.composite")
    if (auto callee = op->getAttrOfType<FlatSymbolRefAttr>("decomposition"))
      return readCall(op, callee.getAttr());
  if (name == "stablehlo.while" || name == "stablehlo.if" || name == "stablehlo.case")
    return readRegions(op);
  if (isAssertion(op))
    return readAssertion(op);
  if (op->getNumResults() == 1)
    if (std::optional<int64_t> count = elementsOf(op->getResult(0).getType())) {
      Elements elements = readElements(op, *count);
      if (static_cast<int64_t>(elements.size()) == *count && !llvm::is_contained(elements, Attribute()))
        known[op->getResult(0)].elements = std::move(elements);
    }
  if (llvm::any_of(op->getResultTypes(), isDynamic))
    readShapes(op);
  return success();
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

LogicalResult SizeReader::readAssertion(Operation *op) {
  auto unread = [&] {
    return op->emitError() << "stablehlo.custom_call: @" << kShapeAssertion
                           << " of a condition that is no comparison of sizes of the arguments";
  };
  Elements condition = op->getNumOperands() == 0 ? Elements() : elementsAt(op->getOperand(0));
  auto message = op->getAttrOfType<StringAttr>("error_message");
  if (condition.size() != 1 || !message)
    return unread();
  if (condition[0] == values.number(1))
    return success();
  if (condition[0] == values.number(0))
    return op->emitError() << "stablehlo.custom_call: @" << kShapeAssertion
                           << " does not hold for any sizes: " << message.getValue();
  auto term = dyn_cast<ArrayAttr>(condition[0]);
  StringRef direction = term ? cast<StringAttr>(term[0]).getValue() : "";
  if (!direction.consume_front("compare "))
    return unread();
  AffineExpr lhs = values.expressionOf(term[1]), rhs = values.expressionOf(term[2]);
  if (values.hasDerived(lhs) || values.hasDerived(rhs))
    return op->emitError() << "stablehlo.custom_call: @" << kShapeAssertion
                           << " of a condition on a maximum, a minimum, or a quotient of two sizes, which can't be "
                           << "checked in each call: expected sums, products, and quotients by numbers";
  if (direction == "LE" || direction == "LT")
    std::swap(lhs, rhs);
  if (!lhs || !rhs || direction == "NE")
    return unread();
  if (direction == "GT" || direction == "LT")
    rhs = rhs + 1;
  Dims expressions = {lhs, rhs};
  for (Value value : op->getOperands().drop_front()) {
    Dims sizes = sizesAt(value);
    if (sizes.size() != 1 || !sizes[0])
      return unread();
    expressions.push_back(sizes[0]);
  }
  // In the `?` of the arguments.
  Dims unknown;
  for (unsigned index = 0; index < values.symbolCount(); ++index)
    unknown.push_back(getAffineDimExpr(index, module.getContext()));
  for (AffineExpr &expression : expressions)
    expression = values.inArguments(expression).replaceSymbols(unknown);
  Builder builder(module.getContext());
  bool isEqual = direction == "EQ";
  requirements.push_back(builder.getDictionaryAttr(
      {builder.getNamedAttr("condition", builder.getStringAttr(isEqual ? "equal" : "at_least")),
       builder.getNamedAttr("sizes",
                            AffineMapAttr::get(AffineMap::get(values.count(), 0, expressions, module.getContext()))),
       builder.getNamedAttr("message", message)}));
  if (isEqual)
    values.assumeEqual(lhs, rhs);
  else
    values.assumeAtLeast(lhs, rhs);
  return success();
}

//===----------------------------------------------------------------------===//
// The finished program
//===----------------------------------------------------------------------===//

void SizeReader::numberSymbols() {
  for (unsigned symbol = 0; symbol < values.symbolCount(); ++symbol)
    if (values.isFree(symbol)) {
      order.push_back(symbol);
      if (names.find(symbol) == names.end()) // that of the `?` of which it is a part
        names[symbol] = names[symbol - values.count()];
    }
  // In the order of their names, as in traced programs; distinct.
  llvm::stable_sort(order, [&](unsigned a, unsigned b) { return names[a] < names[b]; });
  for (auto [position, symbol] : llvm::enumerate(order))
    if (position > 0 && names[symbol] == names[order[position - 1]])
      names[symbol] += "_";
  llvm::stable_sort(order, [&](unsigned a, unsigned b) { return names[a] < names[b]; });
  numbers.assign(values.symbolCount() + values.derivedCount(), number(0));
  Builder builder(module.getContext());
  for (auto [position, symbol] : llvm::enumerate(order)) {
    numbers[symbol] = getAffineSymbolExpr(position, module.getContext());
    SizeFacts found = values.factsOf(getAffineSymbolExpr(symbol, module.getContext()));
    SmallVector<NamedAttribute> entries = {builder.getNamedAttr("min", builder.getI64IntegerAttr(found.min)),
                                           builder.getNamedAttr("name", builder.getStringAttr(names[symbol]))};
    if (found.max != SizeFacts().max)
      entries.push_back(builder.getNamedAttr("max", builder.getI64IntegerAttr(found.max)));
    facts.push_back(builder.getDictionaryAttr(entries));
  }
  // Those that follow from others are last.
  for (unsigned index = 0; index < values.derivedCount(); ++index) {
    DerivedSymbol known = values.definition(index);
    unsigned position = facts.size();
    auto both =
        AffineMap::get(/*dimCount=*/0, position, {known.lhs.replaceSymbols(numbers), known.rhs.replaceSymbols(numbers)},
                       module.getContext());
    facts.push_back(builder.getDictionaryAttr(
        builder.getNamedAttr(known.isMaximum ? kMaximumEntry : kQuotientEntry, AffineMapAttr::get(both))));
    numbers[values.symbolCount() + index] = getAffineSymbolExpr(position, module.getContext());
  }
}

Attribute SizeReader::finished(ArrayRef<AffineExpr> expressions) {
  Dims found;
  for (AffineExpr expression : expressions) {
    AffineExpr resolved = values.resolved(expression);
    if (!resolved)
      return UnitAttr::get(module.getContext());
    found.push_back(resolved.replaceSymbols(numbers));
  }
  return AffineMapAttr::get(AffineMap::get(/*dimCount=*/0, facts.size(), found, module.getContext()));
}

void SizeReader::note(Operation *op) {
  Builder builder(module.getContext());
  auto dims = [&](ValueRange given) {
    return builder.getArrayAttr(llvm::map_to_vector(given, [&](Value value) { return finished(dimsOf(value)); }));
  };
  if (op->getName().getDialectNamespace() == "func")
    return;
  if (llvm::any_of(op->getResultTypes(), isDynamic))
    op->setAttr(kResultSizesAttr, dims(op->getResults()));
  if (llvm::any_of(op->getOperandTypes(), isDynamic))
    op->setAttr(kOperandSizesAttr, dims(op->getOperands()));
  // Elements that are sizes; of an operation that takes them, those of its operands.
  auto elements = [&](Value value) -> Attribute {
    Dims sizes = sizesAt(value);
    std::optional<int64_t> count = elementsOf(value.getType());
    return elementsAt(value).empty() && count != 0 ? builder.getUnitAttr() : finished(sizes);
  };
  bool isSize = op->getName().getStringRef() == "stablehlo.get_dimension_size";
  if (isSize || op->hasAttr(kResultSizesAttr) || op->hasAttr(kOperandSizesAttr))
    op->setAttr(kElementsAttr, builder.getArrayAttr(llvm::map_to_vector(
                                   isSize ? ValueRange(op->getResults()) : ValueRange(op->getOperands()), elements)));
}

void SizeReader::declare() {
  Builder builder(module.getContext());
  for (auto [index, dims] : llvm::enumerate(argumentDims))
    if (isDynamic(entry.getArgument(index).getType()))
      entry.setArgAttr(index, kDimsAttr, finished(dims));
  for (auto [index, dims] : llvm::enumerate(resultDims))
    if (isDynamic(entry.getResultTypes()[index]))
      entry.setResultAttr(index, kDimsAttr, finished(dims));
  if (!facts.empty())
    entry->setAttr(kSymbolsAttr, builder.getArrayAttr(facts));
  if (!requirements.empty())
    entry->setAttr(kRequiresAttr, builder.getArrayAttr(requirements));
}

} // namespace mlir::array::stablehlo
