// The state of NVIDIA's libraries for one device: created at a program's first use, and destroyed with the device.
// After Libraries and DeviceResources; CudaDevice has one.
#ifndef PYCOMPILER_RUNTIME_LIB_GPULIBRARIES_DEVICELIBRARIES_H
#define PYCOMPILER_RUNTIME_LIB_GPULIBRARIES_DEVICELIBRARIES_H

#include "gpulibraries/Decompositions.h"
#include "gpulibraries/FourierTransforms.h"
#include "gpulibraries/MatrixProducts.h"

#include <mutex>

namespace pcrt::cuda {

class DeviceLibraries {
public:
  explicit DeviceLibraries(DeviceResources &resources)
      : products(resources), transforms(resources), decompositions(resources) {}

  /// Enqueues a matmul on the device's stream, whose context is current. In any thread.
  Status multiply(const ProductCall &call) {
    std::lock_guard<std::mutex> guard(lock);
    return products.multiply(call);
  }
  /// The same of a transform.
  Status transform(const TransformCall &call) {
    std::lock_guard<std::mutex> guard(lock);
    return transforms.transform(call);
  }
  /// The same for a decomposition, one of the functions of Decompositions.
  Status decompose(Status (Decompositions::*routine)(const PcrtTensor *, const int64_t *), const PcrtTensor *outputs,
                   const int64_t *params) {
    std::lock_guard<std::mutex> guard(lock);
    return (decompositions.*routine)(outputs, params);
  }

private:
  /// The libraries' state serves one call at a time.
  std::mutex lock;
  MatrixProducts products;
  FourierTransforms transforms;
  Decompositions decompositions;
};

} // namespace pcrt::cuda

#endif // PYCOMPILER_RUNTIME_LIB_GPULIBRARIES_DEVICELIBRARIES_H
