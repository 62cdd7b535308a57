// A function of a module, compiled for a device and loaded, by the dialect (Compile) and the runtime (Executable). Run
// includes it.
#ifndef ARRAY_RUN_PROGRAM_H
#define ARRAY_RUN_PROGRAM_H

#include "Values.h"

#include "runtime/Device.h"

#include "mlir/IR/BuiltinOps.h"
#include "runtime/Executable.h"
#include "llvm/Support/SourceMgr.h"
#include <string>
#include <vector>

namespace arrayrun {

struct Program {
  std::string entry;
  std::vector<ArrayType> arguments, results;
  pcrt::RefPtr<pcrt::Executable> executable;
  double compileMs = 0;
};

struct Target {
  pcrt::Device *device;
  /// The number of participants that run it together, each on a separate device: `device` and those after it.
  unsigned participants;
  /// The libraries of a GPU that the program may call.
  std::vector<std::string> libraries;
  /// The sizes of the symbols, for a function with unknown sizes.
  std::vector<int64_t> sizes;
};

/// "cpu", "gpu", "gpu:1". The failure lists the devices.
llvm::Expected<pcrt::Device *> findDevice(llvm::StringRef name, unsigned participants);

/// Compiles the function `entry` of the module, and changes the module. If the compiler fails, it has already printed
/// diagnostics; the error then has no message.
llvm::Expected<Program> compile(mlir::ModuleOp module, llvm::StringRef entry, const Target &target);

} // namespace arrayrun

#endif // ARRAY_RUN_PROGRAM_H
