// StableHLO text -> array module: a dialect for parsing alone, then a walk that replaces each operation by its rule.
// Before it: MLIR's parser with the forms of Assembly. After it: the array module, like that of a trace.
#include "array/Stablehlo/Import.h"
#include "Regions.h"
#include "Sizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Parser/Parser.h"

namespace mlir::array {
namespace stablehlo {
namespace {

/// Debian's MLIR has no StableHLO. In this dialect only the table of rules defines the operations. They exist between
/// parsing and the walk, so they need no classes; the rules check their operands and attributes.
class ReadingDialect : public Dialect {
public:
  ReadingDialect(StringRef name, MLIRContext *context, TypeID id) : Dialect(name, context, id) {
    allowUnknownOperations();
  }

  std::optional<ParseOpHook> getParseOperationHook(StringRef name) const override {
    auto rule = rules().find(name);
    // The returned value refers to the function, which must outlive it.
    static const ParseRule refuse = [](OpAsmParser &parser, OperationState &state) -> ParseResult {
      return noCounterpart(parser.getEncodedSourceLoc(parser.getNameLoc()), state.name.getStringRef());
    };
    if (rule == rules().end())
      return refuse;
    return rule->second.parse;
  }

  Attribute parseAttribute(DialectAsmParser &parser, Type) const override { return parseDialectAttribute(parser); }

  Type parseType(DialectAsmParser &parser) const override {
    if (succeeded(parser.parseOptionalKeyword("token")))
      return TokenType::get(getContext());
    parser.emitError(parser.getNameLoc()) << "!stablehlo." << parser.getFullSymbolSpec()
                                          << ": has no counterpart in the array dialect, whose values are tensors";
    return {};
  }
};

class StablehloDialect final : public ReadingDialect {
public:
  explicit StablehloDialect(MLIRContext *context)
      : ReadingDialect(getDialectNamespace(), context, TypeID::get<StablehloDialect>()) {}
  static StringRef getDialectNamespace() { return "stablehlo"; }
};

class ChloDialect final : public ReadingDialect {
public:
  explicit ChloDialect(MLIRContext *context)
      : ReadingDialect(getDialectNamespace(), context, TypeID::get<ChloDialect>()) {}
  static StringRef getDialectNamespace() { return "chlo"; }
};

/// Shardy's attributes distribute arrays over devices. Here there is one device, so they are ignored.
class ShardyDialect final : public ReadingDialect {
public:
  explicit ShardyDialect(MLIRContext *context)
      : ReadingDialect(getDialectNamespace(), context, TypeID::get<ShardyDialect>()) {}
  static StringRef getDialectNamespace() { return "sdy"; }
  Attribute parseAttribute(DialectAsmParser &parser, Type) const override {
    return StringAttr::get(getContext(), parser.getFullSymbolSpec());
  }
};

/// During its lifetime, a context accepts operations and attributes of unknown dialects.
class AnyDialect {
public:
  explicit AnyDialect(MLIRContext *context) : context(context), before(context->allowsUnregisteredDialects()) {
    context->allowUnregisteredDialects();
  }
  ~AnyDialect() { context->allowUnregisteredDialects(before); }

private:
  MLIRContext *context;
  bool before;
};

} // namespace

const Rules &rules() {
  static const Rules table = [] {
    Rules rules;
    for (auto add : {addElementwiseRules, addMovementRules, addReductionRules, addWindowRules, addIndexingRules,
                     addContractionRules, addBatchNormRules, addSortRules, addControlFlowRules, addLinearAlgebraRules,
                     addCallRules, addCollectiveRules})
      add(rules);
    return rules;
  }();
  return table;
}

InFlightDiagnostic noCounterpart(Location location, StringRef name) {
  InFlightDiagnostic error = emitError(location) << name << ": has no counterpart in the array dialect";
  if (name == "stablehlo.rng" || name == "stablehlo.rng_bit_generator")
    error << ". It draws from a state that the compiler hides, or by an algorithm that it chooses: draw by jax.random "
          << "with its usual keys";
  return error;
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

static LogicalResult checkShape(Source &source, const Rule &rule) {
  Operation *op = source.op;
  unsigned operands = op->getNumOperands();
  if (operands < rule.least || operands > rule.most) {
    InFlightDiagnostic diagnostic = source.error() << "expected " << rule.least;
    if (rule.most != rule.least)
      diagnostic << (rule.most == ~0u ? " or more" : " to " + std::to_string(rule.most));
    return diagnostic << " operands, but got " << operands;
  }
  if (op->getNumRegions() < rule.regions)
    return source.error() << "expected " << rule.regions << " regions, but got " << op->getNumRegions();
  for (Region &region : op->getRegions())
    if (!region.hasOneBlock() || region.front().empty())
      return source.error() << "expected regions of one block";
  if (rule.takesAnything)
    return success();
  if (op->getNumResults() == 0)
    return source.error() << "expected a result";
  for (Type type :
       llvm::concat<const Type>(SmallVector<Type>(op->getOperandTypes()), SmallVector<Type>(op->getResultTypes())))
    if (auto tensor = dyn_cast<RankedTensorType>(type);
        !tensor || !isa<IntegerType, FloatType, ComplexType>(tensor.getElementType()))
      return source.error() << "expected ranked tensors of numbers, but got " << type;
  return success();
}

LogicalResult convertOperation(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  StringRef name = op->getName().getStringRef();
  if (dialect == ArrayDialect::getDialectNamespace())
    return success();
  auto rule = rules().find(name);
  if (rule == rules().end())
    return noCounterpart(op->getLoc(), name);
  OpBuilder builder(op);
  Source source(op, builder);
  if (failed(checkShape(source, rule->second)) || failed(rule->second.convert(source)))
    return failure();
  return success();
}

LogicalResult convertBlock(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (!isa<func::ReturnOp>(op) && failed(convertOperation(&op)))
      return failure();
  return success();
}

/// Attributes of a module, of arguments and results that only JAX's runtime uses.
static void dropAttributes(Operation *op) {
  for (NamedAttribute attribute : llvm::to_vector(op->getDiscardableAttrs()))
    op->removeDiscardableAttr(attribute.getName());
}

static LogicalResult convertFunction(func::FuncOp function) {
  dropAttributes(function);
  function.removeArgAttrsAttr();
  function.removeResAttrsAttr();
  if (function.isPublic())
    function.removeSymVisibilityAttr();
  if (function.isExternal())
    return function.emitError() << "@" << function.getName() << ": a function without a body can't be compiled";
  if (!function.getBody().hasOneBlock())
    return function.emitError() << "@" << function.getName() << ": expected a body of one block";
  return convertBlock(function.getBody().front());
}

/// The entry's arguments and results are arrays: an empty array stands for a token, as in JAX's own calls. The token
/// that one call returns and the next one takes orders the calls.
static void replaceTokens(func::FuncOp entry) {
  Block &body = entry.getBody().front();
  auto array = RankedTensorType::get({0}, IntegerType::get(entry.getContext(), 1));
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  for (BlockArgument argument : body.getArguments())
    if (isa<TokenType>(argument.getType())) {
      Operation *made =
          builder.create(OperationState(entry.getLoc(), "array.create_token", {}, {argument.getType()}, {}));
      argument.replaceAllUsesWith(made->getResult(0));
      argument.setType(array);
    }
  Operation *end = body.getTerminator();
  builder.setInsertionPoint(end);
  for (OpOperand &operand : end->getOpOperands())
    if (isa<TokenType>(operand.get().getType())) {
      NamedAttribute value = builder.getNamedAttr("value", DenseElementsAttr::get(array, ArrayRef<bool>()));
      operand.set(builder.create(OperationState(entry.getLoc(), "array.constant", {}, {array}, {value}))->getResult(0));
    }
  entry.setFunctionType(builder.getFunctionType(body.getArgumentTypes(), end->getOperandTypes()));
}

/// Erases operations without a use, such as the arithmetic of sizes, which became that of indices.
static void eraseUnused(func::FuncOp function) {
  function.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}

static LogicalResult convertModule(ModuleOp module) {
  for (StringRef copies : {"mhlo.num_partitions", "mhlo.num_replicas"})
    if (auto number = module->getAttrOfType<IntegerAttr>(copies); number && number.getInt() != 1)
      return emitError(module.getLoc()) << copies << " is " << number.getInt()
                                        << ": a program for several devices; one for a single device is taken";
  auto entry = module.lookupSymbol<func::FuncOp>("main");
  if (!entry)
    return emitError(module.getLoc()) << "expected a function @main, the entry of the program";
  inlineComputations(module);
  std::optional<SizeReader> sizes;
  if (SizeReader::isNeeded(module)) {
    sizes.emplace(module, entry);
    if (failed(sizes->read()))
      return failure();
  }
  // Functions without callers, such as the comparator of an approximate top_k, are erased.
  SmallVector<func::FuncOp> reached = {entry};
  DenseSet<Operation *> seen = {entry};
  for (size_t next = 0; next < reached.size(); ++next) {
    if (failed(convertFunction(reached[next])))
      return failure();
    reached[next].walk([&](CallOp call) {
      auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
      if (callee && seen.insert(callee).second)
        reached.push_back(callee);
    });
  }
  for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
    if (isa<func::FuncOp>(op) && !seen.contains(&op))
      op.erase();
    else if (!isa<func::FuncOp>(op) && failed(convertOperation(&op)))
      return failure();
  }
  replaceTokens(entry);
  if (sizes) {
    for (func::FuncOp function : reached)
      eraseUnused(function);
    sizes->declare();
  }
  dropAttributes(module);
  return success();
}

} // namespace stablehlo

OwningOpRef<ModuleOp> importStablehlo(llvm::SourceMgr &sources, MLIRContext *context) {
  context->loadDialect<ArrayDialect, arith::ArithDialect, func::FuncDialect, stablehlo::StablehloDialect,
                       stablehlo::ChloDialect, stablehlo::ShardyDialect>();
  stablehlo::AnyDialect anyDialect(context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, context);
  if (!module || failed(stablehlo::convertModule(*module)) || failed(verify(*module)))
    return nullptr;
  return module;
}

std::vector<std::string> takenOperations() {
  std::vector<std::string> names;
  for (const auto &rule : stablehlo::rules())
    names.push_back(rule.getKey().str());
  llvm::sort(names);
  return names;
}

} // namespace mlir::array
