// array-map-scatters-to-gpu: scatters become launches of the device library's functions. Runs before array-map-to-gpu,
// in which the thread of each row would visit every update; array-plan-memory places the memory that it allocates.
// ScatterRules.cpp chooses the launches.
#include "ScatterRules.h"
#include "array/Analysis/ScatterForm.h"
#include "array/Gpu/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::array {

#define GEN_PASS_DEF_MAPSCATTERSTOGPU
#include "array/Gpu/Passes.h.inc"

namespace {

/// Kernels get only a pointer to the first element.
bool isWhole(Value buffer) { return cast<MemRefType>(buffer.getType()).getLayout().isIdentity(); }

/// A separate buffer for the elements of a view.
Value emptyLike(OpBuilder &b, Value view) {
  auto type = cast<MemRefType>(view.getType());
  return memref::AllocOp::create(b, view.getLoc(), MemRefType::get(type.getShape(), type.getElementType()));
}

Value wholeCopy(OpBuilder &b, Value buffer) {
  if (isWhole(buffer))
    return buffer;
  Value copy = emptyLike(b, buffer);
  memref::CopyOp::create(b, buffer.getLoc(), buffer, copy);
  return copy;
}

LogicalResult map(linalg::GenericOp op, ModuleOp module) {
  auto form = op->getAttrOfType<DictionaryAttr>(kScatterAttr);
  auto kind = form ? form.getAs<StringAttr>(kScatterKind) : StringAttr();
  auto element = form ? form.getAs<TypeAttr>(kScatterElement) : TypeAttr();
  if (!kind || !element || op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1)
    return op.emitError("'") << kScatterAttr << "' is of an op of keys and updates into one operand, and names its '"
                             << kScatterKind << "' and '" << kScatterElement << "'";
  if (op.hasDynamicShape() || !op.hasPureBufferSemantics())
    return op.emitError("a kernel is made of operations on buffers of static shapes");
  auto keys = cast<MemRefType>(op.getDpsInputs()[0].getType()),
       updates = cast<MemRefType>(op.getDpsInputs()[1].getType());
  Value target = op.getDpsInits()[0];
  if (keys.getNumElements() > std::numeric_limits<int32_t>::max())
    return op.emitError("a scatter on a GPU has at most 2147483647 updates, but this one has ")
           << keys.getNumElements() << ": cut it";

  DeviceLauncher launcher(op, module);
  ImplicitLocOpBuilder &b = launcher.builder();
  ScatterOnBuffers scatter;
  scatter.kind = kind;
  scatter.element = element.getValue();
  scatter.isUnique = form.contains(kScatterUnique);
  scatter.isGrouped = form.contains(kScatterGrouped);
  scatter.keys = wholeCopy(b, op.getDpsInputs()[0]);
  scatter.updates = wholeCopy(b, op.getDpsInputs()[1]);
  scatter.target = wholeCopy(b, target);
  scatter.positions = keys.getNumElements();
  scatter.width = updates.getNumElements() / scatter.positions;
  scatter.rows = cast<MemRefType>(target.getType()).getNumElements() / scatter.width;
  ruleFor(scatter).launch(launcher, scatter);
  if (!isWhole(target))
    memref::CopyOp::create(b, scatter.target, target);
  op.erase();
  return success();
}

struct MapScattersToGpu : impl::MapScattersToGpuBase<MapScattersToGpu> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> scatters;
    getOperation().walk([&](linalg::GenericOp op) {
      if (op->hasAttr(kScatterAttr))
        scatters.push_back(op);
    });
    for (linalg::GenericOp op : scatters)
      if (failed(map(op, getOperation())))
        return signalPassFailure();
  }
};

} // namespace
} // namespace mlir::array
