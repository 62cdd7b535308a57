// Discardable attributes (Attributes.def): their allowed places and values. An unknown name is an error that suggests
// the nearest one.
#include "array/IR/Array.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::array {
namespace {

enum Place : unsigned { Module = 1, Function = 2, Operation = 4, Argument = 8, Result = 16 };
enum class Kind { Unit, Number, String, Numbers, List, Dictionary, Map, Name };

struct Row {
  llvm::StringLiteral name;
  unsigned places;
  Kind kind;
};

constexpr Row rows[] = {
#define ARRAY_ATTRIBUTE(name, places, kind, meaning) {"array." #name, places, Kind::kind},
#include "array/IR/Attributes.def"
#undef ARRAY_ATTRIBUTE
};

bool isOfKind(Attribute value, Kind kind) {
  switch (kind) {
  case Kind::Unit:
    return isa<UnitAttr>(value);
  case Kind::Number:
    return isa<IntegerAttr>(value);
  case Kind::String:
    return isa<StringAttr>(value);
  case Kind::Numbers:
    return isa<DenseI64ArrayAttr>(value);
  case Kind::List:
    return isa<ArrayAttr>(value);
  case Kind::Dictionary:
    return isa<DictionaryAttr>(value);
  case Kind::Map:
    return isa<AffineMapAttr>(value);
  case Kind::Name:
    return isa<UnitAttr, StringAttr>(value);
  }
  llvm_unreachable("every kind is listed");
}

StringRef nameOf(Kind kind) {
  constexpr llvm::StringLiteral names[] = {"a unit attribute", "an integer",   "a string",      "array<i64>",
                                           "an array",         "a dictionary", "an affine map", "a unit or a string"};
  return names[static_cast<int>(kind)];
}

std::string nameOf(unsigned places) {
  std::string text;
  constexpr llvm::StringLiteral names[] = {"modules", "functions", "operations", "arguments", "results"};
  for (auto [number, name] : llvm::enumerate(names))
    if (places & (1u << number))
      text += (text.empty() ? "" : " and ") + name.str();
  return text;
}

LogicalResult verify(mlir::Operation *op, NamedAttribute attribute, Place place) {
  StringRef name = attribute.getName();
  const Row *row = llvm::find_if(rows, [&](const Row &known) { return known.name == name; });
  if (row == std::end(rows)) {
    const Row *nearest = std::min_element(std::begin(rows), std::end(rows), [&](const Row &one, const Row &other) {
      return name.edit_distance(one.name) < name.edit_distance(other.name);
    });
    return op->emitOpError("has an attribute '")
           << name << "' that the dialect does not know; the nearest is '" << nearest->name << "'";
  }
  if (!(row->places & place))
    return op->emitOpError("'") << name << "' stands on " << nameOf(row->places) << ", not on " << nameOf(place);
  if (!isOfKind(attribute.getValue(), row->kind))
    return op->emitOpError("'") << name << "' must be " << nameOf(row->kind) << ", got " << attribute.getValue();
  return success();
}

} // namespace

LogicalResult ArrayDialect::verifyOperationAttribute(mlir::Operation *op, NamedAttribute attribute) {
  Place place = isa<ModuleOp>(op) ? Module : isa<FunctionOpInterface>(op) ? Function : Operation;
  return verify(op, attribute, place);
}

LogicalResult ArrayDialect::verifyRegionArgAttribute(mlir::Operation *op, unsigned, unsigned,
                                                     NamedAttribute attribute) {
  return verify(op, attribute, Argument);
}

LogicalResult ArrayDialect::verifyRegionResultAttribute(mlir::Operation *op, unsigned, unsigned,
                                                        NamedAttribute attribute) {
  return verify(op, attribute, Result);
}

} // namespace mlir::array
