// What NVIDIA's libraries keep for one device: made when a program first asks for them, given back with the device.
// After Libraries and DeviceResources; CudaDevice has one.
#ifndef PYCOMPILER_RUNTIME_LIB_CUDA_DEVICELIBRARIES_H
#define PYCOMPILER_RUNTIME_LIB_CUDA_DEVICELIBRARIES_H

#include "cuda/Decompositions.h"
#include "cuda/FourierTransforms.h"
#include "cuda/MatrixProducts.h"

#include <mutex>

namespace pcrt::cuda {

class DeviceLibraries {
public:
  explicit DeviceLibraries(DeviceResources &resources)
      : products(resources), transforms(resources), decompositions(resources) {}

  /// Enqueues a product on the device's stream, whose context is current. In any thread.
  Status multiply(const ProductCall &call) {
    std::lock_guard<std::mutex> guard(lock);
    return products.multiply(call);
  }
  /// The same of a transform.
  Status transform(const TransformCall &call) {
    std::lock_guard<std::mutex> guard(lock);
    return transforms.transform(call);
  }
  /// And of a decomposition, one of the functions of Decompositions.
  Status decompose(Status (Decompositions::*routine)(const PcrtTensor *, const int64_t *), const PcrtTensor *outputs,
                   const int64_t *params) {
    std::lock_guard<std::mutex> guard(lock);
    return (decompositions.*routine)(outputs, params);
  }

private:
  /// What libraries keep serves one call at a time.
  std::mutex lock;
  MatrixProducts products;
  FourierTransforms transforms;
  Decompositions decompositions;
};

} // namespace pcrt::cuda

#endif // PYCOMPILER_RUNTIME_LIB_CUDA_DEVICELIBRARIES_H
