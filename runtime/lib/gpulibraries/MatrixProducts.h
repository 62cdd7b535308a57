// Matmuls by cuBLASLt, with a cache of descriptions and chosen algorithms for each kind of matmul. After Libraries and
// DeviceResources; before DeviceLibraries.
#ifndef PYCOMPILER_RUNTIME_LIB_GPULIBRARIES_MATRIXPRODUCTS_H
#define PYCOMPILER_RUNTIME_LIB_GPULIBRARIES_MATRIXPRODUCTS_H

#include "driver/DeviceResources.h"
#include "gpulibraries/Libraries.h"

#include <array>
#include <map>

namespace pcrt::cuda {

struct ProductCall {
  PcrtProduct sizes;
  const void *left, *right;
  void *result;
  /// Codes of PcrtDType: of both factors, and of the result.
  int32_t factorType, resultType;
};

/// For one thread at a time.
class MatrixProducts {
public:
  explicit MatrixProducts(DeviceResources &resources);
  ~MatrixProducts();
  MatrixProducts(const MatrixProducts &) = delete;
  MatrixProducts &operator=(const MatrixProducts &) = delete;

  /// Enqueues a matmul on the device's stream, whose context is current. The same matmul gives the same bits in every
  /// run: algorithms without a fixed order of sums are excluded.
  Status multiply(const ProductCall &call);

private:
  class Plan;
  /// The sizes, the types, and the alignment of pointers.
  using Key = std::array<int64_t, sizeof(PcrtProduct) / sizeof(int64_t) + 5>;
  static Key keyOf(const ProductCall &call);
  Result<const Plan *> planFor(const ProductCall &call);

  DeviceResources &resources;
  cublasLtHandle_t handle = nullptr;
  std::map<Key, std::unique_ptr<Plan>> plans;
};

} // namespace pcrt::cuda

#endif // PYCOMPILER_RUNTIME_LIB_GPULIBRARIES_MATRIXPRODUCTS_H
