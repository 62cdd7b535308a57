// The context of one CUDA device, which each driver call for the device needs in its thread. After Driver; before
// CudaMemory.
#ifndef PYCOMPILER_RUNTIME_LIB_DRIVER_CONTEXT_H
#define PYCOMPILER_RUNTIME_LIB_DRIVER_CONTEXT_H

#include "driver/Driver.h"

#include <atomic>

namespace pcrt::cuda {

/// A device's primary context, which it shares with other libraries of the process. Retained until the process ends.
class Context {
public:
  Context() = default;
  static Result<Context> retain(const Driver &driver, int number);

  const Driver &driver() const { return *table; }
  CUdevice device() const { return number; }
  CUcontext handle() const { return context; }
  /// Makes the context current for this thread. Threads start without one. Fails in the child of a fork, which must not
  /// call the driver; all work on the device calls this first.
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

/// Scope of a function that cuLaunchHostFunc runs, which must not call the driver.
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

#endif // PYCOMPILER_RUNTIME_LIB_DRIVER_CONTEXT_H
