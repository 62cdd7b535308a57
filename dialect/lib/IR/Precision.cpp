// The verification of precisions (Precision.h). The verifiers of the ops that have one call it.
#include "array/IR/Precision.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"

namespace mlir::array {

constexpr StringLiteral kTf32 = "tf32";

LogicalResult verifyPrecision(Operation *op) {
  Attribute attribute = op->getDiscardableAttr(kPrecisionAttr);
  auto word = dyn_cast_or_null<StringAttr>(attribute);
  if (!attribute || (word && word.getValue() == kTf32))
    return success();
  return op->emitOpError("array.precision must be \"") << kTf32 << "\", got " << attribute;
}

bool allowsTf32(Operation *op) {
  auto word = dyn_cast_or_null<StringAttr>(op->getDiscardableAttr(kPrecisionAttr));
  return word && word.getValue() == kTf32;
}

void handOnPrecision(Operation *from, Operation *to) {
  if (Attribute precision = from->getDiscardableAttr(kPrecisionAttr))
    to->setDiscardableAttr(kPrecisionAttr, precision);
}

} // namespace mlir::array
