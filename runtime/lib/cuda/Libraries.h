// NVIDIA's libraries as tables of functions, from what the machine has when the process runs: nothing is linked, as
// with the driver. After LibraryTypes; before DeviceLibraries, which uses them on a device.
#ifndef PYCOMPILER_RUNTIME_LIB_CUDA_LIBRARIES_H
#define PYCOMPILER_RUNTIME_LIB_CUDA_LIBRARIES_H

#include "cuda/LibraryTypes.h"
#include "runtime/GpuLibraries.h"
#include "runtime/Status.h"

#include <string>

namespace pcrt::cuda {

struct CublasLt {
#define PCRT_LIBRARY(result, name, parameters) result(*name) parameters = nullptr;
#include "cuda/CublasLtFunctions.def"

  /// Of the table; null when all are there, else the first that is missing.
  const char *find(void *handle);
  /// Ok, or the failure of `call` (the function's name) by the library's words for it.
  Status check(cublasStatus_t result, const char *call) const;

  /// What was loaded; null before.
  static const CublasLt *loaded();
};

struct Cufft {
#define PCRT_LIBRARY(result, name, parameters) result(*name) parameters = nullptr;
#include "cuda/CufftFunctions.def"

  const char *find(void *handle);
  Status check(cufftResult result, const char *call) const;
  static const Cufft *loaded();
};

struct Cusolver {
#define PCRT_LIBRARY(result, name, parameters) result(*name) parameters = nullptr;
#include "cuda/CusolverFunctions.def"

  const char *find(void *handle);
  Status check(cusolverStatus_t result, const char *call) const;
  static const Cusolver *loaded();
};

/// The failure of a call that is asked for before its library is loaded.
Status notLoaded(const std::string &name);

} // namespace pcrt::cuda

#endif // PYCOMPILER_RUNTIME_LIB_CUDA_LIBRARIES_H
