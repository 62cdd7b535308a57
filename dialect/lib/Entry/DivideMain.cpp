// array-divide-main: a long block of @main becomes calls of private functions of bounded length, so that the time of
// later passes, above all LLVM's, is proportional to the length of the program, and they work on the parts at the same
// time. Runs after array-outline-kernels, which has outlined repeated parts; array-expand-math and
// array-parallelize-loops follow.
//
// A part is a sequence of operations. Its inputs are the used arguments of @main, and values that earlier operations
// computed. Its results are the values that later operations use. Views of buffers are not passed, but made again.
#include "Analysis/ParallelLoops.h"
#include "array/Entry/Entry.h"
#include "array/Entry/Passes.h"
#include "array/IR/Array.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::array {

#define GEN_PASS_DEF_DIVIDEMAIN
#include "array/Entry/Passes.h.inc"

namespace {

/// An operation without operands: it stays in @main, and is repeated where it is used.
bool isRepeated(Operation *op) { return op->hasTrait<OpTrait::ConstantLike>(); }

/// Memory that @main has: it stays there, and is passed. Units of code do not share globals.
bool isMemoryOfMain(Operation *op) { return isa<memref::AllocaOp, memref::GetGlobalOp>(op); }

/// Memory of each piece of a loop for threads.
bool isPrivate(Value value) {
  Operation *source = value.getDefiningOp();
  return source && isa<memref::AllocaOp>(source) && source->hasAttr(kPrivateAttr);
}

/// Whether a block belongs to one iteration of a loop for threads.
bool hasParallelParent(Block *block) {
  for (Operation *op = block->getParentOp(); op; op = op->getParentOp())
    if (op->hasAttr(kParallelAttr))
      return true;
  return false;
}

/// A view of a buffer, which is made again where it is used.
bool isView(Operation *op) {
  return isa<ViewLikeOpInterface>(op) && op->getNumResults() == 1 && isa<MemRefType>(op->getResult(0).getType()) &&
         isMemoryEffectFree(op);
}

/// The approximate number of LLVM's instructions.
int64_t sizeOf(Operation *op) {
  constexpr int64_t mathOperations = 20;
  int64_t size = 0;
  op->walk([&](Operation *inner) {
    size += isa<math::MathDialect>(inner->getDialect()) && !isa<math::AbsFOp, math::FmaOp>(inner) ? mathOperations : 1;
  });
  return size;
}

/// Operations that can fail must report their place in @main, from which they return. A loop of unknown length has its
/// budget there.
bool staysInMain(Operation *op) {
  return op->hasTrait<OpTrait::IsTerminator>() ||
         op->walk([&](Operation *inner) {
             bool stays =
                 isa<RuntimeCallOp, ArenaOp, SymbolOp, ThreadsOp, SpendOp, memref::AllocOp, scf::WhileOp>(inner) ||
                 (inner != op && isa<memref::GetGlobalOp>(inner)) || isa<LLVM::LLVMDialect>(inner->getDialect());
             return stays ? WalkResult::interrupt() : WalkResult::advance();
           }).wasInterrupted();
}

/// A sequence of operations of a block of @main.
class Part {
public:
  Part(func::FuncOp main, Operation *first, Operation *last)
      : main(main), block(first->getBlock()), b(main.getContext()) {
    for (auto it = first->getIterator(); it != std::next(last->getIterator()); ++it)
      ops.push_back(&*it);
  }

  /// Moves the operations to a function. Does nothing if a buffer cannot be passed.
  bool outline(const Twine &name) {
    for (Operation *op : ops)
      (isRepeated(op) || isMemoryOfMain(op) ? left : isView(op) ? views : moved).push_back(op);
    within.insert(moved.begin(), moved.end());
    within.insert(views.begin(), views.end());
    if (!read())
      return false;
    call(create(name));
    return true;
  }

private:
  bool isWithin(Value value) const {
    Operation *source = value.getDefiningOp();
    if (!source)
      source = value.getParentBlock()->getParentOp();
    source = source ? block->findAncestorOpInBlock(*source) : nullptr;
    return source && within.contains(source);
  }

  /// Finds the values from outside, and those that are used outside.
  bool read() {
    bool canPass = true;
    for (Operation *op : moved)
      op->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          canPass = canPass && (!isa<MemRefType>(operand.getType()) ? takeScalar(operand) : take(operand));
        isParallel |= inner->hasAttr(kParallelAttr);
        return canPass ? WalkResult::advance() : WalkResult::interrupt();
      });
    for (Operation *op : llvm::reverse(ops)) {
      bool isUsed = llvm::any_of(op->getUsers(), [&](Operation *user) {
        Operation *ancestor = block->findAncestorOpInBlock(*user);
        return !ancestor || !within.contains(ancestor) || remade.contains(ancestor);
      });
      if (!within.contains(op))
        continue;
      if (isView(op)) {
        if (isUsed || !seen.contains(op->getResult(0)))
          remade.insert(op);
      } else if (isUsed)
        for (Value result : op->getResults())
          if (!result.use_empty())
            results.push_back(result);
    }
    return canPass && llvm::all_of(results, [](Value value) {
             return value.getType().isIntOrIndexOrFloat() || isa<VectorType>(value.getType());
           });
  }

  bool takeScalar(Value value) {
    if (isWithin(value) || !seen.insert(value).second)
      return true;
    Operation *source = value.getDefiningOp();
    if (source && isRepeated(source))
      copies.push_back(source);
    else
      passed.push_back(value);
    return value.getType().isIntOrIndexOrFloat() || isa<VectorType, LLVM::LLVMPointerType>(value.getType());
  }

  /// Takes a buffer: one that @main has, or a view, which is made again.
  bool take(Value buffer) {
    Operation *source = buffer.getDefiningOp();
    bool isMoved = source && !isView(source) && isWithin(buffer);
    if (isMoved || isInner(buffer) || !seen.insert(buffer).second)
      return true;
    if (source && isRepeated(source)) {
      copies.push_back(source);
      return true;
    }
    if (source && isView(source)) {
      for (Value operand : source->getOperands())
        if (!(isa<MemRefType>(operand.getType()) ? take(operand) : takeScalar(operand)))
          return false;
      if (!within.contains(source))
        copies.push_back(source);
      return true;
    }
    auto type = cast<MemRefType>(buffer.getType());
    bool isOfMain = (source && isMemoryOfMain(source)) || buffer.getParentBlock() == &main.getBody().front();
    passed.push_back(buffer);
    return isOfMain && type.hasStaticShape() && type.getLayout().isIdentity();
  }

  /// Whether a value is defined inside one of the moved operations.
  bool isInner(Value value) const { return value.getParentBlock() != block && isWithin(value); }

  func::FuncOp create(const Twine &name) {
    b.setInsertionPoint(main);
    SmallVector<Type> types, resultTypes;
    for (Value value : passed)
      types.push_back(value.getType());
    for (Value value : results)
      resultTypes.push_back(value.getType());
    auto function = func::FuncOp::create(b, ops.front()->getLoc(), name.str(), b.getFunctionType(types, resultTypes));
    function.setPrivate();
    function->setAttr(kKernelAttr, b.getUnitAttr());
    function->setAttr(kUnitAttr, b.getUnitAttr());
    function->setAttr("llvm.linkage", LLVM::LinkageAttr::get(b.getContext(), LLVM::Linkage::Internal));
    Block *body = function.addEntryBlock();
    b.setInsertionPointToStart(body);
    IRMapping mapping;
    for (auto [index, value] : llvm::enumerate(passed)) {
      mapping.map(value, body->getArgument(index));
      auto argument = dyn_cast<BlockArgument>(value);
      bool isOfMain = argument && argument.getOwner() == &main.getBody().front();
      if (isOfMain)
        function.setArgAttrs(index, main.getArgAttrDict(argument.getArgNumber()));
      else if (isa<MemRefType>(value.getType())) {
        setEntryRole(function, index, EntryRole::Argument);
        function.setArgAttr(index, kWrittenAttr, b.getUnitAttr());
      }
    }
    for (Operation *op : copies)
      b.clone(*op, mapping);
    moveInto(body, mapping);
    for (auto [value, argument] : llvm::zip_first(passed, body->getArguments()))
      if (isPrivate(value))
        giveEachPiece(value, argument);
    SmallVector<Value> returned;
    for (Value value : results)
      returned.push_back(mapping.lookupOrDefault(value));
    func::ReturnOp::create(b, ops.front()->getLoc(), returned);
    if (isParallel)
      takeFrame(function);
    return function;
  }

  /// A loop for threads has a private buffer in this function, of which array-parallelize-loops gives each piece one:
  /// an argument would be the same memory for all of them.
  void giveEachPiece(Value buffer, BlockArgument argument) {
    auto isInParallelLoop = [](OpOperand &use) { return hasParallelParent(use.getOwner()->getBlock()); };
    if (llvm::none_of(argument.getUses(), isInParallelLoop))
      return;
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(argument.getOwner());
    argument.replaceUsesWithIf(b.clone(*buffer.getDefiningOp())->getResult(0), isInParallelLoop);
  }

  /// Moves the operations, except for the views that later ones use, which are copied.
  void moveInto(Block *body, IRMapping &mapping) {
    anchor = ops.back()->getNextNode();
    for (Operation *op : ops) {
      if (!within.contains(op))
        continue;
      if (remade.contains(op)) {
        if (seen.contains(op->getResult(0)))
          b.clone(*op, mapping);
        continue;
      }
      op->moveBefore(body, body->end());
      op->walk([&](Operation *inner) {
        for (OpOperand &operand : inner->getOpOperands())
          if (Value inside = mapping.lookupOrNull(operand.get()))
            operand.set(inside);
      });
      b.setInsertionPointToEnd(body);
    }
  }

  void call(func::FuncOp function) {
    b.setInsertionPoint(anchor);
    SmallVector<Value> operands(passed);
    if (function.getNumArguments() > passed.size())
      operands.push_back(takeFrame(main));
    auto call = func::CallOp::create(b, function.getLoc(), function, operands);
    for (auto [value, result] : llvm::zip_equal(results, call.getResults()))
      value.replaceUsesWithIf(result,
                              [&](OpOperand &use) { return use.getOwner()->getParentOfType<func::FuncOp>() == main; });
    // Views may depend on results.
    for (Operation *op : ops)
      if (remade.contains(op))
        op->moveBefore(anchor);
    for (Operation *op : left)
      op->moveBefore(call);
  }

  func::FuncOp main;
  Block *block;
  OpBuilder b;
  SmallVector<Operation *> ops, left, views, moved;
  SmallPtrSet<Operation *, 16> within; ///< Moved operations and views.
  SmallPtrSet<Operation *, 16> remade; ///< Views that later operations use.
  SmallPtrSet<Value, 16> seen;
  SmallVector<Operation *> copies; ///< Repeated in the function, in this order.
  SmallVector<Value> passed, results;
  Operation *anchor = nullptr;
  bool isParallel = false;
};

struct DivideMain : impl::DivideMainBase<DivideMain> {
  using DivideMainBase::DivideMainBase;

  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal())
      return;
    ofArena.clear();
    // The size of the arena is also computed without @main (array-emit-entry), so its operations stay together.
    main->walk([&](ArenaOp arena) { findOperands(arena, ofArena); });
    // Blocks of loops first: then the loops are short.
    SmallVector<Block *> blocks;
    // Loops in a loop for threads belong to one thread.
    main->walk<WalkOrder::PostOrder>([&](Block *block) {
      if (!hasParallelParent(block))
        blocks.push_back(block);
    });
    int number = 0;
    for (Block *block : blocks)
      divide(main, block, number);
    if (number > 0)
      eraseUnused(main);
  }

  void divide(func::FuncOp main, Block *block, int &number) {
    std::vector<std::pair<Operation *, int64_t>> sizes;
    int64_t whole = 0;
    for (Operation &op : *block)
      whole += sizes.emplace_back(&op, sizeOf(&op)).second;
    if (whole <= 2 * length)
      return;
    Operation *first = nullptr, *last = nullptr;
    int64_t size = 0;
    auto finish = [&] {
      if (size >= length / 4 && Part(main, first, last).outline("part" + Twine(number)))
        ++number;
      first = nullptr;
      size = 0;
    };
    for (auto [op, own] : sizes) {
      if (ofArena.contains(op) || staysInMain(op)) {
        finish();
        continue;
      }
      if (!first)
        first = op;
      last = op;
      size += own;
      // Few values are computed in one part and used in the next if it ends with a loop or a store.
      bool isEnd = op->getNumResults() == 0;
      if (size >= (isEnd ? length : 2 * length))
        finish();
    }
    finish();
  }

  /// Adds the operations that compute the operands of an operation.
  static void findOperands(Operation *op, SmallPtrSetImpl<Operation *> &found) {
    for (Value operand : op->getOperands())
      if (Operation *source = operand.getDefiningOp(); source && found.insert(source).second)
        findOperands(source, found);
  }

  SmallPtrSet<Operation *, 16> ofArena;

  /// Erases views and constants that only the functions need now.
  static void eraseUnused(func::FuncOp main) {
    main->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
      if (isOpTriviallyDead(op))
        op->erase();
    });
  }
};

} // namespace
} // namespace mlir::array
