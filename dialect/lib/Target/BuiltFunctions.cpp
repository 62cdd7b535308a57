// Shared functions that the build compiles: their compilation, and the lookup for a target.
#include "array/Target/BuiltFunctions.h"
#include "BuiltLevel.h"
#include "KeptPipelines.h"
#include "array/Cpu/CommonFunctions.h"
#include "array/Entry/BuiltFunctions.h"
#include "array/Pipelines/Cpu.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/TargetParser/Host.h"

namespace mlir::array {

llvm::ArrayRef<FunctionLevel> functionLevels() {
  static const FunctionLevel x86[] = {
      {"x86-64-v4", "+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl,+avx2,+fma,+bmi,+bmi2,+f16c,+lzcnt,+movbe"},
      {"x86-64-v3", "+avx2,+fma,+bmi,+bmi2,+f16c,+lzcnt,+movbe"}};
  static const FunctionLevel others[] = {{"generic", ""}};
  if (llvm::Triple(llvm::sys::getProcessTriple()).isX86())
    return x86;
  return others;
}

namespace {

/// The functions of each level, by name. Filled once, before the first compilation.
std::vector<BuiltLevel> &builtLevels() {
  static auto *levels = new std::vector<BuiltLevel>(functionLevels().size());
  return *levels;
}

} // namespace

void useBuiltFunctions(llvm::ArrayRef<BuiltFunction> functions) {
  for (const BuiltFunction &function : functions)
    builtLevels()[function.level][function.name] = function.object;
}

const BuiltLevel *findBuiltLevel(const HostTarget &target) {
  // The options ask for other code than the build's.
  if (target.optLevel() != CompileOptions().optLevel || !target.isThisKind())
    return nullptr;
  for (auto [level, functions] : llvm::zip_equal(functionLevels(), builtLevels()))
    if (!functions.empty() && target.hasFeatures(level.features))
      return &functions;
  return nullptr;
}

std::vector<std::string> builtFunctions(const std::string &cpu) {
  CompileOptions options;
  options.cpu = cpu;
  auto target = HostTarget::get(options);
  if (!target) {
    llvm::consumeError(target.takeError());
    return {};
  }
  std::vector<std::string> names;
  if (const BuiltLevel *level = findBuiltLevel(**target))
    for (const auto &function : *level)
      names.push_back(function.first().str());
  return names;
}

void declareBuilt(ModuleOp module, const BuiltLevel &level) {
  Builder b(module.getContext());
  SmallVector<NamedAttribute> names;
  for (const auto &function : level)
    names.push_back(b.getNamedAttr(function.first(), b.getUnitAttr()));
  module->setAttr(kBuiltAttr, b.getDictionaryAttr(names));
}

void addBuiltObjects(llvm::ArrayRef<Unit> units, const BuiltLevel &level,
                     SmallVectorImpl<llvm::ArrayRef<char>> &objects) {
  llvm::StringSet<> added;
  for (const Unit &unit : units)
    for (const llvm::Function &function : *unit.module) {
      auto found = function.isDeclaration() ? level.find(function.getName()) : level.end();
      if (found != level.end() && added.insert(function.getName()).second)
        objects.push_back(found->second);
    }
}

FailureOr<std::vector<std::pair<std::string, std::vector<char>>>> compileCommonFunctions(MLIRContext *context,
                                                                                         const FunctionLevel &level) {
  CompileOptions options;
  options.cpu = level.cpu.str();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context));
  auto target = HostTarget::get(options);
  if (!target)
    return module->emitError(llvm::toString(target.takeError()));
  addCommonFunctions(*module, (*target)->features().vectorBits);
  std::vector<std::pair<std::string, std::vector<char>>> objects;
  for (auto function : llvm::make_early_inc_range(module->getOps<func::FuncOp>())) {
    OwningOpRef<ModuleOp> alone = ModuleOp::create(function.getLoc());
    function->remove();
    function->removeAttr("llvm.linkage");
    alone->push_back(function);
    std::string name = function.getName().str();
    Timings passes;
    if (failed(runPipeline(*alone, "shared", buildSharedToLLVMPipeline, passes)))
      return failure();
    llvm::LLVMContext llvmContext;
    std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(*alone, llvmContext, name);
    if (!code)
      return failure();
    code->getFunction(name)->setVisibility(llvm::GlobalValue::HiddenVisibility);
    (*target)->prepare(*code);
    (*target)->optimize(*code);
    auto object = (*target)->emit(*code, llvm::CodeGenFileType::ObjectFile, /*isForBuild=*/true);
    if (!object)
      return alone->emitError(llvm::toString(object.takeError()));
    objects.emplace_back(name, std::move(*object));
  }
  return objects;
}

} // namespace mlir::array
