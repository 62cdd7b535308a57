// array-plan-memory gives every temporary a place in one arena at compile time, so that compiled code allocates
// nothing. It runs when all temporaries and their sizes are final: matmuls have added their packing buffers, and loops
// over rows have reduced shared temporaries to one row. array-parallelize-loops follows.
#include "Analysis/BufferUses.h"
#include "Entry/Guards.h"
#include "Temporaries.h"
#include "array/Analysis/SymbolicSizes.h"
#include "array/Bufferize/MemoryPlan.h"
#include "array/Bufferize/Passes.h"
#include "array/Entry/CallSites.h"
#include "array/Entry/Entry.h"
#include "array/IR/Array.h"
#include "array/IR/Bytes.h"
#include "runtime/Abi.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::array {

#define GEN_PASS_DEF_PLANMEMORY
#include "array/Bufferize/Passes.h.inc"

std::vector<PlannedBuffer> getMemoryPlan(ModuleOp module) {
  std::vector<PlannedBuffer> plan;
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main)
    return plan;
  main.walk([&](memref::ViewOp view) {
    auto live = view->getAttrOfType<DenseI64ArrayAttr>(kLiveAttr);
    std::optional<int64_t> offset = getConstantIntValue(view.getByteShift());
    if (!live || !offset)
      return;
    std::string type;
    llvm::raw_string_ostream(type) << view.getType();
    plan.push_back({*offset, live[2], live[0], live[1], type, placeText(view.getLoc())});
  });
  llvm::stable_sort(plan, [](const PlannedBuffer &a, const PlannedBuffer &b) {
    return std::pair(a.offset, a.first) < std::pair(b.offset, b.first);
  });
  return plan;
}

namespace {

/// Temporaries of symbolic sizes with disjoint lifetimes. They share the memory of the largest one.
struct Slot {
  SmallVector<Temporary *> members;

  bool takes(const Temporary &temporary) const {
    return llvm::none_of(members, [&](Temporary *member) { return member->livesWith(temporary); });
  }
};

/// In program order, each temporary gets the first slot of its size that is free during its lifetime, else any free
/// slot.
SmallVector<Slot> assignSlots(MutableArrayRef<Temporary> temporaries) {
  auto sizesOf = [](const Temporary &temporary) {
    memref::AllocOp alloc = temporary.alloc;
    return std::pair(alloc.getType(), SmallVector<Value>(alloc.getDynamicSizes()));
  };
  SmallVector<Slot> slots;
  for (Temporary &temporary : temporaries) {
    if (!isSized(temporary))
      continue;
    Slot *free = nullptr;
    for (Slot &slot : slots) {
      if (!slot.takes(temporary))
        continue;
      bool isLike = llvm::any_of(slot.members, [&](Temporary *m) { return sizesOf(*m) == sizesOf(temporary); });
      if (!free || isLike)
        free = &slot;
      if (isLike)
        break;
    }
    if (!free)
      free = &slots.emplace_back();
    free->members.push_back(&temporary);
  }
  return slots;
}

struct PlanMemory : impl::PlanMemoryBase<PlanMemory> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    planGrids(function);
    SmallVector<Allocation> allocations;
    function.walk([&](memref::AllocOp alloc) { allocations.push_back({alloc, viewsOf(alloc)}); });
    if (allocations.empty())
      return;
    for (const Allocation &allocation : allocations)
      if (failed(checkAlloc(allocation)))
        return signalPassFailure();

    SmallVector<Temporary> temporaries = findLifetimes(function, allocations);
    std::optional<int64_t> bytes = assignOffsets(temporaries);
    if (!bytes) {
      function.emitError("the temporaries of @") << function.getSymName() << " take more bytes than 2**63 - 1";
      return signalPassFailure();
    }
    if (failed(useArena(function, temporaries, *bytes)))
      signalPassFailure();
  }

  /// The bytes of a temporary of symbolic size, as whole cache lines. Their approximate number, as a float that does
  /// not wrap, is added to `about`; it is huge if a size is negative. Modules from files check their sizes at run time,
  /// and then report the operation with the negative size.
  static Value emitBytes(OpBuilder &builder, memref::AllocOp alloc, SymbolicSizes &sizes, Value &about) {
    Location loc = alloc.getLoc();
    auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); };
    auto toFloat = [&](Value size) {
      Value word = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), size);
      return arith::UIToFPOp::create(builder, loc, builder.getF64Type(), word);
    };
    bool mayBeNegative = alloc->getParentOfType<ModuleOp>()->hasAttr(kCheckedAttr);
    Value bytes = constant(bytesOfElement(alloc.getType().getElementType()));
    Value own = toFloat(bytes);
    for (int64_t dim = 0; dim < alloc.getType().getRank(); ++dim) {
      Value size = getValueOrCreateConstantIndexOp(builder, loc, sizes.sizeOf(alloc, dim));
      if (mayBeNegative)
        size = arith::MaxSIOp::create(builder, loc, size, constant(0));
      bytes = arith::MulIOp::create(builder, loc, bytes, size);
      // A size of 0 must not hide the other sizes.
      own = arith::MulFOp::create(builder, loc, own, toFloat(arith::MaxUIOp::create(builder, loc, size, constant(1))));
    }
    about = about ? arith::AddFOp::create(builder, loc, about, own).getResult() : own;
    bytes = arith::AddIOp::create(builder, loc, bytes, constant(PCRT_ALIGNMENT - 1));
    return arith::MulIOp::create(builder, loc, arith::DivUIOp::create(builder, loc, bytes, constant(PCRT_ALIGNMENT)),
                                 constant(PCRT_ALIGNMENT));
  }

  /// Places the slots after the temporaries of known sizes, one after the other. Returns the offset of each, and the
  /// total bytes; -1 if they overflow, which ends the call before it begins.
  static std::pair<SmallVector<Value>, Value> emitOffsets(OpBuilder &builder, Location loc, ArrayRef<Slot> slots,
                                                          int64_t bytes, SymbolicSizes &sizes) {
    SmallVector<Value> offsets;
    Value about;
    Value end = arith::ConstantIndexOp::create(builder, loc, llvm::alignTo(bytes, PCRT_ALIGNMENT));
    for (const Slot &slot : slots) {
      Value most;
      for (Temporary *member : slot.members) {
        Value size = emitBytes(builder, member->alloc, sizes, about);
        most = most ? arith::MaxUIOp::create(builder, loc, most, size).getResult() : size;
      }
      offsets.push_back(end);
      end = arith::AddIOp::create(builder, loc, end, most);
    }
    // Well below the overflow, so that the known temporaries and the rounding fit, too.
    Value most = arith::ConstantOp::create(builder, loc, builder.getF64FloatAttr(0x1p62));
    Value fits = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, about, most);
    Value none = arith::ConstantIndexOp::create(builder, loc, -1);
    return {offsets, arith::SelectOp::create(builder, loc, fits, end, none)};
  }

  static LogicalResult useArena(func::FuncOp function, MutableArrayRef<Temporary> temporaries, int64_t bytes) {
    OpBuilder builder(function.getContext());
    SmallVector<Slot> slots = assignSlots(temporaries);
    if (slots.empty())
      function->setAttr(kArenaBytesAttr, builder.getI64IntegerAttr(bytes));
    if (temporaries.empty())
      return success();
    unsigned index = function.getNumArguments();
    auto type = MemRefType::get({slots.empty() ? bytes : ShapedType::kDynamic}, builder.getI8Type());
    (void)function.insertArgument(index, type, DictionaryAttr(), function.getLoc());
    setEntryRole(function, index, EntryRole::Arena);
    Value arena = function.getArgument(index);

    DenseMap<Operation *, Value> offsets;
    if (!slots.empty()) {
      SymbolicSizes sizes(function);
      for (const Temporary &temporary : temporaries) { // the values of their sizes are at the start
        memref::AllocOp alloc = temporary.alloc;
        if (isSized(temporary) && !sizes.sizesOf(alloc))
          return alloc.emitError("the sizes of a temporary must follow from the symbols of the call, but are of ")
                 << alloc.getType();
      }
      builder.setInsertionPointToStart(&function.front());
      if (sizes.end())
        builder.setInsertionPointAfter(sizes.end());
      auto [starts, total] = emitOffsets(builder, function.getLoc(), slots, bytes, sizes);
      ArenaOp::create(builder, function.getLoc(), total);
      for (auto [slot, start] : llvm::zip_equal(slots, starts))
        for (Temporary *member : slot.members)
          offsets[member->alloc] = start;
    }
    for (const Temporary &temporary : temporaries)
      replaceByView(temporary, arena, offsets.lookup(temporary.alloc));
    return success();
  }
};

} // namespace
} // namespace mlir::array
