// The exponential of a matrix and its derivative in one direction. The method, its orders and their bounds are those of
// the CPU (runtime/lib/cpu/LapackExponential.cpp). Each block has one matrix.
#include "Lu.h"
#include "cpu/PadeOrders.h"

namespace device {

/// The state of a block that computes the exponential of an [n, n] matrix: `count` matrices, by number. The input is
/// number 0.
template <typename T> struct Exponential {
  enum Matrix { given, power2, power4, power6, power8, odd, even, other, count };

  T *work;
  int64_t n;
  int32_t *pivots;
  double *shared;       // two places for each thread
  double *coefficients; // coefficients of the numerator

  DEVICE_INLINE T *at(int64_t number) const { return work + number * n * n; }

  /// The maximum absolute row sum; nan if it is not finite.
  static DEVICE_INLINE double normOf(const T *a, int64_t n, double *shared) {
    auto sumOf = [&](int64_t i) {
      double sum = 0;
      for (int64_t j = 0; j < n; ++j)
        sum += isComplex<T> ? std::sqrt(square(a[i * n + j])) : std::fabs(real(a[i * n + j]));
      return sum;
    };
    double undefinedOnes = 0;
    for (int64_t i = device_thread(); i < n; i += device_threads())
      undefinedOnes += sumOf(i) <= double(std::numeric_limits<RealOf<T>>::max()) ? 0 : 1;
    if (sumOfBlock(undefinedOnes, shared) > 0)
      return std::numeric_limits<double>::quiet_NaN();
    double norm = sumOf(greatestOfBlock(0, n, shared, sumOf));
    device_barrier(); // wait before it changes
    return norm;
  }

  /// Sets matrix `to` to the product of two others, plus addend(i) for each element.
  template <typename Addend> DEVICE_INLINE void multiply(int64_t a, int64_t b, int64_t to, Addend addend) const {
    const T *left = at(a), *right = at(b);
    T *result = at(to);
    forEach(n * n, [&](int64_t i) {
      int64_t row = i / n, column = i % n;
      T sum = T(0);
      for (int64_t k = 0; k < n; ++k)
        sum += left[row * n + k] * right[k * n + column];
      result[i] = sum + addend(i);
    });
  }
  DEVICE_INLINE void multiply(int64_t a, int64_t b, int64_t to) const {
    multiply(a, b, to, [](int64_t) { return T(0); });
  }

  /// An element of the sum of coefficients[first + 2 k] times power 2 (k + lowest), with `terms` terms.
  DEVICE_INLINE T combined(int64_t i, int64_t first, int64_t lowest, int64_t terms) const {
    T sum = T(0);
    for (int64_t k = 0; k < terms; ++k) {
      int64_t power = k + lowest;
      T x = power == 0 ? T(i / n == i % n ? 1 : 0) : at(power2 + power - 1)[i];
      sum += static_cast<RealOf<T>>(coefficients[first + 2 * k]) * x;
    }
    return sum;
  }

  /// Replaces the input by its exponential. Returns the place of the result; null if it takes more than `maxSquarings`
  /// squarings.
  DEVICE_INLINE const T *apply(int64_t maxSquarings) const {
    double norm = normOf(at(given), n, shared), scale = 1;
    auto [order, bound] = pcrt::padeOrderFor<RealOf<T>>(norm);
    int64_t squarings = 0;
    for (; squarings <= maxSquarings && norm * scale > bound; ++squarings)
      scale /= 2;
    if (!(norm * scale <= bound) || squarings > maxSquarings)
      return nullptr;
    if (device_thread() == 0)
      pcrt::writePadeCoefficients(order, coefficients);
    forEach(n * n, [&](int64_t i) { at(given)[i] *= static_cast<RealOf<T>>(scale); });
    approximate(order);
    int64_t result = odd, next = other;
    for (int64_t i = 0; i < squarings; ++i) {
      multiply(result, result, next);
      int64_t last = result;
      result = next;
      next = last;
    }
    return at(result);
  }

  /// The Padé approximant of an order, in the memory of `odd`.
  DEVICE_INLINE void approximate(int64_t order) const {
    bool isHighest = order == 13; // powers 8 to 12 are the sixth power times powers 2 to 6
    int64_t powers = isHighest ? 3 : order / 2;
    multiply(given, given, power2);
    for (int64_t k = 1; k < powers; ++k)
      multiply(power2 + k - 1, power2, power2 + k);
    for (int64_t isOdd = 0; isOdd < 2; ++isOdd) {
      int64_t to = isOdd ? odd : even;
      auto low = [&](int64_t i) { return combined(i, isOdd, 0, powers + 1); };
      if (isHighest) {
        forEach(n * n, [&](int64_t i) { at(other)[i] = combined(i, 8 + isOdd, 1, 3); });
        multiply(power6, other, to, low);
      } else {
        forEach(n * n, [&](int64_t i) { at(to)[i] = low(i); });
      }
    }
    multiply(given, odd, other);
    forEach(n * n, [&](int64_t i) {
      T p = at(even)[i], q = at(other)[i];
      at(odd)[i] = p + q;
      at(even)[i] = p - q;
    });
    factorLu(at(even), pivots, n, n, shared);
    Triangle<T> lower{at(even), n, true, false, false, true}, upper{at(even), n, false, false, false, false};
    forEach(n, [&](int64_t j) {
      T *x = at(odd) + j;
      for (int64_t i = 0; i < n; ++i) {
        T moved = x[i * n];
        x[i * n] = x[pivots[i] * n];
        x[pivots[i] * n] = moved;
      }
      lower.solve(x, n);
      upper.solve(x, n);
    });
  }
};

template <typename T>
DEVICE_INLINE void expm(const T *from, T *to, T *work, int32_t *pivots, int64_t n, int64_t maxSquarings,
                        double *shared) {
  from += device_block() * n * n;
  to += device_block() * n * n;
  Exponential<T> exponential{work + device_block() * Exponential<T>::count * n * n, n, pivots + device_block() * n,
                             shared, shared + 2 * device_threads()};
  forEach(n * n, [&](int64_t i) { exponential.at(0)[i] = from[i]; });
  const T *result = exponential.apply(maxSquarings);
  forEach(n * n, [&](int64_t i) { to[i] = result ? result[i] : undefined<T>(); });
}

/// The derivative at A in the direction E is the upper right block of the exponential of [[A, E], [0, A]].
template <typename T>
DEVICE_INLINE void expmFrechet(const T *a, const T *e, T *to, T *work, int32_t *pivots, int64_t n, int64_t maxSquarings,
                               double *shared) {
  a += device_block() * n * n;
  e += device_block() * n * n;
  to += device_block() * n * n;
  Exponential<T> exponential{work + device_block() * Exponential<T>::count * 4 * n * n, 2 * n,
                             pivots + device_block() * 2 * n, shared, shared + 2 * device_threads()};
  // Scale the direction down to the norm of the matrix: it must not add squarings.
  double size = exponential.normOf(e, n, shared), wanted = exponential.normOf(a, n, shared), scale = 1;
  wanted = wanted > 1 ? wanted : 1;
  if (size > wanted)
    scale = wanted / size;
  auto factor = static_cast<RealOf<T>>(scale);
  forEach(4 * n * n, [&](int64_t i) {
    int64_t row = i / (2 * n), column = i % (2 * n);
    bool isDiagonal = (row < n) == (column < n);
    int64_t place = row % n * n + column % n;
    exponential.at(0)[i] = isDiagonal ? a[place] : row < n ? e[place] * factor : T(0);
  });
  // The norm of the block matrix may be twice the norm of the matrix.
  const T *result = exponential.apply(maxSquarings + 1);
  forEach(n * n, [&](int64_t i) { to[i] = result ? result[i / n * 2 * n + n + i % n] / factor : undefined<T>(); });
}

} // namespace device

#define DEVICE_EXPONENTIAL(name, T)                                                                                    \
  extern "C" void expm_##name(const T *from, T *to, T *work, int32_t *pivots, int64_t n, int64_t maxSquarings,         \
                              double *shared) {                                                                        \
    device::expm(from, to, work, pivots, n, maxSquarings, shared);                                                     \
  }                                                                                                                    \
  extern "C" void expm_frechet_##name(const T *a, const T *e, T *to, T *work, int32_t *pivots, int64_t n,              \
                                      int64_t maxSquarings, double *shared) {                                          \
    device::expmFrechet(a, e, to, work, pivots, n, maxSquarings, shared);                                              \
  }
DEVICE_MATRICES(DEVICE_EXPONENTIAL)
