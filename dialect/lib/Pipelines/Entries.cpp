// array-separate-entries and array-join-entries: all passes between them get modules with one entry, @main, as jit
// makes them. Every public function is an entry. Private functions are callees of entries, and are inlined.
#include "array/Pipelines/Entries.h"
#include "array/Analysis/SymbolicSizes.h"
#include "array/Entry/Entry.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/Pass.h"

namespace mlir::array {
namespace {

constexpr llvm::StringLiteral kMain = "main";

struct SeparateEntries : PassWrapper<SeparateEntries, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SeparateEntries)
  StringRef getArgument() const override { return "array-separate-entries"; }
  StringRef getDescription() const override {
    return "Move each public function with its callees to a separate module, as its @main";
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<StringAttr> entries;
    for (auto function : module.getOps<func::FuncOp>())
      if (function.isPublic() && !function.isExternal())
        entries.push_back(function.getSymNameAttr());
    if (entries.empty()) {
      module.emitError("the module has no public function to compile");
      return signalPassFailure();
    }
    OwningOpRef<ModuleOp> whole(module.clone());
    module.getBody()->clear();
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    for (StringAttr entry : entries) {
      auto part = cast<ModuleOp>(builder.clone(**whole));
      if (failed(makeMain(part, entry)))
        return signalPassFailure();
      // The name distinguishes the parts until they are joined.
      part.setSymNameAttr(entry);
    }
  }

  static LogicalResult makeMain(ModuleOp part, StringAttr entry) {
    SymbolTable symbols(part);
    auto function = symbols.lookup<func::FuncOp>(entry);
    Operation *taken = symbols.lookup(kMain);
    if (taken && taken != function && failed(symbols.renameToUnique(taken, {})))
      return taken->emitError("can't be renamed");
    if (taken != function && failed(symbols.rename(function, kMain)))
      return function.emitError("can't be renamed");
    for (auto other : part.getOps<func::FuncOp>())
      other.setVisibility(other == function ? SymbolTable::Visibility::Public : SymbolTable::Visibility::Private);
    return success();
  }
};

struct JoinEntries : PassWrapper<JoinEntries, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(JoinEntries)
  StringRef getArgument() const override { return "array-join-entries"; }
  StringRef getDescription() const override { return "Join the modules that array-separate-entries made"; }
  void getDependentDialects(DialectRegistry &registry) const override { registry.insert<LLVM::LLVMDialect>(); }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto parts = llvm::to_vector(module.getOps<ModuleOp>());
    for (ModuleOp part : parts)
      if (!part.getSymName() || failed(join(module, part, parts.size() == 1)))
        return signalPassFailure();
  }

private:
  static LogicalResult join(ModuleOp module, ModuleOp part, bool isOnly) {
    std::string name = part.getSymName()->str();
    SymbolTable inner(part);
    if (name != kMain && failed(renameEntry(inner, name)))
      return failure();
    Operation *entry = inner.lookup(nameFor(kEntryName, name));
    part->removeAttr(SymbolTable::getSymbolAttrName());
    for (NamedAttribute attribute : part->getAttrs())
      if (!module->hasAttr(attribute.getName())) // attributes that passes set
        (isOnly || !entry ? module : entry)->setAttr(attribute.getName(), attribute.getValue());
    SymbolTable outer(module);
    for (Operation &op : llvm::make_early_inc_range(*part.getBody())) {
      auto symbol = dyn_cast<SymbolOpInterface>(op);
      Operation *there = symbol ? outer.lookup(symbol.getName()) : nullptr;
      // External declarations, and functions that are equal in every module, are kept once.
      if (there && OperationEquivalence::isEquivalentTo(&op, there, OperationEquivalence::IgnoreLocations)) {
        op.erase();
        continue;
      }
      if (there && failed(inner.renameToUnique(&op, {&outer})))
        return op.emitError("can't be renamed");
      op.moveBefore(part);
      if (symbol)
        outer.insert(&op);
    }
    part.erase();
    return success();
  }

  /// @pcrt_f of @f; the C entry of @main is @pcrt_main.
  static std::string nameFor(StringRef known, StringRef name) {
    return name == kMain ? known.str() : known == kEntryName ? ("pcrt_" + name).str() : (known + "_" + name).str();
  }

  static LogicalResult renameEntry(SymbolTable &inner, StringRef name) {
    std::pair<StringRef, std::string> renamed[] = {
        {kMain, name.str()}, {kEntryName, nameFor(kEntryName, name)}, {kPlanName, nameFor(kPlanName, name)}};
    for (auto &[before, after] : renamed) {
      Operation *op = inner.lookup(before);
      if (!op)
        continue;
      Operation *taken = inner.lookup(after);
      if (taken && failed(inner.renameToUnique(taken, {})))
        return taken->emitError("can't be renamed");
      if (failed(inner.rename(op, after)))
        return op->emitError("can't be renamed");
    }
    return success();
  }
};

} // namespace

std::unique_ptr<Pass> createSeparateEntries() { return std::make_unique<SeparateEntries>(); }
std::unique_ptr<Pass> createJoinEntries() { return std::make_unique<JoinEntries>(); }

} // namespace mlir::array
