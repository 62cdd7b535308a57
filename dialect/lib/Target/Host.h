// LLVM's part of the compilation for one (triple, cpu, features, level). It is created once and kept, because a
// TargetMachine and a pass builder cost more than a small kernel's code generation.
#ifndef ARRAY_LIB_TARGET_HOST_H
#define ARRAY_LIB_TARGET_HOST_H

#include "array/Pipelines/Cpu.h"
#include "array/Target/Compile.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/Error.h"
#include <map>
#include <memory>
#include <mutex>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace mlir::array {

class HostTarget {
public:
  /// The target for these options. It is kept until the process ends; each worker has its own.
  static llvm::Expected<HostTarget *> get(const CompileOptions &options, unsigned worker = 0);
  /// Abandons the targets that are in use (array/Target/Stop.h).
  static void leaveBusy();

  int optLevel() const;

  /// The features that passes before LLVM may use.
  CpuFeatures features() const;
  /// It has all of these features ("+avx2,+fma"); and it is a machine of the kind that this process runs on.
  bool hasFeatures(llvm::StringRef features) const;
  bool isThisKind() const;
  /// Sets the triple, the data layout and every function's attributes.
  void prepare(llvm::Module &module) const;
  /// Runs LLVM's part of the optimizations.
  void optimize(llvm::Module &module);
  /// Generates an object file, or assembly text. The compile time of functions that the build compiles does not matter.
  llvm::Expected<std::vector<char>> emit(llvm::Module &module, llvm::CodeGenFileType kind, bool isForBuild = false);

  ~HostTarget();

private:
  HostTarget(std::unique_ptr<llvm::TargetMachine> machine, bool hasBFloat16Pairs);
  struct Optimizer;
  struct Emitter;

  std::unique_ptr<llvm::TargetMachine> machine;
  bool hasBFloat16Pairs;
  std::unique_ptr<Optimizer> optimizer;
  std::map<std::pair<llvm::CodeGenFileType, std::string>, std::unique_ptr<Emitter>> emitters; ///< By omitted passes.
  std::mutex busy; ///< The machine and the analysis managers serve one module at a time.
};

/// Fails when the object has an undefined symbol that the runtime's loader can't resolve.
llvm::Error checkSymbols(llvm::ArrayRef<char> object);

} // namespace mlir::array

#endif // ARRAY_LIB_TARGET_HOST_H
