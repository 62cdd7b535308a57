// LLVM IR -> optimized LLVM IR -> object code in memory, for this machine or another one.
#include "Host.h"
#include "OmittedPasses.h"
#include "QuickEntry.h"
#include "SplitStores.h"
#include "array/Target/Stop.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include <map>
#include <mutex>

namespace mlir::array {

// Earlier passes have made the loops, the vectors and the accumulators, so only addresses need simplification. Neither
// LLVM's vectorizer nor O2 makes these kernels faster, and O2 takes six times as long. In a textual pipeline,
// instcombine checks by default that a second run would change nothing, and ends the process if it would.
static constexpr llvm::StringLiteral kLLVMPipeline =
    "function(lower-expect,sroa,early-cse,simplifycfg,loop-mssa(licm),instcombine<no-verify-fixpoint>,simplifycfg)";

struct HostTarget::Optimizer {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  llvm::ModulePassManager passes;

  explicit Optimizer(llvm::TargetMachine *machine) : builder(machine) {
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(callGraph);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, callGraph, modules);
    llvm::cantFail(builder.parsePassPipeline(passes, kLLVMPipeline));
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(SplitStores()));
    // Code generation takes half a millisecond for each function, however short. Inlining comes after the other passes,
    // because they have more facts about pointers that are arguments.
    passes.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
    passes.addPass(QuickEntry());
  }
};

/// The passes of code generation. Their setup takes half a millisecond, so they are reused for one module after the
/// other: the end of a run resets their state.
struct HostTarget::Emitter {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream{bytes};
  llvm::legacy::PassManager passes;
};

HostTarget::HostTarget(std::unique_ptr<llvm::TargetMachine> machine, bool hasBFloat16Pairs)
    : machine(std::move(machine)), hasBFloat16Pairs(hasBFloat16Pairs),
      optimizer(std::make_unique<Optimizer>(this->machine.get())) {}

HostTarget::~HostTarget() = default;

/// This machine's features, as differences from its CPU model (a hypervisor may hide some). LLVM looks the string up
/// repeatedly, so it should be short.
static std::string hostFeatures(const llvm::MCSubtargetInfo &model) {
  llvm::SubtargetFeatures features;
  for (auto &feature : llvm::sys::getHostCPUFeatures())
    if (model.checkFeatures(("+" + feature.first()).str()) != feature.second)
      features.AddFeature(feature.first(), feature.second);
  return features.getString();
}

static constexpr llvm::StringLiteral kBFloat16Pairs = "avx512bf16";

/// The conversions to bfloat16 of AVX512_BF16 flush denormals (Intel's manual, VCVTNEPS2BF16), and LLVM cannot select
/// every load and store of such vectors. So array-expand-bfloat16 rounds in integer arithmetic, and this feature is
/// enabled only in functions that multiply pairs. Returns whether the machine has it.
static bool takeBFloat16Pairs(const llvm::Target &target, const llvm::Triple &triple, llvm::StringRef cpu,
                              std::string &features) {
  if (!triple.isX86())
    return false;
  std::unique_ptr<llvm::MCSubtargetInfo> machine(target.createMCSubtargetInfo(triple, cpu, features));
  bool isThere = machine->checkFeatures("+avx512bf16");
  if (isThere)
    features += (features.empty() ? "-" : ",-") + kBFloat16Pairs.str();
  return isThere;
}

template <typename Value> static llvm::cl::opt<Value> *findOption(llvm::StringRef name) {
  auto &options = llvm::cl::getRegisteredOptions();
  auto found = options.find(name);
  return found == options.end() ? nullptr : static_cast<llvm::cl::opt<Value> *>(found->second);
}

/// LLVM's scheduler joins each memory access of a block with each that may be of the same memory, up to this many of
/// them. Its default, 1000, makes time grow with the square of the length of unrolled programs
/// (docs/rationale/015-scheduler.md).
static void boundSchedulerGraphs() {
  constexpr unsigned mostAccesses = 200;
  llvm::cl::opt<unsigned> *option = findOption<unsigned>("dag-maps-huge-region");
  if (option && option->getNumOccurrences() == 0)
    option->setValue(mostAccesses);
}

/// Adds the passes of code generation without those that `omissions` names. LLVM reads these options while passes are
/// added.
static bool addEmissionPasses(llvm::TargetMachine &machine, llvm::legacy::PassManager &passes,
                              llvm::raw_pwrite_stream &stream, llvm::CodeGenFileType kind,
                              llvm::ArrayRef<llvm::StringRef> omissions) {
  static std::mutex adding;
  std::lock_guard<std::mutex> guard(adding);
  llvm::SmallVector<llvm::cl::opt<bool> *> set;
  for (llvm::StringRef name : omissions)
    if (llvm::cl::opt<bool> *option = findOption<bool>(name); option && !*option) {
      option->setValue(true);
      set.push_back(option);
    }
  bool failed = machine.addPassesToEmitFile(passes, stream, nullptr, kind, /*DisableVerify=*/true);
  for (llvm::cl::opt<bool> *option : set)
    option->setValue(false);
  return !failed;
}

static llvm::Expected<std::pair<std::unique_ptr<llvm::TargetMachine>, bool>>
makeMachine(const CompileOptions &options) {
  static std::once_flag bounded;
  std::call_once(bounded, boundSchedulerGraphs);
  if (options.triple.empty()) {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  } else {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
  }
  llvm::Triple triple(options.triple.empty() ? llvm::sys::getProcessTriple() : llvm::Triple::normalize(options.triple));
  std::string message;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return llvm::createStringError("LLVM can't generate code for " + triple.str() + ": " + message);

  bool isHost = options.cpu.empty() && options.triple.empty();
  std::string cpu = isHost ? llvm::sys::getHostCPUName().str() : options.cpu;
  std::unique_ptr<llvm::MCSubtargetInfo> model(target->createMCSubtargetInfo(triple, cpu, ""));
  if (!cpu.empty() && !model->isCPUStringValid(cpu))
    return llvm::createStringError("unknown CPU '" + cpu + "' for " + triple.str());
  std::string features = isHost && options.features.empty() ? hostFeatures(*model) : options.features;
  bool hasBFloat16Pairs = takeBFloat16Pairs(*target, triple, cpu, features);
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, cpu, features, llvm::TargetOptions(), llvm::Reloc::PIC_,
                                  llvm::CodeModel::Small, static_cast<llvm::CodeGenOptLevel>(options.optLevel)));
  if (!machine)
    return llvm::createStringError("LLVM can't generate code for " + triple.str());
  return std::pair(std::move(machine), hasBFloat16Pairs);
}

namespace {
/// All targets, by their options and workers. Never destroyed: threads may use them while the process ends.
struct Targets {
  std::mutex lock;
  std::map<std::tuple<std::string, std::string, std::string, int, unsigned>, std::unique_ptr<HostTarget>> known;
  std::vector<std::unique_ptr<HostTarget>> left;
};

Targets &allTargets() {
  static auto *targets = new Targets();
  return *targets;
}
} // namespace

llvm::Expected<HostTarget *> HostTarget::get(const CompileOptions &options, unsigned worker) {
  std::lock_guard<std::mutex> guard(allTargets().lock);
  if (options.optLevel < 0 || options.optLevel > 3)
    return llvm::createStringError("the code generation level must be 0 to 3, not %d", options.optLevel);
  auto &target = allTargets().known[{options.triple, options.cpu, options.features, options.optLevel, worker}];
  if (!target) {
    auto machine = makeMachine(options);
    if (!machine)
      return machine.takeError();
    target.reset(new HostTarget(std::move(machine->first), machine->second));
  }
  return target.get();
}

void HostTarget::leaveBusy() {
  Targets &all = allTargets();
  std::lock_guard<std::mutex> guard(all.lock);
  for (auto entry = all.known.begin(); entry != all.known.end();) {
    if (entry->second && !entry->second->busy.try_lock()) {
      all.left.push_back(std::move(entry->second));
      entry = all.known.erase(entry);
      continue;
    }
    if (entry->second)
      entry->second->busy.unlock();
    ++entry;
  }
}

/// The hardware prefetching of AMD's cores is as fast as the caches: on Zen 4 a sum of 4 MiB takes 42 us, and 54 to 63
/// us with a prefetch for each line, at any distance. Intel's cores gain from prefetches.
static bool fetchesByItself(llvm::StringRef cpu) { return cpu.starts_with("znver"); }

int HostTarget::optLevel() const { return static_cast<int>(machine->getOptLevel()); }

CpuFeatures HostTarget::features() const {
  CpuFeatures features;
  features.vectorBits = 128;
  features.hasExtrema = !machine->getTargetTriple().isX86();
  if (!machine->getTargetTriple().isX86())
    return features;
  auto has = [&](const char *feature) { return machine->getMCSubtargetInfo()->checkFeatures(feature); };
  features.vectorBits = has("+avx512f") ? 512 : has("+avx2") ? 256 : 128;
  features.fma = has("+fma");
  features.bfloat16Dot2 = hasBFloat16Pairs;
  if (fetchesByItself(machine->getTargetCPU()))
    features.prefetchDistance = 0;
  return features;
}

/// The functions that multiply pairs of bf16.
static llvm::SmallPtrSet<llvm::Function *, 2> usersOfPairs(const llvm::Module &module) {
  llvm::SmallPtrSet<llvm::Function *, 2> users;
  if (llvm::Function *product = module.getFunction("llvm.x86.avx512bf16.dpbf16ps.512"))
    for (llvm::User *call : product->users())
      users.insert(llvm::cast<llvm::Instruction>(call)->getFunction());
  return users;
}

bool HostTarget::hasFeatures(llvm::StringRef features) const {
  return features.empty() || machine->getMCSubtargetInfo()->checkFeatures(features.str());
}

bool HostTarget::isThisKind() const {
  llvm::Triple here(llvm::sys::getProcessTriple()), triple = machine->getTargetTriple();
  return triple.getArch() == here.getArch() && triple.getOS() == here.getOS();
}

void HostTarget::prepare(llvm::Module &module) const {
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
  llvm::SmallPtrSet<llvm::Function *, 2> withPairs = usersOfPairs(module);
  std::string features = machine->getTargetFeatureString().str(),
              pairFeatures = features + (features.empty() ? "+" : ",+") + kBFloat16Pairs.str();
  for (llvm::Function &function : module) {
    function.setDoesNotThrow();
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine->getTargetCPU());
    function.addFnAttr("target-features", withPairs.contains(&function) ? pairFeatures : features);
    // Without it LLVM splits 512-bit vectors on CPUs that may lower their clock.
    function.addFnAttr("prefer-vector-width", "512");
  }
}

void HostTarget::optimize(llvm::Module &module) {
  std::lock_guard<std::mutex> guard(busy);
  optimizer->passes.run(module, optimizer->modules);
  optimizer->modules.clear();
  optimizer->callGraph.clear();
  optimizer->functions.clear();
  optimizer->loops.clear();
}

llvm::Expected<std::vector<char>> HostTarget::emit(llvm::Module &module, llvm::CodeGenFileType kind, bool isForBuild) {
  std::lock_guard<std::mutex> guard(busy);
  llvm::SmallVector<llvm::StringRef, 2> omissions;
  if (!isForBuild)
    omissions = omittedPasses(module);
  std::unique_ptr<Emitter> &emitter = emitters[{kind, llvm::join(omissions, " ")}];
  if (!emitter) {
    auto made = std::make_unique<Emitter>();
    if (!addEmissionPasses(*machine, made->passes, made->stream, kind, omissions))
      return llvm::createStringError("LLVM can't emit this kind of file for " + machine->getTargetTriple().str());
    emitter = std::move(made);
  }
  emitter->bytes.clear();
  emitter->passes.run(module);
  return std::vector<char>(emitter->bytes.begin(), emitter->bytes.end());
}

void leaveBusyTargets() { HostTarget::leaveBusy(); }

static thread_local const std::atomic<bool> *stopFlag = nullptr;

void setStopFlag(const std::atomic<bool> *flag) { stopFlag = flag; }

const std::atomic<bool> *getStopFlag() { return stopFlag; }

} // namespace mlir::array
