// The custom directives of the assembly formats.
#include "Assembly.h"
#include "Inference.h"

using namespace mlir;
using namespace mlir::array;

/// Expands the printed type of an op to all its types, operands then results; empty if that is impossible.
using Expansion = function_ref<SmallVector<Type>(Type)>;

static Type withBools(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.clone(IntegerType::get(type.getContext(), 1)) : Type();
}

static ParseResult parseTypes(OpAsmParser &parser, ArrayRef<Type *> operands, ArrayRef<Type *> results,
                              Expansion expand) {
  SMLoc location = parser.getCurrentLocation();
  Type written;
  if (parser.parseType(written))
    return failure();
  SmallVector<Type> types;
  if (auto function = dyn_cast<FunctionType>(written)) {
    if (function.getNumInputs() != operands.size() || function.getNumResults() != results.size())
      return parser.emitError(location) << "expected " << operands.size() << " operand types and " << results.size()
                                        << " result types, got " << function;
    llvm::append_range(types, function.getInputs());
    llvm::append_range(types, function.getResults());
  } else {
    types = expand(written);
    if (llvm::is_contained(types, Type()))
      return parser.emitError(location) << "expected a ranked tensor type, got " << written;
  }
  for (auto [index, type] : llvm::enumerate(types))
    *(index < operands.size() ? operands[index] : results[index - operands.size()]) = type;
  return success();
}

static void printTypes(OpAsmPrinter &printer, Operation *op, Type shorthand, Expansion expand) {
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  if (expand(shorthand) == types)
    printer << shorthand;
  else
    printer.printFunctionalType(op->getOperandTypes(), op->getResultTypes());
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static SmallVector<Type> two(Type type) { return {type, type}; }
static SmallVector<Type> three(Type type) { return {type, type, type}; }
static SmallVector<Type> six(Type type) { return SmallVector<Type>(6, type); }
static SmallVector<Type> oneToBool(Type type) { return {type, withBools(type)}; }
static SmallVector<Type> twoToBool(Type type) { return {type, type, withBools(type)}; }
static SmallVector<Type> selection(Type type) { return {withBools(type), type, type, type}; }

ParseResult array::parseElementwiseTypes(OpAsmParser &parser, Type &operand, Type &result) {
  return parseTypes(parser, {&operand}, {&result}, two);
}

ParseResult array::parseElementwiseTypes(OpAsmParser &parser, Type &lhs, Type &rhs, Type &result) {
  return parseTypes(parser, {&lhs, &rhs}, {&result}, three);
}

void array::printElementwiseTypes(OpAsmPrinter &printer, Operation *op, Type operand, Type) {
  printTypes(printer, op, operand, two);
}

void array::printElementwiseTypes(OpAsmPrinter &printer, Operation *op, Type lhs, Type, Type) {
  printTypes(printer, op, lhs, three);
}

ParseResult array::parsePredicateTypes(OpAsmParser &parser, Type &operand, Type &result) {
  return parseTypes(parser, {&operand}, {&result}, oneToBool);
}

ParseResult array::parsePredicateTypes(OpAsmParser &parser, Type &lhs, Type &rhs, Type &result) {
  return parseTypes(parser, {&lhs, &rhs}, {&result}, twoToBool);
}

void array::printPredicateTypes(OpAsmPrinter &printer, Operation *op, Type operand, Type) {
  printTypes(printer, op, operand, oneToBool);
}

void array::printPredicateTypes(OpAsmPrinter &printer, Operation *op, Type lhs, Type, Type) {
  printTypes(printer, op, lhs, twoToBool);
}

ParseResult array::parseSelectTypes(OpAsmParser &parser, Type &pred, Type &onTrue, Type &onFalse, Type &result) {
  return parseTypes(parser, {&pred, &onTrue, &onFalse}, {&result}, selection);
}

void array::printSelectTypes(OpAsmPrinter &printer, Operation *op, Type, Type onTrue, Type, Type) {
  printTypes(printer, op, onTrue, selection);
}

ParseResult array::parseThreefryTypes(OpAsmParser &parser, Type &k0, Type &k1, Type &x0, Type &x1, Type &y0, Type &y1) {
  return parseTypes(parser, {&k0, &k1, &x0, &x1}, {&y0, &y1}, six);
}

void array::printThreefryTypes(OpAsmPrinter &printer, Operation *op, Type k0, Type, Type, Type, Type, Type) {
  printTypes(printer, op, k0, six);
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// `sizes(%n, %m)`, or nothing.
static ParseResult parseLastOperands(OpAsmParser &parser, StringRef keyword,
                                     SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands) {
  SmallVector<OpAsmParser::UnresolvedOperand> last;
  if (succeeded(parser.parseOptionalKeyword(keyword)) && parser.parseOperandList(last, OpAsmParser::Delimiter::Paren))
    return failure();
  llvm::append_range(operands, last);
  return success();
}

static void printLastOperands(OpAsmPrinter &printer, StringRef keyword, ValueRange operands) {
  if (!operands.empty())
    printer << ' ' << keyword << '(' << operands << ')';
}

static ParseResult parseNumber(OpAsmParser &parser, int64_t &number) {
  number = ShapedType::kDynamic;
  return succeeded(parser.parseOptionalQuestion()) ? ParseResult(success()) : parser.parseInteger(number);
}

ParseResult array::parseSizes(OpAsmParser &parser, DenseI64ArrayAttr &numbers) {
  SmallVector<int64_t> parsed;
  auto parseOne = [&] { return parseNumber(parser, parsed.emplace_back()); };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseOne))
    return failure();
  numbers = parser.getBuilder().getDenseI64ArrayAttr(parsed);
  return success();
}

void array::printSizes(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr numbers) { printer << listed(numbers); }

ParseResult array::parseSize(OpAsmParser &parser, IntegerAttr &number) {
  int64_t parsed;
  if (parseNumber(parser, parsed))
    return failure();
  number = parser.getBuilder().getI64IntegerAttr(parsed);
  return success();
}

void array::printSize(OpAsmPrinter &printer, Operation *, IntegerAttr number) { printer << spelled(number.getInt()); }

ParseResult array::parseSlice(OpAsmParser &parser, SmallVectorImpl<OpAsmParser::UnresolvedOperand> &startsAndSizes,
                              DenseI64ArrayAttr &numbers) {
  return failure(parser.parseKeyword("at") || parser.parseOperandList(startsAndSizes, OpAsmParser::Delimiter::Paren) ||
                 parser.parseKeyword("slice_sizes") || parser.parseEqual() || parseSizes(parser, numbers) ||
                 parseLastOperands(parser, "sizes", startsAndSizes));
}

void array::printSlice(OpAsmPrinter &printer, Operation *op, OperandRange startsAndSizes, DenseI64ArrayAttr numbers) {
  size_t starts = llvm::count_if(startsAndSizes.getTypes(), llvm::IsaPred<RankedTensorType>);
  printer << "at(" << startsAndSizes.take_front(starts) << ") slice_sizes = ";
  printSizes(printer, op, numbers);
  printLastOperands(printer, "sizes", startsAndSizes.drop_front(starts));
}

ParseResult array::parseHostOperands(OpAsmParser &parser, SmallVectorImpl<OpAsmParser::UnresolvedOperand> &inputs) {
  return failure(parser.parseOperandList(inputs) || parser.parseRParen() ||
                 parseLastOperands(parser, "output_dims", inputs));
}

void array::printHostOperands(OpAsmPrinter &printer, Operation *, OperandRange inputs) {
  size_t dims = llvm::count_if(inputs.getTypes(), llvm::IsaPred<IndexType>);
  printer << inputs.drop_back(dims) << ')';
  printLastOperands(printer, "output_dims", inputs.take_back(dims));
}

//===----------------------------------------------------------------------===//
// gather
//===----------------------------------------------------------------------===//

/// Window sizes are attributes like the others, unless one is not constant.
ParseResult GatherOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand operand;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  FunctionType type;
  if (parser.parseOperand(operand) || parser.parseKeyword("at"))
    return failure();
  operands.push_back(operand);
  if (parser.parseOperandList(operands, OpAsmParser::Delimiter::Paren))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("slice_sizes"))) {
    DenseI64ArrayAttr sizes;
    if (parser.parseEqual() || parseSizes(parser, sizes) || parseLastOperands(parser, "sizes", operands))
      return failure();
    result.addAttribute("slice_sizes", sizes);
  }
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(type) ||
      parser.resolveOperands(operands, type.getInputs(), location, result.operands))
    return failure();
  result.addTypes(type.getResults());
  // The same check as in generated parsers: without it, an attribute of another kind would be ignored, even if it is
  // required.
  auto emitError = [&] { return parser.emitError(location) << "'" << result.name << "' op "; };
  return verifyInherentAttrs(result.name, result.attributes, emitError);
}

void GatherOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getOperand() << " at(" << getTensorInputs() << ')';
  SmallVector<StringRef> elided;
  if (!getSizes().empty()) {
    printer << " slice_sizes = ";
    printSizes(printer, *this, getSliceSizesAttr());
    printLastOperands(printer, "sizes", getSizes());
    elided.push_back("slice_sizes");
  }
  for (StringRef dims : {"offset_dims", "collapsed_slice_dims", "start_index_map", "operand_batching_dims",
                         "start_indices_batching_dims"})
    if (auto attribute = (*this)->getAttrOfType<DenseI64ArrayAttr>(dims); attribute && attribute.empty())
      elided.push_back(dims);
  for (StringRef hint : {"indices_are_sorted", "unique_indices"})
    if (auto attribute = (*this)->getAttrOfType<BoolAttr>(hint); attribute && !attribute.getValue())
      elided.push_back(hint);
  printer.printOptionalAttrDict((*this)->getAttrs(), elided);
  printer << " : ";
  printer.printFunctionalType(*this);
}

//===----------------------------------------------------------------------===//
// Contracted dimensions
//===----------------------------------------------------------------------===//

/// `= [0] x [1]`
static ParseResult parsePair(OpAsmParser &parser, DenseI64ArrayAttr &lhs, DenseI64ArrayAttr &rhs) {
  if (parser.parseEqual())
    return failure();
  lhs = dyn_cast_or_null<DenseI64ArrayAttr>(DenseI64ArrayAttr::parse(parser, Type()));
  if (!lhs || parser.parseKeyword("x"))
    return failure();
  rhs = dyn_cast_or_null<DenseI64ArrayAttr>(DenseI64ArrayAttr::parse(parser, Type()));
  return success(rhs != nullptr);
}

static void printPair(OpAsmPrinter &printer, DenseI64ArrayAttr lhs, DenseI64ArrayAttr rhs) {
  printer << " = ";
  lhs.print(printer);
  printer << " x ";
  rhs.print(printer);
}

ParseResult array::parseDotDimensions(OpAsmParser &parser, DenseI64ArrayAttr &lhsBatch, DenseI64ArrayAttr &rhsBatch,
                                      DenseI64ArrayAttr &lhsContracting, DenseI64ArrayAttr &rhsContracting) {
  lhsBatch = rhsBatch = parser.getBuilder().getDenseI64ArrayAttr({});
  if (succeeded(parser.parseOptionalKeyword("batch")) && parsePair(parser, lhsBatch, rhsBatch))
    return failure();
  return failure(parser.parseKeyword("contracting") || parsePair(parser, lhsContracting, rhsContracting));
}

void array::printDotDimensions(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr lhsBatch,
                               DenseI64ArrayAttr rhsBatch, DenseI64ArrayAttr lhsContracting,
                               DenseI64ArrayAttr rhsContracting) {
  if (!lhsBatch.empty() || !rhsBatch.empty()) {
    printer << "batch";
    printPair(printer, lhsBatch, rhsBatch);
    printer << ' ';
  }
  printer << "contracting";
  printPair(printer, lhsContracting, rhsContracting);
}
