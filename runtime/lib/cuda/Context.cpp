// Retaining contexts.
#include "cuda/Context.h"

using namespace pcrt;
using namespace pcrt::cuda;

thread_local bool HostFunctionScope::isInside = false;

Result<Context> Context::retain(const Driver &driver, int number) {
  Context result;
  result.table = &driver;
  if (Status status = driver.check(driver.cuDeviceGet(&result.handle, number), "cuDeviceGet"); !status.isOk())
    return status;
  Status status =
      driver.check(driver.cuDevicePrimaryCtxRetain(&result.context, result.handle), "cuDevicePrimaryCtxRetain");
  if (!status.isOk())
    return status;
  return result;
}
