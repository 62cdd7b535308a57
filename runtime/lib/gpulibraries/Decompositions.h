// Decompositions of matrices by cuSOLVER, one matrix of a batch after the other. After Libraries and DeviceResources;
// before DeviceLibraries.
#ifndef PYCOMPILER_RUNTIME_LIB_GPULIBRARIES_DECOMPOSITIONS_H
#define PYCOMPILER_RUNTIME_LIB_GPULIBRARIES_DECOMPOSITIONS_H

#include "driver/DeviceResources.h"
#include "gpulibraries/Libraries.h"

#include <vector>

namespace pcrt::cuda {

/// For one thread at a time. Each works on the first output, which holds the matrices; LibraryTable.cpp describes the
/// other outputs and the parameters. The last output is cuSOLVER's `info` of each matrix.
class Decompositions {
public:
  explicit Decompositions(DeviceResources &resources) : resources(resources) {}
  ~Decompositions();
  Decompositions(const Decompositions &) = delete;
  Decompositions &operator=(const Decompositions &) = delete;

  /// These enqueue work on the device's stream, whose context is current, and may wait for it.
  Status cholesky(const PcrtTensor *outputs, const int64_t *params);
  Status lu(const PcrtTensor *outputs, const int64_t *params);
  Status eigh(const PcrtTensor *outputs, const int64_t *params);
  Status svd(const PcrtTensor *outputs, const int64_t *params);

private:
  /// The library, ready to be called.
  Result<const Cusolver *> begin();
  template <typename Size, typename Run>
  Status runEach(const char *name, const PcrtTensor *outputs, int32_t count, Size size, Run run);

  DeviceResources &resources;
  cusolverDnHandle_t handle = nullptr;
  cusolverDnParams_t options = nullptr;
  /// Host workspaces of calls; calls that need them wait for the device themselves.
  std::vector<char> hostBuffer;
};

} // namespace pcrt::cuda

#endif // PYCOMPILER_RUNTIME_LIB_GPULIBRARIES_DECOMPOSITIONS_H
