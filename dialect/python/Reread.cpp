// Reads bytecode from files in a separate process: MLIR's reader ends the process, or never ends, on some damaged
// files. The process writes the module again, and this process reads the output.
//
// A C function and no binding: the process loads this library by ctypes, without the package or NumPy.
#include "array/Pipelines/Cpu.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <sys/resource.h>

using namespace mlir;

namespace {

void limit(__rlimit_resource what, rlim_t most) {
  rlimit now;
  if (getrlimit(what, &now) != 0)
    return;
  now.rlim_cur = std::min(most, now.rlim_max);
  now.rlim_max = now.rlim_cur;
  setrlimit(what, &now);
}

/// stdout gets a whole module or nothing.
int reread(const llvm::MemoryBuffer &source, int seconds) {
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, seconds + source.getBufferSize() / (rlim_t(1) << 20));
  limit(RLIMIT_AS, (rlim_t(4) << 30) + source.getBufferSize() * 64);
  DialectRegistry registry;
  array::registerPipelineDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  context.printOpOnDiagnostic(false);
  ScopedDiagnosticHandler handler(&context, [](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      llvm::errs() << diagnostic.str() << "\n";
    return success();
  });
  std::string written;
  llvm::raw_string_ostream stream(written);
  auto module = parseSourceString<ModuleOp>(source.getBuffer(), ParserConfig(&context));
  if (!module || failed(writeBytecodeToFile(*module, stream)))
    return 1;
  llvm::outs() << written;
  llvm::outs().flush();
  return 0;
}

} // namespace

/// Reads bytecode from stdin, and writes it to stdout if it is a module that verifies. Otherwise returns 1, with the
/// reason on stderr. The limit is `seconds` of processor time, plus one for each MiB.
extern "C" __attribute__((visibility("default"))) int pycompiler_reread_bytecode(int seconds) {
  auto source = llvm::MemoryBuffer::getSTDIN();
  if (!source) {
    llvm::errs() << "can't read stdin: " << source.getError().message() << "\n";
    return 1;
  }
  // The reader wants its buffer aligned, as a copy is.
  return reread(*llvm::MemoryBuffer::getMemBufferCopy((*source)->getBuffer()), seconds);
}
