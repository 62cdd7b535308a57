// The whole way from the array dialect to object code: the pipelines of lib/Pipelines, the translation to LLVM IR, and
// LLVM's part in Host.cpp. The bytes go to runtime/ or to the disk cache; both load them in the same way.
#include "array/Target/Compile.h"
#include "Host.h"
#include "array/Pipelines/Cpu.h"
#include "array/Transforms/Entry.h"
#include "array/Transforms/Sites.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include <chrono>

namespace mlir::array {
namespace {

using Timings = std::vector<std::pair<std::string, double>>;

/// Runs `stage` and notes its time under `name`.
template <typename Stage> auto timed(Timings &timings, StringRef name, Stage stage) {
  auto start = std::chrono::steady_clock::now();
  auto result = stage();
  std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  timings.emplace_back(name.str(), elapsed.count());
  return result;
}

/// Notes the first pass that failed.
struct FailedPass : PassInstrumentation {
  explicit FailedPass(std::string &name) : name(name) {}
  void runAfterPassFailed(Pass *pass, Operation *) override {
    if (name.empty())
      name = (pass->getArgument().empty() ? pass->getName() : pass->getArgument()).str();
  }
  std::string &name;
};

/// A pass that fails without saying why is named at least.
LogicalResult runPipeline(ModuleOp module, llvm::function_ref<void(OpPassManager &)> build) {
  PassManager pm(module.getContext(), ModuleOp::getOperationName());
  // The input was verified, and every pass has tests that verify its output.
  pm.enableVerifier(false);
  build(pm);
  std::string name;
  pm.addInstrumentation(std::make_unique<FailedPass>(name));
  bool explained = false;
  {
    ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diagnostic) {
      explained |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
      return failure(); // for the handlers around this one
    });
    if (succeeded(pm.run(module)))
      return success();
  }
  if (!explained)
    module.emitError("the pass ") << name << " failed";
  return failure();
}

/// Gives tensors buffers. Bufferization sees less than there is: where it finds no order in which the carry of the
/// loops can be updated in place, the carry is copied.
LogicalResult toBuffers(OwningOpRef<ModuleOp> &module) {
  auto inPlace = [](OpPassManager &pm) { buildLinalgToBuffersPipeline(pm); };
  bool hasRegions =
      module
          ->walk([](Operation *op) {
            return isa<scf::WhileOp, scf::ForOp, scf::IfOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
          })
          .wasInterrupted();
  if (!hasRegions)
    return runPipeline(*module, inPlace);
  OwningOpRef<ModuleOp> before(module->clone());
  {
    ScopedDiagnosticHandler silent(module->getContext(), [](Diagnostic &) {});
    if (succeeded(runPipeline(*module, inPlace)))
      return success();
  }
  module = std::move(before);
  return runPipeline(*module, [](OpPassManager &pm) { buildLinalgToBuffersPipeline(pm, /*copyCarry=*/true); });
}

LogicalResult report(ModuleOp module, llvm::Error error) {
  if (!error)
    return success();
  return module.emitError(llvm::toString(std::move(error)));
}

/// A module of LLVM IR with the context that owns its types.
struct LLVMModule {
  std::unique_ptr<llvm::LLVMContext> context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module;
};

FailureOr<LLVMModule> translate(ModuleOp lowered, const HostTarget &target) {
  LLVMModule result;
  result.module = translateModuleToLLVMIR(lowered, *result.context, "pycompiler", /*disableVerification=*/true);
  if (!result.module)
    return failure();
  target.prepare(*result.module);
  return result;
}

FailureOr<HostTarget *> getTarget(ModuleOp module, const CompileOptions &options) {
  auto target = HostTarget::get(options);
  if (!target)
    return report(module, target.takeError());
  return *target;
}

FailureOr<std::vector<char>> emit(ModuleOp module, HostTarget &target, LLVMModule &code, llvm::CodeGenFileType kind) {
  auto bytes = target.emit(*code.module, kind);
  if (!bytes)
    return report(module, bytes.takeError());
  return std::move(*bytes);
}

uint64_t arenaBytes(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  auto bytes = main ? main->getAttrOfType<IntegerAttr>(kArenaBytesAttr) : IntegerAttr();
  return bytes ? bytes.getInt() : 0;
}

} // namespace

FailureOr<CompiledObject> compileToObject(ModuleOp module, const CompileOptions &options) {
  CompiledObject result;
  Timings &timings = result.timings;
  FailureOr<HostTarget *> target = getTarget(module, options);
  if (failed(target))
    return failure();
  if (failed(timed(timings, "verify", [&] { return verify(module); })))
    return failure();

  OwningOpRef<ModuleOp> lowered(module.clone());
  auto stage = [&](StringRef name, llvm::function_ref<void(OpPassManager &)> build) {
    return timed(timings, name, [&] { return runPipeline(*lowered, build); });
  };
  if (failed(stage("linalg", buildArrayToLinalgPipeline)))
    return failure();
  result.flops = estimateFlops(*lowered);
  result.isUnbounded = hasUnboundedLoop(*lowered);
  auto loops = [&](OpPassManager &pm) { buildBuffersToLoopsPipeline(pm, (*target)->vectorBits()); };
  if (failed(timed(timings, "buffers", [&] { return toBuffers(lowered); })) || failed(stage("loops", loops)))
    return failure();
  result.arenaBytes = arenaBytes(*lowered);
  if (failed(stage("llvm", buildLoopsToLLVMPipeline)))
    return failure();
  result.sites = getSites(*lowered);

  FailureOr<LLVMModule> code = timed(timings, "translate", [&] { return translate(*lowered, **target); });
  if (failed(code))
    return failure();
  timed(timings, "optimize", [&] { return (*target)->optimize(*code->module), 0; });
  FailureOr<std::vector<char>> object =
      timed(timings, "codegen", [&] { return emit(module, **target, *code, llvm::CodeGenFileType::ObjectFile); });
  if (failed(object) || failed(report(module, checkSymbols(*object))))
    return failure();
  result.object = std::move(*object);
  result.entry = kEntryName.str();
  return result;
}

FailureOr<std::string> moduleAt(ModuleOp module, StringRef stage, const CompileOptions &options) {
  const auto *found = llvm::find(kStages, stage);
  if (found == std::end(kStages))
    return module.emitError("there is no stage '")
           << stage << "'; the stages are " << llvm::join(ArrayRef(kStages), ", ");
  FailureOr<HostTarget *> target = getTarget(module, options);
  if (failed(target) || failed(verify(module)))
    return failure();

  OwningOpRef<ModuleOp> lowered(module.clone());
  bool toAssembly = stage == "asm";
  // The pipeline that leads to each of kStages; the first is the input, the last is not MLIR any more.
  auto through = [&](llvm::function_ref<void(OpPassManager &)> build) { return runPipeline(*lowered, build); };
  const std::function<LogicalResult()> steps[] = {
      [] { return success(); }, [&] { return through(buildArrayToLinalgPipeline); }, [&] { return toBuffers(lowered); },
      [&] { return through([&](OpPassManager &pm) { buildBuffersToLoopsPipeline(pm, (*target)->vectorBits()); }); },
      [&] { return through(buildLoopsToLLVMPipeline); }};
  for (const auto &step : ArrayRef(steps).take_front(toAssembly ? std::size(steps) : found - kStages + 1))
    if (failed(step()))
      return failure();

  std::string text;
  llvm::raw_string_ostream stream(text);
  if (!toAssembly) {
    lowered->print(stream);
    return text;
  }
  FailureOr<LLVMModule> code = translate(*lowered, **target);
  if (failed(code))
    return failure();
  (*target)->optimize(*code->module);
  FailureOr<std::vector<char>> assembly = emit(module, **target, *code, llvm::CodeGenFileType::AssemblyFile);
  if (failed(assembly))
    return failure();
  return std::string(assembly->begin(), assembly->end());
}

} // namespace mlir::array
