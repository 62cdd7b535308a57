// Retains contexts.
#include "driver/Context.h"

using namespace pcrt;
using namespace pcrt::cuda;

thread_local bool HostFunctionScope::isInside = false;
std::atomic<bool> Context::isChild{false};

Status Context::forkedStatus() {
  return Status(Code::LibraryFailed, "this process was forked from one that uses CUDA, and can't use the GPU itself: "
                                     "start it anew (multiprocessing's method \"spawn\")");
}

Result<Context> Context::retain(const Driver &driver, int number) {
  Context result;
  result.table = &driver;
  if (Status status = driver.check(driver.cuDeviceGet(&result.number, number), "cuDeviceGet"); !status.isOk())
    return status;
  Status status =
      driver.check(driver.cuDevicePrimaryCtxRetain(&result.context, result.number), "cuDevicePrimaryCtxRetain");
  if (!status.isOk())
    return status;
  return result;
}
