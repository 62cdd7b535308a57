// array-emit-entry: the C function that the runtime calls. It maps the call frame (runtime/include/runtime/Abi.h, the
// only source of the offsets) to @main, which keeps its memrefs but takes them as bare pointers: LLVM then knows that
// they don't alias and how they are aligned, and constant shapes fold into the code.
#include "array/Transforms/Entry.h"
#include "array/Transforms/Passes.h"
#include "runtime/Abi.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include <cstddef>

namespace mlir::array {

#define GEN_PASS_DEF_EMITENTRY
#include "array/Transforms/Passes.h.inc"

namespace {

/// An argument of @main: its role, and its type on buffers (null for the frame).
struct EntryArgument {
  EntryRole role;
  MemRefType type;
  bool isWritten;
};

struct EmitEntry : impl::EmitEntryBase<EmitEntry> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal()) {
      getOperation().emitError("the module has no function @main to call");
      return signalPassFailure();
    }
    SmallVector<EntryArgument> arguments;
    for (auto [index, type] : llvm::enumerate(main.getArgumentTypes())) {
      std::optional<EntryRole> role = getEntryRole(main, index);
      auto memref = dyn_cast<MemRefType>(type);
      if (!role || (*role != EntryRole::Frame && (!memref || !memref.hasStaticShape()))) {
        main.emitError("argument #") << index << " has no place in the call frame: run array-prepare-entry first";
        return signalPassFailure();
      }
      arguments.push_back({*role, memref, main.getArgAttr(index, kWrittenAttr) != nullptr});
    }
    SymbolTable symbols(getOperation());
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (kernel->hasAttr(kKernelAttr))
        takePointers(kernel);
    getOperation().walk([&](func::CallOp call) {
      if (symbols.lookup(call.getCallee())->hasAttr(kKernelAttr))
        passPointers(call);
    });
    takePointers(main, arguments);
    emitEntry(main, arguments);
  }

  /// Makes the buffers of a function of array-outline-kernels pointers.
  static void takePointers(func::FuncOp kernel) {
    OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
    for (auto [index, argument] : llvm::enumerate(kernel.getArguments())) {
      std::optional<EntryRole> role = getEntryRole(kernel, index);
      auto type = dyn_cast<MemRefType>(argument.getType());
      if (!role)
        continue;
      bool isWritten = kernel.getArgAttr(index, kWrittenAttr) != nullptr;
      if (type)
        takePointer(builder, argument, type);
      kernel.setArgAttrs(index, describePointer(builder, *role, type, isWritten));
    }
    kernel.setType(builder.getFunctionType(kernel.getBody().getArgumentTypes(), kernel.getResultTypes()));
  }

  /// Passes the buffers of kernels as pointers.
  static void passPointers(func::CallOp call) {
    OpBuilder builder(call);
    Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
    for (OpOperand &operand : call->getOpOperands()) {
      if (!isa<MemRefType>(operand.get().getType()))
        continue;
      Value address = memref::ExtractAlignedPointerAsIndexOp::create(builder, call.getLoc(), operand.get());
      address = arith::IndexCastOp::create(builder, call.getLoc(), builder.getI64Type(), address);
      operand.set(LLVM::IntToPtrOp::create(builder, call.getLoc(), pointer, address));
    }
  }

  /// Makes @main a private function over bare pointers.
  static void takePointers(func::FuncOp main, ArrayRef<EntryArgument> arguments) {
    Block &body = main.getBody().front();
    OpBuilder builder = OpBuilder::atBlockBegin(&body);
    for (auto [value, argument] : llvm::zip_equal(body.getArguments(), arguments))
      if (argument.role != EntryRole::Frame)
        takePointer(builder, value, argument.type);
    main.setType(builder.getFunctionType(body.getArgumentTypes(), main.getResultTypes()));
    SmallVector<Attribute> attributes;
    for (const EntryArgument &argument : arguments)
      attributes.push_back(describePointer(builder, argument.role, argument.type, argument.isWritten));
    main.setAllArgAttrs(attributes);
    main->removeAttr(kArenaBytesAttr);
    inlineIntoCaller(main);
    main.setPrivate();
    main->setAttr("llvm.linkage", LLVM::LinkageAttr::get(main.getContext(), LLVM::Linkage::Internal));
  }

  static void emitEntry(func::FuncOp main, ArrayRef<EntryArgument> arguments) {
    Location loc = main.getLoc();
    OpBuilder builder(main.getContext());
    builder.setInsertionPointAfter(main);
    Type pointerType = LLVM::LLVMPointerType::get(main.getContext());
    Type statusType = builder.getI32Type();
    auto entry = func::FuncOp::create(builder, loc, kEntryName, builder.getFunctionType({pointerType}, {statusType}));
    Block *body = entry.addEntryBlock();
    builder.setInsertionPointToStart(body);

    Value frame = body->getArgument(0);
    int64_t argumentCount = 0, resultCount = 0;
    Value argumentArray, resultArray; // loaded when the first of their pointers is
    SmallVector<Value> operands;
    for (const EntryArgument &argument : arguments) {
      switch (argument.role) {
      case EntryRole::Argument:
        if (!argumentArray)
          argumentArray = loadPointer(builder, loc, frame, offsetof(PcrtFrame, args));
        operands.push_back(loadPointer(builder, loc, argumentArray, argumentCount++ * sizeof(void *)));
        break;
      case EntryRole::Result:
        if (!resultArray)
          resultArray = loadPointer(builder, loc, frame, offsetof(PcrtFrame, results));
        operands.push_back(loadPointer(builder, loc, resultArray, resultCount++ * sizeof(void *)));
        break;
      case EntryRole::Arena:
        operands.push_back(loadPointer(builder, loc, frame, offsetof(PcrtFrame, arena)));
        break;
      case EntryRole::Frame:
        operands.push_back(frame);
        break;
      }
    }
    auto call = func::CallOp::create(builder, loc, main, operands);
    // @main returns a status only when something in it can fail.
    Value status =
        call.getNumResults() ? call.getResult(0) : LLVM::ConstantOp::create(builder, loc, statusType, int64_t(PCRT_OK));
    func::ReturnOp::create(builder, loc, status);
  }
};

} // namespace
} // namespace mlir::array
