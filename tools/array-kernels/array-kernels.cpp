// array-kernels: compiles the common elementwise operators for float32 and int32, for the runtime's block lengths and
// for several levels of the instruction set, so that their first use compiles nothing. The build runs it and links the
// results into _runtime: one file with the objects, and one file with a row for each object.
#include "array/Pipelines/Cpu.h"
#include "array/Target/Compile.h"
#include "runtime/BlockKernel.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/Alignment.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;

namespace {

/// An op of the array dialect, and the number of its operands.
struct Kernel {
  llvm::StringRef op;
  unsigned operands;
  bool isComparison;
  bool takesIntegers = true;
};

const Kernel kernels[] = {{"add", 2, false}, {"sub", 2, false}, {"mul", 2, false}, {"div", 2, false, false},
                          {"min", 2, false}, {"max", 2, false}, {"eq", 2, true},   {"ne", 2, true},
                          {"lt", 2, true},   {"le", 2, true},   {"gt", 2, true},   {"ge", 2, true},
                          {"neg", 1, false}, {"abs", 1, false}};

/// The CPUs, the most capable first. The runtime takes the first one that it can run on.
std::vector<std::string> levels() {
  if (llvm::Triple(llvm::sys::getProcessTriple()).isX86())
    return {"x86-64-v4", "x86-64-v3"};
  return {"generic"};
}

std::string moduleOf(const Kernel &kernel, llvm::StringRef element, int64_t length) {
  auto tensor = [&](llvm::StringRef type) { return ("tensor<" + llvm::Twine(length) + "x" + type + ">").str(); };
  std::string operand = tensor(element), result = tensor(kernel.isComparison ? "i1" : element);
  bool isBinary = kernel.operands == 2;
  std::string types = isBinary ? operand + ", " + operand : operand;
  return "func.func @main(%a: " + operand + (isBinary ? ", %b: " + operand : "") + ") -> " + result +
         " {\n  %0 = \"array." + kernel.op.str() + "\"(%a" + (isBinary ? ", %b" : "") + ") : (" + types + ") -> " +
         result + "\n  return %0 : " + result + "\n}\n";
}

FailureOr<array::CompiledObject> compile(MLIRContext &context, const std::string &text, const std::string &cpu) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return failure();
  array::CompileOptions options;
  options.cpu = cpu;
  return array::compileToObject(*module, options);
}

/// Appends an object, aligned for its sections, and writes its place.
void append(llvm::raw_ostream &objects, llvm::raw_ostream &rows, const array::CompiledObject &compiled,
            uint64_t &offset) {
  rows << ", " << offset << ", " << compiled.object.size();
  objects.write(compiled.object.data(), compiled.object.size());
  uint64_t padding = llvm::offsetToAlignment(compiled.object.size(), llvm::Align(PCRT_ALIGNMENT));
  objects.write_zeros(padding);
  offset += compiled.object.size() + padding;
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  if (argc != 3) {
    llvm::errs() << "usage: array-kernels OBJECTS ROWS\n";
    return 1;
  }
  std::error_code error;
  llvm::raw_fd_ostream objects(argv[1], error), rows(argv[2], error);
  if (error) {
    llvm::errs() << "array-kernels: can't write: " << error.message() << "\n";
    return 1;
  }
  DialectRegistry registry;
  array::registerPipelineDialects(registry);
  MLIRContext context(registry);
  uint64_t offset = 0;
  rows << "// PCRT_KERNEL(op, operand, result, level, offset and bytes of each length of block)\n";
  for (auto [number, cpu] : llvm::enumerate(levels())) {
    for (const Kernel &kernel : kernels) {
      for (auto [element, dtype] : {std::pair{"f32", "Float32"}, std::pair{"i32", "Int32"}}) {
        if (!kernel.takesIntegers && llvm::StringRef(element) == "i32")
          continue;
        rows << "PCRT_KERNEL(\"" << kernel.op << "\", " << dtype << ", " << (kernel.isComparison ? "Bool" : dtype)
             << ", " << number;
        for (int64_t length : pcrt::blockLengths) {
          FailureOr<array::CompiledObject> compiled = compile(context, moduleOf(kernel, element, length), cpu);
          if (failed(compiled)) {
            llvm::errs() << "array-kernels: " << kernel.op << " of " << element << " for " << cpu << " failed\n";
            return 1;
          }
          if (compiled->arenaBytes != 0) {
            llvm::errs() << "array-kernels: " << kernel.op << " needs temporaries\n";
            return 1;
          }
          append(objects, rows, *compiled, offset);
        }
        rows << ")\n";
      }
    }
  }
  return 0;
}
