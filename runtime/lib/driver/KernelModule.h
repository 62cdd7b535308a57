// Compiled kernels on one CUDA device: loaded once, launched by their number. After Context; before the host's part of
// a program.
#ifndef PYCOMPILER_RUNTIME_LIB_DRIVER_KERNELMODULE_H
#define PYCOMPILER_RUNTIME_LIB_DRIVER_KERNELMODULE_H

#include "driver/Context.h"
#include "runtime/Abi.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace pcrt::cuda {

class KernelModule {
public:
  /// `image` is PTX (with a 0 at its end) or a cubin. A failure names a missing kernel, or has the log of the driver's
  /// compiler.
  static Result<std::unique_ptr<KernelModule>> load(const Context &context, const std::string &image,
                                                    const std::vector<std::string> &kernels);
  /// No launch of the module may be on a stream any more.
  ~KernelModule();
  KernelModule(const KernelModule &) = delete;
  KernelModule &operator=(const KernelModule &) = delete;

  size_t kernelCount() const { return functions.size(); }
  /// Returns at once. `params` points to the value of each argument; they are copied. In any thread. Failures of the
  /// kernel itself appear later, at a wait for the stream.
  Status launch(size_t kernel, const PcrtLaunchShape &shape, CUstream stream, void *const *params);

private:
  struct Function {
    std::string name;
    CUfunction handle = nullptr;
    /// The current limit of dynamic shared memory.
    std::atomic<uint32_t> sharedLimit{0};
  };
  KernelModule(const Context &context, size_t count) : context(context), functions(count) {}
  Status raiseSharedLimit(Function &function, uint32_t bytes);
  Status describe(const Function &function, const PcrtLaunchShape &shape, const Status &why) const;

  const Context context;
  CUmodule module = nullptr;
  std::vector<Function> functions;
  std::mutex lock;
};

} // namespace pcrt::cuda

#endif // PYCOMPILER_RUNTIME_LIB_DRIVER_KERNELMODULE_H
