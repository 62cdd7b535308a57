// The rotation of two columns, the step of Jacobi's methods.
#ifndef DEVICE_ROTATION_H
#define DEVICE_ROTATION_H

#include "Matrix.h"

namespace device {

/// Makes element (p, q) of a Hermitian matrix zero: columns p and q become c p - s conj(w) q and s w p + c q, rows
/// their conjugates.
template <typename T> struct Rotation {
  RealOf<T> c = 1, s = 0;
  T w = T(1);

  /// From elements (p, p) and (q, q), and the parts of (p, q).
  DEVICE_INLINE Rotation(double pp, double qq, double re, double im) {
    double size = std::sqrt(re * re + im * im);
    if (size == 0)
      return;
    if constexpr (isComplex<T>)
      w = T(static_cast<RealOf<T>>(re / size), static_cast<RealOf<T>>(im / size));
    else
      w = re < 0 ? T(-1) : T(1);
    double angle = (qq - pp) / (2 * size), tangent = 1 / (std::fabs(angle) + std::sqrt(angle * angle + 1));
    if (angle < 0)
      tangent = -tangent;
    double cosine = 1 / std::sqrt(tangent * tangent + 1);
    c = static_cast<RealOf<T>>(cosine);
    s = static_cast<RealOf<T>>(tangent * cosine);
  }
  DEVICE_INLINE void columns(T &p, T &q) const {
    T first = c * p - s * conjugate(w) * q;
    q = s * w * p + c * q;
    p = first;
  }
  DEVICE_INLINE void rows(T &p, T &q) const {
    T first = c * p - s * w * q;
    q = s * conjugate(w) * p + c * q;
    p = first;
  }
};

} // namespace device

#endif // DEVICE_ROTATION_H
