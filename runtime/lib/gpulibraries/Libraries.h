// NVIDIA's libraries as tables of functions, from the machine's libraries at run time: nothing is linked, as with the
// driver. After LibraryTypes; before DeviceLibraries, which uses them on a device.
#ifndef PYCOMPILER_RUNTIME_LIB_GPULIBRARIES_LIBRARIES_H
#define PYCOMPILER_RUNTIME_LIB_GPULIBRARIES_LIBRARIES_H

#include "gpulibraries/LibraryTypes.h"
#include "runtime/GpuLibraries.h"
#include "runtime/Status.h"

#include <string>

namespace pcrt::cuda {

struct CublasLt {
#define PCRT_LIBRARY(result, name, parameters) result(*name) parameters = nullptr;
#include "gpulibraries/CublasLtFunctions.def"

  /// Fills the table; returns null if all functions exist, else the first missing one.
  const char *find(void *handle);
  /// Ok, or the failure of `call` (the function's name) with the library's text.
  Status check(cublasStatus_t result, const char *call) const;

  /// The loaded library, or null.
  static const CublasLt *loaded();
};

struct Cufft {
#define PCRT_LIBRARY(result, name, parameters) result(*name) parameters = nullptr;
#include "gpulibraries/CufftFunctions.def"

  const char *find(void *handle);
  Status check(cufftResult result, const char *call) const;
  static const Cufft *loaded();
};

struct Cusolver {
#define PCRT_LIBRARY(result, name, parameters) result(*name) parameters = nullptr;
#include "gpulibraries/CusolverFunctions.def"

  const char *find(void *handle);
  Status check(cusolverStatus_t result, const char *call) const;
  static const Cusolver *loaded();
};

struct Nccl {
#define PCRT_LIBRARY(result, name, parameters) result(*name) parameters = nullptr;
#include "gpulibraries/NcclFunctions.def"

  const char *find(void *handle);
  /// With the last error text of the library.
  Status check(ncclResult_t result, const char *call) const;
  static const Nccl *loaded();
};

/// The failure of a call before its library is loaded.
Status notLoaded(const std::string &name);

} // namespace pcrt::cuda

#endif // PYCOMPILER_RUNTIME_LIB_GPULIBRARIES_LIBRARIES_H
