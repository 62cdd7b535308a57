// Divides a module of the LLVM dialect into units, and translates them to LLVM IR.
#include "Units.h"
#include "array/Entry/Entry.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Support/xxhash.h"

namespace mlir::array {

namespace {

/// A smaller function, in operations, stays in the unit of its caller: a unit costs about a millisecond.
constexpr size_t leastOperations = 100;

size_t countOperations(Operation *function) {
  size_t count = 0;
  function->walk([&](Operation *) { ++count; });
  return count;
}

/// Decides the unit of each function: its own, that of the only unit that refers to it, or the first.
class Splitter {
public:
  explicit Splitter(ModuleOp module) : module(module), symbols(module) {
    for (Operation &op : *module.getBody())
      read(&op);
    spread();
  }

  ArrayRef<Operation *> roots() const { return rootOps; }

  /// Moves the functions of a root to a separate module.
  OwningOpRef<ModuleOp> extract(Operation *root) {
    OwningOpRef<ModuleOp> unit = ModuleOp::create(root->getLoc());
    SmallVector<Operation *> members;
    for (Operation &op : *module.getBody())
      if (owners.lookup(&op) == root)
        members.push_back(&op);
    for (Operation *member : members) {
      member->remove();
      unit->push_back(member);
    }
    for (Operation *member : members)
      for (Operation *used : references[member])
        if (owners.lookup(used) != root)
          declare(*unit, used);
    declare(module, root);
    return unit;
  }

private:
  static bool isDefinition(Operation *op) {
    auto function = dyn_cast<LLVM::LLVMFuncOp>(op);
    return !function || !function.isExternal();
  }

  void read(Operation *op) {
    bool isRoot = op->hasAttr(kUnitAttr) && isDefinition(op) && countOperations(op) >= leastOperations;
    if (isRoot)
      rootOps.push_back(op);
    owners[op] = isRoot ? op : nullptr;
    op->walk([&](Operation *inner) {
      StringRef name;
      if (auto call = dyn_cast<LLVM::CallOp>(inner))
        name = call.getCallee().value_or("");
      else if (auto address = dyn_cast<LLVM::AddressOfOp>(inner))
        name = address.getGlobalName();
      if (Operation *used = name.empty() ? nullptr : symbols.lookup(name))
        references[op].insert(used);
    });
  }

  /// A function joins the only unit that refers to it.
  void spread() {
    DenseSet<Operation *> reached;
    SmallVector<Operation *> work;
    for (Operation &op : *module.getBody()) {
      if (owners.lookup(&op) || isEntry(&op)) {
        reached.insert(&op);
        work.push_back(&op);
      }
    }
    SmallPtrSet<Operation *, 8> fixed(rootOps.begin(), rootOps.end());
    while (!work.empty()) {
      Operation *op = work.pop_back_val();
      for (Operation *used : references[op]) {
        if (fixed.contains(used))
          continue;
        bool isNew = reached.insert(used).second;
        Operation *owner = isNew || owners.lookup(used) == owners.lookup(op) ? owners.lookup(op) : nullptr;
        if (!isNew && owner == owners.lookup(used))
          continue;
        owners[used] = owner;
        work.push_back(used);
      }
    }
  }

  static bool isEntry(Operation *op) {
    auto function = dyn_cast<LLVM::LLVMFuncOp>(op);
    return function && function.getSymName() == kEntryName;
  }

  /// Declares a symbol of another module in that of `user`.
  void declare(ModuleOp user, Operation *symbol) {
    if (user.lookupSymbol(SymbolTable::getSymbolName(symbol)))
      return;
    auto function = dyn_cast<LLVM::LLVMFuncOp>(symbol);
    if (!function)
      return;
    if (isDefinition(function)) {
      function.setLinkage(LLVM::Linkage::External);
      function.setVisibility_(LLVM::Visibility::Hidden);
    }
    Operation *declaration = function->cloneWithoutRegions();
    declaration->removeAttr(kUnitAttr);
    user.getBody()->push_back(declaration);
  }

  ModuleOp module;
  SymbolTable symbols;
  SmallVector<Operation *> rootOps;
  DenseMap<Operation *, Operation *> owners; ///< The root, or null for the first unit.
  DenseMap<Operation *, llvm::SetVector<Operation *>> references;
};

LogicalResult translate(ModuleOp module, const HostTarget &target, Unit &unit) {
  unit.module = translateModuleToLLVMIR(module, *unit.context, "pycompiler", /*disableVerification=*/true);
  if (!unit.module)
    return failure();
  target.prepare(*unit.module);
  return success();
}

/// Gives the functions of a unit names that depend on its contents alone: the same kernel may have different numbers in
/// different modules.
void nameByContents(Unit &unit, bool hasNumber, const HostTarget &target) {
  for (llvm::Function &function : *unit.module)
    if (function.hasLocalLinkage())
      function.setName("");
  if (hasNumber)
    unit.root->setName("kernel");
  llvm::SmallVector<char, 0> bytes;
  llvm::BitcodeWriter writer(bytes);
  writer.writeModule(*unit.module);
  writer.writeStrtab();
  llvm::XXH128_hash_t hash =
      llvm::xxh3_128bits(llvm::ArrayRef(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()));
  // The CPU and its features are attributes of the functions.
  unit.key = llvm::utohexstr(hash.high64) + llvm::utohexstr(hash.low64, /*LowerCase=*/false, /*Width=*/16) + "_" +
             std::to_string(target.optLevel());
  if (hasNumber)
    unit.root->setName("kernel_" + unit.key);
}

/// Calls roots of other units by the names that depend on their contents.
void callByContents(llvm::Module &module, const llvm::StringMap<std::string> &names) {
  for (llvm::Function &function : llvm::make_early_inc_range(module)) {
    auto known = function.isDeclaration() ? names.find(function.getName()) : names.end();
    if (known == names.end() || known->second == function.getName())
      continue;
    if (llvm::Function *same = module.getFunction(known->second)) {
      function.replaceAllUsesWith(same);
      function.eraseFromParent();
    } else {
      function.setName(known->second);
    }
  }
}

} // namespace

FailureOr<std::vector<Unit>> translateToUnits(ModuleOp module, const HostTarget &target) {
  Splitter splitter(module);
  std::vector<Unit> units(1);
  // A unit may call the roots of earlier ones: a part of @main calls kernels.
  std::vector<OwningOpRef<ModuleOp>> parts;
  for (Operation *root : splitter.roots())
    parts.push_back(splitter.extract(root));
  llvm::StringMap<std::string> names;
  llvm::StringSet<> known;
  for (auto [root, part] : llvm::zip_equal(splitter.roots(), parts)) {
    std::string name = SymbolTable::getSymbolName(root).str();
    Unit unit;
    if (failed(translate(*part, target, unit)))
      return failure();
    unit.root = unit.module->getFunction(name);
    callByContents(*unit.module, names);
    nameByContents(unit, /*hasNumber=*/root->hasAttr(kKernelAttr), target);
    names[name] = unit.root->getName().str();
    if (known.insert(unit.root->getName()).second)
      units.push_back(std::move(unit));
  }
  Unit &first = units.front();
  if (failed(translate(module, target, first)))
    return failure();
  callByContents(*first.module, names);
  return units;
}

} // namespace mlir::array
