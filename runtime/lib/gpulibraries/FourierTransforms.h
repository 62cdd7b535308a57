// Discrete Fourier transforms by cuFFT, with a cache of plans. After Libraries and DeviceResources; before
// DeviceLibraries.
#ifndef PYCOMPILER_RUNTIME_LIB_GPULIBRARIES_FOURIERTRANSFORMS_H
#define PYCOMPILER_RUNTIME_LIB_GPULIBRARIES_FOURIERTRANSFORMS_H

#include "driver/DeviceResources.h"
#include "gpulibraries/Libraries.h"

#include <map>
#include <tuple>

namespace pcrt::cuda {

/// A transform along the middle one of the dimensions [outer, length, inner] of dense complex numbers. For real ones,
/// with inner = 1: the first length / 2 + 1 frequencies.
struct TransformCall {
  const void *from;
  void *to;
  /// Codes of PcrtDType.
  int32_t fromType, toType;
  int64_t outer, length, inner;
  /// Neither direction divides by the length.
  bool isInverse;
};

/// For one thread at a time.
class FourierTransforms {
public:
  explicit FourierTransforms(DeviceResources &resources) : resources(resources) {}
  ~FourierTransforms();
  FourierTransforms(const FourierTransforms &) = delete;
  FourierTransforms &operator=(const FourierTransforms &) = delete;

  /// Enqueues a transform on the device's stream, whose context is current.
  Status transform(const TransformCall &call);

private:
  struct Plan {
    cufftHandle handle;
    size_t workspaceBytes;
  };
  /// A batch of transforms: the type, their number, their length, the steps from number to number and from transform to
  /// transform.
  using Key = std::tuple<int, int64_t, int64_t, int64_t, int64_t>;
  Result<Plan> planFor(const Cufft &library, const Key &key);
  Status run(const Cufft &library, const TransformCall &call);
  void forget();

  DeviceResources &resources;
  std::map<Key, Plan> plans;
};

} // namespace pcrt::cuda

#endif // PYCOMPILER_RUNTIME_LIB_GPULIBRARIES_FOURIERTRANSFORMS_H
