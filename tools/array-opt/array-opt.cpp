// array-opt: mlir-opt with the array dialect. Reads a module, runs the passes of the command line, and prints it; or
// compiles it to a stage (CompileTo.h).
#include "CompileTo.h"
#include "Registration.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

/// mlir-opt's main, with the passes that the compilation flags add.
static LogicalResult compile(StringRef inputName, StringRef outputName, DialectRegistry &registry,
                             MlirOptMainConfig &config) {
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> input = openInputFile(inputName, &error);
  std::unique_ptr<llvm::ToolOutputFile> output = input ? openOutputFile(outputName, &error) : nullptr;
  if (!output) {
    llvm::errs() << error << "\n";
    return failure();
  }
  llvm::raw_ostream &module = array::addCompilation(config, output->os());
  if (failed(MlirOptMain(module, std::move(input), registry, config)))
    return failure();
  output->keep();
  return success();
}

int main(int argc, char **argv) {
  DialectRegistry registry;
  array::registerToolPasses();
  array::registerToolDialects(registry);
  array::registerCompileTo();

  auto [input, output] = registerAndParseCLIOptions(argc, argv, "array-opt: array programs\n", registry);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (failed(array::checkFlags(config)))
    return EXIT_FAILURE;
  bool isQuery = config.shouldListPasses() || config.shouldShowDialects();
  if (isQuery || !array::isCompileToGiven())
    return asMainReturnCode(MlirOptMain(argc, argv, input, output, registry));
  llvm::InitLLVM init(argc, argv);
  return asMainReturnCode(compile(input, output, registry, config));
}
