// Shared parts of the routines over LAPACK: typed calls through the table, stacks of matrices, transposition between
// row-major operands and LAPACK's column-major scratch. Private to lib/cpu.
#ifndef PYCOMPILER_RUNTIME_LIB_CPU_LAPACK_H
#define PYCOMPILER_RUNTIME_LIB_CPU_LAPACK_H

#include "Rows.h"
#include "lanes/SmallMatrices.h"
#include "runtime/DType.h"
#include "runtime/Lapack.h"
#include "support/LibraryCalls.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <complex>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace pcrt::lapack {

enum class Routine {
#define PCRT_ROUTINE(real, complex) real,
  PCRT_LAPACK_ROUTINES(PCRT_ROUTINE)
#undef PCRT_ROUTINE
};

/// The entry point of a routine for s, d, c, z (0 to 3).
void *entry(Routine routine, int scalar);
/// Whether the table's routines take the lengths of strings.
bool takesLengths();

/// For the scope, the library's routines run in the thread that calls them.
class InOneThread {
public:
  InOneThread();
  ~InOneThread();
  InOneThread(const InOneThread &) = delete;
  InOneThread &operator=(const InOneThread &) = delete;
};

template <typename T> struct Traits;
template <> struct Traits<float> {
  static constexpr int scalar = 0;
};
template <> struct Traits<double> {
  static constexpr int scalar = 1;
};
template <> struct Traits<std::complex<float>> {
  static constexpr int scalar = 2;
};
template <> struct Traits<std::complex<double>> {
  static constexpr int scalar = 3;
};

template <typename T> inline constexpr bool isComplex = Traits<T>::scalar >= 2;
/// The type of norms, eigenvalues of Hermitian matrices and the like.
template <typename T> using RealOf = decltype(std::real(T()));
template <typename T> using ComplexOf = std::complex<RealOf<T>>;

template <typename T> T conjugate(T x) {
  if constexpr (isComplex<T>)
    return std::conj(x);
  else
    return x;
}

template <size_t... I, typename... Args> void callWithLengths(void *entry, std::index_sequence<I...>, Args... args) {
  reinterpret_cast<void (*)(Args..., decltype(I)...)>(entry)(args..., (static_cast<void>(I), size_t(1))...);
}

/// Calls a routine; every argument is a pointer, strings are of one letter.
template <typename T, typename... Args> void call(Routine routine, Args... args) {
  static_assert((std::is_pointer_v<Args> && ...));
  void *code = entry(routine, Traits<T>::scalar);
  constexpr size_t strings = (size_t(std::is_same_v<std::remove_cv_t<std::remove_pointer_t<Args>>, char>) + ... + 0);
  if (strings > 0 && takesLengths())
    return callWithLengths(code, std::make_index_sequence<strings>(), args...);
  reinterpret_cast<void (*)(Args...)>(code)(args...);
}

/// The size that a workspace query left in the first element.
template <typename T> int workSize(const T &answer) { return std::max(1, static_cast<int>(std::real(answer))); }

template <typename T> void fillNan(T *data, int64_t count) {
  std::fill_n(data, count, T(std::numeric_limits<RealOf<T>>::quiet_NaN()));
}

template <typename T> bool allFinite(const T *data, int64_t count) {
  return std::all_of(data, data + count,
                     [](T x) { return std::isfinite(std::real(x)) && std::isfinite(std::imag(x)); });
}

/// target[j][i] = source[i][j]: both dense, the source of `rows` rows.
template <typename T> void transpose(const T *source, int64_t rows, int64_t columns, T *target) {
  constexpr int64_t tile = 16;
  for (int64_t i0 = 0; i0 < rows; i0 += tile)
    for (int64_t j0 = 0; j0 < columns; j0 += tile)
      for (int64_t i = i0; i < std::min(rows, i0 + tile); ++i)
        for (int64_t j = j0; j < std::min(columns, j0 + tile); ++j)
          target[j * rows + i] = source[i * columns + j];
}

/// An identity matrix of these sizes.
template <typename T> void identity(T *data, int64_t rows, int64_t columns) {
  std::fill_n(data, rows * columns, T());
  for (int64_t i = 0; i < std::min(rows, columns); ++i)
    data[i * columns + i] = 1;
}

/// An operand as a stack of matrices or vectors, in its last dimensions.
class Stack {
public:
  Stack(const PcrtTensor &tensor, int tail) : tensor(tensor) {
    for (int32_t i = tensor.rank - tail; i < tensor.rank; ++i)
      size *= tensor.dims[i];
    for (int32_t i = 0; i < tensor.rank - tail; ++i)
      count *= tensor.dims[i];
  }
  template <typename T> T *at(int64_t index) const { return static_cast<T *>(tensor.data) + index * size; }

  int64_t size = 1, count = 1;

private:
  const PcrtTensor &tensor;
};

/// The last dimension, and the one before it, in LAPACK's integer type.
inline int columnsOf(const PcrtTensor &tensor) { return static_cast<int>(tensor.dims[tensor.rank - 1]); }
inline int rowsOf(const PcrtTensor &tensor) { return static_cast<int>(tensor.dims[tensor.rank - 2]); }

/// A leading dimension for LAPACK: at least 1.
inline int leading(int rows) { return std::max(1, rows); }

/// Runs `body(T())` for the element type of a tensor; a failed allocation becomes a status.
template <typename Body> int32_t dispatch(const PcrtTensor *tensors, int32_t count, int32_t dtype, Body body) {
  if (!isFilled())
    return PCRT_LIBRARY_FAILED;
  for (int32_t i = 0; i < count; ++i)
    for (int32_t d = 0; d < tensors[i].rank; ++d)
      if (tensors[i].dims[d] > INT_MAX)
        return PCRT_INVALID_ARGUMENT;
  InOneThread scope;
  try {
    switch (dtype) {
    case 11:
      body(float());
      return PCRT_OK;
    case 12:
      body(double());
      return PCRT_OK;
    case 13:
      body(std::complex<float>());
      return PCRT_OK;
    case 14:
      body(std::complex<double>());
      return PCRT_OK;
    default:
      return PCRT_INVALID_ARGUMENT;
    }
  } catch (const std::bad_alloc &) {
    return PCRT_OUT_OF_MEMORY;
  }
}

/// Whether the matrices of an operand are processed in the lanes of vectors: stacks of small ones.
inline bool isInLanes(const PcrtTensor &stack, int rows, int columns) {
  return stack.rank > 2 && std::min(rows, columns) >= 1 && std::max(rows, columns) <= lanes::mostRows;
}

/// Calls `routine` on all matrices of the first input, which are its last `dims` dimensions, in as many threads as are
/// free. `nsOfElement` is the time that LAPACK takes for an element of that input.
inline int32_t overMatrices(PcrtLibraryCall routine, int32_t dims, double nsOfElement, const PcrtFrame *frame,
                            const PcrtTensor *inputs, int32_t inputCount, const PcrtTensor *outputs,
                            int32_t outputCount, const int64_t *params) {
  const PcrtTensor &first = inputs[0];
  bool isStack = first.rank > dims, isSmall = dims == 2 && isInLanes(first, rowsOf(first), columnsOf(first));
  return library::overRows(routine, isStack, isSmall ? nsOfElement / 8 : nsOfElement, frame, inputs, inputCount,
                           outputs, outputCount, params, isSmall ? lanes::mostLanes : 1);
}

} // namespace pcrt::lapack

#endif // PYCOMPILER_RUNTIME_LIB_CPU_LAPACK_H
