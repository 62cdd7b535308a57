// array-run: compiles a function of an IR file and runs it, without Python. Read it from top to bottom: the module, the
// program, its arguments, the run, and the output of its results.
#include "Compare.h"
#include "Failure.h"
#include "Inputs.h"
#include "Npy.h"
#include "Options.h"
#include "Run.h"

#include "array/Pipelines/Cpu.h"
#include "array/Target/BuiltFunctions.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/WithColor.h"

using namespace arrayrun;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

enum ExitStatus { Good = 0, Bad = 1, Different = 2 };

static mlir::OwningOpRef<mlir::ModuleOp> readModule(const std::string &file, llvm::SourceMgr &sources,
                                                    mlir::MLIRContext &context) {
  std::string message;
  auto buffer = mlir::openInputFile(file, &message);
  if (!buffer) {
    llvm::WithColor::error(llvm::errs(), "array-run") << message << '\n';
    return nullptr;
  }
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  return mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
}

static Expected<std::vector<Array>> makeInputs(const Program &program, const Options &options) {
  Role role{"input", "argument", program.entry};
  auto words = assignWords(options.inputs, program.arguments.size(), role);
  if (!words)
    return words.takeError();
  std::vector<Array> inputs;
  for (auto [number, type] : llvm::enumerate(program.arguments)) {
    if ((*words)[number].empty())
      return failure("argument #" + llvm::Twine(number) + " of @" + program.entry + ", " + type.describe() +
                     ", is missing: give it by --input, as a file NAME.npy, a literal, fill:VALUE or random:normal");
    Expected<Array> input = makeArray((*words)[number], type, number, role);
    if (!input)
      return input.takeError();
    inputs.push_back(std::move(*input));
  }
  return inputs;
}

/// The expected array of each result, if given.
static Expected<std::vector<std::optional<Array>>> makeExpected(const Program &program, const Options &options) {
  Role role{"expect", "result", program.entry};
  auto words = assignWords(options.expected, program.results.size(), role);
  if (!words)
    return words.takeError();
  std::vector<std::optional<Array>> expected(program.results.size());
  for (auto [number, type] : llvm::enumerate(program.results)) {
    if ((*words)[number].empty())
      continue;
    Expected<Array> array = makeArray((*words)[number], type, number, role);
    if (!array)
      return array.takeError();
    expected[number] = std::move(*array);
  }
  return expected;
}

/// The file of each result, or an empty string.
static Expected<std::vector<std::string>> makeFileNames(const Program &program, const Options &options) {
  size_t count = program.results.size();
  if (options.outputs.empty() || options.participants > 1)
    return options.outputs.empty() ? Expected<std::vector<std::string>>(std::vector<std::string>(count))
                                   : failure("--output is for one participant");
  StringRef first = options.outputs.front();
  if (options.outputs.size() > 1 || first.ends_with(".npy")) {
    for (StringRef name : options.outputs)
      if (!name.ends_with(".npy"))
        return failure("--output=" + name + ": expected one name without an ending, or names that end in .npy");
    return assignWords(options.outputs, count, {"output", "result", program.entry});
  }
  std::vector<std::string> names;
  for (size_t number = 0; number < count; ++number)
    names.push_back((first + "." + llvm::Twine(number) + ".npy").str());
  return names;
}

//===-- The output of results ------------------------------------------------------------------------------------===//

static std::string nameOf(size_t participant, size_t result, const Options &options) {
  std::string name = "result " + std::to_string(result);
  return options.participants > 1 ? "participant " + std::to_string(participant) + ": " + name : name;
}

static void print(const Array &array, StringRef name, Printing printing) {
  if (printing == Printing::None)
    return;
  llvm::outs() << name << ": " << array.type.tensor;
  if (printing != Printing::Type) {
    llvm::outs() << " = ";
    printArray(array, printing == Printing::Full, llvm::outs());
  }
  llvm::outs() << '\n';
}

static Expected<ExitStatus> finish(const Results &results, const std::vector<std::optional<Array>> &expected,
                                   const std::vector<std::string> &files, const Options &options) {
  ExitStatus status = Good;
  for (auto [participant, arrays] : llvm::enumerate(results)) {
    for (auto [number, array] : llvm::enumerate(arrays)) {
      std::string name = nameOf(participant, number, options);
      print(array, name, options.printing);
      if (!files[number].empty())
        if (Error error = writeNpy(files[number], array))
          return failure(files[number] + ": " + llvm::toString(std::move(error)));
      llvm::outs().flush();
      if (expected[number] &&
          !compare(array, *expected[number], {options.rtol, options.atol}, "array-run: " + name, llvm::errs()))
        status = Different;
    }
  }
  return status;
}

static std::string formatNs(double ns) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (ns < 1e6)
    os << llvm::format("%.4g us", ns / 1e3);
  else
    os << llvm::format("%.4g ms", ns / 1e6);
  return text;
}

static Expected<ExitStatus> runModule(mlir::ModuleOp module, const Options &options) {
  Expected<pcrt::Device *> device = findDevice(options.device, options.participants);
  if (!device)
    return device.takeError();
  Target target{*device, options.participants, options.libraries, options.sizes};
  Expected<Program> program = compile(module, options.entry, target);
  if (!program)
    return program.takeError();
  auto inputs = makeInputs(*program, options);
  if (!inputs)
    return inputs.takeError();
  auto expected = makeExpected(*program, options);
  if (!expected)
    return expected.takeError();
  auto files = makeFileNames(*program, options);
  if (!files)
    return files.takeError();
  Expected<Runner> runner = Runner::make(*program, target, *inputs);
  if (!runner)
    return runner.takeError();
  Expected<Results> results = runner->run();
  if (!results)
    return results.takeError();
  Expected<ExitStatus> status = finish(*results, *expected, *files, options);
  if (!status || !options.hasTime)
    return status;
  Expected<Timing> timing = runner->measure(options.repeat);
  if (!timing)
    return timing.takeError();
  llvm::outs() << "time of " << options.repeat << " runs on " << (*device)->name() << ": median "
               << formatNs(timing->medianNs) << ", least " << formatNs(timing->leastNs) << "; compiled in "
               << formatNs(program->compileMs * 1e6) << '\n';
  return status;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  Options options = parseOptions(argc, argv);
  mlir::array::useFunctionsOfBuild();
  mlir::DialectRegistry registry;
  mlir::array::registerPipelineDialects(registry);
  mlir::MLIRContext context(registry);
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler diagnostics(sources, &context);
  mlir::OwningOpRef<mlir::ModuleOp> module = readModule(options.file, sources, context);
  if (!module)
    return Bad;
  Expected<ExitStatus> status = runModule(*module, options);
  if (status)
    return *status;
  // Without a message it was a diagnostic.
  if (std::string message = llvm::toString(status.takeError()); !message.empty())
    llvm::WithColor::error(llvm::errs(), "array-run") << message << '\n';
  return Bad;
}
