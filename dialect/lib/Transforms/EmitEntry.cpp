// array-emit-entry: the C function that the runtime calls. It maps the call frame (runtime/include/runtime/Abi.h, the
// only source of the offsets) to @main, which keeps its memrefs but takes them as bare pointers: LLVM then knows that
// they don't alias and how they are aligned, and constant shapes fold into the code.
#include "array/Transforms/Entry.h"
#include "array/Transforms/Passes.h"
#include "runtime/Abi.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
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
    takePointers(main, arguments);
    emitEntry(main, arguments);
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
