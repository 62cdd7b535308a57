// Eigenvalues and eigenvectors of symmetric matrices: to tridiagonal form by reflectors, then implicit QL steps (Golub
// and Van Loan, sections 8.3.1 and 8.3.3; the recurrence is that of EISPACK's imtql2). The lanes step together until
// the last one has converged, and a mask keeps the others as they are.
#ifndef PYCOMPILER_RUNTIME_LIB_LANES_SYMMETRIC_H
#define PYCOMPILER_RUNTIME_LIB_LANES_SYMMETRIC_H

#include "lanes/Reflectors.h"

namespace pcrt::lanes::PCRT_LANES {

template <typename T> class SymmetricLanes {
public:
  /// `a` holds matrices of finite numbers of a magnitude near 1; their lower triangles are read, and destroyed. With
  /// `isMirrored`, they begin with the last row and column of the caller's, as does each eigenvector.
  SymmetricLanes(Vector<T> *a, int n, bool wantsVectors, bool isMirrored) : a(a), n(n), wantsVectors(wantsVectors) {
    reduce();
    if (wantsVectors)
      multiplyReflectors();
    if (isMirrored)
      reverse(~Mask<T>{});
    // LAPACK steps towards the end with the smaller value. Steps from the other end are QL steps of the mirror image.
    isReversed = magnitude<T>(values[n - 1]) < magnitude<T>(values[0]);
    reverse(isReversed);
    for (int low = 0; low + 1 < n; ++low)
      converge(low);
    reverse(isReversed);
    sort();
  }

  /// In ascending order.
  Vector<T> values[mostRows];
  /// The eigenvector of the i-th value is row order[i] of `vectors`.
  Mask<T> order[mostRows];
  Vector<T> vectors[mostElements];
  /// The lanes that do not converge.
  Mask<T> failed{};

private:
  static constexpr int mostSteps = 60;

  Vector<T> &at(int i, int j) { return a[i * n + j]; }

  /// Qᵀ A Q is tridiagonal. The reflectors stay below the subdiagonal of `a`.
  void reduce() {
    for (int k = 0; k + 2 < n; ++k) {
      Reflector<T> made(&at(k + 1, k), n - k - 1, n);
      taus[k] = made.tau;
      beside[k] = made.value;
      at(k + 1, k) = all<T>(1);
      Vector<T> product[mostRows], half{};
      for (int i = k + 1; i < n; ++i) {
        Vector<T> sum = at(i, i) * at(i, k), v = at(i, k);
        for (int j = k + 1; j < i; ++j) {
          sum += at(i, j) * at(j, k);
          product[j] += at(i, j) * v;
        }
        product[i] = sum;
      }
      for (int i = k + 1; i < n; ++i) {
        product[i] *= made.tau;
        half += product[i] * at(i, k);
      }
      half *= made.tau * T(0.5);
      for (int i = k + 1; i < n; ++i)
        product[i] -= half * at(i, k);
      for (int i = k + 1; i < n; ++i)
        for (int j = k + 1; j <= i; ++j)
          at(i, j) -= at(i, k) * product[j] + product[i] * at(j, k);
    }
    if (n > 1)
      beside[n - 2] = at(n - 1, n - 2);
    for (int i = 0; i < n; ++i)
      values[i] = at(i, i);
  }

  void multiplyReflectors() {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        vectors[i * n + j] = all<T>(i == j);
    for (int k = n - 3; k >= 0; --k)
      reflect<T>(&at(k + 1, k), n, taus[k], n - k - 1, vectors + (k + 1) * n + k + 1, 1, n, n - k - 1);
  }

  static void swap(Mask<T> mask, Vector<T> &x, Vector<T> &y) {
    Vector<T> old = x;
    x = mask ? y : old;
    y = mask ? old : y;
  }

  /// Reverses the order of rows and columns of the tridiagonal matrix.
  void reverse(Mask<T> mask) {
    if (!isAny<T>(mask))
      return;
    for (int i = 0, j = n - 1; i < j; ++i, --j) {
      swap(mask, values[i], values[j]);
      for (int k = 0; wantsVectors && k < n; ++k)
        swap(mask, vectors[i * n + k], vectors[j * n + k]);
    }
    for (int i = 0, j = n - 2; i < j; ++i, --j)
      swap(mask, beside[i], beside[j]);
  }

  /// Steps until the value at `low` stands alone.
  void converge(int low) {
    constexpr T epsilon = std::numeric_limits<T>::epsilon() / 2;
    for (int count = 0;; ++count) {
      // The block that begins at `low` ends before the first negligible neighbour.
      Mask<T> end = Mask<T>{} + (n - 1);
      Vector<T> last = values[n - 1];
      for (int i = n - 2; i >= low; --i) {
        Vector<T> product = magnitude<T>(epsilon * epsilon * values[i]) * magnitude<T>(values[i + 1]);
        Mask<T> isSmall = beside[i] * beside[i] <= product + std::numeric_limits<T>::min();
        end = isSmall ? Mask<T>{} + i : end;
        last = isSmall ? values[i] : last;
      }
      for (int i = low; i + 1 < n; ++i)
        beside[i] = end == i ? all<T>(0) : beside[i];
      Mask<T> isActive = (end > low) & ~failed;
      if (!isAny<T>(isActive))
        return;
      if (count == mostSteps) {
        failed |= isActive;
        return;
      }
      Mask<T> isPair = isActive & (end == low + 1);
      if (isAny<T>(isPair))
        solvePair(low, isPair);
      if (isAny<T>(isActive & ~isPair))
        step(low, end, last, isActive & ~isPair);
    }
  }

  /// One implicit QL step with Wilkinson's shift, on rows `low` to `end` of each lane.
  void step(int low, Mask<T> end, Vector<T> last, Mask<T> isActive) {
    Vector<T> edge = isActive ? beside[low] : all<T>(1);
    Vector<T> g = (values[low + 1] - values[low]) / (edge + edge);
    g = last - values[low] + edge / (g + withSign<T>(rootOf<T>(g * g + T(1)), g));
    Vector<T> s = all<T>(1), c = all<T>(1), p{};
    int top = n - 1;
    while (!isAny<T>(isActive & (end >= top)))
      --top;
    for (int i = top - 1; i >= low; --i) {
      Mask<T> turns = isActive & (end > i);
      Vector<T> f = s * beside[i], b = c * beside[i], size = rootOf<T>(f * f + g * g);
      // As in LAPACK's rotations, the cosine is not negative.
      Vector<T> r = withSign<T>(size, g), inverse = all<T>(1) / (size == all<T>(0) ? all<T>(1) : r);
      beside[i + 1] = turns & (end > i + 1) ? r : beside[i + 1];
      Vector<T> before = values[i + 1] - p;
      s = turns ? f * inverse : s;
      c = turns ? (size == all<T>(0) ? all<T>(1) : g * inverse) : c;
      Vector<T> both = (values[i] - before) * s + (c + c) * b;
      p = turns ? s * both : p;
      values[i + 1] = turns ? before + p : values[i + 1];
      g = turns ? c * both - b : g;
      if (wantsVectors)
        rotate(i, turns ? s : all<T>(0), turns ? c : all<T>(1));
    }
    values[low] = isActive ? values[low] - p : values[low];
    beside[low] = isActive ? g : beside[low];
  }

  /// Solves blocks of two rows (LAPACK's laev2).
  void solvePair(int low, Mask<T> isActive) {
    Vector<T> a = isReversed ? values[low + 1] : values[low], c = isReversed ? values[low] : values[low + 1];
    Vector<T> b = beside[low], sum = a + c, difference = a - c, twice = b + b;
    Vector<T> root = rootOf<T>(difference * difference + twice * twice);
    Mask<T> isLarger = magnitude<T>(a) > magnitude<T>(c), isNegative = sum < all<T>(0),
            isFalling = difference < all<T>(0);
    Vector<T> large = T(0.5) * (sum + (isNegative ? -root : root)), divisor = large == all<T>(0) ? all<T>(1) : large;
    Vector<T> small =
        sum == all<T>(0) ? -large : ((isLarger ? a : c) / divisor) * (isLarger ? c : a) - (b / divisor) * b;
    Vector<T> cosine = difference + (isFalling ? -root : root);
    Mask<T> isSteep = magnitude<T>(cosine) > magnitude<T>(twice), isDiagonal = ~isSteep & (twice == all<T>(0));
    Vector<T> ratio = isSteep ? -twice / (isSteep ? cosine : all<T>(1)) : -cosine / (isDiagonal ? all<T>(1) : twice);
    Vector<T> inverse = all<T>(1) / rootOf<T>(T(1) + ratio * ratio);
    Vector<T> first = isDiagonal ? all<T>(1) : isSteep ? ratio * inverse : inverse;
    Vector<T> second = isDiagonal ? all<T>(0) : isSteep ? inverse : ratio * inverse;
    Mask<T> isTurned = isNegative == isFalling;
    Vector<T> cs = isTurned ? -second : first, sn = isTurned ? first : second;
    values[low] = isActive ? (isReversed ? small : large) : values[low];
    values[low + 1] = isActive ? (isReversed ? large : small) : values[low + 1];
    beside[low] = isActive ? all<T>(0) : beside[low];
    if (wantsVectors)
      rotate(low, isActive ? (isReversed ? sn : -sn) : all<T>(0), isActive ? cs : all<T>(1));
  }

  void rotate(int i, Vector<T> s, Vector<T> c) {
    Vector<T> *x = vectors + i * n, *y = x + n;
    for (int k = 0; k < n; ++k) {
      Vector<T> old = y[k];
      y[k] = s * x[k] + c * old;
      x[k] = c * x[k] - s * old;
    }
  }

  /// By selection, so that equal values are in LAPACK's order.
  void sort() {
    for (int i = 0; i < n; ++i)
      order[i] = Mask<T>{} + i;
    for (int i = 0; i + 1 < n; ++i) {
      Vector<T> least = values[i];
      Mask<T> place = Mask<T>{} + i, first = order[i];
      for (int j = i + 1; j < n; ++j) {
        Mask<T> isLess = values[j] < least;
        least = isLess ? values[j] : least;
        place = isLess ? Mask<T>{} + j : place;
      }
      for (int j = i + 1; j < n; ++j) {
        Mask<T> isHere = place == j;
        values[j] = isHere ? values[i] : values[j];
        order[i] = isHere ? order[j] : order[i];
        order[j] = isHere ? first : order[j];
      }
      values[i] = least;
    }
  }

  Vector<T> *a;
  int n;
  bool wantsVectors;
  Mask<T> isReversed{};
  Vector<T> beside[mostRows], taus[mostRows];
};

template <typename T> void symmetric(const T *from, T *values, T *vectors, int64_t count, int n, bool lower) {
  Stack<T> stack(count, n * n), stackOfValues(count, n);
  Vector<T> a[mostElements];
  T unordered[lanesOf<T> * mostElements];
  const Vector<T> nan = all<T>(std::numeric_limits<T>::quiet_NaN());
  forBlocks<T>(count, [&](int64_t first, int lanes) {
    stack.load(from, first, lanes, a);
    Vector<T> largest{};
    Mask<T> isFinite = ~Mask<T>{};
    for (int e = 0; e < n * n; ++e) {
      Vector<T> size = magnitude<T>(a[e]);
      isFinite &= size <= all<T>(std::numeric_limits<T>::max());
      largest = size > largest ? size : largest;
    }
    // LAPACK reduces a matrix with an upper triangle from its end.
    if (!lower)
      for (int e = 0, other = n * n - 1; e < other; ++e, --other)
        std::swap(a[e], a[other]);
    Scale<T> scale(largest);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j)
        a[i * n + j] = isFinite ? a[i * n + j] * scale.to : all<T>(0);
    SymmetricLanes<T> found(a, n, vectors != nullptr, !lower);
    Mask<T> isRight = isFinite & ~found.failed;
    for (int i = 0; i < n; ++i)
      a[i] = isRight ? found.values[i] * scale.back : nan;
    stackOfValues.store(a, values, first, lanes);
    if (!vectors)
      return;
    for (int e = 0; e < n * n; ++e)
      a[e] = isRight ? found.vectors[e] : nan;
    Stack<T>(lanes, n * n).store(a, unordered, 0, lanes);
    for (int l = 0; l < lanes; ++l)
      for (int j = 0; j < n; ++j) {
        const T *column = unordered + (int64_t(l) * n + found.order[j][l]) * n;
        T *to = vectors + (first + l) * n * n + j;
        for (int i = 0; i < n; ++i)
          to[i * n] = column[lower ? i : n - 1 - i];
      }
  });
}

} // namespace pcrt::lanes::PCRT_LANES

#endif // PYCOMPILER_RUNTIME_LIB_LANES_SYMMETRIC_H
