// Stacks of small real matrices, one matrix in each lane of a vector. LAPACK pays for a call and for its checks more
// than for the arithmetic of such matrices (docs/rationale/020-small-matrices.md).
#ifndef PYCOMPILER_RUNTIME_LIB_LANES_SMALLMATRICES_H
#define PYCOMPILER_RUNTIME_LIB_LANES_SMALLMATRICES_H

#include <cstdint>

namespace pcrt::lanes {

/// The maximum number of rows and of columns.
inline constexpr int mostRows = 16;
/// The maximum number of matrices that are processed at once.
inline constexpr int mostLanes = 16;

/// Which triangle of A a system has, and where: op(A) X = B, or X op(A) = B unless `left`.
struct TriangularSystem {
  bool left, lower, transposed, unitDiagonal;
};

/// All matrices are dense and row-major, `count` of them. No result may share memory with an operand.
template <typename T> struct SmallMatrices {
  /// The lower factor; nan in the lower triangle if the matrix is not positive definite.
  void (*cholesky)(const T *a, T *factor, int64_t count, int n);
  /// B and X are rows x columns.
  void (*solveTriangular)(const T *a, const T *b, T *x, int64_t count, int rows, int columns, TriangularSystem system);
  /// P A = L U; the pivots count from 0.
  void (*lu)(const T *a, T *factors, int32_t *pivots, int64_t count, int rows, int columns);
  /// op(A) X = B from the factors and the permutation of A; nan if that is not a permutation.
  void (*solveFactored)(const T *factors, const int32_t *permutation, const T *b, T *x, int64_t count, int n,
                        int columns, bool transposed);
  /// Eigenvalues in ascending order, and eigenvectors in the columns of `vectors` unless it is null. nan if an element
  /// of the matrix is not finite.
  void (*symmetric)(const T *a, T *values, T *vectors, int64_t count, int n, bool lower);
  /// Q is rows x columnsOfQ, R is columnsOfQ x columns.
  void (*qr)(const T *a, T *q, T *r, int64_t count, int rows, int columns, int columnsOfQ);
};

/// The code for the widest vectors that this machine has: for float and double.
template <typename T> const SmallMatrices<T> &smallMatrices();

} // namespace pcrt::lanes

#endif // PYCOMPILER_RUNTIME_LIB_LANES_SMALLMATRICES_H
