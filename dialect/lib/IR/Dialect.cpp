// The dialect: registration, materialization of constants, inlining.
#include "Assembly.h"
#include "array/IR/Kernel.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::array;

#include "array/IR/ArrayDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "array/IR/ArrayTypes.cpp.inc"

namespace {

/// Every op may be inlined, and so may every callee of array.call.
struct ArrayInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Operation *, bool) const final { return true; }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
  // Calls in a loop or a branch are inlined into its region.
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
};

} // namespace

void ArrayDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "array/IR/ArrayTypes.cpp.inc"
      >();
  registerArrayDialectOperations(this);
  addOperations<KernelCallOp, KernelYieldOp>();
  addInterfaces<ArrayInlinerInterface>();
}

Operation *ArrayDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location location) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, location, type, elements);
}
