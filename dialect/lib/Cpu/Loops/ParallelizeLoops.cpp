// array-parallelize-loops: a loop that is marked as parallel becomes a function over a range of its iterations. The
// runtime's table calls it piece by piece, in as many threads as are free. Runs after array-vectorize-linalg and the
// passes that expand operations; array-lower-runtime-calls and array-emit-entry follow.
//
// A loop becomes two functions. @<main>_loop<n> takes the captured values as arguments, so that its pointers have the
// same LLVM attributes as those of @main. @<main>_piece<n> has the signature of the ABI, and unpacks the arguments.
#include "Analysis/ParallelLoops.h"
#include "StepWork.h"
#include "array/Analysis/SymbolicSizes.h"
#include "array/Cpu/Passes.h"
#include "array/Entry/Entry.h"
#include "array/IR/Array.h"
#include "runtime/Abi.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include <cstddef>

namespace mlir::array {

#define GEN_PASS_DEF_PARALLELIZELOOPS
#include "array/Cpu/Passes.h.inc"

namespace {

/// More operations than these are computed once, in @main: each piece would compute them again, and the code of each
/// loop would have them (the places of temporaries of symbolic sizes).
constexpr unsigned mostRecomputed = 12;

/// The values that a loop captures.
struct Captures {
  explicit Captures(func::FuncOp main) : main(main) {}

  SmallVector<Value> buffers; ///< passed as pointers
  SmallVector<Value> values;  ///< passed as they are
  /// Recomputed in the function, in this order: addresses, constants, private buffers; and operations that give a
  /// buffer its shape.
  struct Made {
    Operation *op = nullptr;
    Value buffer = {};
    SmallVector<OpFoldResult> sizes = {};
  };
  SmallVector<Made> made;

  /// False for a value that can't be passed.
  bool add(Value value) {
    if (!seen.insert(value).second)
      return true;
    Operation *op = value.getDefiningOp();
    // Values that depend on the call are in the frame of @main.
    if (isRecomputed(op) && !(value.getType().isIntOrIndexOrFloat() && isLong(op))) {
      if (!llvm::all_of(op->getOperands(), [&](Value operand) { return add(operand); }))
        return false;
      if (ops.insert(op).second)
        made.push_back({op});
      return true;
    }
    Type type = value.getType();
    if (auto memref = dyn_cast<MemRefType>(type)) {
      auto argument = dyn_cast<BlockArgument>(value);
      bool isWhole =
          isa_and_nonnull<memref::AllocaOp>(op) || (argument && isa<func::FuncOp>(argument.getOwner()->getParentOp()));
      buffers.push_back(value);
      return isWhole && memref.getLayout().isIdentity() && addShape(value, memref);
    }
    values.push_back(value);
    return type.isIntOrIndexOrFloat() || isa<VectorType>(type);
  }

private:
  static bool isRecomputed(Operation *op) {
    if (!op || isa<SymbolOp, ThreadsOp>(op) || op->getNumRegions() > 0)
      return false;
    return isMemoryEffectFree(op) || (isa<memref::AllocaOp>(op) && op->hasAttr(kPrivateAttr));
  }

  /// Whether the computation of a result takes many operations, which no other captured value has.
  bool isLong(Operation *op) const {
    DenseSet<Operation *> found;
    SmallVector<Operation *> waiting{op};
    while (!waiting.empty() && found.size() <= mostRecomputed) {
      Operation *next = waiting.pop_back_val();
      if (!isRecomputed(next) || ops.contains(next) || !found.insert(next).second)
        continue;
      for (Value operand : next->getOperands())
        if (Operation *before = operand.getDefiningOp())
          waiting.push_back(before);
    }
    return found.size() > mostRecomputed;
  }

  /// A buffer of symbolic sizes is passed as 1-D elements.
  bool addShape(Value buffer, MemRefType type) {
    if (type.hasStaticShape() || type.getRank() == 1)
      return true;
    std::optional<SmallVector<OpFoldResult>> sizes = SymbolicSizes(main).sizesOf(buffer);
    if (!sizes)
      return false;
    for (OpFoldResult size : *sizes)
      if (auto value = dyn_cast<Value>(size); value && !add(value))
        return false;
    made.push_back({nullptr, buffer, std::move(*sizes)});
    return true;
  }

  func::FuncOp main;
  DenseSet<Value> seen;
  DenseSet<Operation *> ops;
};

/// The type of a buffer in the signature of a function.
MemRefType passedType(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  return type.hasStaticShape() ? type : MemRefType::get({ShapedType::kDynamic}, type.getElementType());
}

/// The structure of the captured values: offsets of the buffers' pointers, then of the values.
struct Layout {
  explicit Layout(const Captures &captures) {
    for (size_t i = 0; i < captures.buffers.size(); ++i)
      place(sizeof(void *));
    for (Value value : captures.values)
      place(byteSize(value.getType()));
  }

  static int64_t byteSize(Type type) {
    if (auto vector = dyn_cast<VectorType>(type))
      return vector.getNumElements() * byteSize(vector.getElementType());
    return type.isIndex() ? 8 : llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
  }

  void place(int64_t size) {
    bytes = llvm::alignTo(bytes, std::min<int64_t>(llvm::PowerOf2Ceil(size), PCRT_ALIGNMENT));
    offsets.push_back(bytes);
    bytes += size;
  }

  SmallVector<int64_t> offsets;
  int64_t bytes = 0;
};

class Outliner {
public:
  Outliner(func::FuncOp main, scf::ForOp loop, unsigned number)
      : main(main), loop(loop), number(number), b(loop.getLoc(), loop), captures(main) {}

  void outline() {
    SetVector<Value> above;
    getUsedValuesDefinedAbove(loop.getRegion(), above);
    above.insert(loop->operand_begin(), loop->operand_end());
    for (Value value : above)
      if (!captures.add(value))
        return;
    Layout layout(captures);
    Value frame = takeFrame(main), captured = pack(layout), count = countIterations();
    int64_t grain = loop->getAttrOfType<IntegerAttr>(kParallelAttr).getInt();
    b.setInsertionPointAfter(loop);
    func::FuncOp body = emitLoop();
    call(frame, emitPiece(body, layout), captured, count, grain);
  }

private:
  Value constant(int64_t value, unsigned bits) { return LLVM::ConstantOp::create(b, b.getIntegerType(bits), value); }

  /// Writes the captured values to a structure on the stack of @main.
  Value pack(const Layout &layout) {
    Value structure;
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(&main.getBody().front());
      Type pointer = LLVM::LLVMPointerType::get(b.getContext());
      structure = LLVM::AllocaOp::create(b, pointer, b.getI8Type(), constant(std::max<int64_t>(layout.bytes, 1), 64),
                                         PCRT_ALIGNMENT);
    }
    const int64_t *offset = layout.offsets.begin();
    for (Value buffer : captures.buffers) {
      Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, buffer);
      store(arith::IndexCastOp::create(b, b.getI64Type(), address), structure, *offset++);
    }
    for (Value value : captures.values) {
      if (value.getType().isIndex())
        value = arith::IndexCastOp::create(b, b.getI64Type(), value);
      store(value, structure, *offset++);
    }
    return structure;
  }

  void store(Value value, Value base, int64_t offset) {
    LLVM::StoreOp::create(b, value, offsetPointer(b, b.getLoc(), base, offset));
  }

  Value countIterations() {
    Value low = loop.getLowerBound(), high = loop.getUpperBound(), step = loop.getStep();
    std::optional<int64_t> first = getConstantIntValue(low), last = getConstantIntValue(high),
                           by = getConstantIntValue(step);
    if (first && last && by)
      return constant(*last > *first ? llvm::divideCeil(*last - *first, *by) : 0, 64);
    Value less = arith::SubIOp::create(b, step, arith::ConstantIndexOp::create(b, 1));
    Value distance = arith::AddIOp::create(b, arith::SubIOp::create(b, high, low), less);
    return arith::IndexCastOp::create(b, b.getI64Type(), arith::DivSIOp::create(b, distance, step));
  }

  func::FuncOp createFunction(StringRef kind, ArrayRef<Type> arguments, ArrayRef<Type> results) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(main);
    std::string name = (main.getName() + "_" + kind + Twine(number)).str();
    auto function = func::FuncOp::create(b, name, b.getFunctionType(arguments, results));
    function.setPrivate();
    function->setAttr("llvm.linkage", LLVM::LinkageAttr::get(b.getContext(), LLVM::Linkage::Internal));
    function.addEntryBlock();
    return function;
  }

  /// Moves the loop to a function of the buffers, the values, and the first and the last iteration.
  func::FuncOp emitLoop() {
    SmallVector<Type> types;
    for (Value buffer : captures.buffers)
      types.push_back(passedType(buffer));
    for (Value value : captures.values)
      types.push_back(value.getType());
    types.append(2, b.getIndexType());
    func::FuncOp function = createFunction("loop", types, {});
    Block *block = &function.getBody().front();
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(block);

    IRMapping mapping;
    SmallVector<Value> from(captures.buffers);
    from.append(captures.values.begin(), captures.values.end());
    for (auto [value, argument] : llvm::zip(from, block->getArguments()))
      mapping.map(value, argument);
    for (const Captures::Made &made : captures.made) {
      if (made.op) {
        b.clone(*made.op, mapping);
        from.append(made.op->result_begin(), made.op->result_end());
      } else {
        giveShape(made, mapping);
      }
    }
    Value low = mapping.lookup(loop.getLowerBound()), high = mapping.lookup(loop.getUpperBound()),
          step = mapping.lookup(loop.getStep());
    auto position = [&](Value iteration) -> Value {
      return arith::AddIOp::create(b, low, arith::MulIOp::create(b, iteration, step));
    };
    Value first = position(block->getArguments().end()[-2]), last = position(block->getArguments().back());
    last = arith::MinSIOp::create(b, last, high);
    loop->moveBefore(block, block->end());
    loop->removeAttr(kParallelAttr);
    loop->removeAttr(kParallelNsAttr);
    loop.setLowerBound(first);
    loop.setUpperBound(last);
    loop.setStep(step);
    for (Value value : from)
      value.replaceUsesWithIf(mapping.lookup(value),
                              [&](OpOperand &use) { return loop->isProperAncestor(use.getOwner()); });
    b.setInsertionPointToEnd(block);
    func::ReturnOp::create(b);
    takePointers(function);
    inlineIntoCaller(function);
    return function;
  }

  /// Gives 1-D elements the shape of their buffer.
  void giveShape(const Captures::Made &made, IRMapping &mapping) {
    auto type = cast<MemRefType>(made.buffer.getType());
    SmallVector<OpFoldResult> sizes;
    for (OpFoldResult size : made.sizes)
      sizes.push_back(isa<Value>(size) ? OpFoldResult(mapping.lookup(cast<Value>(size))) : size);
    SmallVector<OpFoldResult> strides = memref::computeStridesIRBlock(b.getLoc(), b, sizes);
    mapping.map(made.buffer, memref::ReinterpretCastOp::create(b, type, mapping.lookup(made.buffer),
                                                               OpFoldResult(b.getIndexAttr(0)), sizes, strides)
                                 .getResult());
  }

  /// Buffers become pointers in the function's signature, with the same LLVM attributes as those of @main.
  void takePointers(func::FuncOp function) {
    Block &block = function.getBody().front();
    OpBuilder builder = OpBuilder::atBlockBegin(&block);
    for (auto [index, buffer] : llvm::enumerate(captures.buffers)) {
      MemRefType type = passedType(buffer);
      takePointer(builder, block.getArgument(index), type);
      auto argument = dyn_cast<BlockArgument>(buffer);
      std::optional<EntryRole> role = argument ? getEntryRole(main, argument.getArgNumber()) : EntryRole::Arena;
      bool isWritten = argument && main.getArgAttr(argument.getArgNumber(), kWrittenAttr);
      if (role)
        function.setArgAttrs(index, describePointer(builder, *role, type, isWritten));
    }
    function.setType(builder.getFunctionType(block.getArgumentTypes(), function.getResultTypes()));
  }

  /// PcrtLoopBody over the loop's function.
  func::FuncOp emitPiece(func::FuncOp body, const Layout &layout) {
    Type pointer = LLVM::LLVMPointerType::get(b.getContext()), i64 = b.getI64Type();
    func::FuncOp function = createFunction("piece", {pointer, pointer, i64, i64}, {b.getI32Type()});
    Block *block = &function.getBody().front();
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(block);
    SmallVector<Value> operands;
    auto toIndex = [&](Value value) { return arith::IndexCastOp::create(b, b.getIndexType(), value).getResult(); };
    for (Type type : body.getArgumentTypes().drop_back(2)) {
      Value at = offsetPointer(b, b.getLoc(), block->getArgument(1), layout.offsets[operands.size()]);
      Value value = LLVM::LoadOp::create(b, type.isIndex() ? i64 : type, at);
      operands.push_back(type.isIndex() ? toIndex(value) : value);
    }
    operands.push_back(toIndex(block->getArgument(2)));
    operands.push_back(toIndex(block->getArgument(3)));
    func::CallOp::create(b, body, operands);
    Value ok = constant(PCRT_OK, 32);
    func::ReturnOp::create(b, ok);
    return function;
  }

  /// frame->table->parallel_for(frame, piece, captured, count, grain). No operation in a loop can fail, so its status
  /// is ignored.
  void call(Value frame, func::FuncOp piece, Value captured, Value count, int64_t grain) {
    Type pointer = frame.getType(), i64 = b.getI64Type();
    Value address = func::ConstantOp::create(b, piece.getFunctionType(), piece.getName());
    address = UnrealizedConversionCastOp::create(b, pointer, address).getResult(0);
    Value table = loadPointer(b, b.getLoc(), frame, offsetof(PcrtFrame, table));
    Value routine = loadPointer(b, b.getLoc(), table, offsetof(PcrtTable, parallel_for));
    auto type = LLVM::LLVMFunctionType::get(b.getI32Type(), {pointer, pointer, pointer, i64, i64});
    LLVM::CallOp::create(b, type, ValueRange{routine, frame, address, captured, count, constant(grain, 64)});
  }

  func::FuncOp main;
  scf::ForOp loop;
  unsigned number;
  ImplicitLocOpBuilder b;
  Captures captures;
};

struct ParallelizeLoops : impl::ParallelizeLoopsBase<ParallelizeLoops> {
  void runOnOperation() override {
    // Before the outliner adds functions.
    SmallVector<func::FuncOp> functions;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && (function.getName() == "main" || function->hasAttr(kKernelAttr)))
        functions.push_back(function);
    // Steps call kernels, whose loops count.
    for (func::FuncOp function : functions)
      keepSmallLoops(function);
    for (func::FuncOp function : functions)
      runOn(function);
  }

  static void runOn(func::FuncOp function) {
    SmallVector<scf::ForOp> loops;
    function.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
      if (!loop->hasAttr(kParallelAttr))
        return WalkResult::advance();
      if (loop.getNumResults() == 0)
        loops.push_back(loop);
      return WalkResult::skip();
    });
    for (auto [number, loop] : llvm::enumerate(loops))
      Outliner(function, loop, number).outline();
  }
};

} // namespace
} // namespace mlir::array
