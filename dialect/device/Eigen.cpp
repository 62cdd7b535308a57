// Eigenvalues and eigenvectors of Hermitian matrices by Jacobi's method. A rotation of two rows and columns makes one
// off-diagonal element zero; cycles of rotations repeat until all of these are small. Each block has one matrix. The
// method needs no reduction to another form, is accurate for small eigenvalues, and takes a number of cycles that
// hardly grows with the size.
#include "Rotation.h"

namespace device {

/// `work` holds the current matrix, `vectors` the product of the rotations: both n by n. Eigenvalues ascend.
template <typename T>
DEVICE_INLINE void eigh(const T *from, T *sorted, RealOf<T> *values, T *work, T *vectors, int64_t n, int64_t isLower,
                        int64_t hasVectors, double *shared) {
  constexpr int64_t mostCycles = 40;
  using Real = RealOf<T>;
  from += device_block() * n * n;
  work += device_block() * n * n;
  vectors += device_block() * n * n;
  values += device_block() * n;
  forEach(n * n, [&](int64_t i) {
    int64_t row = i / n, column = i % n;
    bool isGiven = isLower ? column <= row : row <= column;
    T x = isGiven ? from[i] : conjugate(from[column * n + row]);
    work[i] = row == column ? T(real(x)) : x;
    vectors[i] = row == column ? T(1) : T(0);
  });
  for (int64_t cycle = 0; cycle < mostCycles; ++cycle) {
    double beside = 0, all = 0;
    for (int64_t i = device_thread(); i < n * n; i += device_threads()) {
      all += square(work[i]);
      beside += i / n == i % n ? 0 : square(work[i]);
    }
    beside = sumOfBlock(beside, shared);
    all = sumOfBlock(all, shared);
    double small = static_cast<double>(std::numeric_limits<Real>::epsilon()) / 8;
    if (!(beside > small * small * all)) // a nan ends the loop, too
      break;
    for (int64_t p = 0; p + 1 < n; ++p)
      for (int64_t q = p + 1; q < n; ++q) {
        T beside = work[p * n + q];
        Rotation<T> rotation(real(work[p * n + p]), real(work[q * n + q]), real(beside), imaginary(beside));
        device_barrier(); // wait before they change
        forEach(n, [&](int64_t i) {
          rotation.columns(work[i * n + p], work[i * n + q]);
          rotation.columns(vectors[i * n + p], vectors[i * n + q]);
        });
        forEach(n, [&](int64_t i) { rotation.rows(work[p * n + i], work[q * n + i]); });
      }
  }
  // The position of an eigenvalue is the number of those before it.
  forEach(n, [&](int64_t j) {
    Real value = real(work[j * n + j]);
    int64_t place = 0;
    for (int64_t i = 0; i < n; ++i) {
      Real other = real(work[i * n + i]);
      place += other < value || (other == value && i < j) || (other == other && value != value) ||
               (other != other && value != value && i < j);
    }
    values[place] = value;
    if (hasVectors)
      for (int64_t i = 0; i < n; ++i)
        sorted[device_block() * n * n + i * n + place] = vectors[i * n + j];
  });
}

} // namespace device

#define DEVICE_EIGH(name, T)                                                                                           \
  extern "C" void eigh_##name(const T *from, T *sorted, device::RealOf<T> *values, T *work, T *vectors, int64_t n,     \
                              int64_t isLower, int64_t hasVectors, double *shared) {                                   \
    device::eigh(from, sorted, values, work, vectors, n, isLower, hasVectors, shared);                                 \
  }
DEVICE_MATRICES(DEVICE_EIGH)
