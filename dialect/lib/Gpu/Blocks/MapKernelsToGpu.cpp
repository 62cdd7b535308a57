// array-map-kernels-to-gpu: the loop over the programs of an own kernel becomes a launch, with a block of threads for
// each program. Runs on buffers, before all passes that make a launch of each operation.
#include "Analysis/BufferUses.h"
#include "BlockOperations.h"
#include "Bufferize/Temporaries.h"
#include "array/Analysis/GivenUp.h"
#include "array/Gpu/Kernels.h"
#include "array/Gpu/Nvvm.h"
#include "array/Gpu/Passes.h"
#include "array/IR/Array.h"
#include "array/IR/Kernel.h"
#include "runtime/Abi.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::array {

#define GEN_PASS_DEF_MAPKERNELSTOGPU
#include "array/Gpu/Passes.h.inc"

namespace {

/// Bytes of a block's temporaries in shared memory: a launch may have 48 KiB, and joins of reductions need some.
constexpr int64_t kSharedBytes = 40 << 10;
/// Bytes of the temporaries of all blocks in device memory.
constexpr int64_t kSpilledBytes = int64_t(1) << 28;

bool isShared(Operation *op) { return isa<linalg::LinalgOp, memref::CopyOp>(op); }

/// Whether threads can execute an operation of a body.
bool hasThreadForm(Operation *op) {
  if (isShared(op))
    return llvm::all_of(op->getOperands(), [](Value operand) {
      auto type = dyn_cast<MemRefType>(operand.getType());
      return !type || type.hasStaticShape();
    });
  if (auto alloc = dyn_cast<memref::AllocOp>(op))
    return alloc.getType().hasStaticShape();
  if (isa<ArrayDialect>(op->getDialect()))
    return false;
  return isa<scf::ForOp, scf::WhileOp, scf::IfOp, memref::DeallocOp, memref::LoadOp, memref::StoreOp>(op) ||
         op->hasTrait<OpTrait::IsTerminator>() || (op->getNumRegions() == 0 && isMemoryEffectFree(op));
}

/// Why the host must run a loop; empty if blocks of threads can.
std::string obstacle(scf::ForOp loop) {
  if (loop.getNumResults() != 0)
    return "its outputs are not updated in place";
  std::string why;
  loop.getBody()->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!hasThreadForm(op)) {
      why = ("its body has " + op->getName().getStringRef()).str();
      if (auto call = dyn_cast<RuntimeCallOp>(op))
        why = ("its body calls the routine \"" + call.getName() + "\"").str();
      return WalkResult::interrupt();
    }
    return isShared(op) ? WalkResult::skip() : WalkResult::advance();
  });
  return why;
}

class KernelMapping {
public:
  KernelMapping(func::FuncOp function, scf::ForOp loop, int64_t programs, bool hasCores)
      : function(function), loop(loop), programs(programs), blocks(programs), hasCores(hasCores) {}

  LogicalResult map() {
    if (failed(findTemporaries()))
      return failure();
    createLaunch();
    placeTemporaries();
    SmallVector<Operation *> operations;
    launch.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isShared(op) || isa<memref::LoadOp, memref::StoreOp>(op))
        operations.push_back(op);
      return isShared(op) ? WalkResult::skip() : WalkResult::advance();
    });
    llvm::erase_if(operations, [&](Operation *op) {
      auto load = dyn_cast<memref::LoadOp>(op);
      return load && isNeverWritten(viewedBuffer(load.getMemref()), operations);
    });
    for (Operation *op : operations) {
      if (auto copy = dyn_cast<memref::CopyOp>(op); copy && copy.getSource() == copy.getTarget()) {
        copy.erase();
        continue;
      }
      OpBuilder after(op->getContext());
      after.setInsertionPointAfter(op);
      // All threads read before one of them goes on to write, and the block writes before one goes on to read.
      gpu::BarrierOp::create(after, op->getLoc());
      if (isa<memref::StoreOp>(op))
        storeByOneThread(op);
      else if (isShared(op) && failed(shareAmongThreads(launch, op, threads, hasCores)))
        return failure();
    }
    Operation *end = launch.getBody().front().getTerminator();
    if (auto last = dyn_cast_if_present<gpu::BarrierOp>(end->getPrevNode()))
      last->erase();
    return success();
  }

private:
  static bool isNeverWritten(Value buffer, ArrayRef<Operation *> operations) {
    return isMemoryOfItsOwn(buffer) &&
           llvm::none_of(operations, [&](Operation *op) { return mayWriteMemory(op, buffer); });
  }

  /// The temporaries of a program, those in shared memory first.
  LogicalResult findTemporaries() {
    SmallVector<Allocation> allocations;
    auto isInside = [&](Operation *user) { return loop->isAncestor(user); };
    function.walk([&](memref::AllocOp alloc) {
      Allocation allocation{alloc, viewsOf(alloc)};
      if (isInside(alloc) || llvm::all_of(alloc->getUsers(), isInside))
        allocations.push_back(std::move(allocation));
    });
    for (const Allocation &allocation : allocations) {
      if (failed(checkAlloc(allocation)))
        return failure();
      memref::AllocOp alloc = allocation.alloc;
      alloc->moveBefore(loop.getBody(), loop.getBody()->begin());
    }
    SmallVector<Temporary> all = findLifetimes(function, allocations);
    llvm::stable_sort(all, [](const Temporary &a, const Temporary &b) { return a.bytes < b.bytes; });
    for (const Temporary &temporary : all) {
      SmallVector<Temporary> with(inShared);
      with.push_back(temporary);
      std::optional<int64_t> bytes = spilled.empty() ? assignOffsets(with) : std::nullopt;
      if (bytes && *bytes <= kSharedBytes) {
        inShared = std::move(with);
        sharedBytes = *bytes;
      } else {
        spilled.push_back(temporary);
      }
    }
    std::optional<int64_t> bytes = assignOffsets(spilled);
    if (!bytes)
      return loop.emitError("the temporaries of one program take more bytes than 2**63 - 1");
    spilledBytes = llvm::alignTo(*bytes, PCRT_ALIGNMENT);
    if (spilledBytes > 0)
      blocks = std::min({programs, kManyBlocks, std::max<int64_t>(kSpilledBytes / spilledBytes, 1)});
    return success();
  }

  Value index(OpBuilder &b, int64_t value) { return arith::ConstantIndexOp::create(b, loop.getLoc(), value); }

  /// The body of the loop in a launch. A block runs every `blocks`-th program.
  void createLaunch() {
    int64_t wanted = kWarpSize;
    loop.walk([&](Operation *op) {
      if (isShared(op))
        wanted = std::max(wanted, threadsWanted(op));
    });
    threads = static_cast<int64_t>(llvm::PowerOf2Ceil(std::min(wanted, kBlockSize)));
    OpBuilder b(loop);
    Value one = index(b, 1);
    Value bytes;
    if (sharedBytes > 0)
      bytes = arith::ConstantOp::create(b, loop.getLoc(),
                                        b.getI32IntegerAttr(static_cast<int32_t>(sharedBytes + PCRT_ALIGNMENT)));
    Value buffer;
    if (spilledBytes > 0)
      buffer = memref::AllocOp::create(b, loop.getLoc(), MemRefType::get({blocks * spilledBytes}, b.getI8Type()));
    launch = gpu::LaunchOp::create(b, loop.getLoc(), index(b, blocks), one, one, index(b, threads), one, one, bytes);
    launch->setAttr(kLaunchNameAttr, b.getStringAttr("kernel"));
    b.setInsertionPointToEnd(&launch.getBody().front());
    if (sharedBytes > 0)
      sharedMemory = takeShared(b);
    if (spilledBytes > 0) {
      Value start = arith::MulIOp::create(b, loop.getLoc(), launch.getBlockIds().x, index(b, spilledBytes));
      spilledMemory = memref::ViewOp::create(b, loop.getLoc(), MemRefType::get({spilledBytes}, b.getI8Type()), buffer,
                                             start, ValueRange());
    }
    Operation *end = gpu::TerminatorOp::create(b, loop.getLoc());
    loop->moveBefore(end);
    b.setInsertionPoint(loop);
    Value low = arith::AddIOp::create(b, loop.getLoc(), loop.getLowerBound(), launch.getBlockIds().x);
    if (blocks == programs) {
      loop.getInductionVar().replaceAllUsesWith(low);
      loop.getBody()->getTerminator()->erase();
      end->getBlock()->getOperations().splice(end->getIterator(), loop.getBody()->getOperations());
      loop.erase();
    } else {
      loop.setLowerBound(low);
      loop.setStep(index(b, blocks));
    }
  }

  /// The shared memory of a block, aligned for every element, in the generic address space.
  Value takeShared(OpBuilder &builder) {
    ImplicitLocOpBuilder b(loop.getLoc(), builder);
    auto space = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
    auto typeOf = [&](int64_t size, Attribute space) {
      return MemRefType::get({size}, b.getI8Type(), MemRefLayoutAttrInterface(), space);
    };
    Value all = gpu::DynamicSharedMemoryOp::create(b, typeOf(ShapedType::kDynamic, space));
    Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, all);
    Value unit = index(b, PCRT_ALIGNMENT);
    Value over = arith::RemUIOp::create(b, address, unit);
    Value start = arith::RemUIOp::create(b, arith::SubIOp::create(b, unit, over), unit);
    Value aligned = memref::ViewOp::create(b, typeOf(sharedBytes, space), all, start, ValueRange());
    return memref::MemorySpaceCastOp::create(b, typeOf(sharedBytes, Attribute()), aligned);
  }

  void placeTemporaries() {
    for (const Temporary &temporary : inShared)
      replaceByView(temporary, sharedMemory);
    for (const Temporary &temporary : spilled)
      replaceByView(temporary, spilledMemory);
  }

  void storeByOneThread(Operation *store) {
    KernelBuilder k(launch, store);
    k.when(k.isLess(k.thread(), 1), [&] { store->moveBefore(k.getInsertionBlock(), k.getInsertionPoint()); });
  }

  func::FuncOp function;
  scf::ForOp loop;
  int64_t programs, blocks, threads = kWarpSize;
  bool hasCores;
  SmallVector<Temporary> inShared, spilled;
  int64_t sharedBytes = 0, spilledBytes = 0;
  Value sharedMemory, spilledMemory;
  gpu::LaunchOp launch;
};

struct MapKernelsToGpu : impl::MapKernelsToGpuBase<MapKernelsToGpu> {
  using MapKernelsToGpuBase::MapKernelsToGpuBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    MapKernelsToGpuBase::getDependentDialects(registry);
    registerNvvmDialects(registry); // of the tensor cores' instructions
  }

  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
      if (!loop->removeAttr(kGridAttr))
        return WalkResult::advance();
      loops.push_back(loop);
      loop->walk([](scf::ForOp inner) { inner->removeAttr(kGridAttr); });
      return WalkResult::skip();
    });
    for (scf::ForOp loop : loops) {
      auto low = getConstantIntValue(loop.getLowerBound()), high = getConstantIntValue(loop.getUpperBound()),
           step = getConstantIntValue(loop.getStep());
      std::string why = !low || !high || step != 1 ? "the number of its programs is computed" : obstacle(loop);
      if (!why.empty())
        tellGivenUp(loop.getLoc(), "sequential-kernel", "the host launches the operations of each program: " + why);
      else if (*high > *low && failed(KernelMapping(getOperation(), loop, *high - *low, chip != "sm_75").map()))
        return signalPassFailure();
    }
  }
};

} // namespace
} // namespace mlir::array
