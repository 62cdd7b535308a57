// array-prepare-entry: @main on tensors becomes @main on the caller's buffers. It runs before one-shot-bufferize, which
// then does not depend on the entry's ABI; array-emit-entry later maps the memrefs to the call frame.
#include "array/Analysis/SymbolicSizes.h"
#include "array/Entry/Entry.h"
#include "array/Entry/Passes.h"
#include "array/IR/Array.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::array {

#define GEN_PASS_DEF_PREPAREENTRY
#include "array/Entry/Passes.h.inc"

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
    SymbolicSizes sizes(main);
    FailureOr<SmallVector<AffineMap>> resultDims = findDims(main, sizes);
    if (failed(resultDims))
      return signalPassFailure();
    takeBuffers(main, sizes, *resultDims);
    fillSplats(main);
    copyWhereReadLater(main.getBody().front(), sizes);
  }

  /// The dimensions of the results, in the symbols; null maps for static ones.
  static FailureOr<SmallVector<AffineMap>> findDims(func::FuncOp main, SymbolicSizes &sizes) {
    auto isUnresolved = [&](Value value) {
      return !cast<RankedTensorType>(value.getType()).hasStaticShape() && !sizes.sizesOf(value);
    };
    for (BlockArgument argument : main.getArguments())
      if (isUnresolved(argument))
        return main.emitError("argument #") << argument.getArgNumber() << " of @main is " << argument.getType()
                                            << ", and its sizes were not resolved: run array-resolve-sizes first";
    SmallVector<AffineMap> dims;
    for (auto [index, value] : llvm::enumerate(main.getBody().front().getTerminator()->getOperands())) {
      dims.emplace_back();
      if (cast<RankedTensorType>(value.getType()).hasStaticShape())
        continue;
      if (isUnresolved(value))
        return main.emitError("result #") << index << " of @main is " << value.getType()
                                          << ", and its sizes do not follow from those of the arguments";
      SmallVector<AffineExpr> expressions;
      for (int64_t dim = 0; dim < cast<RankedTensorType>(value.getType()).getRank(); ++dim)
        expressions.push_back(sizes.expressionOf(sizes.sizeOf(value, dim)));
      dims.back() = AffineMap::get(0, countSymbols(main), expressions, main.getContext());
    }
    return dims;
  }

  /// An empty tensor of the shape of another one.
  static Value emptyLike(OpBuilder &builder, Location loc, Value tensor, SymbolicSizes &sizes) {
    auto type = cast<RankedTensorType>(tensor.getType());
    if (type.hasStaticShape())
      return tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
    return tensor::EmptyOp::create(builder, loc, sizes.sizesOf(tensor).value(), type.getElementType());
  }

  static LogicalResult checkTypes(func::FuncOp main, TypeRange types, StringRef kind) {
    for (auto [index, type] : llvm::enumerate(types)) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor)
        return main.emitError(kind) << " #" << index << " of @main is " << type << ", not a ranked tensor";
      if (Type element = tensor.getElementType(); !element.isIntOrIndexOrFloat() && !isa<ComplexType>(element))
        return main.emitError(kind) << " #" << index << " of @main is " << type
                                    << ": its elements must be integers, floats or complex numbers";
    }
    return success();
  }

  static MemRefType bufferType(Type tensor) {
    auto type = cast<RankedTensorType>(tensor);
    return MemRefType::get(type.getShape(), type.getElementType());
  }

  /// Constants of equal elements become fills, one for each use. A use that overwrites its operand then does so in
  /// place, and the object does not contain megabytes of zeros.
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

  /// Whether the user computes its result in place of this operand, like loops and insertions.
  static bool isChanged(OpOperand &use) {
    Operation *user = use.getOwner();
    auto type = dyn_cast<RankedTensorType>(use.get().getType());
    if (!type || type.getRank() == 0)
      return false;
    if (auto insertion = dyn_cast<tensor::InsertSliceOp>(user))
      return &use == &insertion.getDestMutable();
    return isa<scf::ForOp, scf::WhileOp>(user) || (isa<tensor::InsertOp>(user) && use.getOperandNumber() == 1);
  }

  /// If loops or insertions start from an argument, it is copied into an empty tensor before them. The result's buffer
  /// can replace that tensor, while a copy by bufferization would have a separate buffer.
  static void copyWhereChanged(bufferization::ToTensorOp argument, SymbolicSizes &sizes) {
    for (OpOperand &use : llvm::make_early_inc_range(argument->getUses())) {
      Operation *user = use.getOwner();
      if (!isChanged(use) || isa<scf::WhileOp>(user)) // array-in-place-carries copies the initial values of a while
        continue;
      OpBuilder builder(user);
      Location loc = user->getLoc();
      Value empty = emptyLike(builder, loc, argument.getResult(), sizes);
      SmallVector<OpFoldResult> whole = sizes.sizesOf(argument.getResult()).value();
      SmallVector<OpFoldResult> offsets(whole.size(), builder.getIndexAttr(0)),
          strides(whole.size(), builder.getIndexAttr(1));
      use.set(tensor::InsertSliceOp::create(builder, loc, argument.getResult(), empty, offsets, whole, strides));
    }
  }

  static bool isView(Operation *op) {
    return isa_and_nonnull<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp,
                           OptimizationBarrierOp>(op);
  }

  /// Whether a value of the block, or a view of it, has another use that does not come before this one.
  static bool isReadLater(Value value, OpOperand &changed, Block &body) {
    return llvm::any_of(value.getUses(), [&](OpOperand &use) {
      Operation *reader = use.getOwner();
      if (&use == &changed)
        return false;
      if (isView(reader))
        return isReadLater(reader->getResult(0), changed, body);
      Operation *readerInBody = body.findAncestorOpInBlock(*reader);
      Operation *changerInBody = body.findAncestorOpInBlock(*changed.getOwner());
      if (readerInBody == changerInBody) // a loop reads its initial values; branches are alternatives
        return changerInBody == changed.getOwner();
      return !readerInBody->isBeforeInBlock(changerInBody);
    });
  }

  /// If a value is changed in place and read later, it is copied, or filled again, into a new empty tensor. Without
  /// this, bufferization could replace the empty tensor of the value by the buffer of a result that is computed in the
  /// copy. That would overwrite it while another result still needs it: bufferization does not know that its writes to
  /// a result's buffer may be read as another value.
  static void copyWhereReadLater(Block &body, SymbolicSizes &sizes) {
    SmallVector<OpOperand *> changed;
    body.walk([&](Operation *op) {
      for (OpOperand &operand : op->getOpOperands())
        if (isChanged(operand))
          changed.push_back(&operand);
    });
    for (OpOperand *use : changed) {
      Value value = use->get(), viewed = value;
      while (isView(viewed.getDefiningOp()))
        viewed = viewed.getDefiningOp()->getOperand(0);
      if (viewed.getParentBlock() != &body ||
          isa_and_nonnull<bufferization::ToTensorOp, tensor::EmptyOp>(viewed.getDefiningOp()) ||
          !isReadLater(viewed, *use, body))
        continue;
      Operation *changer = outermostChoice(*use);
      OpBuilder builder(changer);
      Location loc = changer->getLoc();
      Value copy = emptyLike(builder, loc, value, sizes);
      if (auto fill = value.getDefiningOp<linalg::FillOp>())
        copy = linalg::FillOp::create(builder, loc, fill.value(), copy).getResult(0);
      else // it is not folded, unlike an insertion of the whole
        copy = bufferization::MaterializeInDestinationOp::create(builder, loc, copy.getType(), value, copy).getResult();
      if (changer == use->getOwner())
        use->set(copy);
      else
        value.replaceUsesWithIf(copy, [&](OpOperand &other) { return changer->isProperAncestor(other.getOwner()); });
    }
  }

  /// The op before which the changed value is copied: outside of conditionals that check an index, because their other
  /// branch returns the value unchanged.
  static Operation *outermostChoice(OpOperand &changed) {
    Operation *changer = changed.getOwner();
    auto isChoice = [&](Operation *op) {
      return isa<scf::IfOp>(op) && !op->hasAttr(kControlFlowAttr) &&
             !op->isAncestor(changed.get().getParentBlock()->getParentOp());
    };
    while (isChoice(changer->getParentOp()))
      changer = changer->getParentOp();
    return changer;
  }

  static void takeBuffers(func::FuncOp main, SymbolicSizes &sizes, ArrayRef<AffineMap> resultDims) {
    Block &body = main.getBody().front();
    OpBuilder builder = OpBuilder::atBlockBegin(&body);
    if (sizes.end())
      builder.setInsertionPointAfter(sizes.end());
    SmallVector<Attribute> dims;
    for (unsigned index = 0; index < body.getNumArguments(); ++index)
      dims.push_back(main.getArgAttr(index, kDimsAttr));
    for (AffineMap map : resultDims)
      dims.push_back(map ? AffineMapAttr::get(map) : AffineMapAttr());
    SmallVector<EntryRole> roles(body.getNumArguments(), EntryRole::Argument);

    // The argument whose memory each result uses.
    DenseMap<int64_t, bufferization::ToTensorOp> donated;
    SmallVector<int64_t> resultOf(body.getNumArguments(), -1);
    if (auto given = main->getAttrOfType<DenseI64ArrayAttr>(kDonatedAttr))
      llvm::copy(given.asArrayRef().take_front(resultOf.size()), resultOf.begin());
    main->removeAttr(kDonatedAttr);

    // Two arguments of a call may be the same array, but only donated arguments are written, so `restrict` holds.
    for (BlockArgument argument : body.getArguments()) {
      Type tensor = argument.getType();
      int64_t result = resultOf[argument.getArgNumber()];
      argument.setType(bufferType(tensor));
      auto read = bufferization::ToTensorOp::create(builder, main.getLoc(), tensor, argument, /*restrict=*/true);
      argument.replaceAllUsesExcept(read, read);
      if (result >= 0) {
        read.setWritable(true);
        donated[result] = read;
      } else {
        copyWhereChanged(read, sizes);
      }
    }

    auto terminator = cast<func::ReturnOp>(body.getTerminator());
    builder.setInsertionPoint(terminator);
    // A value that is returned twice, or that is an argument, is copied by bufferization: destinations are distinct.
    for (auto [index, operand] : llvm::enumerate(terminator.getOperands())) {
      Value result = operand;
      Value buffer = body.addArgument(bufferType(result.getType()), terminator.getLoc());
      roles.push_back(EntryRole::Result);
      if (bufferization::ToTensorOp memory = donated.lookup(index)) {
        // The tensor tells bufferization which buffer is overwritten; the second op says that the result ends in the
        // buffer.
        result = bufferization::MaterializeInDestinationOp::create(builder, terminator.getLoc(), result.getType(),
                                                                   result, memory.getResult())
                     .getResult();
        buffer = memory.getBuffer();
      }
      auto write = bufferization::MaterializeInDestinationOp::create(builder, terminator.getLoc(), /*result=*/Type(),
                                                                     result, buffer);
      write.setRestrict(true);
      write.setWritable(true);
    }
    terminator->setOperands({});
    main.setType(builder.getFunctionType(body.getArgumentTypes(), {}));
    main.removeArgAttrsAttr();
    main.removeResAttrsAttr();
    for (auto [index, role] : llvm::enumerate(roles)) {
      setEntryRole(main, index, role);
      if (dims[index])
        main.setArgAttr(index, kDimsAttr, dims[index]);
      if (index < resultOf.size() && resultOf[index] >= 0)
        main.setArgAttr(index, kWrittenAttr, UnitAttr::get(main.getContext()));
    }
  }
};

} // namespace
} // namespace mlir::array
