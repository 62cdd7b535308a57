// array-link-device-library: gives functions of dialect/device that kernels call their bodies, with all their callees.
// Runs after array-map-routines-to-gpu, which calls them, and before array-expand-math: a function of the C library in
// C++ is an operation of the math dialect here.
#include "DeviceLibrary.h"
#include "array/Gpu/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::array {

#define GEN_PASS_DEF_LINKDEVICELIBRARY
#include "array/Gpu/Passes.h.inc"

namespace {

/// A function of the C library, also for `float` or `long double`, or the intrinsic of its name, and the corresponding
/// operation.
struct MathFunction {
  StringRef function, operation;
};

constexpr MathFunction mathFunctions[] = {
    {"exp", "math.exp"},   {"exp2", "math.exp2"},   {"expm1", "math.expm1"}, {"log", "math.log"},
    {"log2", "math.log2"}, {"log10", "math.log10"}, {"log1p", "math.log1p"}, {"pow", "math.powf"},
    {"sin", "math.sin"},   {"cos", "math.cos"},     {"tan", "math.tan"},     {"asin", "math.asin"},
    {"acos", "math.acos"}, {"atan", "math.atan"},   {"atan2", "math.atan2"}, {"sinh", "math.sinh"},
    {"cosh", "math.cosh"}, {"tanh", "math.tanh"},   {"erf", "math.erf"},     {"erfc", "math.erfc"},
    {"cbrt", "math.cbrt"}, {"asinh", "math.asinh"}, {"acosh", "math.acosh"}, {"atanh", "math.atanh"},
};

/// The math operation for a call or an intrinsic; empty if there is none.
StringRef mathOperation(Operation *op) {
  StringRef name = op->getName().getStringRef();
  bool isIntrinsic = name.consume_front("llvm.intr.");
  if (auto call = dyn_cast<LLVM::CallOp>(op)) {
    name = call.getCallee().value_or("");
  } else if (!isIntrinsic) {
    return "";
  }
  for (const MathFunction &row : mathFunctions) {
    StringRef suffix = name;
    if (suffix.consume_front(row.function) && (suffix.empty() || (!isIntrinsic && (suffix == "l" || suffix == "f"))))
      return row.operation;
  }
  return "";
}

/// Replaces a call of a function of Device.h by operations of the GPU dialect. False for any other call.
bool replaceThreadFunction(LLVM::CallOp call) {
  OpBuilder b(call);
  Location loc = call.getLoc();
  StringRef name = call.getCallee().value_or("");
  Value number;
  if (name == "device_thread")
    number = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  else if (name == "device_block")
    number = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  else if (name == "device_threads")
    number = gpu::BlockDimOp::create(b, loc, gpu::Dimension::x);
  else if (name == "device_blocks")
    number = gpu::GridDimOp::create(b, loc, gpu::Dimension::x);
  else if (name == "device_barrier")
    gpu::BarrierOp::create(b, loc);
  else
    return false;
  if (number)
    call.getResult().replaceAllUsesWith(arith::IndexCastOp::create(b, loc, b.getI32Type(), number).getResult());
  call.erase();
  return true;
}

/// Limits the scope of an atomic access to the threads of the device. C++ code without a target cannot express it.
void limitToDevice(Operation *op) {
  StringAttr scope = StringAttr::get(op->getContext(), "device");
  if (auto change = dyn_cast<LLVM::AtomicRMWOp>(op))
    change.setSyncscopeAttr(scope);
  else if (auto exchange = dyn_cast<LLVM::AtomicCmpXchgOp>(op))
    exchange.setSyncscopeAttr(scope);
  else if (auto load = dyn_cast<LLVM::LoadOp>(op); load && load.getOrdering() != LLVM::AtomicOrdering::not_atomic)
    load.setSyncscopeAttr(scope);
}

class Linker {
public:
  explicit Linker(ModuleOp module) : module(module), library(module.getContext()), symbols(module) {}

  /// Copies the function or constant of a name into the module, with everything that it needs.
  LogicalResult take(StringAttr name, Location user) {
    if (!taken.insert(name).second)
      return success();
    Operation *source = library.lookup(name);
    auto function = dyn_cast_or_null<LLVM::LLVMFuncOp>(source);
    if (!source || (function && function.isExternal()))
      return emitError(user) << "the device library has no function '" << name.getValue() << "'";
    Operation *copy = function ? copyFunction(function) : copyConstant(source);
    if (Operation *declaration = symbols.lookup(name))
      symbols.erase(declaration);
    symbols.insert(copy, module.getBody()->begin());
    SymbolTable::setSymbolVisibility(copy, SymbolTable::Visibility::Private);
    std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(copy);
    for (SymbolTable::SymbolUse use : uses.value_or(SymbolTable::UseRange({})))
      if (failed(take(use.getSymbolRef().getRootReference(), copy->getLoc())))
        return failure();
    return success();
  }

  /// Inlines entries, which use the thread's numbers, into the kernels that call them.
  LogicalResult inlineEntries() {
    SmallVector<LLVM::CallOp> calls;
    module.walk([&](LLVM::CallOp call) {
      if (auto callee = call.getCalleeAttr(); callee && entries.contains(callee.getAttr()))
        calls.push_back(call);
    });
    for (LLVM::CallOp call : calls) {
      if (!isa<gpu::LaunchOp>(call->getParentOp()))
        return call.emitError("calls the device function '")
               << *call.getCallee() << "', which is for threads of a kernel, outside of a 'gpu.launch'";
      inlineEntry(call);
    }
    for (StringAttr name : entries)
      symbols.erase(symbols.lookup(name));
    return success();
  }

private:
  /// As a function of no target.
  Operation *copyFunction(LLVM::LLVMFuncOp source) {
    OpBuilder b(module.getContext());
    auto copy = LLVM::LLVMFuncOp::create(b, source.getLoc(), source.getName(), source.getFunctionType(),
                                         LLVM::Linkage::Internal);
    IRMapping mapping;
    source.getBody().cloneInto(&copy.getBody(), mapping);
    SmallVector<Operation *> work;
    copy.walk([&](Operation *op) { work.push_back(op); });
    for (Operation *op : work) {
      limitToDevice(op);
      // Moving allocations, as canonicalization does, makes these invalid.
      if (isa<LLVM::LifetimeStartOp, LLVM::LifetimeEndOp>(op)) {
        op->erase();
      } else if (StringRef name = mathOperation(op); !name.empty()) {
        b.setInsertionPoint(op);
        OperationState state(op->getLoc(), name, op->getOperands(), op->getResultTypes());
        op->replaceAllUsesWith(b.create(state));
        op->erase();
      } else if (auto call = dyn_cast<LLVM::CallOp>(op)) {
        // The copies have C's calling convention; a call with another one would be undefined.
        call.setCConv(LLVM::CConv::C);
        call.setTailCallKind(LLVM::TailCallKind::None);
        if (replaceThreadFunction(call))
          entries.insert(copy.getNameAttr());
      }
    }
    return copy;
  }

  Operation *copyConstant(Operation *source) {
    Operation *copy = source->clone();
    if (auto global = dyn_cast<LLVM::GlobalOp>(copy)) {
      global.setLinkage(LLVM::Linkage::Internal);
      global.removeComdatAttr();
    }
    return copy;
  }

  void inlineEntry(LLVM::CallOp call) {
    Block *before = call->getBlock(), *after = before->splitBlock(call);
    Region &body = symbols.lookup<LLVM::LLVMFuncOp>(*call.getCallee()).getBody();
    IRMapping mapping;
    mapping.map(body.getArguments(), call.getArgOperands());
    body.cloneInto(before->getParent(), after->getIterator(), mapping);
    for (Block &block : body) {
      Block *copy = mapping.lookup(&block);
      if (auto end = dyn_cast<LLVM::ReturnOp>(copy->getTerminator())) {
        OpBuilder b(end);
        LLVM::BrOp::create(b, end.getLoc(), after);
        end.erase();
      }
    }
    Block *entry = mapping.lookup(&body.front());
    before->getOperations().splice(before->end(), entry->getOperations());
    entry->erase();
    call.erase();
  }

  ModuleOp module;
  DeviceLibrary library;
  SymbolTable symbols;
  llvm::SmallPtrSet<StringAttr, 32> taken;
  llvm::SetVector<StringAttr> entries;
};

struct LinkDeviceLibrary : impl::LinkDeviceLibraryBase<LinkDeviceLibrary> {
  void runOnOperation() override {
    SmallVector<LLVM::LLVMFuncOp> declared;
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (function.isExternal())
        declared.push_back(function);
    if (declared.empty())
      return;
    Linker linker(getOperation());
    for (LLVM::LLVMFuncOp function : declared)
      if (failed(linker.take(function.getNameAttr(), function.getLoc())))
        return signalPassFailure();
    if (failed(linker.inlineEntries()))
      signalPassFailure();
  }
};

} // namespace
} // namespace mlir::array
