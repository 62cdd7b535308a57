// cuBLASLt on the emulated device: documented matmuls of column-major matrices, for the types and attributes that the
// runtime uses. It refuses calls that the real library refuses or interprets differently.
#include "EmulatedLibrary.h"

#include <cstring>
#include <memory>
#include <vector>

using namespace emulator;
using namespace pcrt;

extern "C" {
#define PCRT_LIBRARY(result, name, parameters) PCRT_EXPORTED result name parameters;
#include "gpulibraries/CublasLtFunctions.def"
}

struct cublasLtContext {};
struct cublasLtMatmulDescOpaque {
  cublasComputeType_t sums;
  cudaDataType scale;
  int32_t transposesA = CUBLAS_OP_N, transposesB = CUBLAS_OP_N;
};
struct cublasLtMatrixLayoutOpaque {
  cudaDataType type;
  uint64_t rows, columns;
  int64_t step;
  int32_t batch = 1;
  int64_t batchStep = 0;

  /// Elements from the first to the last.
  uint64_t extent() const {
    return static_cast<uint64_t>(batch - 1) * static_cast<uint64_t>(batchStep) +
           (columns - 1) * static_cast<uint64_t>(step) + rows;
  }
  uint64_t bytes() const { return extent() * bytesOf(type); }
};
struct cublasLtMatmulPreferenceOpaque {
  uint64_t workspace = 0;
  uint32_t schemes = 7, alignmentA = 256, alignmentB = 256, alignmentC = 256, alignmentD = 256;
};

/// The algorithm, which the heuristic returns and the matmul takes.
namespace {
struct Algorithm {
  uint64_t mark;
  uint32_t alignment[4];
  uint64_t workspace;
};
} // namespace
static constexpr uint64_t algorithmMark = 0x656d756c61746564;
/// Blocks share matmuls of this many terms, and their sums meet in the workspace.
static constexpr uint64_t splitTerms = 512, splitWorkspace = 65536;

template <typename Type> static cublasStatus_t take(Type &field, const void *value, size_t bytes) {
  if (!value || bytes != sizeof(Type))
    return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&field, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

//===-- Numbers
//-----------------------------------------------------------------------------------------------------===//

static double load(const void *memory, cudaDataType type, uint64_t index) {
  switch (type) {
  case CUDA_R_16F:
    return fromBits(halfToFloatBits(static_cast<const uint16_t *>(memory)[index]));
  case CUDA_R_16BF:
    return fromBits(uint32_t(static_cast<const uint16_t *>(memory)[index]) << 16);
  case CUDA_R_32F:
    return static_cast<const float *>(memory)[index];
  default:
    return static_cast<const double *>(memory)[index];
  }
}

static void store(void *memory, cudaDataType type, uint64_t index, double value) {
  auto narrow = static_cast<float>(value);
  switch (type) {
  case CUDA_R_16F:
    static_cast<uint16_t *>(memory)[index] = static_cast<uint16_t>(floatToHalfBits(narrow));
    return;
  case CUDA_R_16BF:
    static_cast<uint16_t *>(memory)[index] = static_cast<uint16_t>(floatToBFloat16Bits(narrow));
    return;
  case CUDA_R_32F:
    static_cast<float *>(memory)[index] = narrow;
    return;
  default:
    static_cast<double *>(memory)[index] = value;
  }
}

/// With 10 bits of mantissa, ties away from zero.
static void roundToTf32(std::vector<double> &values) {
  for (double &value : values) {
    auto narrow = static_cast<float>(value);
    uint32_t bits = 0;
    std::memcpy(&bits, &narrow, sizeof(bits));
    value = fromBits((bits + 0x1000) & ~uint32_t(0x1fff));
  }
}

/// One matrix of a batch, column after column, after op().
static std::vector<double> read(const void *memory, const cublasLtMatrixLayoutOpaque &layout, int32_t matrix,
                                bool isTransposed) {
  std::vector<double> values(layout.rows * layout.columns);
  uint64_t first = static_cast<uint64_t>(matrix) * static_cast<uint64_t>(layout.batchStep);
  for (uint64_t column = 0; column < layout.columns; ++column)
    for (uint64_t row = 0; row < layout.rows; ++row)
      values[isTransposed ? row * layout.columns + column : column * layout.rows + row] =
          load(memory, layout.type, first + column * static_cast<uint64_t>(layout.step) + row);
  return values;
}

namespace {
struct Product {
  cublasLtMatmulDescOpaque what;
  cublasLtMatrixLayoutOpaque a, b, d;
  const void *aMemory, *bMemory;
  void *dMemory, *workspace;
  size_t workspaceBytes;

  void compute() const;
};
} // namespace

void Product::compute() const {
  // The workspace must not be shared now.
  if (workspaceBytes > 0)
    std::memset(workspace, 0xab, workspaceBytes);
  uint64_t m = d.rows, n = d.columns;
  for (int32_t matrix = 0; matrix < d.batch; ++matrix) {
    std::vector<double> left = read(aMemory, a, matrix, what.transposesA), sums(m);
    std::vector<double> right = read(bMemory, b, matrix, what.transposesB);
    if (what.sums == CUBLAS_COMPUTE_32F_FAST_TF32) {
      roundToTf32(left);
      roundToTf32(right);
    }
    uint64_t k = left.size() / m, first = static_cast<uint64_t>(matrix) * static_cast<uint64_t>(d.batchStep);
    for (uint64_t column = 0; column < n; ++column) {
      std::fill(sums.begin(), sums.end(), 0.0);
      for (uint64_t term = 0; term < k; ++term)
        for (uint64_t row = 0; row < m; ++row)
          sums[row] += left[term * m + row] * right[column * k + term];
      for (uint64_t row = 0; row < m; ++row)
        store(dMemory, d.type, first + column * static_cast<uint64_t>(d.step) + row, sums[row]);
    }
  }
}

//===-- Refused calls
//---------------------------------------------------------------------------------------------===//

static bool isPossible(const cublasLtMatmulDescOpaque &product, const cublasLtMatrixLayoutOpaque &a,
                       const cublasLtMatrixLayoutOpaque &b, const cublasLtMatrixLayoutOpaque &c,
                       const cublasLtMatrixLayoutOpaque &d) {
  bool isWide = a.type == CUDA_R_64F, isNarrow = a.type == CUDA_R_16F || a.type == CUDA_R_16BF;
  bool hasTypes = a.type == b.type && c.type == d.type && (d.type == a.type || (isNarrow && d.type == CUDA_R_32F)) &&
                  (product.sums == (isWide ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F) ||
                   (product.sums == CUBLAS_COMPUTE_32F_FAST_TF32 && a.type == CUDA_R_32F)) &&
                  product.scale == (isWide ? CUDA_R_64F : CUDA_R_32F);
  auto [m, k] = product.transposesA ? std::pair(a.columns, a.rows) : std::pair(a.rows, a.columns);
  auto [terms, n] = product.transposesB ? std::pair(b.columns, b.rows) : std::pair(b.rows, b.columns);
  bool hasSizes = m == d.rows && n == d.columns && k == terms && c.rows == d.rows && c.columns == d.columns;
  for (const auto *layout : {&a, &b, &c, &d})
    hasSizes = hasSizes && layout->rows > 0 && layout->columns > 0 && layout->batch == d.batch &&
               layout->step >= static_cast<int64_t>(layout->rows) && layout->batchStep >= 0;
  return hasTypes && hasSizes;
}

static bool isAligned(const void *pointer, uint32_t bytes) { return reinterpret_cast<uintptr_t>(pointer) % bytes == 0; }

//===-- The functions
//-----------------------------------------------------------------------------------------------===//

extern "C" {

const char *cublasLtGetStatusName(cublasStatus_t status) {
  return status == CUBLAS_STATUS_NOT_SUPPORTED      ? "CUBLAS_STATUS_NOT_SUPPORTED"
         : status == CUBLAS_STATUS_INVALID_VALUE    ? "CUBLAS_STATUS_INVALID_VALUE"
         : status == CUBLAS_STATUS_EXECUTION_FAILED ? "CUBLAS_STATUS_EXECUTION_FAILED"
                                                    : "CUBLAS_STATUS of the emulation";
}

const char *cublasLtGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_EXECUTION_FAILED ? "the function failed to launch on the GPU"
                                                  : "the emulation refuses";
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
  *handle = new cublasLtContext;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *product, cublasComputeType_t sums, cudaDataType scale) {
  *product = new cublasLtMatmulDescOpaque{sums, scale};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t product) {
  delete product;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t product, cublasLtMatmulDescAttributes_t attribute,
                                              const void *value, size_t bytes) {
  switch (attribute) {
  case CUBLASLT_MATMUL_DESC_TRANSA:
    return take(product->transposesA, value, bytes);
  case CUBLASLT_MATMUL_DESC_TRANSB:
    return take(product->transposesB, value, bytes);
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType type, uint64_t rows,
                                          uint64_t columns, int64_t step) {
  *layout = new cublasLtMatrixLayoutOpaque{type, rows, columns, step};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete layout;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute, const void *value,
                                                size_t bytes) {
  switch (attribute) {
  case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
    return take(layout->batch, value, bytes);
  case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
    return take(layout->batchStep, value, bytes);
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference) {
  *preference = new cublasLtMatmulPreferenceOpaque;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete preference;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute, const void *value,
                                                    size_t bytes) {
  switch (attribute) {
  case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
    return take(preference->workspace, value, bytes);
  case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK:
    return take(preference->schemes, value, bytes);
  case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
    return take(preference->alignmentA, value, bytes);
  case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
    return take(preference->alignmentB, value, bytes);
  case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
    return take(preference->alignmentC, value, bytes);
  case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
    return take(preference->alignmentD, value, bytes);
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t product,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int requested,
                                              cublasLtMatmulHeuristicResult_t *results, int *count) {
  *count = 0;
  if (!handle || requested < 1 || (preference->schemes & CUBLASLT_REDUCTION_SCHEME_INPLACE))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (!isPossible(*product, *a, *b, *c, *d))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  bool isSplit = (product->transposesA ? a->rows : a->columns) >= splitTerms && preference->workspace >= splitWorkspace;
  Algorithm chosen = {algorithmMark,
                      {preference->alignmentA, preference->alignmentB, preference->alignmentC, preference->alignmentD},
                      isSplit ? splitWorkspace : 0};
  *results = {};
  std::memcpy(results->algo.data, &chosen, sizeof(chosen));
  results->workspaceSize = chosen.workspace;
  results->state = CUBLAS_STATUS_SUCCESS;
  *count = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t product, const void *alpha, const void *a,
                              cublasLtMatrixLayout_t aLayout, const void *b, cublasLtMatrixLayout_t bLayout,
                              const void *beta, const void *c, cublasLtMatrixLayout_t cLayout, void *d,
                              cublasLtMatrixLayout_t dLayout, const cublasLtMatmulAlgo_t *algorithm, void *workspace,
                              size_t workspaceBytes, CUstream stream) {
  if (int asked = takeFailure())
    return static_cast<cublasStatus_t>(asked);
  Algorithm chosen;
  std::memcpy(&chosen, algorithm->data, sizeof(chosen));
  if (!handle || chosen.mark != algorithmMark || workspaceBytes < chosen.workspace)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (!isPossible(*product, *aLayout, *bLayout, *cLayout, *dLayout))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  // A restriction of the emulation: the result is the product itself.
  if (load(alpha, product->scale, 0) != 1 || load(beta, product->scale, 0) != 0)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  const void *pointers[] = {a, b, c, d};
  for (int i = 0; i < 4; ++i)
    if (!isAligned(pointers[i], chosen.alignment[i]))
      return CUBLAS_STATUS_INVALID_VALUE;
  if (!emulatorHolds(a, aLayout->bytes()) || !emulatorHolds(b, bLayout->bytes()) ||
      !emulatorHolds(d, dLayout->bytes()) || (workspaceBytes > 0 && !emulatorHolds(workspace, workspaceBytes)))
    return CUBLAS_STATUS_EXECUTION_FAILED;
  Product work{*product, *aLayout, *bLayout, *dLayout, a, b, d, workspace, workspaceBytes};
  return enqueue(stream, [work] { work.compute(); }) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
}
