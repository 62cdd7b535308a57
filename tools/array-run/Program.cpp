// Selection of the function, checks that it can run here, compilation and loading.
#include "Program.h"
#include "Failure.h"

#include "array/Analysis/SymbolicSizes.h"
#include "array/Entry/Entry.h"
#include "array/Entry/Link.h"
#include "array/IR/Array.h"
#include "array/Target/Compile.h"
#include "runtime/GpuLibraries.h"
#include "runtime/Lapack.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "runtime/Devices.h"
#include "runtime/Executable.h"
#include "runtime/KernelImage.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <chrono>
#include <cstdlib>

using namespace arrayrun;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using mlir::func::FuncOp;

//===-- Devices --------------------------------------------------------------------------------------------------===//

Expected<pcrt::Device *> arrayrun::findDevice(StringRef name, unsigned participants) {
  auto [platform, digits] = name.split(':');
  unsigned number = 0;
  if ((platform != "cpu" && platform != "gpu") || (name.contains(':') && digits.getAsInteger(10, number)))
    return failure("there is no device '" + name + "': expected cpu, gpu or gpu:NUMBER");
  // The first request starts the runtime's search for devices. The GPU driver starts slowly.
  if (platform == "cpu") {
    setenv("PYCOMPILER_PLATFORM", "cpu", /*overwrite=*/1);
    setenv("PYCOMPILER_NUM_CPU_DEVICES", std::to_string(number + participants).c_str(), /*overwrite=*/1);
  }
  std::vector<std::string> names;
  for (pcrt::Device *device : pcrt::Devices::all())
    if (platform == device->platform())
      names.push_back(device->name());
  if (platform == "gpu" && names.empty())
    return failure("there is no GPU: " + pcrt::Devices::gpuStatus().message());
  if (number + participants > names.size())
    return failure("--device=" + name +
                   (participants > 1 ? " and " + std::to_string(participants) + " participants" : "") + ": there are " +
                   llvm::join(names, ", "));
  for (pcrt::Device *device : pcrt::Devices::all())
    if (platform == device->platform() && static_cast<unsigned>(device->id()) == number)
      return device;
  return failure("there is no device '" + name + "'");
}

//===-- The function ---------------------------------------------------------------------------------------------===//

static Error missingEntry(mlir::ModuleOp module, StringRef entry) {
  std::vector<std::string> names;
  for (auto function : module.getOps<FuncOp>())
    names.push_back("@" + function.getSymName().str());
  return failure("the module has no function @" + entry +
                 (names.empty() ? "" : "; it has " + llvm::join(names, ", ") + ": name one by --entry"));
}

/// The compiler takes @main. Other functions stay if @main calls them.
static Expected<FuncOp> chooseEntry(mlir::ModuleOp module, StringRef entry) {
  auto function = module.lookupSymbol<FuncOp>(entry);
  if (!function)
    return missingEntry(module, entry);
  if (function.isExternal())
    return failure("@" + entry + " is only declared: there is nothing to run");
  mlir::SymbolTable symbols(module);
  auto main = module.lookupSymbol<FuncOp>("main");
  if (main && main != function && mlir::failed(symbols.renameToUnique(main, {})))
    return failure("@main can't be renamed");
  if (main != function && mlir::failed(symbols.rename(function, "main")))
    return failure("@" + entry + " can't be renamed");
  for (auto other : module.getOps<FuncOp>())
    other.setVisibility(other == function ? mlir::SymbolTable::Visibility::Public
                                          : mlir::SymbolTable::Visibility::Private);
  // The caller keeps the arguments here, so none is donated.
  function->removeAttr(mlir::array::kDonatedAttr);
  mlir::PassManager passes(module->getName());
  passes.addPass(mlir::createSymbolDCEPass());
  if (mlir::failed(passes.run(module)))
    return failure("");
  return function;
}

static Error readTypes(mlir::TypeRange types, StringRef noun, StringRef entry, std::vector<ArrayType> &read) {
  for (auto [number, type] : llvm::enumerate(types)) {
    Expected<ArrayType> made = ArrayType::get(type);
    if (!made)
      return failure(noun + " #" + llvm::Twine(number) + " of @" + entry + " " + llvm::toString(made.takeError()));
    read.push_back(std::move(*made));
  }
  return Error::success();
}

//===-- Requirements ---------------------------------------------------------------------------------------------===//

/// The routine of the runtime's table for an op, or empty.
static StringRef routineOf(mlir::Operation *op) {
  if (auto call = mlir::dyn_cast<mlir::array::RuntimeCallOp>(op))
    return call.getName();
  return op->getName().getDialectNamespace() == "array" ? op->getName().stripDialect() : "";
}

static bool needsLapack(mlir::ModuleOp module) {
  auto isOverLapack = [](StringRef routine) {
    return llvm::StringSwitch<bool>(routine)
        .Case("lu_pivots_to_permutation", false)
#define ARRAY_RUN_CASE(name) .Case(#name, true)
            PCRT_LINEAR_ALGEBRA_CALLS(ARRAY_RUN_CASE)
#undef ARRAY_RUN_CASE
        .Default(false);
  };
  return module
      .walk([&](mlir::Operation *op) {
        return isOverLapack(routineOf(op)) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

/// The reason that the routine can't run here; empty if it can.
static StringRef objectionTo(StringRef routine, const Target &target) {
  StringRef alone = target.participants > 1
                        ? ""
                        : "takes several participants, each on a device of its own: say how many by --participants";
  return llvm::StringSwitch<StringRef>(routine)
      .Case("host_call", "calls a function of the Python program that this module comes from, which array-run does not "
                         "have: run that program, or take the call out")
      .Cases({"participant", "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "collective_permute"}, alone)
      .Case("collective", alone)
      .Default("");
}

static Error checkOperations(mlir::ModuleOp module, const Target &target) {
  bool isGood = true;
  module.walk([&](mlir::Operation *op) {
    StringRef objection = objectionTo(routineOf(op), target);
    if (!objection.empty())
      op->emitOpError(objection);
    isGood &= objection.empty();
  });
  return isGood ? Error::success() : failure("");
}

static Error prepare(mlir::ModuleOp module, const Target &target) {
  if (Error error = checkOperations(module, target))
    return error;
  bool isOnHost = target.device->hasHostMemory();
  if (isOnHost && needsLapack(module))
    if (pcrt::Status status = pcrt::lapack::fillFromSystem(); !status.isOk())
      return failure(status.message());
  if (isOnHost && !target.libraries.empty())
    return failure("--gpu-libraries is for --device=gpu");
  bool isEmulated = StringRef(target.device->kind()).starts_with("Emulated");
  for (const std::string &library : target.libraries)
    if (pcrt::Status status = pcrt::loadGpuLibrary(library, {}, !isEmulated); !status.isOk())
      return failure(status.message());
  return Error::success();
}

//===-- Compiling and loading ------------------------------------------------------------------------------------===//

static mlir::FailureOr<mlir::array::CompiledObject> translate(mlir::ModuleOp module, const Target &target) {
  const pcrt::Device &device = *target.device;
  if (device.hasHostMemory())
    return mlir::array::compileToObject(module, {});
  bool isEmulated = StringRef(device.kind()).starts_with("Emulated");
  return mlir::array::compileForGpu(module, {device.computeCapability(), isEmulated, target.libraries});
}

static Expected<pcrt::RefPtr<pcrt::Executable>> load(const mlir::array::CompiledObject &code, const Target &target,
                                                     StringRef name) {
  // The duration does not matter, because the caller waits for the run.
  auto loaded = pcrt::Executable::load({code.object.data(), code.object.size()}, code.entry, code.arenaBytes,
                                       name.str(), /*costNs=*/0, /*mayBlock=*/target.participants > 1 || code.waits);
  if (!loaded.isOk())
    return failure(loaded.status().message());
  std::vector<pcrt::CallSite> sites;
  for (const auto &[primitive, place] : code.sites)
    sites.push_back({primitive, place});
  loaded.value()->setCallSites(std::move(sites));
  if (code.kernels.empty())
    return loaded.take();
  auto image = target.device->assemble(std::string(code.image.data(), code.image.size()));
  if (!image.isOk())
    return failure(image.status().message());
  loaded.value()->setImage(pcrt::RefPtr<pcrt::KernelImage>::adopt(new pcrt::KernelImage(image.take(), code.kernels)));
  return loaded.take();
}

//===-- Sizes that are given -------------------------------------------------------------------------------------===//

static bool isSized(mlir::FunctionType type) {
  auto isDynamic = [](mlir::Type each) {
    auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(each);
    return tensor && !tensor.hasStaticShape();
  };
  return llvm::any_of(type.getInputs(), isDynamic) || llvm::any_of(type.getResults(), isDynamic);
}

static std::string describe(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// Checks the conditions of the code: see array.symbols.
static Error checkSizes(llvm::ArrayRef<int64_t> sizes, mlir::ArrayAttr symbols) {
  for (auto [number, size] : llvm::enumerate(sizes)) {
    if (size < 0)
      return failure("--sizes: a size is not negative");
    auto known = symbols && number < symbols.size() ? mlir::dyn_cast<mlir::DictionaryAttr>(symbols[number])
                                                    : mlir::DictionaryAttr();
    auto read = [&](StringRef name, int64_t otherwise) {
      auto given = known ? known.getAs<mlir::IntegerAttr>(name) : mlir::IntegerAttr();
      return given ? given.getInt() : otherwise;
    };
    int64_t least = read("min", 0), most = read("max", std::numeric_limits<int64_t>::max()),
            factor = read("multiple_of", 1);
    if (size < least || size > most || size % std::max<int64_t>(factor, 1) != 0)
      return failure("--sizes: the size of symbol " + llvm::Twine(number) + " is " + llvm::Twine(size) +
                     ", but the module is for multiples of " + llvm::Twine(factor) + " from " + llvm::Twine(least) +
                     " to " + llvm::Twine(most));
  }
  return Error::success();
}

/// The sizes of all symbols: also of those that follow from the given ones.
static Expected<std::vector<int64_t>> withDerived(llvm::ArrayRef<int64_t> given, mlir::ArrayAttr symbols) {
  std::vector<int64_t> sizes(given.begin(), given.end());
  for (size_t number = given.size(); symbols && number < symbols.size(); ++number) {
    auto entry = mlir::cast<mlir::DictionaryAttr>(symbols[number]);
    auto maximum = entry.getAs<mlir::AffineMapAttr>(mlir::array::kMaximumEntry),
         quotient = entry.getAs<mlir::AffineMapAttr>(mlir::array::kQuotientEntry);
    mlir::AffineMap map = (maximum ? maximum : quotient).getValue();
    mlir::Builder b(map.getContext());
    llvm::SmallVector<mlir::Attribute> known, both;
    for (unsigned symbol = 0; symbol < map.getNumSymbols(); ++symbol)
      known.push_back(b.getIndexAttr(symbol < sizes.size() ? sizes[symbol] : 0));
    if (mlir::failed(map.constantFold(known, both)))
      return failure("the size of symbol " + llvm::Twine(number) + " doesn't follow from --sizes");
    int64_t lhs = mlir::cast<mlir::IntegerAttr>(both[0]).getInt(),
            rhs = mlir::cast<mlir::IntegerAttr>(both[1]).getInt();
    sizes.push_back(maximum ? std::max(lhs, rhs) : llvm::divideFloorSigned(lhs, rhs));
  }
  return sizes;
}

/// The types with the sizes from the symbols.
static Expected<llvm::SmallVector<mlir::Type>> atSizes(mlir::TypeRange types, llvm::ArrayRef<mlir::AffineMap> dims,
                                                       llvm::ArrayRef<int64_t> sizes) {
  llvm::SmallVector<mlir::Type> sized;
  for (auto [type, map] : llvm::zip_equal(types, dims)) {
    sized.push_back(type);
    if (!map)
      continue;
    mlir::Builder b(type.getContext());
    llvm::SmallVector<mlir::Attribute> symbols, shape;
    for (int64_t size : sizes.take_front(map.getNumSymbols()))
      symbols.push_back(b.getIndexAttr(size));
    if (mlir::failed(map.constantFold(symbols, shape)))
      return failure("the sizes of a result don't follow from --sizes");
    auto tensor = mlir::cast<mlir::RankedTensorType>(type);
    auto values =
        llvm::map_to_vector(shape, [](mlir::Attribute size) { return mlir::cast<mlir::IntegerAttr>(size).getInt(); });
    for (auto [dim, size] : llvm::enumerate(values))
      if (size < 0 || (!tensor.isDynamicDim(dim) && size != tensor.getDimSize(dim)))
        return failure("--sizes give dimension " + llvm::Twine(dim) + " of " + describe(type) + " the size " +
                       llvm::Twine(size));
    sized.back() = tensor.clone(values);
  }
  return sized;
}

/// Reads the given sizes, and binds the code to them.
static Error takeSizes(Program &program, mlir::FunctionType type, mlir::ArrayAttr symbols,
                       const mlir::array::CompiledObject &code, const Target &target) {
  if (target.sizes.size() != code.symbols)
    return failure("@" + llvm::Twine(program.entry) + " has " + llvm::Twine(code.symbols) +
                   " sizes that a call decides: give all by --sizes, in the order of their symbols");
  if (Error error = checkSizes(target.sizes, symbols))
    return error;
  Expected<std::vector<int64_t>> sizes = withDerived(target.sizes, code.symbolEntries);
  if (!sizes)
    return sizes.takeError();
  auto arguments = atSizes(type.getInputs(), code.argumentDims, *sizes),
       results = atSizes(type.getResults(), code.resultDims, *sizes);
  if (!arguments || !results)
    return llvm::joinErrors(arguments.takeError(), results.takeError());
  if (Error error = readTypes(*arguments, "argument", program.entry, program.arguments))
    return error;
  if (Error error = readTypes(*results, "result", program.entry, program.results))
    return error;
  if (code.symbols == 0) // the result has known sizes
    return Error::success();
  auto bound = program.executable->bind(target.sizes, /*costNs=*/0);
  if (!bound.isOk())
    return failure(bound.status().message());
  program.executable = bound.take();
  return Error::success();
}

Expected<Program> arrayrun::compile(mlir::ModuleOp module, StringRef entry, const Target &target) {
  Program program;
  program.entry = entry.str();
  Expected<FuncOp> function = chooseEntry(module, entry);
  if (!function)
    return function.takeError();
  if (mlir::failed(mlir::array::checkInput(module)))
    return failure("");
  mlir::FunctionType type = function->getFunctionType();
  auto symbols = (*function)->getAttrOfType<mlir::ArrayAttr>(mlir::array::kSymbolsAttr);
  bool sized = isSized(type) || mlir::array::countSymbols(*function) != 0;
  if (!sized && !target.sizes.empty())
    return failure("--sizes is for a function whose types have `?`, which @" + entry + " has not");
  if (!sized) {
    if (Error error = readTypes(type.getInputs(), "argument", entry, program.arguments))
      return error;
    if (Error error = readTypes(type.getResults(), "result", entry, program.results))
      return error;
  }
  if (Error error = prepare(module, target))
    return error;
  auto begin = std::chrono::steady_clock::now();
  mlir::FailureOr<mlir::array::CompiledObject> code = translate(module, target);
  if (mlir::failed(code))
    return failure("");
  auto executable = load(*code, target, entry);
  if (!executable)
    return executable.takeError();
  program.executable = std::move(*executable);
  if (sized)
    if (Error error = takeSizes(program, type, symbols, *code, target))
      return error;
  program.compileMs = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  return program;
}
