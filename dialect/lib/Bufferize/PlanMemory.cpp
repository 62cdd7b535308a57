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
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/MapVector.h"
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

/// Emits the places of slots in the arena, from the symbolic sizes of their members.
class SlotOffsets {
public:
  SlotOffsets(OpBuilder &builder, func::FuncOp function, SymbolicSizes &sizes)
      : b(function.getLoc(), builder), sizes(sizes),
        mayBeNegative(function->getParentOfType<ModuleOp>()->hasAttr(kCheckedAttr)) {}

  /// Places the slots after the temporaries of known sizes, one after the other. Returns the offset of each, and the
  /// total bytes; -1 if they overflow, which ends the call before it begins.
  std::pair<SmallVector<Value>, Value> emit(ArrayRef<Slot> slots, int64_t bytes) {
    SmallVector<Value> offsets;
    Value end = constant(llvm::alignTo(bytes, PCRT_ALIGNMENT));
    for (const Slot &slot : slots) {
      offsets.push_back(end);
      end = arith::AddIOp::create(b, end, emitBytes(slot));
    }
    // Well below the overflow, so that the known temporaries and the rounding fit, too.
    Value most = arith::ConstantOp::create(b, b.getF64FloatAttr(0x1p62));
    Value fits = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, about, most);
    return {offsets, arith::SelectOp::create(b, fits, end, constant(-1))};
  }

private:
  /// The bytes of an array: a product of symbolic sizes, by their numbers, with a constant.
  using Product = SmallVector<unsigned>;

  /// The bytes of the largest member of a slot, as whole cache lines.
  Value emitBytes(const Slot &slot) {
    // The largest constant for each product: its other members need no comparison at run time.
    llvm::MapVector<Product, double> products;
    for (Temporary *member : slot.members) {
      auto [product, constant] = productOf(member->alloc);
      double &most = products.insert({product, 0.0}).first->second;
      most = std::max(most, constant);
    }
    Value most;
    for (auto &[product, factor] : products) {
      Value bytes = emitProduct(product, factor);
      most = most ? arith::MaxUIOp::create(b, most, bytes).getResult() : bytes;
    }
    most = arith::AddIOp::create(b, most, constant(PCRT_ALIGNMENT - 1));
    return arith::MulIOp::create(b, arith::DivUIOp::create(b, most, constant(PCRT_ALIGNMENT)),
                                 constant(PCRT_ALIGNMENT));
  }

  std::pair<Product, double> productOf(memref::AllocOp alloc) {
    double constant = static_cast<double>(bytesOfElement(alloc.getType().getElementType()));
    Product product;
    for (int64_t dim = 0; dim < alloc.getType().getRank(); ++dim) {
      OpFoldResult size = sizes.sizeOf(alloc, dim);
      if (std::optional<int64_t> known = getConstantIntValue(size))
        constant *= static_cast<double>(*known);
      else
        product.push_back(numbers.insert({cast<Value>(size), numbers.size()}).first->second);
    }
    llvm::sort(product);
    return {product, constant};
  }

  /// The approximate number of bytes, as a float that does not wrap, is added to `about`; it is huge if a size is
  /// negative. Modules from files check their sizes at run time, and then report the operation with the negative size.
  Value emitProduct(const Product &product, double factor) {
    // Constants that do not fit end the call: `about` is too large.
    Value bytes = constant(factor < 0x1p62 ? static_cast<int64_t>(factor) : 0);
    Value own = arith::ConstantOp::create(b, b.getF64FloatAttr(factor));
    for (unsigned number : product) {
      Value size = std::next(numbers.begin(), number)->first;
      if (mayBeNegative)
        size = arith::MaxSIOp::create(b, size, constant(0));
      bytes = arith::MulIOp::create(b, bytes, size);
      // A size of 0 must not hide the other sizes.
      Value word = arith::IndexCastOp::create(b, b.getI64Type(), arith::MaxUIOp::create(b, size, constant(1)));
      own = arith::MulFOp::create(b, own, arith::UIToFPOp::create(b, b.getF64Type(), word));
    }
    about = about ? arith::AddFOp::create(b, about, own).getResult() : own;
    return bytes;
  }

  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b, value); }

  ImplicitLocOpBuilder b;
  SymbolicSizes &sizes;
  bool mayBeNegative;
  /// The numbers of symbolic sizes, in the order of their appearance.
  llvm::MapVector<Value, unsigned> numbers;
  Value about;
};

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
      auto [starts, total] = SlotOffsets(builder, function, sizes).emit(slots, bytes);
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
