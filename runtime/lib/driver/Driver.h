// The CUDA driver as a table of functions, from the machine's library at run time: nothing is linked, so one build
// works with and without a GPU. After Status; before everything else that uses GPUs.
#ifndef PYCOMPILER_RUNTIME_LIB_DRIVER_DRIVER_H
#define PYCOMPILER_RUNTIME_LIB_DRIVER_DRIVER_H

#include "driver/DriverTypes.h"
#include "runtime/Status.h"

#include <cstdint>
#include <memory>
#include <string>

namespace pcrt::cuda {

struct DeviceProperties {
  std::string name;
  /// "9.0" as 9 and 0.
  int major, minor;
  uint64_t totalBytes;
  int multiprocessors;
  /// Shared memory of a block: by default, and the maximum (cuFuncSetAttribute).
  int sharedBytes, maxSharedBytes;
  /// The place of the card on the machine's bus, "0000:3b:00.0".
  std::string bus;
};

class Driver {
public:
#define PCRT_CUDA(name, symbol, parameters) CUresult(*name) parameters = nullptr;
#include "driver/Functions.def"

  /// The machine's driver, initialized, with at least one device; or the reason why there is none. The first call
  /// searches, and every call returns its result. The library is libcuda.so.1, or that of PYCOMPILER_CUDA_DRIVER.
  static Result<const Driver *> get();
  /// The same for one library, without caching. It is never unloaded: its threads may run until the process ends.
  static Result<std::unique_ptr<const Driver>> load(const std::string &library);

  /// As cuDriverGetVersion counts: 12040 is CUDA 12.4.
  int version() const { return versionNumber; }
  int deviceCount() const { return devices; }
  /// The library that the functions are from.
  const std::string &library() const { return libraryName; }

  /// Ok, or the failure of `call` (the function's name) with the driver's text.
  Status check(CUresult result, const char *call) const;
  /// Whether the context of this failure is lost: every later call in it fails as well.
  static bool isSticky(CUresult result);

  Result<DeviceProperties> properties(CUdevice device) const;
  /// The identity of a GPU, or of an instance of it, on every machine: 32 hexadecimal digits.
  Result<std::string> uuid(CUdevice device) const;
  /// PTX (ended by a 0) or a cubin; the error has the log of the driver's compiler.
  Result<CUmodule> loadModule(const void *image) const;
  /// The cubin of PTX for the device of the current context; the error has the log.
  Result<std::string> assemble(const std::string &ptx) const;

private:
  Driver() = default;
  /// Fills the table; returns null if all functions exist, else the first missing one.
  const char *findFunctions(void *handle);

  int versionNumber = 0, devices = 0;
  std::string libraryName;
};

/// The minimum version with everything in Functions.def, in the numbers of cuDriverGetVersion.
inline constexpr int oldestVersion = 12000;

} // namespace pcrt::cuda

#endif // PYCOMPILER_RUNTIME_LIB_DRIVER_DRIVER_H
