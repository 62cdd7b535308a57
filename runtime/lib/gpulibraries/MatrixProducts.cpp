// cuBLASLt's matrices are column-major: our row-major matrix is its own transpose there. So the call computes the
// transposed matmul, right times left, whose result has our layout.
#include "gpulibraries/MatrixProducts.h"

#include <cstring>

using namespace pcrt;
using namespace pcrt::cuda;

/// The maximum workspace of an algorithm: NVIDIA recommends it for sm_90.
static constexpr uint64_t mostWorkspaceBytes = uint64_t(32) << 20;
/// The maximum number of cached plans.
static constexpr size_t mostPlans = 1024;
/// No better alignment is needed.
static constexpr uintptr_t mostAlignment = 256;

static const struct Element {
  PcrtDType code;
  cudaDataType type, scale;
  cublasComputeType_t sums;
} elements[] = {
    {PCRT_DTYPE_Float16, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    {PCRT_DTYPE_BFloat16, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    {PCRT_DTYPE_Float32, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    {PCRT_DTYPE_Float64, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F},
};

static const Element *findElement(int32_t code) {
  for (const Element &element : elements)
    if (element.code == code)
      return &element;
  return nullptr;
}

static uint32_t alignmentOf(const void *pointer) {
  auto address = reinterpret_cast<uintptr_t>(pointer) | mostAlignment;
  return static_cast<uint32_t>(address & -address);
}

//===-- Plan
//--------------------------------------------------------------------------------------------------------===//

/// The library's plan for a kind of matmul.
class MatrixProducts::Plan {
public:
  explicit Plan(const CublasLt &library) : library(library) {}
  ~Plan() {
    if (product)
      library.cublasLtMatmulDescDestroy(product);
    if (preference)
      library.cublasLtMatmulPreferenceDestroy(preference);
    for (cublasLtMatrixLayout_t layout : {a, b, d})
      if (layout)
        library.cublasLtMatrixLayoutDestroy(layout);
  }
  Plan(const Plan &) = delete;
  Plan &operator=(const Plan &) = delete;

  Status make(cublasLtHandle_t handle, const ProductCall &call);
  Status run(cublasLtHandle_t handle, const ProductCall &call, CudaMemory &memory, CUstream stream) const;

private:
  struct Matrix {
    int64_t rows, columns, rowStep, columnStep, batchStep;
  };
  Status describe(cublasLtMatrixLayout_t &layout, cudaDataType type, const Matrix &matrix, int64_t batch,
                  int32_t &isTransposed);
  Status prefer(const ProductCall &call);
  Status choose(cublasLtHandle_t handle);

  const CublasLt &library;
  cublasLtMatmulDesc_t product = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, d = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
  cublasLtMatmulHeuristicResult_t chosen = {};
};

/// `matrix` has the library's layout: it is column-major, or row-major and transposed.
Status MatrixProducts::Plan::describe(cublasLtMatrixLayout_t &layout, cudaDataType type, const Matrix &matrix,
                                      int64_t batch, int32_t &isTransposed) {
  auto [rows, columns, rowStep, columnStep, batchStep] = matrix;
  isTransposed = rowStep != 1;
  auto length = static_cast<uint64_t>(isTransposed ? columns : rows);
  auto count = static_cast<uint64_t>(isTransposed ? rows : columns);
  Status status = library.check(
      library.cublasLtMatrixLayoutCreate(&layout, type, length, count, isTransposed ? rowStep : columnStep),
      "cublasLtMatrixLayoutCreate");
  auto matrices = static_cast<int32_t>(batch);
  const struct {
    cublasLtMatrixLayoutAttribute_t attribute;
    const void *value;
    size_t bytes;
  } batched[] = {{CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &matrices, sizeof(matrices)},
                 {CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &batchStep, sizeof(batchStep)}};
  for (const auto &[attribute, value, bytes] : batched)
    if (status.isOk() && batch > 1)
      status = library.check(library.cublasLtMatrixLayoutSetAttribute(layout, attribute, value, bytes),
                             "cublasLtMatrixLayoutSetAttribute");
  return status;
}

/// Which algorithms will do.
Status MatrixProducts::Plan::prefer(const ProductCall &call) {
  Status status = library.check(library.cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
  const uint64_t workspace = mostWorkspaceBytes;
  // Sums that are joined in the workspace have one order; atomics have none.
  const uint32_t scheme = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  const uint32_t left = alignmentOf(call.left), right = alignmentOf(call.right), result = alignmentOf(call.result);
  const struct {
    cublasLtMatmulPreferenceAttributes_t attribute;
    const void *value;
    size_t bytes;
  } wanted[] = {{CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof(workspace)},
                {CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &scheme, sizeof(scheme)},
                {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &right, sizeof(right)},
                {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, &left, sizeof(left)},
                {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &result, sizeof(result)},
                {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &result, sizeof(result)}};
  for (const auto &[attribute, value, bytes] : wanted)
    if (status.isOk())
      status = library.check(library.cublasLtMatmulPreferenceSetAttribute(preference, attribute, value, bytes),
                             "cublasLtMatmulPreferenceSetAttribute");
  return status;
}

Status MatrixProducts::Plan::choose(cublasLtHandle_t handle) {
  int count = 0;
  Status status =
      library.check(library.cublasLtMatmulAlgoGetHeuristic(handle, product, a, b, d, d, preference, 1, &chosen, &count),
                    "cublasLtMatmulAlgoGetHeuristic");
  if (status.isOk() && count == 0)
    return Status(Code::LibraryFailed, "cublasLtMatmulAlgoGetHeuristic knows no algorithm");
  return status.isOk() ? library.check(chosen.state, "cublasLtMatmulAlgoGetHeuristic") : std::move(status);
}

Status MatrixProducts::Plan::make(cublasLtHandle_t handle, const ProductCall &call) {
  const PcrtProduct &p = call.sizes;
  const Element *factor = findElement(call.factorType), *result = findElement(call.resultType);
  if (!factor || !result || p.batch > INT32_MAX)
    return Status(Code::InvalidArgument, "cuBLASLt does not multiply numbers of type " +
                                             std::to_string(call.factorType) + " to " +
                                             std::to_string(call.resultType));
  bool isTf32 = p.allowsTf32 && factor->type == CUDA_R_32F;
  cublasComputeType_t sums = isTf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : factor->sums;
  Status status =
      library.check(library.cublasLtMatmulDescCreate(&product, sums, factor->scale), "cublasLtMatmulDescCreate");
  int32_t transposesA = 0, transposesB = 0, transposesD = 0;
  if (status.isOk())
    status =
        describe(a, factor->type, {p.columns, p.terms, p.rightColumn, p.rightTerm, p.rightBatch}, p.batch, transposesA);
  if (status.isOk())
    status = describe(b, factor->type, {p.terms, p.rows, p.leftTerm, p.leftRow, p.leftBatch}, p.batch, transposesB);
  if (status.isOk())
    status = describe(d, result->type, {p.columns, p.rows, 1, p.resultRow, p.resultBatch}, p.batch, transposesD);
  for (auto [attribute, value] :
       {std::pair(CUBLASLT_MATMUL_DESC_TRANSA, transposesA), std::pair(CUBLASLT_MATMUL_DESC_TRANSB, transposesB)}) {
    const int32_t operation = value ? CUBLAS_OP_T : CUBLAS_OP_N;
    if (status.isOk())
      status = library.check(library.cublasLtMatmulDescSetAttribute(product, attribute, &operation, sizeof(operation)),
                             "cublasLtMatmulDescSetAttribute");
  }
  if (status.isOk())
    status = prefer(call);
  return status.isOk() ? choose(handle) : std::move(status);
}

Status MatrixProducts::Plan::run(cublasLtHandle_t handle, const ProductCall &call, CudaMemory &memory,
                                 CUstream stream) const {
  CUdeviceptr workspace = 0;
  if (chosen.workspaceSize > 0) {
    Result<CUdeviceptr> taken = memory.allocate(chosen.workspaceSize);
    if (!taken.isOk())
      return Status(taken.status().code(), "the workspace of cuBLASLt: " + taken.status().message());
    workspace = taken.value();
  }
  const bool isWide = call.factorType == PCRT_DTYPE_Float64;
  const float one = 1, zero = 0;
  const double wideOne = 1, wideZero = 0;
  const void *alpha = isWide ? static_cast<const void *>(&wideOne) : &one;
  const void *beta = isWide ? static_cast<const void *>(&wideZero) : &zero;
  Status status = library.check(
      library.cublasLtMatmul(handle, product, alpha, call.right, a, call.left, b, beta, call.result, d, call.result, d,
                             &chosen.algo, reinterpret_cast<void *>(workspace), chosen.workspaceSize, stream),
      "cublasLtMatmul");
  // Later work on the stream may reuse it.
  if (workspace)
    memory.free(workspace);
  return status;
}

//===-- MatrixProducts
//----------------------------------------------------------------------------------------------===//

MatrixProducts::MatrixProducts(DeviceResources &resources) : resources(resources) {}

MatrixProducts::~MatrixProducts() {
  if (!handle || !resources.context().makeCurrent().isOk())
    return;
  plans.clear();
  CublasLt::loaded()->cublasLtDestroy(handle);
}

MatrixProducts::Key MatrixProducts::keyOf(const ProductCall &call) {
  Key key;
  std::memcpy(key.data(), &call.sizes, sizeof(PcrtProduct));
  const int64_t others[] = {call.factorType, call.resultType, alignmentOf(call.left), alignmentOf(call.right),
                            alignmentOf(call.result)};
  std::copy(std::begin(others), std::end(others), key.end() - std::size(others));
  return key;
}

Result<const MatrixProducts::Plan *> MatrixProducts::planFor(const ProductCall &call) {
  const CublasLt *library = CublasLt::loaded();
  if (!library)
    return notLoaded("cublaslt");
  Key key = keyOf(call);
  if (auto known = plans.find(key); known != plans.end())
    return static_cast<const Plan *>(known->second.get());
  if (!handle)
    if (Status status = library->check(library->cublasLtCreate(&handle), "cublasLtCreate"); !status.isOk())
      return status;
  auto plan = std::make_unique<Plan>(*library);
  if (Status status = plan->make(handle, call); !status.isOk())
    return status;
  if (plans.size() >= mostPlans)
    plans.clear();
  return static_cast<const Plan *>((plans[key] = std::move(plan)).get());
}

Status MatrixProducts::multiply(const ProductCall &call) {
  Result<const Plan *> plan = planFor(call);
  Status status = plan.isOk() ? plan.value()->run(handle, call, resources.memory(), resources.stream())
                              : Status(plan.status().code(), plan.status().message());
  if (status.isOk())
    return status;
  const PcrtProduct &p = call.sizes;
  return Status(status.code(), "a product of " + std::to_string(p.batch) + " matrices of " + std::to_string(p.rows) +
                                   " x " + std::to_string(p.terms) + " and " + std::to_string(p.terms) + " x " +
                                   std::to_string(p.columns) + " by cuBLASLt: " + status.message());
}
