// array-lower-launches: @main launches the kernels of the module by their numbers, and reads the device's memory,
// through the call frame's table (runtime/include/runtime/Abi.h). Runs after array-outline-gpu-kernels, when structured
// control flow is branches. The rest of the host's part is lowered like a program for the CPU, and the kernels are
// compiled separately.
#include "Entry/TableCalls.h"
#include "array/Analysis/GivenUp.h"
#include "array/Entry/CallSites.h"
#include "array/Entry/Entry.h"
#include "array/Gpu/Kernels.h"
#include "array/Gpu/Passes.h"
#include "array/IR/Array.h"
#include "runtime/Abi.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <cstddef>

namespace mlir::array {

#define GEN_PASS_DEF_LOWERLAUNCHES
#include "array/Gpu/Passes.h.inc"

namespace {

/// Least size of the memory for the value of an argument: a pointer, or a scalar.
constexpr int64_t kArgumentBytes = 8;

/// Routines that the runtime executes itself, for operands in any memory.
bool isHostRoutine(StringRef name) { return name == "host_call" || name == "collective" || name == "check"; }

/// Whether a load reads the device's memory: constants of the module are the host's.
bool isOfDevice(memref::LoadOp load) {
  Value buffer = load.getMemRef();
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  return !buffer.getDefiningOp<memref::GetGlobalOp>();
}

struct LowerLaunches : impl::LowerLaunchesBase<LowerLaunches> {
  void runOnOperation() override {
    numberKernels();
    SmallVector<Operation *> doors;
    bool waits = false;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      WalkResult walked = function.walk([&](Operation *op) {
        auto load = dyn_cast<memref::LoadOp>(op);
        if (isa<gpu::LaunchFuncOp>(op) || (load && isOfDevice(load)))
          doors.push_back(op);
        // cuSOLVER waits for results of its kernels.
        auto library = op->getAttrOfType<StringAttr>(kLibraryAttr);
        if (library && library == "cusolver") {
          waits = true;
          tellGivenUp(op->getLoc(), "host-waits", "cuSOLVER reads results of its kernels on the host");
        }
        return succeeded(check(op)) ? WalkResult::advance() : WalkResult::interrupt();
      });
      if (walked.wasInterrupted())
        return signalPassFailure();
    }
    addSites(doors);
    if (waits)
      getOperation()->setAttr(kWaitsAttr, UnitAttr::get(&getContext()));
    for (Operation *door : doors) {
      TableCalls calls(door->getParentOfType<func::FuncOp>());
      auto launch = dyn_cast<gpu::LaunchFuncOp>(door);
      if (!launch)
        lower(calls, cast<memref::LoadOp>(door));
      else if (failed(lower(calls, launch)))
        return signalPassFailure();
    }
    getOperation()->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
  }

private:
  void numberKernels() {
    auto names = getOperation()->getAttrOfType<ArrayAttr>(kKernelNamesAttr);
    for (auto [number, name] : llvm::enumerate(names ? names.getValue() : ArrayRef<Attribute>()))
      numbers[name] = number;
  }

  void addSites(ArrayRef<Operation *> doors) {
    CallSiteTable sites(getOperation());
    for (Operation *door : doors) {
      auto launch = dyn_cast<gpu::LaunchFuncOp>(door);
      sites.add(door, launch ? launch.getKernelName().getValue() : "read");
      if (launch)
        continue;
      getOperation()->setAttr(kWaitsAttr, UnitAttr::get(&getContext()));
      tellGivenUp(door->getLoc(), "host-waits",
                  "a loop, a branch or a size depends on a value that the device computed");
    }
    sites.write();
  }

  /// Reports operations that earlier passes must not leave to the host.
  static LogicalResult check(Operation *op) {
    if (auto call = dyn_cast<RuntimeCallOp>(op); call && !isHostRoutine(call.getName()) && !call->hasAttr(kLibraryAttr))
      return call.emitError("'")
             << call.getName()
             << "' has no kernel for a GPU yet: put its operands on a CPU, by device_put(x, devices(\"cpu\")[0]), and "
                "call it outside of the code for the GPU";
    if (isa<memref::StoreOp, memref::CopyOp>(op))
      return op->emitError("the host does not write a device's memory: array-launch-stores makes kernels of this");
    return success();
  }

  LogicalResult lower(TableCalls &calls, gpu::LaunchFuncOp launch) {
    auto number = numbers.find(launch.getKernelName());
    if (number == numbers.end())
      return launch.emitError("'gpu.launch_func' of ") << launch.getKernel() << ", which array.kernels does not name";
    calls.before(launch);
    Value shape = describeShape(calls, launch), params = describeArguments(calls, launch);
    calls.call(launch, offsetof(PcrtTable, launch), {calls.constant(number->second, 32), shape, params});
    launch.erase();
    return success();
  }

  /// A PcrtLaunchShape.
  static Value describeShape(TableCalls &calls, gpu::LaunchFuncOp launch) {
    ImplicitLocOpBuilder &b = calls.before(launch);
    Value shape = calls.reserve(sizeof(PcrtLaunchShape));
    auto as32 = [&](Value value) -> Value {
      if (value.getType().isIndex())
        return arith::IndexCastOp::create(b, b.getI32Type(), value);
      return value.getType().isInteger(64) ? arith::TruncIOp::create(b, b.getI32Type(), value).getResult() : value;
    };
    auto three = [&](int64_t offset, gpu::KernelDim3 sizes) {
      for (Value size : {sizes.x, sizes.y, sizes.z}) {
        calls.store(as32(size), shape, offset);
        offset += sizeof(uint32_t);
      }
    };
    three(offsetof(PcrtLaunchShape, grid), launch.getGridSizeOperandValues());
    three(offsetof(PcrtLaunchShape, block), launch.getBlockSizeOperandValues());
    Value one = calls.constant(1, 32);
    three(offsetof(PcrtLaunchShape, cluster),
          launch.hasClusterSize() ? launch.getClusterSizeOperandValues() : gpu::KernelDim3{one, one, one});
    Value shared = launch.getDynamicSharedMemorySize();
    calls.store(shared ? as32(shared) : calls.constant(0, 32), shape, offsetof(PcrtLaunchShape, sharedBytes));
    return shape;
  }

  /// Pointers to the values of the arguments, which follow them.
  static Value describeArguments(TableCalls &calls, gpu::LaunchFuncOp launch) {
    ImplicitLocOpBuilder &b = calls.before(launch);
    // A pointer, or a scalar; complex<f64> is one of 16 bytes.
    auto bytesOf = [](Type type) -> int64_t {
      return type.isIntOrFloat() ? std::max<int64_t>(kArgumentBytes, type.getIntOrFloatBitWidth() / 8) : kArgumentBytes;
    };
    int64_t value = launch.getNumKernelOperands() * sizeof(void *), bytes = value;
    for (Value argument : launch.getKernelOperands())
      bytes = llvm::alignTo(bytes, bytesOf(argument.getType())) + bytesOf(argument.getType());
    Value params = calls.reserve(bytes);
    for (auto [index, argument] : llvm::enumerate(launch.getKernelOperands())) {
      value = llvm::alignTo(value, bytesOf(argument.getType()));
      Value passed = argument;
      if (isa<MemRefType>(argument.getType()))
        passed = calls.pointerTo(argument);
      else if (argument.getType().isIndex())
        passed = arith::IndexCastOp::create(b, b.getI64Type(), argument);
      calls.store(passed, params, value);
      calls.store(offsetPointer(b, launch.getLoc(), params, value), params, index * sizeof(void *));
      value += bytesOf(argument.getType());
    }
    return params;
  }

  static void lower(TableCalls &calls, memref::LoadOp load) {
    ImplicitLocOpBuilder &b = calls.before(load);
    auto metadata = memref::ExtractStridedMetadataOp::create(b, load.getMemRef());
    Value element = metadata.getOffset();
    for (auto [index, stride] : llvm::zip_equal(load.getIndices(), metadata.getStrides()))
      element = arith::AddIOp::create(b, element, arith::MulIOp::create(b, index, stride));
    int64_t bytes = llvm::divideCeil(load.getMemRefType().getElementTypeBitWidth(), 8);
    Value target = calls.reserve(bytes);
    calls.call(load, offsetof(PcrtTable, read),
               {calls.pointerTo(load.getMemRef(), element), target, calls.constant(bytes, 64)});
    bool isBit = load.getType().isInteger(1);
    Value value = LLVM::LoadOp::create(b, isBit ? b.getI8Type() : load.getType(), target);
    load.replaceAllUsesWith(isBit ? arith::TruncIOp::create(b, load.getType(), value).getResult() : value);
    load.erase();
  }

  DenseMap<Attribute, int64_t> numbers;
};

} // namespace
} // namespace mlir::array
