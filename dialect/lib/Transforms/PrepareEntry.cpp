// array-prepare-entry: @main on tensors becomes @main on the caller's buffers. It runs before one-shot-bufferize, which
// then needs no knowledge of the entry's ABI; array-emit-entry later maps the memrefs to the call frame.
#include "array/Transforms/Entry.h"
#include "array/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::array {

#define GEN_PASS_DEF_PREPAREENTRY
#include "array/Transforms/Passes.h.inc"

namespace {

struct PrepareEntry : impl::PrepareEntryBase<PrepareEntry> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal()) {
      getOperation().emitError("the module has no function @main to compile");
      return signalPassFailure();
    }
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function != main && !function.isExternal()) {
        function.emitError("only @main can be compiled, but @")
            << function.getSymName() << " is still here: calls are inlined before this pass";
        return signalPassFailure();
      }
    }
    if (!main.getBody().hasOneBlock()) {
      main.emitError("@main must have one block");
      return signalPassFailure();
    }
    if (failed(checkTypes(main, main.getArgumentTypes(), "argument")) ||
        failed(checkTypes(main, main.getResultTypes(), "result")))
      return signalPassFailure();
    takeBuffers(main);
    fillSplats(main);
  }

  static LogicalResult checkTypes(func::FuncOp main, TypeRange types, StringRef kind) {
    for (auto [index, type] : llvm::enumerate(types)) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor)
        return main.emitError(kind) << " #" << index << " of @main is " << type << ", not a ranked tensor";
      if (!tensor.hasStaticShape())
        return main.emitError(kind) << " #" << index << " of @main has the dynamic shape " << type
                                    << "; the CPU pipeline compiles static shapes only: specialize the sizes";
    }
    return success();
  }

  static MemRefType bufferType(Type tensor) {
    auto type = cast<RankedTensorType>(tensor);
    return MemRefType::get(type.getShape(), type.getElementType());
  }

  /// Constants of equal elements become fills, one for each use: a use that overwrites its operand then does so in
  /// place, and the object holds no megabytes of zeros.
  static void fillSplats(func::FuncOp main) {
    SmallVector<arith::ConstantOp> constants;
    main.walk([&](arith::ConstantOp constant) {
      auto value = dyn_cast<SplatElementsAttr>(constant.getValue());
      if (value && isa<RankedTensorType>(constant.getType()))
        constants.push_back(constant);
    });
    OpBuilder builder(main.getContext());
    for (arith::ConstantOp constant : constants) {
      auto type = cast<RankedTensorType>(constant.getType());
      for (OpOperand &use : llvm::make_early_inc_range(constant->getUses())) {
        builder.setInsertionPoint(use.getOwner());
        Location loc = constant.getLoc();
        auto element = cast<SplatElementsAttr>(constant.getValue()).getSplatValue<TypedAttr>();
        Value scalar = arith::ConstantOp::create(builder, loc, element);
        Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
        use.set(linalg::FillOp::create(builder, loc, scalar, empty).getResult(0));
      }
      constant.erase();
    }
  }

  /// An argument that loops or insertions start from is copied into an empty tensor before them: the result's buffer
  /// can take its place, while the copy that bufferization makes has a buffer of its own.
  static void copyWhereChanged(bufferization::ToTensorOp argument) {
    auto type = cast<RankedTensorType>(argument.getType());
    for (OpOperand &use : llvm::make_early_inc_range(argument->getUses())) {
      Operation *user = use.getOwner();
      auto loop = dyn_cast<scf::ForOp>(user);
      auto insertion = dyn_cast<tensor::InsertSliceOp>(user);
      if (!(loop && use.getOperandNumber() >= loop.getNumControlOperands()) &&
          !(insertion && &use == &insertion.getDestMutable()) &&
          !(isa<tensor::InsertOp>(user) && use.getOperandNumber() == 1))
        continue;
      OpBuilder builder(user);
      Location loc = user->getLoc();
      Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
      SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, empty);
      SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0)),
          strides(sizes.size(), builder.getIndexAttr(1));
      use.set(tensor::InsertSliceOp::create(builder, loc, argument.getResult(), empty, offsets, sizes, strides));
    }
  }

  static void takeBuffers(func::FuncOp main) {
    Block &body = main.getBody().front();
    OpBuilder builder = OpBuilder::atBlockBegin(&body);
    SmallVector<EntryRole> roles(body.getNumArguments(), EntryRole::Argument);

    // Two arguments of a call may be the same array, but none is ever written, so `restrict` holds.
    for (BlockArgument argument : body.getArguments()) {
      Type tensor = argument.getType();
      argument.setType(bufferType(tensor));
      auto read = bufferization::ToTensorOp::create(builder, main.getLoc(), tensor, argument, /*restrict=*/true);
      argument.replaceAllUsesExcept(read, read);
      copyWhereChanged(read);
    }

    auto terminator = cast<func::ReturnOp>(body.getTerminator());
    builder.setInsertionPoint(terminator);
    // A value that is returned twice, or that is an argument, is copied by bufferization: destinations are distinct.
    for (Value result : terminator.getOperands()) {
      Value buffer = body.addArgument(bufferType(result.getType()), terminator.getLoc());
      roles.push_back(EntryRole::Result);
      auto write = bufferization::MaterializeInDestinationOp::create(builder, terminator.getLoc(), /*result=*/Type(),
                                                                     result, buffer);
      write.setRestrict(true);
      write.setWritable(true);
    }
    terminator->setOperands({});
    main.setType(builder.getFunctionType(body.getArgumentTypes(), {}));
    main.removeArgAttrsAttr();
    main.removeResAttrsAttr();
    for (auto [index, role] : llvm::enumerate(roles))
      setEntryRole(main, index, role);
  }
};

} // namespace
} // namespace mlir::array
