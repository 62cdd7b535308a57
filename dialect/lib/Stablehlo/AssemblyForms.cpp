// The forms of StableHLO that the common grammar does not read: regions, calls, slices. See Assembly.h.
#include "Assembly.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::array::stablehlo {

using Operand = OpAsmParser::UnresolvedOperand;
using Operands = SmallVector<Operand>;

/// `attr-dict : (types) -> types` after operands.
static ParseResult parseFunctionType(OpAsmParser &parser, OperationState &state, const Operands &operands,
                                     FunctionType &type) {
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(type) ||
      parser.resolveOperands(operands, type.getInputs(), place, state.operands))
    return failure();
  state.addTypes(type.getResults());
  return success();
}

ParseResult parseConstant(OpAsmParser &parser, OperationState &state) {
  ElementsAttr value;
  if (parser.parseOptionalAttrDict(state.attributes) || parser.parseAttribute(value, "value", state.attributes))
    return failure();
  state.addTypes(value.getShapedType());
  return success();
}

/// `%x [0:2, 1:8:3] : (type) -> type`
ParseResult parseSlice(OpAsmParser &parser, OperationState &state) {
  Operands operand(1);
  SmallVector<int64_t> starts, limits, strides;
  auto range = [&]() -> ParseResult {
    strides.push_back(1);
    if (parser.parseInteger(starts.emplace_back()) || parser.parseColon() || parser.parseInteger(limits.emplace_back()))
      return failure();
    return succeeded(parser.parseOptionalColon()) ? parser.parseInteger(strides.back()) : success();
  };
  if (parser.parseOperand(operand[0]) || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, range))
    return failure();
  Builder &builder = parser.getBuilder();
  state.addAttribute("start_indices", builder.getDenseI64ArrayAttr(starts));
  state.addAttribute("limit_indices", builder.getDenseI64ArrayAttr(limits));
  state.addAttribute("strides", builder.getDenseI64ArrayAttr(strides));
  FunctionType type;
  return parseFunctionType(parser, state, operand, type);
}

/// `(%x, %w) dim_numbers = [..]x[..]->[..], window = {...} {...} : (types) -> type`
ParseResult parseConvolution(OpAsmParser &parser, OperationState &state) {
  Operands operands;
  Attribute dimensions, window;
  if (parser.parseOperandList(operands, OpAsmParser::Delimiter::Paren) || parser.parseKeyword("dim_numbers") ||
      parser.parseEqual() || parseConvolutionDimensions(parser, dimensions) || parser.parseComma() ||
      parser.parseKeyword("window") || parser.parseEqual() || parseValue(parser, window))
    return failure();
  state.addAttribute("dimension_numbers", dimensions);
  state.addAttribute("window", window);
  FunctionType type;
  return parseFunctionType(parser, state, operands, type);
}

/// Builds the region of `applies stablehlo.add`, with that operation.
static void buildReducer(OpAsmParser &parser, OperationState &state, OperationName name, Type init) {
  auto tensor = dyn_cast<ShapedType>(init);
  Type scalar = RankedTensorType::get({}, tensor ? tensor.getElementType() : init);
  Location location = parser.getEncodedSourceLoc(parser.getNameLoc());
  Region *region = state.addRegion();
  Block &block = region->emplaceBlock();
  block.addArguments({scalar, scalar}, {location, location});
  // The region has no operation yet that gives the context.
  OpBuilder builder(parser.getContext());
  builder.setInsertionPointToEnd(&block);
  Operation *combined = builder.create(OperationState(location, name, block.getArguments(), {scalar}, {}));
  builder.create(OperationState(location, "stablehlo.return", combined->getResults(), {}, {}));
}

/// `(%a: type, %b: type) (%c: type, %d: type) { ... }`: for each input a pair of arguments; the region has first all
/// the first ones.
static ParseResult parseReducer(OpAsmParser &parser, OperationState &state, size_t inputs) {
  SmallVector<OpAsmParser::Argument> firsts, seconds;
  for (size_t input = 0; input < inputs; ++input)
    if (parser.parseLParen() || parser.parseArgument(firsts.emplace_back(), /*allowType=*/true) ||
        parser.parseComma() || parser.parseArgument(seconds.emplace_back(), /*allowType=*/true) || parser.parseRParen())
      return failure();
  firsts.append(seconds);
  return parser.parseRegion(*state.addRegion(), firsts);
}

/// `(%x init: %c), ... applies stablehlo.add across dimensions = [0] : (types) -> types`, or without `applies`, with a
/// reducer after the types.
ParseResult parseReduce(OpAsmParser &parser, OperationState &state) {
  Operands inputs, inits;
  do {
    if (parser.parseLParen() || parser.parseOperand(inputs.emplace_back()) || parser.parseKeyword("init") ||
        parser.parseColon() || parser.parseOperand(inits.emplace_back()) || parser.parseRParen())
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  std::optional<OperationName> applied;
  if (succeeded(parser.parseOptionalKeyword("applies"))) {
    FailureOr<OperationName> name = parser.parseCustomOperationName();
    if (failed(name))
      return failure();
    applied = *name;
  }
  Attribute dimensions;
  if (parser.parseKeyword("across") || parser.parseKeyword("dimensions") || parser.parseEqual() ||
      parseValue(parser, dimensions))
    return failure();
  state.addAttribute("dimensions", dimensions);
  Operands operands = inputs;
  operands.append(inits);
  FunctionType type;
  if (parseFunctionType(parser, state, operands, type))
    return failure();
  if (applied) {
    buildReducer(parser, state, *applied, type.getInputs().back());
    return success();
  }
  return failure(failed(parser.parseKeyword("reducer")) || failed(parseReducer(parser, state, inputs.size())));
}

/// `(%arg = %init, ...) : types attributes {...} cond {...} do {...}`
ParseResult parseWhile(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::Argument> arguments;
  Operands inits;
  SMLoc place = parser.getCurrentLocation();
  auto assignment = [&]() -> ParseResult {
    return failure(failed(parser.parseArgument(arguments.emplace_back())) || failed(parser.parseEqual()) ||
                   failed(parser.parseOperand(inits.emplace_back())));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, assignment))
    return failure();
  SmallVector<Type> types;
  if (!inits.empty() && (parser.parseColon() || parser.parseTypeList(types)))
    return failure();
  if (parser.resolveOperands(inits, types, place, state.operands))
    return failure();
  state.addTypes(types);
  for (auto [argument, type] : llvm::zip(arguments, types))
    argument.type = type;
  return failure(failed(parser.parseOptionalAttrDictWithKeyword(state.attributes)) ||
                 failed(parser.parseKeyword("cond")) || failed(parser.parseRegion(*state.addRegion(), arguments)) ||
                 failed(parser.parseKeyword("do")) || failed(parser.parseRegion(*state.addRegion(), arguments)));
}

/// `@target(%x, ...) {...} : (types) -> types`
ParseResult parseCustomCall(OpAsmParser &parser, OperationState &state) {
  StringAttr target;
  Operands operands;
  if (parser.parseSymbolName(target) || parser.parseOperandList(operands, OpAsmParser::Delimiter::Paren))
    return failure();
  state.addAttribute("call_target_name", target);
  FunctionType type;
  return parseFunctionType(parser, state, operands, type);
}

/// `"name" %x, ... {decomposition = @f} : (types) -> types`
ParseResult parseComposite(OpAsmParser &parser, OperationState &state) {
  StringAttr name;
  Operands operands;
  if (parser.parseAttribute(name, "name", state.attributes) || parser.parseOperandList(operands))
    return failure();
  FunctionType type;
  return parseFunctionType(parser, state, operands, type);
}

/// `(%x, k = 2) : type -> (type, type)`
ParseResult parseTopK(OpAsmParser &parser, OperationState &state) {
  Operand operand;
  Attribute k;
  Type type;
  SmallVector<Type> results;
  if (parser.parseLParen() || parser.parseOperand(operand) || parser.parseComma() || parser.parseKeyword("k") ||
      parser.parseEqual() || parseValue(parser, k) || parser.parseRParen() ||
      parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(type) ||
      parser.parseArrowTypeList(results) || parser.resolveOperand(operand, type, state.operands))
    return failure();
  state.addAttribute("k", k);
  state.addTypes(results);
  return success();
}

/// `%x, ... : types`: a terminator, which has no results, or a barrier, whose results have its operands' types.
ParseResult parseTypedOperands(OpAsmParser &parser, OperationState &state) {
  Operands operands;
  SmallVector<Type> types;
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDict(state.attributes) || parser.parseOperandList(operands) ||
      parser.parseOptionalAttrDict(state.attributes))
    return failure();
  // Without operands, the types are those of the results.
  if (operands.empty())
    return succeeded(parser.parseOptionalColon()) ? parser.parseTypeList(state.types) : success();
  if (parser.parseColonTypeList(types) || parser.resolveOperands(operands, types, place, state.operands))
    return failure();
  if (state.name.getStringRef() != "stablehlo.return")
    state.addTypes(types);
  return success();
}

/// `@name = <["x"=2, "y"=4], device_ids=[0]> {...}`
ParseResult parseMesh(OpAsmParser &parser, OperationState &state) {
  StringAttr name;
  int64_t devices = 1;
  auto axis = [&]() -> ParseResult {
    std::string axisName;
    int64_t size = 0;
    if (parser.parseString(&axisName) || parser.parseEqual() || parser.parseInteger(size))
      return failure();
    devices *= size;
    return success();
  };
  if (parser.parseSymbolName(name) || parser.parseEqual() || parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, axis))
    return failure();
  Attribute ids;
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("device_ids") || parser.parseEqual() || parseValue(parser, ids)))
    return failure();
  state.addAttribute("devices", parser.getBuilder().getI64IntegerAttr(devices));
  return failure(failed(parser.parseGreater()) || failed(parser.parseOptionalAttrDict(state.attributes)));
}

/// `%x <@mesh, [{}, {?}, {"x", "y":(1)2}p1], replicated={"z"}, unreduced={"w"}> : type`: it has no meaning on a mesh of
/// one device.
ParseResult parseShardingConstraint(OpAsmParser &parser, OperationState &state) {
  Operand operand;
  StringAttr mesh;
  Type type;
  auto axis = [&]() -> ParseResult {
    std::string name;
    int64_t size;
    if (succeeded(parser.parseOptionalQuestion()))
      return success();
    if (parser.parseString(&name))
      return failure();
    if (failed(parser.parseOptionalColon()))
      return success();
    return failure(parser.parseLParen() || parser.parseInteger(size) || parser.parseRParen() ||
                   parser.parseInteger(size));
  };
  auto axes = [&] { return parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, axis); };
  auto dimension = [&]() -> ParseResult {
    StringRef priority;
    if (axes())
      return failure();
    (void)parser.parseOptionalKeyword(&priority);
    return success();
  };
  if (parser.parseOperand(operand) || parser.parseLess() || parser.parseSymbolName(mesh) || parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, dimension))
    return failure();
  while (succeeded(parser.parseOptionalComma())) {
    StringRef what;
    if (parser.parseKeyword(&what) || parser.parseEqual() || axes())
      return failure();
  }
  if (parser.parseGreater() || parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(type) ||
      parser.resolveOperand(operand, type, state.operands))
    return failure();
  state.addTypes(type);
  return success();
}

} // namespace mlir::array::stablehlo
