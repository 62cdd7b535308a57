// The flags of --compile-to, and the pass that lowers a module to a stage.
#include "CompileTo.h"
#include "array/Pipelines/Cpu.h"
#include "array/Pipelines/Gpu.h"
#include "array/Target/ModuleAt.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ManagedStatic.h"

namespace mlir::array {
namespace {

namespace cl = llvm::cl;

struct Flags {
  cl::OptionCategory category{"Compilation", "The output of --compile-to, and its machine."};
  cl::opt<const Stage *> stage{"compile-to", cl::desc("Compile @main, and print it at a stage:"), cl::init(nullptr),
                               cl::cat(category)};
  cl::opt<std::string> cpu{"mcpu", cl::desc("The CPU to compile for (this machine's)"), cl::value_desc("cpu-name"),
                           cl::cat(category)};
  cl::opt<std::string> features{"mattr", cl::desc("Its features (this machine's)"), cl::value_desc("+a1,-a2"),
                                cl::cat(category)};
  cl::opt<std::string> triple{"mtriple", cl::desc("Another kind of machine"), cl::cat(category)};
  cl::opt<int> optLevel{"codegen-level", cl::desc("LLVM's code generation level, 0 to 3"),
                        cl::init(CompileOptions().optLevel), cl::cat(category)};
  cl::opt<std::string> chip{"gpu-chip", cl::desc("The GPU to compile for"), cl::init("sm_80"), cl::value_desc("sm_80"),
                            cl::cat(category)};
  cl::list<std::string> libraries{"gpu-libraries", cl::desc("Libraries that programs for a GPU may call"),
                                  cl::value_desc("cublaslt"), cl::CommaSeparated, cl::cat(category)};

  Flags() {
    for (const Stage &known : stages())
      stage.getParser().addLiteralOption(known.name, &known, known.description);
  }

  StageOptions options() const {
    return {{cpu, features, optLevel, triple}, chip, {libraries.begin(), libraries.end()}, /*hasLines=*/false};
  }
};

llvm::ManagedStatic<Flags> flags;

/// Lowers a module to a stage of MLIR. For a stage of code, lowers it to the last stage of MLIR and generates the code,
/// which goes to the tool's output. A pipeline that is read as text, such as that of a reproducer, has no such output.
struct CompileToPass : PassWrapper<CompileToPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CompileToPass)

  CompileToPass() = default;
  CompileToPass(const CompileToPass &other) : PassWrapper(), output(other.output) {}
  CompileToPass(StringRef name, const StageOptions &options, llvm::raw_ostream &output) : output(&output) {
    stage = name.str();
    cpu = options.host.cpu;
    features = options.host.features;
    triple = options.host.triple;
    optLevel = options.host.optLevel;
    chip = options.chip;
    libraries = options.libraries;
  }

  StringRef getArgument() const override { return "array-compile-to"; }
  StringRef getName() const override { return "CompileTo"; }
  StringRef getDescription() const override { return "Compile @main up to a stage of --compile-to"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registerPipelineDialects(registry);
    registerGpuDialects(registry);
  }

  StageOptions options() const {
    return {{cpu, features, optLevel, triple}, chip, {libraries.begin(), libraries.end()}, /*hasLines=*/false};
  }

  void runOnOperation() override {
    const Stage *found = llvm::find_if(stages(), [&](const Stage &known) { return known.name == stage; });
    if (found == stages().end()) {
      getOperation().emitError("array-compile-to: there is no stage '") << stage.getValue() << "'";
      return signalPassFailure();
    }
    FailureOr<OwningOpRef<ModuleOp>> lowered = lowerTo(getOperation(), *found, options());
    if (failed(lowered))
      return signalPassFailure();
    getOperation().getBodyRegion().takeBody((*lowered)->getBodyRegion());
    getOperation()->setAttrs((**lowered)->getAttrDictionary());
    if (found->isCode())
      writeCode(*found);
  }

  void writeCode(const Stage &stage) {
    // Code generation modifies modules.
    OwningOpRef<ModuleOp> lowered(getOperation().clone());
    FailureOr<std::string> code = stage.emit(*lowered, options());
    if (failed(code))
      return signalPassFailure();
    if (output)
      *output << *code;
  }

  llvm::raw_ostream *output = nullptr;

  Option<std::string> stage{*this, "stage", cl::desc("A stage of --compile-to")};
  Option<std::string> cpu{*this, "cpu", cl::desc("As --mcpu")};
  Option<std::string> features{*this, "features", cl::desc("As --mattr")};
  Option<std::string> triple{*this, "triple", cl::desc("As --mtriple")};
  Option<int> optLevel{*this, "codegen-level", cl::desc("As --codegen-level"), cl::init(CompileOptions().optLevel)};
  Option<std::string> chip{*this, "chip", cl::desc("As --gpu-chip"), cl::init("sm_80")};
  ListOption<std::string> libraries{*this, "libraries", cl::desc("As --gpu-libraries")};
};

} // namespace

void registerCompileTo() {
  (void)*flags;
  PassRegistration<CompileToPass>();
}

bool isCompileToGiven() { return flags->stage; }

LogicalResult checkFlags(const MlirOptMainConfig &config) {
  auto fail = [](const llvm::Twine &message) {
    llvm::errs() << "array-opt: " << message << "\n";
    return failure();
  };
  if (!isCompileToGiven()) {
    std::reference_wrapper<const cl::Option> parts[] = {flags->cpu,      flags->features, flags->triple,
                                                        flags->optLevel, flags->chip,     flags->libraries};
    for (const cl::Option &part : parts)
      if (part.getNumOccurrences() > 0)
        return fail("--" + part.ArgStr + " is a part of --compile-to=<stage>, which is missing");
    return success();
  }
  const Stage &stage = *flags->stage;
  if (stage.isCode() && (config.shouldEmitBytecode() || config.bytecodeVersionToEmit()))
    return fail("--emit-bytecode is for MLIR, which the stage '" + stage.name + "' is not");
  if (stage.isCode() && !config.inputSplitMarker().empty())
    return fail("--compile-to=" + stage.name + " takes one module, so there is no --split-input-file");
  return success();
}

llvm::raw_ostream &addCompilation(MlirOptMainConfig &config, llvm::raw_ostream &output) {
  const Stage &stage = *flags->stage;
  config.setPassPipelineSetupFn([config, &stage, &output](PassManager &pm) -> LogicalResult {
    if (failed(config.setupPassPipeline(pm)))
      return failure();
    pm.addPass(std::make_unique<CompileToPass>(stage.name, flags->options(), output));
    return success();
  });
  return stage.isCode() ? llvm::nulls() : output;
}

} // namespace mlir::array
