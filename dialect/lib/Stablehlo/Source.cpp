// Helpers of rules: checked attributes of the converted operation, and builders of array ops. See Rules.h.
#include "Rules.h"
#include "array/IR/Bytes.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::array::stablehlo {

InFlightDiagnostic Source::error() const {
  hasFailed = true;
  return emitError(loc()) << op->getName() << ": ";
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

Attribute Source::attribute(ArrayRef<StringRef> names) const {
  auto properties = dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute());
  for (StringRef name : names) {
    if (Attribute found = op->getDiscardableAttr(name))
      return found;
    if (Attribute found = properties ? properties.get(name) : Attribute())
      return found;
  }
  return {};
}

void Source::complain(ArrayRef<StringRef> names, StringRef expected, Attribute given) {
  InFlightDiagnostic diagnostic = error();
  diagnostic << "expected the attribute '" << names.back() << "', " << expected;
  if (given)
    diagnostic << ", but got " << given;
}

SmallVector<int64_t> Source::integers(ArrayRef<StringRef> names, std::optional<SmallVector<int64_t>> absent) {
  Attribute given = attribute(names);
  if (auto list = dyn_cast_or_null<DenseI64ArrayAttr>(given))
    return SmallVector<int64_t>(list.asArrayRef());
  if (auto list = dyn_cast_or_null<DenseBoolArrayAttr>(given))
    return SmallVector<int64_t>(list.asArrayRef().begin(), list.asArrayRef().end());
  if (auto elements = dyn_cast_or_null<DenseIntElementsAttr>(given);
      elements && elements.getElementType().getIntOrFloatBitWidth() <= 64)
    return llvm::map_to_vector(elements.getValues<APInt>(), [](const APInt &value) {
      return value.getBitWidth() == 1 ? static_cast<int64_t>(value.getZExtValue()) : value.getSExtValue();
    });
  if (!given && absent)
    return *absent;
  complain(names, "integers", given);
  return {};
}

int64_t Source::integer(ArrayRef<StringRef> names, std::optional<int64_t> absent) {
  Attribute given = attribute(names);
  if (auto value = dyn_cast_or_null<IntegerAttr>(given); value && value.getValue().getBitWidth() <= 64)
    return value.getValue().getZExtValue();
  if (!given && absent)
    return *absent;
  complain(names, "an integer", given);
  return 0;
}

bool Source::flag(ArrayRef<StringRef> names, std::optional<bool> absent) {
  Attribute given = attribute(names);
  if (auto value = dyn_cast_or_null<BoolAttr>(given))
    return value.getValue();
  if (!given && absent)
    return *absent;
  complain(names, "true or false", given);
  return false;
}

StringRef Source::word(ArrayRef<StringRef> names, std::optional<StringRef> absent) {
  Attribute given = attribute(names);
  if (auto value = dyn_cast_or_null<StringAttr>(given))
    return value.getValue();
  if (!given && absent)
    return *absent;
  complain(names, "a word", given);
  return "";
}

StringRef Source::wordAt(unsigned position, ArrayRef<StringRef> names, std::optional<StringRef> absent) {
  if (auto words = dyn_cast_or_null<ArrayAttr>(attribute({kWordsAttr})); words && position < words.size())
    return cast<StringAttr>(words[position]).getValue();
  return word(names, absent);
}

DictionaryAttr Source::structure(ArrayRef<StringRef> names) {
  Attribute given = attribute(names);
  if (auto value = dyn_cast_or_null<DictionaryAttr>(given))
    return value;
  complain(names, "a structure", given);
  return {};
}

SmallVector<int64_t> Source::entry(DictionaryAttr structure, StringRef key) {
  Attribute given = structure ? structure.get(key) : Attribute();
  if (!given)
    return {};
  if (auto list = dyn_cast<DenseI64ArrayAttr>(given))
    return SmallVector<int64_t>(list.asArrayRef());
  complain({key}, "integers", given);
  return {};
}

//===----------------------------------------------------------------------===//
// Makers
//===----------------------------------------------------------------------===//

SmallVector<Value> Source::makeAll(StringRef name, TypeRange results, ValueRange operands,
                                   ArrayRef<NamedAttribute> attributes) {
  if (hasFailed || llvm::is_contained(operands, Value()))
    return SmallVector<Value>(results.size());
  std::string full = ("array." + name).str();
  for (Type type : results)
    if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && llvm::any_of(tensor.getShape(), [](int64_t size) {
                                                          return size < 0 && !ShapedType::isDynamic(size);
                                                        })) {
      error() << full << " would have a result of a negative size";
      return SmallVector<Value>(results.size());
    }
  std::string why;
  if (Operation *made = tryMake(full, results, operands, attributes, why))
    return SmallVector<Value>(made->getResults());
  if (auto wide = makeWidened(full, results, operands, attributes))
    return *wide;
  error() << full << " does not take it: " << why;
  return SmallVector<Value>(results.size());
}

Operation *Source::tryMake(StringRef name, TypeRange results, ValueRange operands, ArrayRef<NamedAttribute> attributes,
                           std::string &why) {
  Operation *made = builder.create(OperationState(loc(), name, operands, results, attributes));
  ScopedDiagnosticHandler collector(op->getContext(), [&](Diagnostic &diagnostic) {
    why += (why.empty() ? "" : "; ") + diagnostic.str();
    return success();
  });
  if (succeeded(verify(made, /*verifyRecursively=*/false)))
    return made;
  made->erase();
  return nullptr;
}

Type widened(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  Type element = tensor ? tensor.getElementType() : Type();
  if (auto integer = dyn_cast_or_null<IntegerType>(element);
      integer && integer.getWidth() > 1 && integer.getWidth() < 8)
    return tensor.clone(IntegerType::get(type.getContext(), 8, integer.getSignedness()));
  if (auto number = dyn_cast_or_null<FloatType>(element); number && number.getWidth() <= 8)
    return tensor.clone(Float32Type::get(type.getContext()));
  return type;
}

std::optional<SmallVector<Value>> Source::makeWidened(StringRef name, TypeRange results, ValueRange operands,
                                                      ArrayRef<NamedAttribute> attributes) {
  auto isSmall = [](Type type) { return widened(type) != type; };
  if (name == "array.bitcast" || name == "array.convert" ||
      (llvm::none_of(results, isSmall) && llvm::none_of(operands.getTypes(), isSmall)))
    return std::nullopt;
  SmallVector<Value> wide;
  for (Value operand : operands)
    wide.push_back(isSmall(operand.getType())
                       ? convert(operand, cast<RankedTensorType>(widened(operand.getType())).getElementType())
                       : operand);
  bool isShift = name == "array.shift_right_logical" || name == "array.shift_right_arithmetic";
  if (isShift || name == "array.clz" || name == "array.population_count") {
    // The upper bits count: the small ones are moved there.
    auto type = cast<RankedTensorType>(wide[0].getType());
    unsigned spare =
        type.getElementTypeBitWidth() - cast<RankedTensorType>(operands[0].getType()).getElementTypeBitWidth();
    wide[0] = make("shift_left", type, {wide[0], number(type, spare)});
    if (name == "array.clz")
      wide[0] = make("or", type, {wide[0], number(type, (1 << spare) - 1)});
    Value made = make(name.drop_front(StringRef("array.").size()), type, wide);
    if (isShift)
      made = make(name.drop_front(StringRef("array.").size()), type, {made, number(type, spare)});
    return SmallVector<Value>{convert(made, cast<RankedTensorType>(results[0]).getElementType())};
  }
  std::string ignored;
  Operation *made = llvm::is_contained(wide, Value())
                        ? nullptr
                        : tryMake(name, llvm::map_to_vector(results, widened), wide, attributes, ignored);
  if (!made)
    return std::nullopt;
  SmallVector<Value> narrow;
  for (auto [value, type] : llvm::zip_equal(made->getResults(), results))
    narrow.push_back(isSmall(type) ? convert(value, cast<RankedTensorType>(type).getElementType()) : Value(value));
  return narrow;
}

Value Source::make(StringRef name, Type result, ValueRange operands, ArrayRef<NamedAttribute> attributes) {
  return makeAll(name, {result}, operands, attributes).front();
}

NamedAttribute Source::named(StringRef name, ArrayRef<int64_t> values) {
  return builder.getNamedAttr(name, builder.getDenseI64ArrayAttr(values));
}
NamedAttribute Source::namedNumber(StringRef name, int64_t value) {
  return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
}
NamedAttribute Source::namedFlag(StringRef name, bool value) {
  return builder.getNamedAttr(name, builder.getBoolAttr(value));
}
NamedAttribute Source::namedWord(StringRef name, StringRef value) {
  return builder.getNamedAttr(name, builder.getStringAttr(value));
}

Value Source::constant(RankedTensorType type, Attribute element) {
  if (std::optional<Extents> sizes = extentsLike(type))
    return broadcast(constant(type.clone(ArrayRef<int64_t>()), element), *sizes);
  if (!isa<IntegerAttr, FloatAttr>(element) || !type.hasStaticShape() || !countBytes(type)) {
    error() << "needs a constant of " << type << ", whose sizes and elements must be known";
    return {};
  }
  Attribute value = DenseElementsAttr::get(type, element);
  return make("constant", type, {}, {builder.getNamedAttr("value", value)});
}

Value Source::number(RankedTensorType type, double value) {
  if (std::optional<Extents> sizes = extentsLike(type))
    return broadcast(number(type.clone(ArrayRef<int64_t>()), value), *sizes);
  Type element = type.getElementType();
  Type inner = partElement(element);
  if (!isa<IntegerType, FloatType>(inner) || (inner != element && !isa<FloatType>(inner)) || !type.hasStaticShape() ||
      !countBytes(type)) {
    error() << "needs a constant of " << type << ", expected known sizes, and numbers of the array dialect";
    return {};
  }
  auto part = [&](Type of, double number) -> Attribute {
    if (isa<FloatType>(of))
      return builder.getFloatAttr(of, number);
    auto integer = cast<IntegerType>(of);
    return IntegerAttr::get(of, APInt(integer.getWidth(), static_cast<int64_t>(number), /*isSigned=*/true,
                                      /*implicitTrunc=*/true));
  };
  if (auto complex = dyn_cast<ComplexType>(element)) {
    auto real = cast<FloatAttr>(part(complex.getElementType(), value)).getValue();
    auto zero = cast<FloatAttr>(part(complex.getElementType(), 0)).getValue();
    return make("constant", type, {},
                {builder.getNamedAttr("value", DenseElementsAttr::get(type, std::complex<APFloat>(real, zero)))});
  }
  return constant(type, part(element, value));
}

Value Source::reshape(Value value, const Extents &extents) {
  if (!value)
    return {};
  auto type = cast<RankedTensorType>(value.getType());
  bool isSame = type.getShape() == ArrayRef(extents.shape) && type.hasStaticShape();
  return isSame ? value : makeShaped("reshape", type.getElementType(), extents, {value});
}

Value Source::transpose(Value value, ArrayRef<int64_t> permutation) {
  if (!value || llvm::equal(permutation, llvm::seq<int64_t>(permutation.size())))
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  auto shape = llvm::map_to_vector(permutation, [&](int64_t dimension) {
    return dimension >= 0 && dimension < type.getRank() ? type.getDimSize(dimension) : int64_t(1);
  });
  return make("transpose", type.clone(shape), {value}, {named("permutation", permutation)});
}

Value Source::broadcast(Value value, const Extents &extents, ArrayRef<int64_t> dimensions) {
  if (!value)
    return {};
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getShape() == ArrayRef(extents.shape) && type.hasStaticShape() &&
      llvm::equal(dimensions, llvm::seq<int64_t>(type.getRank())))
    return value;
  // The array dialect's dimensions increase.
  auto order = llvm::to_vector(llvm::seq<int64_t>(dimensions.size()));
  llvm::stable_sort(order, [&](int64_t a, int64_t b) { return dimensions[a] < dimensions[b]; });
  auto sorted = llvm::map_to_vector(order, [&](int64_t index) { return dimensions[index]; });
  Value ordered = static_cast<int64_t>(order.size()) == type.getRank() ? transpose(value, order) : value;
  return makeShaped("broadcast_in_dim", type.getElementType(), extents, {ordered},
                    {named("broadcast_dimensions", sorted)});
}

Value Source::convert(Value value, Type element) {
  if (!value)
    return {};
  auto type = cast<RankedTensorType>(value.getType());
  return type.getElementType() == element ? value : make("convert", type.clone(element), {value});
}

Value Source::elementAt(Value vector, int64_t place) {
  auto type = cast<RankedTensorType>(vector.getType());
  Value part = make("slice", type.clone(ArrayRef<int64_t>(1)), {vector},
                    {named("start_indices", {place}), named("limit_indices", {place + 1}), named("strides", {1})});
  return reshape(part, ArrayRef<int64_t>());
}

LogicalResult Source::replace(ValueRange values) {
  if (hasFailed || llvm::is_contained(values, Value()))
    return failure();
  if (op->getNumResults() != values.size())
    return error() << "expected " << values.size() << " results, but got " << op->getNumResults();
  for (auto [result, value] : llvm::zip_equal(op->getResults(), values))
    if (result.getType() != value.getType())
      return error() << "its result is " << value.getType() << ", but " << result.getType() << " is given";
  op->replaceAllUsesWith(values);
  op->erase();
  return success();
}

} // namespace mlir::array::stablehlo
