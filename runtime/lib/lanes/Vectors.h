// Vectors of one instruction set, and stacks of matrices that become vectors: element e of matrix l is lane l of vector
// e. Included with PCRT_LANES, the name of the instruction set, and PCRT_LANES_BYTES, the size of its vectors. All code
// is in a namespace of that name, so that no function of one instruction set can replace that of another.
#ifndef PYCOMPILER_RUNTIME_LIB_LANES_VECTORS_H
#define PYCOMPILER_RUNTIME_LIB_LANES_VECTORS_H

#include "lanes/SmallMatrices.h"

#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

namespace pcrt::lanes::PCRT_LANES {

template <typename T> struct TypesOf {
  using Integer = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  typedef T Vector __attribute__((vector_size(PCRT_LANES_BYTES)));
  typedef Integer Mask __attribute__((vector_size(PCRT_LANES_BYTES)));
  static constexpr int lanes = PCRT_LANES_BYTES / sizeof(T);
};
/// A number from each matrix.
template <typename T> using Vector = typename TypesOf<T>::Vector;
/// All bits of a lane are equal in the result of a comparison. Also an integer from each matrix.
template <typename T> using Mask = typename TypesOf<T>::Mask;
template <typename T> inline constexpr int lanesOf = TypesOf<T>::lanes;

inline constexpr int mostElements = mostRows * mostRows;

template <typename T> inline Vector<T> all(T x) { return Vector<T>{} + x; }

template <typename T> inline bool isAny(Mask<T> mask) {
  typename TypesOf<T>::Integer found = 0;
  for (int l = 0; l < lanesOf<T>; ++l)
    found |= mask[l];
  return found != 0;
}

template <typename T> inline Vector<T> rootOf(Vector<T> x) {
  for (int l = 0; l < lanesOf<T>; ++l)
    if constexpr (sizeof(T) == 4)
      x[l] = __builtin_sqrtf(x[l]);
    else
      x[l] = __builtin_sqrt(x[l]);
  return x;
}

template <typename T> inline constexpr auto signBit = std::numeric_limits<typename TypesOf<T>::Integer>::min();

template <typename T> inline Vector<T> magnitude(Vector<T> x) {
  return reinterpret_cast<Vector<T>>(reinterpret_cast<Mask<T>>(x) & ~signBit<T>);
}
/// |x| with the sign of `from`.
template <typename T> inline Vector<T> withSign(Vector<T> x, Vector<T> from) {
  return reinterpret_cast<Vector<T>>((reinterpret_cast<Mask<T>>(x) & ~signBit<T>) |
                                     (reinterpret_cast<Mask<T>>(from) & signBit<T>));
}

/// A power of two, and its inverse, by which a number as large as x becomes one from 1 to 2: without rounding.
template <typename T> struct Scale {
  explicit Scale(Vector<T> x) {
    constexpr int bits = std::numeric_limits<T>::digits - 1, bias = std::numeric_limits<T>::max_exponent - 1;
    Mask<T> exponent = (reinterpret_cast<Mask<T>>(magnitude<T>(x)) >> bits);
    // Subnormal numbers and infinities have no such power; the nearest ones are normal numbers.
    exponent = exponent < 1 ? Mask<T>{} + 1 : exponent > 2 * bias - 1 ? Mask<T>{} + (2 * bias - 1) : exponent;
    back = reinterpret_cast<Vector<T>>(exponent << bits);
    to = reinterpret_cast<Vector<T>>((2 * bias - exponent) << bits);
  }
  Vector<T> to, back;
};

template <typename T> inline Vector<T> loadFrom(const T *from) {
  Vector<T> x;
  std::memcpy(&x, from, sizeof(x));
  return x;
}
template <typename T> inline void storeTo(Vector<T> x, T *to) { std::memcpy(to, &x, sizeof(x)); }

/// Exchanges the blocks beside the diagonal of a matrix of 2 x 2 blocks of `step` rows, whose rows with these blocks
/// are x and y.
template <typename T, int step, size_t... I>
inline void exchange(Vector<T> &x, Vector<T> &y, std::index_sequence<I...>) {
  constexpr int n = lanesOf<T>;
  Vector<T> low = __builtin_shufflevector(x, y, (int(I) & step ? n + int(I) - step : int(I))...);
  y = __builtin_shufflevector(x, y, (int(I) & step ? n + int(I) : int(I) + step)...);
  x = low;
}

/// Transposes a square of as many vectors as they have lanes.
template <typename T, int step = lanesOf<T> / 2> inline __attribute__((always_inline)) void transpose(Vector<T> *rows) {
  if constexpr (step >= 1) {
#pragma GCC unroll 16
    for (int i = 0; i < lanesOf<T>; ++i)
      if (!(i & step))
        exchange<T, step>(rows[i], rows[i + step], std::make_index_sequence<lanesOf<T>>());
    transpose<T, step / 2>(rows);
  }
}

/// Calls body(first, lanes) for all matrices, as many at a time as there are lanes.
template <typename T, typename Body> inline void forBlocks(int64_t count, Body body) {
  for (int64_t first = 0; first < count; first += lanesOf<T>)
    body(first, static_cast<int>(count - first < lanesOf<T> ? count - first : lanesOf<T>));
}

/// Loads and stores matrices of `size` elements of one operand.
template <typename T> class Stack {
public:
  Stack(int64_t count, int size) : count(count), size(size) {}

  /// Lanes without a matrix get the last one.
  void load(const T *base, int64_t first, int lanes, Vector<T> *to) {
    const T *from = base + first * size;
    if (first + lanes == count) { // whole vectors would reach beyond the operand
      for (int l = 0; l < lanesOf<T>; ++l)
        std::memcpy(padded + l * size, from + (l < lanes ? l : lanes - 1) * size, sizeof(T) * size);
      from = padded;
    }
    for (int e = 0; e < size; e += lanesOf<T>) {
      Vector<T> rows[lanesOf<T>];
#pragma GCC unroll 16
      for (int l = 0; l < lanesOf<T>; ++l)
        rows[l] = loadFrom(from + l * size + e);
      transpose<T>(rows);
      int left = size - e;
      if (left >= lanesOf<T>) {
#pragma GCC unroll 16
        for (int i = 0; i < lanesOf<T>; ++i)
          to[e + i] = rows[i];
      } else {
        for (int i = 0; i < left; ++i)
          to[e + i] = rows[i];
      }
    }
  }

  void store(const Vector<T> *from, T *base, int64_t first, int lanes) {
    T *to = base + first * size;
    // A vector that reaches into the next matrix is stored before that matrix is, and never beyond the last one.
    bool isPadded = lanes < lanesOf<T> || 2 * size < lanesOf<T>;
    T *target = isPadded ? padded : to;
    for (int e = (size - 1) / lanesOf<T> * lanesOf<T>; e >= 0; e -= lanesOf<T>) {
      Vector<T> rows[lanesOf<T>];
      int left = size - e;
      if (left >= lanesOf<T>) {
#pragma GCC unroll 16
        for (int i = 0; i < lanesOf<T>; ++i)
          rows[i] = from[e + i];
      } else {
        for (int i = 0; i < lanesOf<T>; ++i)
          rows[i] = from[e + (i < left ? i : 0)];
      }
      transpose<T>(rows);
#pragma GCC unroll 16
      for (int l = 0; l + 1 < lanesOf<T>; ++l)
        storeTo(rows[l], target + l * size + e);
      T *last = target + (lanesOf<T> - 1) * size + e;
      if (left >= lanesOf<T>)
        storeTo(rows[lanesOf<T> - 1], last);
      else
        std::memcpy(last, &rows[lanesOf<T> - 1], sizeof(T) * left);
    }
    if (isPadded)
      std::memcpy(to, padded, sizeof(T) * size * lanes);
  }

private:
  int64_t count;
  int size;
  T padded[lanesOf<T> * (mostElements + 1)];
};

/// Calls body(i, R) for rows or columns [low, high), four at a time: R is an integral constant, 4 or 1. Four sums hide
/// the latency of one.
template <typename Body> inline __attribute__((always_inline)) void inFours(int low, int high, Body body) {
  int i = low;
  for (; i + 4 <= high; i += 4)
    body(i, std::integral_constant<int, 4>());
  for (; i < high; ++i)
    body(i, std::integral_constant<int, 1>());
}

} // namespace pcrt::lanes::PCRT_LANES

#endif // PYCOMPILER_RUNTIME_LIB_LANES_VECTORS_H
