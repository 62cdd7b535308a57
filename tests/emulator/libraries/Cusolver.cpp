// cuSOLVER on the emulated device: documented decompositions of column-major matrices, by plain algorithms in double
// precision, for the runtime's calls. It refuses calls that the real library refuses.
#include "EmulatedLibrary.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <numeric>
#include <vector>

using namespace emulator;

extern "C" {
#define PCRT_LIBRARY(result, name, parameters) PCRT_EXPORTED result name parameters;
#include "gpulibraries/CusolverFunctions.def"
}

struct cusolverDnContext {
  CUstream stream = nullptr;
};
struct cusolverDnParams {};

using Number = std::complex<double>;
static constexpr size_t deviceSpace = 8192, hostSpace = 512;

//===-- Matrices
//----------------------------------------------------------------------------------------------------===//

/// Column after column.
namespace {
struct Matrix {
  Matrix(int64_t rows, int64_t columns) : rows(rows), columns(columns), values(static_cast<size_t>(rows * columns)) {}
  Number &operator()(int64_t i, int64_t j) { return values[static_cast<size_t>(j * rows + i)]; }
  Number operator()(int64_t i, int64_t j) const { return values[static_cast<size_t>(j * rows + i)]; }

  int64_t rows, columns;
  std::vector<Number> values;
};
} // namespace

static Number load(const void *memory, cudaDataType type, int64_t i) {
  switch (type) {
  case CUDA_R_32F:
    return static_cast<const float *>(memory)[i];
  case CUDA_R_64F:
    return static_cast<const double *>(memory)[i];
  case CUDA_C_32F:
    return static_cast<const std::complex<float> *>(memory)[i];
  default:
    return static_cast<const std::complex<double> *>(memory)[i];
  }
}

static void store(void *memory, cudaDataType type, int64_t i, Number value) {
  switch (type) {
  case CUDA_R_32F:
    static_cast<float *>(memory)[i] = static_cast<float>(value.real());
    return;
  case CUDA_R_64F:
    static_cast<double *>(memory)[i] = value.real();
    return;
  case CUDA_C_32F:
    static_cast<std::complex<float> *>(memory)[i] = std::complex<float>(value);
    return;
  default:
    static_cast<std::complex<double> *>(memory)[i] = value;
  }
}

static Matrix read(const void *memory, cudaDataType type, int64_t rows, int64_t columns, int64_t step) {
  Matrix matrix(rows, columns);
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = 0; i < rows; ++i)
      matrix(i, j) = load(memory, type, j * step + i);
  return matrix;
}

static void write(const Matrix &matrix, void *memory, cudaDataType type, int64_t step) {
  for (int64_t j = 0; j < matrix.columns; ++j)
    for (int64_t i = 0; i < matrix.rows; ++i)
      store(memory, type, j * step + i, matrix(i, j));
}

static uint64_t extentOf(cudaDataType type, int64_t rows, int64_t columns, int64_t step) {
  return static_cast<uint64_t>((columns - 1) * step + rows) * bytesOf(type);
}

//===-- Algorithms
//--------------------------------------------------------------------------------------------------===//

/// For the upper triangle; returns the first column at which the matrix is not positive definite, from 1.
static int choleskyUpper(Matrix &a) {
  for (int64_t j = 0; j < a.columns; ++j) {
    for (int64_t i = 0; i <= j; ++i) {
      Number sum = a(i, j);
      for (int64_t k = 0; k < i; ++k)
        sum -= std::conj(a(k, i)) * a(k, j);
      if (i < j) {
        a(i, j) = sum / a(i, i);
        continue;
      }
      if (!(sum.real() > 0))
        return static_cast<int>(j + 1);
      a(j, j) = std::sqrt(sum.real());
    }
  }
  return 0;
}

static int luWithPivots(Matrix &a, int64_t *pivots) {
  auto size = [](Number x) { return std::abs(x.real()) + std::abs(x.imag()); };
  int info = 0;
  for (int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < a.rows; ++i)
      if (size(a(i, k)) > size(a(pivot, k)))
        pivot = i;
    pivots[k] = pivot + 1;
    for (int64_t j = 0; j < a.columns; ++j)
      std::swap(a(k, j), a(pivot, j));
    if (a(k, k) == 0.0) {
      info = info ? info : static_cast<int>(k + 1);
      continue;
    }
    for (int64_t i = k + 1; i < a.rows; ++i) {
      a(i, k) /= a(k, k);
      for (int64_t j = k + 1; j < a.columns; ++j)
        a(i, j) -= a(i, k) * a(k, j);
    }
  }
  return info;
}

/// A rotation that makes columns p and q of `a` orthogonal, also applied to those of `v`; returns whether one was
/// needed.
static bool orthogonalize(Matrix &a, Matrix &v, int64_t p, int64_t q) {
  double alpha = 0, beta = 0;
  Number gamma = 0;
  for (int64_t i = 0; i < a.rows; ++i) {
    alpha += std::norm(a(i, p));
    beta += std::norm(a(i, q));
    gamma += std::conj(a(i, p)) * a(i, q);
  }
  if (std::abs(gamma) <= 1e-15 * std::sqrt(alpha * beta) || std::abs(gamma) == 0)
    return false;
  Number phase = gamma / std::abs(gamma);
  double zeta = (beta - alpha) / (2 * std::abs(gamma));
  double t = (zeta < 0 ? -1 : 1) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
  double c = 1 / std::sqrt(1 + t * t), s = c * t;
  for (Matrix *m : {&a, &v})
    for (int64_t i = 0; i < m->rows; ++i) {
      Number x = (*m)(i, p), y = (*m)(i, q) * std::conj(phase);
      (*m)(i, p) = c * x - s * y;
      (*m)(i, q) = s * x + c * y;
    }
  return true;
}

/// Completes the columns before `from` to a basis.
static void complete(Matrix &u, int64_t from) {
  for (int64_t j = from, unit = 0; j < u.columns; ++unit) {
    for (int64_t i = 0; i < u.rows; ++i)
      u(i, j) = i == unit;
    for (int round = 0; round < 2; ++round)
      for (int64_t k = 0; k < j; ++k) {
        Number dot = 0;
        for (int64_t i = 0; i < u.rows; ++i)
          dot += std::conj(u(i, k)) * u(i, j);
        for (int64_t i = 0; i < u.rows; ++i)
          u(i, j) -= dot * u(i, k);
      }
    double norm = 0;
    for (int64_t i = 0; i < u.rows; ++i)
      norm += std::norm(u(i, j));
    if (norm < 0.01)
      continue;
    for (int64_t i = 0; i < u.rows; ++i)
      u(i, j) /= std::sqrt(norm);
    ++j;
  }
}

/// a = u diag(values) v^H, for a tall matrix, by one-sided Jacobi rotations; the values descend.
static void singular(Matrix a, Matrix &u, std::vector<double> &values, Matrix &v) {
  int64_t n = a.columns;
  for (int64_t i = 0; i < n; ++i)
    v(i, i) = 1;
  bool isRotated = true;
  for (int sweep = 0; sweep < 60 && isRotated; ++sweep) {
    isRotated = false;
    for (int64_t p = 0; p < n; ++p)
      for (int64_t q = p + 1; q < n; ++q)
        isRotated |= orthogonalize(a, v, p, q);
  }
  std::vector<double> norms(static_cast<size_t>(n));
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < a.rows; ++i)
      norms[j] += std::norm(a(i, j));
    norms[j] = std::sqrt(norms[j]);
  }
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t x, int64_t y) { return norms[x] > norms[y]; });
  Matrix sorted(v.rows, n);
  int64_t rank = 0;
  for (int64_t j = 0; j < n; ++j) {
    values.push_back(norms[order[j]]);
    for (int64_t i = 0; i < v.rows; ++i)
      sorted(i, j) = v(i, order[j]);
    if (values.back() > 1e-13 * values.front()) {
      rank = j + 1;
      for (int64_t i = 0; i < a.rows; ++i)
        u(i, j) = a(i, order[j]) / values.back();
    }
  }
  v = sorted;
  complete(u, rank);
}

/// Eigenvalues of a Hermitian matrix, from those of a matrix that is shifted until it is positive: the values ascend.
static void eigen(Matrix &a, std::vector<double> &values) {
  double shift = 1;
  for (Number x : a.values)
    shift += std::abs(x);
  for (int64_t i = 0; i < a.rows; ++i)
    a(i, i) += shift;
  Matrix u(a.rows, a.rows), v(a.rows, a.rows);
  singular(a, u, values, v);
  for (int64_t j = 0; j < a.rows; ++j)
    for (int64_t i = 0; i < a.rows; ++i)
      a(i, j) = u(i, a.rows - 1 - j);
  std::reverse(values.begin(), values.end());
  for (double &value : values)
    value -= shift;
}

//===-- Checks of all calls
//----------------------------------------------------------------------------------------===//

static cusolverStatus_t sizes(size_t *device, size_t *host) {
  *device = deviceSpace;
  *host = hostSpace;
  return CUSOLVER_STATUS_SUCCESS;
}

/// Enqueues `work`, which returns the info, if the workspaces and the matrix are valid.
template <typename Work>
static cusolverStatus_t start(cusolverDnHandle_t handle, const void *a, uint64_t bytes, void *device,
                              size_t deviceBytes, void *host, size_t hostBytes, int *info, Work work) {
  if (int asked = takeFailure())
    return static_cast<cusolverStatus_t>(asked);
  if (!handle || deviceBytes < deviceSpace || hostBytes < hostSpace || !host)
    return CUSOLVER_STATUS_INVALID_VALUE;
  if (!emulatorHolds(device, deviceBytes) || !emulatorHolds(a, bytes) || !emulatorHolds(info, sizeof(int)))
    return CUSOLVER_STATUS_EXECUTION_FAILED;
  std::memset(host, 0xab, hostBytes);
  auto run = [=] {
    std::memset(device, 0xab, deviceBytes);
    *info = work();
  };
  return enqueue(handle->stream, run) ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_EXECUTION_FAILED;
}

//===-- The functions
//-----------------------------------------------------------------------------------------------===//

extern "C" {

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t *handle) {
  *handle = new cusolverDnContext;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
  delete handle;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, CUstream stream) {
  handle->stream = stream;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t *params) {
  *params = new cusolverDnParams;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t params) {
  delete params;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, cublasFillMode_t, int64_t,
                                             cudaDataType, const void *, int64_t, cudaDataType, size_t *device,
                                             size_t *host) {
  return sizes(device, host);
}

cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t handle, cusolverDnParams_t, cublasFillMode_t half, int64_t n,
                                  cudaDataType type, void *a, int64_t step, cudaDataType compute, void *device,
                                  size_t deviceBytes, void *host, size_t hostBytes, int *info) {
  if (half != CUBLAS_FILL_MODE_UPPER || n < 1 || step < n || compute != type)
    return CUSOLVER_STATUS_INVALID_VALUE;
  return start(handle, a, extentOf(type, n, n, step), device, deviceBytes, host, hostBytes, info, [=] {
    Matrix matrix = read(a, type, n, n, step);
    int failed = choleskyUpper(matrix);
    write(matrix, a, type, step);
    return failed;
  });
}

cusolverStatus_t cusolverDnXgetrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, int64_t, int64_t, cudaDataType,
                                             const void *, int64_t, cudaDataType, size_t *device, size_t *host) {
  return sizes(device, host);
}

cusolverStatus_t cusolverDnXgetrf(cusolverDnHandle_t handle, cusolverDnParams_t, int64_t m, int64_t n,
                                  cudaDataType type, void *a, int64_t step, int64_t *pivots, cudaDataType compute,
                                  void *device, size_t deviceBytes, void *host, size_t hostBytes, int *info) {
  if (m < 1 || n < 1 || step < m || compute != type)
    return CUSOLVER_STATUS_INVALID_VALUE;
  if (!emulatorHolds(pivots, static_cast<uint64_t>(std::min(m, n)) * sizeof(int64_t)))
    return CUSOLVER_STATUS_EXECUTION_FAILED;
  return start(handle, a, extentOf(type, m, n, step), device, deviceBytes, host, hostBytes, info, [=] {
    Matrix matrix = read(a, type, m, n, step);
    int failed = luWithPivots(matrix, pivots);
    write(matrix, a, type, step);
    return failed;
  });
}

cusolverStatus_t cusolverDnXsyevd_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t,
                                             cublasFillMode_t, int64_t, cudaDataType, const void *, int64_t,
                                             cudaDataType, const void *, cudaDataType, size_t *device, size_t *host) {
  return sizes(device, host);
}

cusolverStatus_t cusolverDnXsyevd(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t mode,
                                  cublasFillMode_t half, int64_t n, cudaDataType type, void *a, int64_t step,
                                  cudaDataType valueType, void *values, cudaDataType compute, void *device,
                                  size_t deviceBytes, void *host, size_t hostBytes, int *info) {
  if (n < 1 || step < n || compute != type)
    return CUSOLVER_STATUS_INVALID_VALUE;
  if (!emulatorHolds(values, static_cast<uint64_t>(n) * bytesOf(valueType)))
    return CUSOLVER_STATUS_EXECUTION_FAILED;
  return start(handle, a, extentOf(type, n, n, step), device, deviceBytes, host, hostBytes, info, [=] {
    Matrix matrix = read(a, type, n, n, step);
    for (int64_t j = 0; j < n; ++j) {
      matrix(j, j) = matrix(j, j).real();
      for (int64_t i = 0; i < j; ++i)
        (half == CUBLAS_FILL_MODE_LOWER ? matrix(i, j) : matrix(j, i)) =
            std::conj(half == CUBLAS_FILL_MODE_LOWER ? matrix(j, i) : matrix(i, j));
    }
    std::vector<double> found;
    eigen(matrix, found);
    for (int64_t i = 0; i < n; ++i)
      store(values, valueType, i, found[i]);
    if (mode == CUSOLVER_EIG_MODE_VECTOR)
      write(matrix, a, type, step);
    return 0;
  });
}

cusolverStatus_t cusolverDnXgesvd_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, signed char, signed char, int64_t,
                                             int64_t, cudaDataType, const void *, int64_t, cudaDataType, const void *,
                                             cudaDataType, const void *, int64_t, cudaDataType, const void *, int64_t,
                                             cudaDataType, size_t *device, size_t *host) {
  return sizes(device, host);
}

cusolverStatus_t cusolverDnXgesvd(cusolverDnHandle_t handle, cusolverDnParams_t, signed char jobU, signed char jobVt,
                                  int64_t m, int64_t n, cudaDataType type, void *a, int64_t step,
                                  cudaDataType valueType, void *values, cudaDataType uType, void *u, int64_t uStep,
                                  cudaDataType vtType, void *vt, int64_t vtStep, cudaDataType compute, void *device,
                                  size_t deviceBytes, void *host, size_t hostBytes, int *info) {
  // Only of tall matrices.
  if (m < n || n < 1 || step < m || compute != type || uType != type || vtType != type || jobU != jobVt || uStep < m ||
      vtStep < n)
    return CUSOLVER_STATUS_INVALID_VALUE;
  bool hasVectors = jobU != 'N';
  int64_t columns = jobU == 'A' ? m : n;
  if (!emulatorHolds(values, static_cast<uint64_t>(n) * bytesOf(valueType)) ||
      (hasVectors &&
       (!emulatorHolds(u, extentOf(type, m, columns, uStep)) || !emulatorHolds(vt, extentOf(type, n, n, vtStep)))))
    return CUSOLVER_STATUS_EXECUTION_FAILED;
  return start(handle, a, extentOf(type, m, n, step), device, deviceBytes, host, hostBytes, info, [=] {
    Matrix left(m, columns), right(n, n), adjoint(n, n);
    std::vector<double> found;
    singular(read(a, type, m, n, step), left, found, right);
    for (int64_t i = 0; i < n; ++i)
      store(values, valueType, i, found[i]);
    // The contents of the matrix are destroyed.
    std::memset(a, 0xab, static_cast<size_t>(n) * bytesOf(type));
    for (int64_t j = 0; j < n && hasVectors; ++j)
      for (int64_t i = 0; i < n; ++i)
        adjoint(i, j) = std::conj(right(j, i));
    if (hasVectors) {
      write(left, u, type, uStep);
      write(adjoint, vt, type, vtStep);
    }
    return 0;
  });
}
}
