// The grammar that most operations of StableHLO share. See Assembly.h; AssemblyForms.cpp has the other forms.
#include "Assembly.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::array::stablehlo {

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// The elements of a list after `[`, and the `]`.
static ParseResult parseListBody(AsmParser &parser, Attribute &list) {
  SmallVector<Attribute> values;
  if (failed(parser.parseOptionalRSquare())) {
    do {
      if (parseValue(parser, values.emplace_back()))
        return failure();
    } while (succeeded(parser.parseOptionalComma()));
    if (parser.parseRSquare())
      return failure();
  }
  SmallVector<int64_t> integers;
  for (Attribute value : values)
    if (auto integer = dyn_cast<IntegerAttr>(value); integer && integer.getType().isInteger(64))
      integers.push_back(integer.getInt());
  Builder &builder = parser.getBuilder();
  if (integers.size() == values.size())
    list = builder.getDenseI64ArrayAttr(integers);
  else
    list = builder.getArrayAttr(values);
  return success();
}

/// `[0]`, or two of them: `[0] x [1]`.
static ParseResult parseListsBody(AsmParser &parser, Attribute &value) {
  if (parseListBody(parser, value))
    return failure();
  if (failed(parser.parseOptionalKeyword("x")))
    return success();
  Attribute second;
  if (parser.parseLSquare() || parseListBody(parser, second))
    return failure();
  value = parser.getBuilder().getArrayAttr({value, second});
  return success();
}

/// `key = value, ...`; the closing bracket is not consumed. A single word is a string: `result_accuracy_mode<HIGHEST>`.
static ParseResult parseEntries(AsmParser &parser, Attribute &value) {
  NamedAttrList entries;
  do {
    std::string key;
    SMLoc place = parser.getCurrentLocation();
    if (parser.parseKeywordOrString(&key))
      return failure();
    if (entries.empty() && failed(parser.parseOptionalEqual())) {
      value = parser.getBuilder().getStringAttr(key);
      return success();
    }
    Attribute entry;
    if ((!entries.empty() && parser.parseEqual()) || parseValue(parser, entry))
      return failure();
    if (entries.get(key))
      return parser.emitError(place) << "'" << key << "' is given twice";
    entries.append(key, entry);
  } while (succeeded(parser.parseOptionalComma()));
  value = entries.getDictionary(parser.getContext());
  return success();
}

ParseResult parseValue(AsmParser &parser, Attribute &value) {
  Builder &builder = parser.getBuilder();
  if (succeeded(parser.parseOptionalLSquare()))
    return parseListsBody(parser, value);
  if (succeeded(parser.parseOptionalLess())) {
    value = builder.getDictionaryAttr({});
    return failure(failed(parser.parseOptionalGreater()) &&
                   (failed(parseEntries(parser, value)) || failed(parser.parseGreater())));
  }
  if (succeeded(parser.parseOptionalLBrace())) {
    value = builder.getDictionaryAttr({});
    return failure(failed(parser.parseOptionalRBrace()) &&
                   (failed(parseEntries(parser, value)) || failed(parser.parseRBrace())));
  }
  for (bool truth : {false, true})
    if (succeeded(parser.parseOptionalKeyword(truth ? "true" : "false"))) {
      value = builder.getBoolAttr(truth);
      return success();
    }
  // Parsed after these words, which MLIR also accepts as integers.
  int64_t integer = 0;
  if (OptionalParseResult result = parser.parseOptionalInteger(integer); result.has_value()) {
    value = builder.getI64IntegerAttr(integer);
    return *result;
  }
  StringRef word;
  if (succeeded(parser.parseOptionalKeyword(&word))) {
    value = builder.getStringAttr(word);
    return success();
  }
  return parser.parseAttribute(value);
}

/// `[b, 0, 1, f]` as positions: those of `first`, of `second`, of 0, 1, ...
static ParseResult parseDimensionLabels(AsmParser &parser, StringRef first, StringRef second, Attribute &positions) {
  SMLoc place = parser.getCurrentLocation();
  Attribute labels;
  if (parser.parseLSquare() || parseListBody(parser, labels))
    return failure();
  SmallVector<Attribute> list;
  if (auto entries = dyn_cast<ArrayAttr>(labels))
    list.assign(entries.begin(), entries.end());
  SmallVector<int64_t> found(list.size(), -1);
  for (auto [position, label] : llvm::enumerate(list)) {
    int64_t index = -1;
    if (auto word = dyn_cast<StringAttr>(label))
      index = word.getValue() == first ? 0 : word.getValue() == second ? 1 : -1;
    else if (auto spatial = dyn_cast<IntegerAttr>(label))
      index = spatial.getInt() + 2;
    if (index < 0 || index >= static_cast<int64_t>(list.size()) || found[index] != -1)
      return parser.emitError(place) << "expected the dimensions " << first << ", " << second
                                     << ", 0, 1, ..., each of them once";
    found[index] = position;
  }
  if (list.size() < 2)
    return parser.emitError(place) << "expected at least the dimensions " << first << " and " << second;
  positions = parser.getBuilder().getDenseI64ArrayAttr(found);
  return success();
}

ParseResult parseConvolutionDimensions(AsmParser &parser, Attribute &value) {
  Attribute lhs, rhs, out;
  if (parseDimensionLabels(parser, "b", "f", lhs) || parser.parseKeyword("x") ||
      parseDimensionLabels(parser, "o", "i", rhs) || parser.parseArrow() || parseDimensionLabels(parser, "b", "f", out))
    return failure();
  Builder &builder = parser.getBuilder();
  value = builder.getDictionaryAttr(
      {builder.getNamedAttr("lhs", lhs), builder.getNamedAttr("rhs", rhs), builder.getNamedAttr("out", out)});
  return success();
}

/// `#stablehlo.conv<raw input_batch_dimension = 0, ...>`: the same in separate fields.
static ParseResult parseRawConvolutionDimensions(AsmParser &parser, Attribute &value) {
  SMLoc place = parser.getCurrentLocation();
  Attribute entries;
  if (parseEntries(parser, entries))
    return failure();
  Builder &builder = parser.getBuilder();
  auto given = dyn_cast<DictionaryAttr>(entries);
  NamedAttrList named;
  for (auto [name, first, second, spatial] :
       {std::tuple("lhs", "input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions"),
        std::tuple("rhs", "kernel_output_feature_dimension", "kernel_input_feature_dimension",
                   "kernel_spatial_dimensions"),
        std::tuple("out", "output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions")}) {
    SmallVector<int64_t> positions;
    for (const char *key : {first, second}) {
      auto position = given ? given.getAs<IntegerAttr>(key) : IntegerAttr();
      if (!position)
        return parser.emitError(place) << "expected '" << key << "', an integer";
      positions.push_back(position.getInt());
    }
    if (auto others = given.getAs<DenseI64ArrayAttr>(spatial))
      positions.append(others.asArrayRef().begin(), others.asArrayRef().end());
    named.append(name, builder.getDenseI64ArrayAttr(positions));
  }
  value = named.getDictionary(parser.getContext());
  return success();
}

Attribute parseDialectAttribute(AsmParser &parser) {
  StringRef kind, word;
  Attribute value;
  if (parser.parseKeyword(&kind))
    return {};
  // `#stablehlo<precision DEFAULT>`
  if (succeeded(parser.parseOptionalKeyword(&word)))
    return parser.getBuilder().getStringAttr(word);
  if (kind != "conv")
    return succeeded(parseValue(parser, value)) ? value : Attribute();
  if (parser.parseLess())
    return {};
  bool isRaw = succeeded(parser.parseOptionalKeyword("raw"));
  if ((isRaw ? parseRawConvolutionDimensions(parser, value) : parseConvolutionDimensions(parser, value)) ||
      parser.parseGreater())
    return {};
  return value;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

using Operands = SmallVector<OpAsmParser::UnresolvedOperand>;

/// `type`, of all operands and the result; `(types) -> types`; `types -> type`; of a selection `type, type`.
static ParseResult parseTypes(OpAsmParser &parser, size_t operands, SmallVectorImpl<Type> &inputs,
                              SmallVectorImpl<Type> &results) {
  SmallVector<Type> types;
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseTypeList(types))
    return failure();
  if (succeeded(parser.parseOptionalArrow())) {
    inputs.assign(types);
    if (succeeded(parser.parseOptionalLParen()))
      return failure(failed(parser.parseTypeList(results)) || failed(parser.parseRParen()));
    return parser.parseTypeList(results);
  }
  if (auto function = dyn_cast<FunctionType>(types.front()); function && types.size() == 1) {
    inputs.assign(function.getInputs().begin(), function.getInputs().end());
    results.assign(function.getResults().begin(), function.getResults().end());
    return success();
  }
  if (types.size() == 1) {
    inputs.assign(operands, types.front());
  } else if (types.size() == 2 && operands == 3) {
    inputs.assign({types[0], types[1], types[1]});
  } else {
    return parser.emitError(place) << "expected one type, or the types of the operands, '->' and those of the results";
  }
  results.assign({types.back()});
  return success();
}

ParseResult parseClauses(OpAsmParser &parser, OperationState &state) {
  Operands operands;
  SmallVector<Attribute> words;
  SMLoc place = parser.getCurrentLocation();
  bool isFirst = true;
  do {
    OpAsmParser::UnresolvedOperand operand;
    if (OptionalParseResult result = parser.parseOptionalOperand(operand); result.has_value()) {
      if (*result)
        return failure();
      operands.push_back(operand);
      continue;
    }
    StringRef key;
    SMLoc keyPlace = parser.getCurrentLocation();
    if (failed(parser.parseOptionalKeyword(&key))) {
      if (isFirst)
        break;
      return parser.emitError(keyPlace) << "expected an operand or a word";
    }
    if (failed(parser.parseOptionalEqual())) {
      words.push_back(parser.getBuilder().getStringAttr(key));
      continue;
    }
    Attribute value;
    if (parseValue(parser, value))
      return failure();
    if (state.attributes.get(key))
      return parser.emitError(keyPlace) << "'" << key << "' is given twice";
    state.addAttribute(key, value);
  } while (isFirst = false, succeeded(parser.parseOptionalComma()));
  if (!words.empty())
    state.addAttribute(kWordsAttr, parser.getBuilder().getArrayAttr(words));
  SmallVector<Type> inputs, results;
  if (parser.parseOptionalAttrDict(state.attributes) || parser.parseColon() ||
      parseTypes(parser, operands.size(), inputs, results))
    return failure();
  // The operands of `complex %re, %im : tensor<complex<f32>>` are the parts.
  if (state.name.getStringRef() == "stablehlo.complex" && !inputs.empty() && !results.empty() &&
      inputs.front() == results.front())
    if (auto tensor = dyn_cast<RankedTensorType>(inputs.front()))
      if (auto element = dyn_cast<ComplexType>(tensor.getElementType()))
        inputs.assign(operands.size(), tensor.clone(element.getElementType()));
  state.addTypes(results);
  return parser.resolveOperands(operands, inputs, place, state.operands);
}

} // namespace mlir::array::stablehlo
