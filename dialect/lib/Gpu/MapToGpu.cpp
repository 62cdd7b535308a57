// array-map-to-gpu: linalg ops and copies on buffers become launches of kernels. It comes after array-plan-memory, as
// temporaries need their places first; array-outline-gpu-kernels follows.
//
// The mapping is the plain one: one thread for each point of the parallel dimensions, which are counted with the last
// one running fastest, so that neighbours of a warp read neighbours in memory; a reduction is a loop of its thread.
#include "array/Gpu/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::array {

#define GEN_PASS_DEF_MAPTOGPU
#include "array/Gpu/Passes.h.inc"

namespace {

/// Threads of a block: eight warps hide the latency of memory on every generation, and leave 256 registers to each.
constexpr int64_t kBlockSize = 256;

/// Emits the work of one thread for a linalg op on buffers.
class ThreadEmitter {
public:
  ThreadEmitter(linalg::LinalgOp op, ArrayRef<int64_t> sizes, ImplicitLocOpBuilder &b)
      : op(op), sizes(sizes), b(b), point(sizes.size()) {
    for (auto [dim, kind] : llvm::enumerate(op.getIteratorTypesArray()))
      (kind == utils::IteratorType::reduction ? reduced : parallel).push_back(static_cast<unsigned>(dim));
  }

  int64_t points() const {
    int64_t count = 1;
    for (unsigned dim : parallel)
      count *= sizes[dim];
    return count;
  }

  /// `thread` is the number of the point, from 0.
  void emit(Value thread) {
    placePoint(thread);
    SmallVector<Value> sums = llvm::map_to_vector(accumulated(), [&](OpOperand *out) { return load(out); });
    sums = emitLoops(reduced, sums);
    for (auto [out, sum] : llvm::zip_equal(accumulated(), sums))
      store(sum, out);
  }

private:
  /// The outputs that a reduction adds to: their elements stay in registers.
  SmallVector<OpOperand *> accumulated() {
    SmallVector<OpOperand *> outs;
    for (OpOperand &out : op.getDpsInitsMutable())
      if (isAccumulated(out))
        outs.push_back(&out);
    return outs;
  }

  bool isAccumulated(OpOperand &out) {
    AffineMap map = op.getMatchingIndexingMap(&out);
    return !reduced.empty() && llvm::none_of(reduced, [&](unsigned dim) { return map.isFunctionOfDim(dim); });
  }

  /// The indices of the point in the parallel dimensions. 32 bits where they suffice: a division by a constant is
  /// several times dearer with 64.
  void placePoint(Value thread) {
    bool isShort = points() <= std::numeric_limits<int32_t>::max();
    Type type = isShort ? Type(b.getI32Type()) : b.getIndexType();
    Value rest = isShort ? Value(arith::IndexCastOp::create(b, type, thread)) : thread;
    auto constant = [&](int64_t value) {
      return arith::ConstantOp::create(b, type, b.getIntegerAttr(type, value)).getResult();
    };
    for (unsigned dim : llvm::reverse(parallel)) {
      Value index = dim == parallel.front() ? rest : arith::RemUIOp::create(b, rest, constant(sizes[dim])).getResult();
      if (dim != parallel.front())
        rest = arith::DivUIOp::create(b, rest, constant(sizes[dim]));
      point[dim] = isShort ? Value(arith::IndexCastUIOp::create(b, b.getIndexType(), index)) : index;
    }
  }

  SmallVector<Value> emitLoops(ArrayRef<unsigned> dims, ArrayRef<Value> sums) {
    if (dims.empty())
      return emitBody(sums);
    Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
    Value end = arith::ConstantIndexOp::create(b, sizes[dims.front()]);
    auto loop = scf::ForOp::create(b, zero, end, one, sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    point[dims.front()] = loop.getInductionVar();
    SmallVector<Value> next = emitLoops(dims.drop_front(), SmallVector<Value>(loop.getRegionIterArgs()));
    if (!sums.empty())
      scf::YieldOp::create(b, next);
    return SmallVector<Value>(loop.getResults());
  }

  /// One step: the new values of what is accumulated; the other outputs are stored.
  SmallVector<Value> emitBody(ArrayRef<Value> sums) {
    Block &body = op->getRegion(0).front();
    IRMapping mapping;
    for (OpOperand *input : op.getDpsInputOperands())
      if (BlockArgument argument = op.getMatchingBlockArgument(input); !argument.use_empty())
        mapping.map(argument, load(input));
    size_t next = 0;
    for (OpOperand &out : op.getDpsInitsMutable()) {
      BlockArgument argument = op.getMatchingBlockArgument(&out);
      if (isAccumulated(out))
        mapping.map(argument, sums[next++]);
      else if (!argument.use_empty())
        mapping.map(argument, load(&out));
    }
    for (Operation &inner : body.without_terminator()) {
      if (auto index = dyn_cast<linalg::IndexOp>(inner))
        mapping.map(index.getResult(), point[index.getDim()]);
      else
        mapIndices(b.clone(inner, mapping));
    }
    SmallVector<Value> results;
    for (OpOperand &out : op.getDpsInitsMutable()) {
      Value yielded = op.getMatchingYieldValue(&out)->get();
      Value value = mapping.lookupOrDefault(yielded);
      if (isAccumulated(out))
        results.push_back(value);
      else
        store(value, &out);
    }
    return results;
  }

  /// Indices inside of the regions of a body's operation.
  void mapIndices(Operation *cloned) {
    SmallVector<linalg::IndexOp> indices;
    cloned->walk([&](linalg::IndexOp index) { indices.push_back(index); });
    for (linalg::IndexOp index : indices) {
      index.getResult().replaceAllUsesWith(point[index.getDim()]);
      index.erase();
    }
  }

  SmallVector<Value> indicesOf(OpOperand *operand) {
    SmallVector<OpFoldResult> dims(point.begin(), point.end());
    for (OpFoldResult &dim : dims) // a dimension that no index is known of yet: its map does not use it
      if (!cast<Value>(dim))
        dim = b.getIndexAttr(0);
    AffineMap map = op.getMatchingIndexingMap(operand);
    SmallVector<Value> indices;
    for (unsigned i = 0; i < map.getNumResults(); ++i)
      indices.push_back(getValueOrCreateConstantIndexOp(
          b, b.getLoc(), affine::makeComposedFoldedAffineApply(b, b.getLoc(), map.getSubMap({i}), dims)));
    return indices;
  }

  Value load(OpOperand *operand) {
    if (!isa<MemRefType>(operand->get().getType()))
      return operand->get();
    return memref::LoadOp::create(b, operand->get(), indicesOf(operand));
  }

  void store(Value value, OpOperand *operand) { memref::StoreOp::create(b, value, operand->get(), indicesOf(operand)); }

  linalg::LinalgOp op;
  ArrayRef<int64_t> sizes;
  ImplicitLocOpBuilder &b;
  SmallVector<unsigned> parallel, reduced;
  SmallVector<Value> point;
};

struct MapToGpu : impl::MapToGpuBase<MapToGpu> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<linalg::LinalgOp, memref::CopyOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (failed(mapOp(op)))
        return signalPassFailure();
  }

  static LogicalResult mapOp(Operation *op) {
    ImplicitLocOpBuilder b(op->getLoc(), op);
    StringRef name = isa<linalg::FillOp>(op) ? "fill" : isa<memref::CopyOp>(op) ? "copy" : "map";
    if (auto copy = dyn_cast<memref::CopyOp>(op)) {
      op = linalg::makeMemRefCopyOp(b, op->getLoc(), copy.getSource(), copy.getTarget());
      copy.erase();
    }
    auto structured = cast<linalg::LinalgOp>(op);
    if (structured.hasDynamicShape() || !structured.hasPureBufferSemantics())
      return op->emitError("a kernel is made of operations on buffers of static shapes");
    if (structured.getNumReductionLoops() > 0)
      name = "reduce";
    SmallVector<int64_t> sizes = structured.getStaticLoopRanges();
    if (!llvm::is_contained(sizes, 0) || structured.getNumReductionLoops() > 0)
      emitLaunch(structured, sizes, name);
    op->erase();
    return success();
  }

  static void emitLaunch(linalg::LinalgOp op, ArrayRef<int64_t> sizes, StringRef name) {
    ImplicitLocOpBuilder b(op->getLoc(), op);
    ThreadEmitter emitter(op, sizes, b);
    int64_t points = emitter.points();
    if (points == 0)
      return;
    int64_t warps = llvm::divideCeil(points, 32);
    int64_t threads = std::min(kBlockSize, 32 * warps), blocks = llvm::divideCeil(points, threads);
    Value one = arith::ConstantIndexOp::create(b, 1);
    auto launch = gpu::LaunchOp::create(b, arith::ConstantIndexOp::create(b, blocks), one, one,
                                        arith::ConstantIndexOp::create(b, threads), one, one);
    launch->setAttr("array.kernel", b.getStringAttr(name));
    b.setInsertionPointToStart(&launch.getBody().front());
    Value size = arith::ConstantIndexOp::create(b, threads);
    Value first = arith::MulIOp::create(b, launch.getBlockIds().x, size);
    Value thread = arith::AddIOp::create(b, first, launch.getThreadIds().x);
    if (points == threads * blocks) {
      emitter.emit(thread);
    } else {
      Value isInside =
          arith::CmpIOp::create(b, arith::CmpIPredicate::ult, thread, arith::ConstantIndexOp::create(b, points));
      auto guarded = scf::IfOp::create(b, isInside, /*withElseRegion=*/false);
      b.setInsertionPointToStart(&guarded.getThenRegion().front());
      emitter.emit(thread);
      b.setInsertionPointAfter(guarded);
    }
    gpu::TerminatorOp::create(b);
  }
};

} // namespace
} // namespace mlir::array
