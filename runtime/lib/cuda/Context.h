// The context of one CUDA device: what every call of the driver that works on the device needs in its thread. After
// Driver; before CudaMemory.
#ifndef PYCOMPILER_RUNTIME_LIB_CUDA_CONTEXT_H
#define PYCOMPILER_RUNTIME_LIB_CUDA_CONTEXT_H

#include "cuda/Driver.h"

#include <atomic>

namespace pcrt::cuda {

/// A device's primary context, which it shares with the other libraries of the process. Kept until the process ends.
class Context {
public:
  Context() = default;
  static Result<Context> retain(const Driver &driver, int number);

  const Driver &driver() const { return *table; }
  CUdevice device() const { return number; }
  CUcontext handle() const { return context; }
  /// For the calls that this thread makes from now on. Threads start without one. Fails in the child of a fork, where
  /// the driver must not be called: whoever works on the device comes by here first.
  Status makeCurrent() const {
    if (isChild.load(std::memory_order_relaxed))
      return forkedStatus();
    return table->check(table->cuCtxSetCurrent(context), "cuCtxSetCurrent");
  }
  static void afterForkInChild() { isChild.store(true, std::memory_order_relaxed); }

private:
  static Status forkedStatus();
  static std::atomic<bool> isChild;

  const Driver *table = nullptr;
  CUdevice number = 0;
  CUcontext context = nullptr;
};

/// Around what runs in a function that cuLaunchHostFunc was given, where the driver must not be called.
class HostFunctionScope {
public:
  HostFunctionScope() : outer(isInside) { isInside = true; }
  ~HostFunctionScope() { isInside = outer; }
  HostFunctionScope(const HostFunctionScope &) = delete;
  HostFunctionScope &operator=(const HostFunctionScope &) = delete;
  /// Whether this thread is in one.
  static bool isActive() { return isInside; }

private:
  static thread_local bool isInside;
  const bool outer;
};

} // namespace pcrt::cuda

#endif // PYCOMPILER_RUNTIME_LIB_CUDA_CONTEXT_H
