// Delta debugging on a module. Each kind of edit is tried on all places at once, then on halves, quarters, down to each
// place. Edits are kept if the module stays valid and interesting to the script. The kinds repeat until none of them
// changes the module. MLIR's Tester runs the script. MLIR's own --reduction-tree leaves uses of erased values behind,
// and crashes on them (22.1), so it does not serve modules with uses.
#include "Reduction.h"
#include "array/IR/Array.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Reducer/Tester.h"
#include "llvm/Support/FileSystem.h"

namespace mlir::array {
namespace {

/// The number of times that an edit applies to an operation, and a function for one of them, which may fail.
struct Edit {
  unsigned (*countPlaces)(Operation *);
  bool (*apply)(Operation *, unsigned place);
};

bool isInside(Operation *op) { return op->getParentOp() != nullptr; }

unsigned countSymbol(Operation *op) { return isInside(op) && isa<SymbolOpInterface>(op); }

bool eraseSymbol(Operation *op, unsigned) {
  Operation *table = SymbolTable::getNearestSymbolTable(op->getParentOp());
  if (!table || !SymbolTable::symbolKnownUseEmpty(op, table))
    return false;
  op->erase();
  return true;
}

unsigned countResults(Operation *op) {
  auto function = dyn_cast<func::FuncOp>(op);
  return function && !function.isExternal() ? function.getNumResults() : 0;
}

unsigned countArguments(Operation *op) {
  auto function = dyn_cast<func::FuncOp>(op);
  return function && !function.isExternal() ? function.getNumArguments() : 0;
}

/// Edits of a called function would change its callers.
bool isCalled(func::FuncOp function) {
  return !SymbolTable::symbolKnownUseEmpty(function, SymbolTable::getNearestSymbolTable(function->getParentOp()));
}

bool dropResult(Operation *op, unsigned place) {
  auto function = cast<func::FuncOp>(op);
  if (isCalled(function))
    return false;
  function.walk([&](func::ReturnOp end) { end->eraseOperand(place); });
  return succeeded(function.eraseResult(place));
}

bool dropArgument(Operation *op, unsigned place) {
  auto function = cast<func::FuncOp>(op);
  if (isCalled(function) || !function.getArgument(place).use_empty())
    return false;
  return succeeded(function.eraseArgument(place));
}

unsigned countErasable(Operation *op) {
  return isInside(op) && !op->hasTrait<OpTrait::IsTerminator>() && !isa<SymbolOpInterface>(op);
}

bool eraseUnused(Operation *op, unsigned) {
  if (!op->use_empty())
    return false;
  op->erase();
  return true;
}

bool replaceAll(Operation *op, llvm::function_ref<Value(Type)> findSimpler) {
  SmallVector<Value> simpler;
  for (Type type : op->getResultTypes())
    if (Value value = findSimpler(type))
      simpler.push_back(value);
  if (op->use_empty() || simpler.size() != op->getNumResults())
    return false;
  op->replaceAllUsesWith(simpler);
  op->erase();
  return true;
}

bool replaceByOperand(Operation *op, unsigned) {
  return replaceAll(op, [&](Type type) {
    auto found = llvm::find_if(op->getOperands(), [&](Value operand) { return operand.getType() == type; });
    return found == op->getOperands().end() ? Value() : *found;
  });
}

bool replaceByZeros(Operation *op, unsigned) {
  if (op->hasTrait<OpTrait::ConstantLike>())
    return false;
  OpBuilder builder(op);
  return replaceAll(op, [&](Type type) -> Value {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape())
      return {};
    auto zeros = dyn_cast_if_present<ElementsAttr>(builder.getZeroAttr(type));
    return zeros ? ConstantOp::create(builder, op->getLoc(), zeros).getResult() : Value();
  });
}

// Edits that remove the most come first.
constexpr Edit kEdits[] = {
    {countSymbol, eraseSymbol},        {countResults, dropResult},      {countErasable, eraseUnused},
    {countErasable, replaceByOperand}, {countErasable, replaceByZeros}, {countErasable, eraseUnused},
    {countArguments, dropArgument},
};

/// The places of an edit in a module, in the order of the module.
SmallVector<std::pair<Operation *, unsigned>> findPlaces(const Edit &edit, ModuleOp module) {
  SmallVector<std::pair<Operation *, unsigned>> places;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (unsigned place : llvm::seq(edit.countPlaces(op)))
      places.emplace_back(op, place);
  });
  return places;
}

struct Reduction : PassWrapper<Reduction, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Reduction)

  Reduction() = default;
  Reduction(const Reduction &) : PassWrapper() {}

  StringRef getArgument() const override { return "array-reduction"; }
  StringRef getDescription() const override { return "Make a module small that a script finds interesting"; }
  void getDependentDialects(DialectRegistry &registry) const override { registry.insert<ArrayDialect>(); }

  void runOnOperation() override {
    if (!llvm::sys::fs::can_execute(test)) {
      getOperation().emitError("array-reduction: test='") << test << "' is no script that can be run";
      return signalPassFailure();
    }
    Tester tester(test, testArguments);
    if (tester.isInteresting(getOperation()).first != Tester::Interestingness::True) {
      getOperation().emitError("array-reduction: the module is not interesting to begin with: '")
          << test << "' must end with the status 1 for it";
      return signalPassFailure();
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (const Edit &edit : kEdits)
        changed |= tryParts(edit, tester);
    }
  }

  /// Tries an edit on ever smaller parts of its places. Returns whether an edit was kept.
  bool tryParts(const Edit &edit, const Tester &tester) {
    bool changed = false;
    for (size_t size = findPlaces(edit, getOperation()).size(); size > 0; size /= 2)
      // From the end: users of a value come after it.
      for (size_t end = findPlaces(edit, getOperation()).size(); end > 0; end -= std::min(end, size)) {
        // A kept edit may have removed places.
        end = std::min(end, findPlaces(edit, getOperation()).size());
        changed |= tryPart(edit, end - std::min(end, size), end, tester);
      }
    return changed;
  }

  bool tryPart(const Edit &edit, size_t begin, size_t end, const Tester &tester) {
    OwningOpRef<ModuleOp> edited(getOperation().clone());
    auto places = findPlaces(edit, *edited);
    bool changed = false;
    for (size_t number = end; number > begin; --number)
      changed |= edit.apply(places[number - 1].first, places[number - 1].second);
    if (!changed || !isValid(*edited) || tester.isInteresting(*edited).first != Tester::Interestingness::True)
      return false;
    getOperation().getBodyRegion().takeBody(edited->getBodyRegion());
    return true;
  }

  static bool isValid(ModuleOp module) {
    ScopedDiagnosticHandler silent(module.getContext(), [](Diagnostic &) {});
    return succeeded(verify(module));
  }

  Option<std::string> test{*this, "test", llvm::cl::desc("The script: it ends with 1 if a module is interesting")};
  ListOption<std::string> testArguments{*this, "test-arg", llvm::cl::desc("Its arguments before the module")};
};

} // namespace

void registerReduction() { PassRegistration<Reduction>(); }

} // namespace mlir::array
