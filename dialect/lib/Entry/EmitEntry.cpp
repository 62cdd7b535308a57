// array-emit-entry: the C function that the runtime calls. It maps the call frame (runtime/include/runtime/Abi.h, the
// only source of the offsets) to @main, which keeps its memrefs but takes them as bare pointers. So LLVM knows their
// alignment and that they do not alias, and constant shapes fold into the code.
#include "array/Analysis/SymbolicSizes.h"
#include "array/Entry/Entry.h"
#include "array/Entry/Passes.h"
#include "array/IR/Array.h"
#include "runtime/Abi.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include <cstddef>

namespace mlir::array {

#define GEN_PASS_DEF_EMITENTRY
#include "array/Entry/Passes.h.inc"

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
      if (!role || (*role != EntryRole::Frame && !memref)) {
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
    emitPlan(main);
    SymbolicSizes sizes(main);
    SmallVector<SmallVector<OpFoldResult>> argumentSizes = sizesOfArguments(main, arguments, sizes);
    Operation *sizesEnd = sizes.end();
    takePointers(main, arguments, argumentSizes, sizesEnd);
    loadFromFrame(main, arguments);
    emitEntry(main, arguments);
  }

  /// The sizes of arguments with symbolic sizes; none for the others.
  static SmallVector<SmallVector<OpFoldResult>> sizesOfArguments(func::FuncOp main, ArrayRef<EntryArgument> arguments,
                                                                 SymbolicSizes &sizes) {
    SmallVector<SmallVector<OpFoldResult>> found(arguments.size());
    for (auto [index, argument] : llvm::enumerate(arguments)) {
      if (argument.role == EntryRole::Frame || argument.role == EntryRole::Arena || argument.type.hasStaticShape())
        continue;
      found[index] = sizes.sizesOf(main.getArgument(index)).value();
    }
    return found;
  }

  /// Emits the function that returns the size of the arena, given the symbols.
  static void emitPlan(func::FuncOp main) {
    if (countSymbols(main) == 0)
      return;
    ArenaOp arena;
    main.walk([&](ArenaOp op) { arena = op; });
    OpBuilder builder(main.getContext());
    builder.setInsertionPointAfter(main);
    Location loc = main.getLoc();
    Type pointer = LLVM::LLVMPointerType::get(main.getContext());
    auto plan =
        func::FuncOp::create(builder, loc, kPlanName, builder.getFunctionType({pointer}, {builder.getI64Type()}));
    builder.setInsertionPointToStart(plan.addEntryBlock());
    Value bytes;
    if (arena) {
      IRMapping mapping;
      bytes = cloneInto(builder, arena.getBytes(), mapping, plan.getArgument(0), main);
      arena.erase();
    } else {
      auto known = main->getAttrOfType<IntegerAttr>(kArenaBytesAttr);
      bytes = arith::ConstantIndexOp::create(builder, loc, known ? known.getInt() : 0);
    }
    Value result = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), bytes);
    func::ReturnOp::create(builder, loc, result);
  }

  /// Clones the operations that compute an index from the symbols.
  static Value cloneInto(OpBuilder &builder, Value value, IRMapping &mapping, Value symbols, func::FuncOp main) {
    if (Value known = mapping.lookupOrNull(value))
      return known;
    Operation *op = value.getDefiningOp();
    Value made;
    if (auto symbol = dyn_cast<SymbolOp>(op)) {
      made = loadSymbol(builder, op->getLoc(), symbols, symbol.getNumber(), main);
    } else {
      for (Value operand : op->getOperands())
        cloneInto(builder, operand, mapping, symbols, main);
      builder.clone(*op, mapping);
      made = mapping.lookup(value);
    }
    mapping.map(value, made);
    return made;
  }

  /// The size of a symbol: the caller's, or computed from the sizes of the symbols that define it.
  static Value loadSymbol(OpBuilder &builder, Location loc, Value symbols, int64_t number, func::FuncOp main) {
    if (std::optional<DerivedSymbol> derived = derivedSymbol(main, number)) {
      Value lhs = computeSize(builder, loc, symbols, derived->lhs, main),
            rhs = computeSize(builder, loc, symbols, derived->rhs, main);
      if (derived->isMaximum)
        return arith::MaxSIOp::create(builder, loc, lhs, rhs);
      return arith::FloorDivSIOp::create(builder, loc, lhs, rhs);
    }
    Value address = offsetPointer(builder, loc, symbols, number * sizeof(int64_t));
    Value size = LLVM::LoadOp::create(builder, loc, builder.getI64Type(), address);
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), size);
  }

  static Value computeSize(OpBuilder &builder, Location loc, Value symbols, AffineExpr expression, func::FuncOp main) {
    if (auto number = dyn_cast<AffineConstantExpr>(expression))
      return arith::ConstantIndexOp::create(builder, loc, number.getValue());
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expression))
      return loadSymbol(builder, loc, symbols, symbol.getPosition(), main);
    auto binary = cast<AffineBinaryOpExpr>(expression);
    Value lhs = computeSize(builder, loc, symbols, binary.getLHS(), main),
          rhs = computeSize(builder, loc, symbols, binary.getRHS(), main);
    switch (expression.getKind()) {
    case AffineExprKind::Add:
      return arith::AddIOp::create(builder, loc, lhs, rhs);
    case AffineExprKind::Mul:
      return arith::MulIOp::create(builder, loc, lhs, rhs);
    case AffineExprKind::FloorDiv:
      return arith::FloorDivSIOp::create(builder, loc, lhs, rhs);
    case AffineExprKind::CeilDiv:
      return arith::CeilDivSIOp::create(builder, loc, lhs, rhs);
    default: { // a remainder
      Value quotient = arith::FloorDivSIOp::create(builder, loc, lhs, rhs);
      return arith::SubIOp::create(builder, loc, lhs, arith::MulIOp::create(builder, loc, quotient, rhs));
    }
    }
  }

  /// Loads the values that depend on the call from the frame: the symbols' sizes, and the number of threads.
  static void loadFromFrame(func::FuncOp main, SmallVectorImpl<EntryArgument> &arguments) {
    SmallVector<SymbolOp> symbols;
    SmallVector<ThreadsOp> threads;
    main.walk([&](SymbolOp symbol) { symbols.push_back(symbol); });
    main.walk([&](ThreadsOp op) { threads.push_back(op); });
    if (symbols.empty() && threads.empty())
      return;
    unsigned before = main.getNumArguments();
    Value frame = takeFrame(main);
    if (main.getNumArguments() != before) {
      arguments.push_back({EntryRole::Frame, {}, false});
      Builder builder(main.getContext());
      main.setArgAttrs(before, describePointer(builder, EntryRole::Frame, {}, false));
    }
    OpBuilder builder = OpBuilder::atBlockBegin(&main.front());
    for (ThreadsOp op : threads) {
      Value address = offsetPointer(builder, op.getLoc(), frame, offsetof(PcrtFrame, threads));
      Value number = LLVM::LoadOp::create(builder, op.getLoc(), builder.getI64Type(), address);
      op.replaceAllUsesWith(
          arith::IndexCastOp::create(builder, op.getLoc(), builder.getIndexType(), number).getResult());
      op.erase();
    }
    if (symbols.empty())
      return;
    Value array = loadPointer(builder, main.getLoc(), frame, offsetof(PcrtFrame, sizes));
    for (SymbolOp symbol : symbols) {
      symbol.replaceAllUsesWith(loadSymbol(builder, symbol.getLoc(), array, symbol.getNumber(), main));
      symbol.erase();
    }
  }

  /// Turns the buffers of a function of array-outline-kernels into pointers.
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

  /// Turns @main into a private function over bare pointers.
  static void takePointers(func::FuncOp main, ArrayRef<EntryArgument> arguments,
                           ArrayRef<SmallVector<OpFoldResult>> sizes, Operation *sizesEnd) {
    Block &body = main.getBody().front();
    OpBuilder builder = OpBuilder::atBlockBegin(&body);
    for (auto [value, argument, shape] : llvm::zip_equal(body.getArguments(), arguments, sizes)) {
      if (argument.role == EntryRole::Frame)
        continue;
      if (argument.type.hasStaticShape()) {
        takePointer(builder, value, argument.type);
        continue;
      }
      OpBuilder behind(builder);
      if (sizesEnd)
        behind.setInsertionPointAfter(sizesEnd);
      takeSizedPointer(behind, value, argument.type, shape);
    }
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

  /// Makes a dense buffer of symbolic sizes from a pointer. The arena's size is unknown and unused.
  static void takeSizedPointer(OpBuilder &builder, BlockArgument value, MemRefType type, ArrayRef<OpFoldResult> shape) {
    Location loc = value.getLoc();
    auto one = MemRefType::get({1}, type.getElementType(), MemRefLayoutAttrInterface(), type.getMemorySpace());
    SmallVector<OpFoldResult> sizes(shape), strides(type.getRank(), builder.getIndexAttr(1));
    if (sizes.empty())
      sizes.assign(type.getRank(), builder.getIndexAttr(1));
    for (int64_t dim = type.getRank() - 1; dim > 0; --dim) {
      std::optional<int64_t> size = getConstantIntValue(sizes[dim]), stride = getConstantIntValue(strides[dim]);
      if (size && stride)
        strides[dim - 1] = builder.getIndexAttr(*size * *stride);
      else
        strides[dim - 1] =
            arith::MulIOp::create(builder, loc, getValueOrCreateConstantIndexOp(builder, loc, sizes[dim]),
                                  getValueOrCreateConstantIndexOp(builder, loc, strides[dim]))
                .getResult();
    }
    auto sized = memref::ReinterpretCastOp::create(builder, loc, type, value, builder.getIndexAttr(0), sizes, strides);
    value.replaceAllUsesExcept(sized, sized);
    OpBuilder atStart = OpBuilder::atBlockBegin(value.getOwner());
    takePointer(atStart, value, one);
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
    // @main returns a status only if one of its operations can fail.
    Value status =
        call.getNumResults() ? call.getResult(0) : LLVM::ConstantOp::create(builder, loc, statusType, int64_t(PCRT_OK));
    func::ReturnOp::create(builder, loc, status);
  }
};

} // namespace
} // namespace mlir::array
