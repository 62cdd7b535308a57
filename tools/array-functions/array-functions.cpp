// array-functions: compiles the shared functions of matmuls, for several levels of the instruction set. A program with
// a matmul then compiles only its own code. The build runs it and links the results into _compiler: one file with the
// objects, and one file with a row for each object.
#include "array/Pipelines/Cpu.h"
#include "array/Target/BuiltFunctions.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  if (argc != 3) {
    llvm::errs() << "usage: array-functions OBJECTS ROWS\n";
    return 1;
  }
  std::error_code error;
  llvm::raw_fd_ostream objects(argv[1], error), rows(argv[2], error);
  if (error) {
    llvm::errs() << "array-functions: can't write: " << error.message() << "\n";
    return 1;
  }
  DialectRegistry registry;
  array::registerPipelineDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  uint64_t offset = 0;
  rows << "// ARRAY_FUNCTION(name, level, offset, bytes)\n";
  for (auto [number, level] : llvm::enumerate(array::functionLevels())) {
    auto compiled = array::compileCommonFunctions(&context, level);
    if (failed(compiled)) {
      llvm::errs() << "array-functions: the functions for " << level.cpu << " failed\n";
      return 1;
    }
    for (auto &[name, object] : *compiled) {
      rows << "ARRAY_FUNCTION(\"" << name << "\", " << number << ", " << offset << ", " << object.size() << ")\n";
      objects.write(object.data(), object.size());
      offset += object.size();
    }
  }
  return 0;
}
