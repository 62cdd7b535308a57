// Singular values and vectors by one-sided Jacobi rotations (Hestenes, 1958; tolerance and scaling as in LAPACK's
// gesvj). Rotations make pairs of columns orthogonal, repeatedly, until all are. Then each column is a left vector
// times its singular value, and the product of the rotations has the right vectors. Each block has one matrix. It
// rotates as many disjoint pairs at a time as it has threads for. A wide matrix is replaced by its adjoint.
#include "Rotation.h"

namespace device {

/// A column with a smaller square is zero relative to the maximum element, which is about 1. Above it, products of two
/// columns have squares that are normal numbers.
constexpr double negligibleSquare = 1e-50;

/// A pair of columns of a round. A round has each column in at most one pair; all rounds together have every pair.
struct ColumnPair {
  int64_t p, q;

  DEVICE_INLINE ColumnPair(int64_t players, int64_t round, int64_t number) {
    // All columns but the last form a circle. Opposite ones are paired.
    int64_t circle = players - 1, a = (round + number) % circle,
            b = number == 0 ? circle : (round - number + circle) % circle;
    p = a < b ? a : b;
    q = a < b ? b : a;
  }
};

/// Makes every pair of columns of `work`, [m, n], orthogonal once, and rotates the columns of `vectors`, [n, n],
/// likewise. A team of threads has a pair, and its members share the rows. Returns whether a pair was rotated. `shared`
/// has four places for each thread.
template <typename T>
DEVICE_INLINE bool turnPairs(T *work, T *vectors, int64_t m, int64_t n, bool hasVectors, double *shared) {
  constexpr int64_t mostMembers = 32; // maximum team size: each member adds up the values of all
  if (n < 2)
    return false;
  double tolerance = static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon()) * std::sqrt(double(m));
  int64_t players = n + n % 2, pairs = players / 2, threads = device_threads();
  int64_t teams = pairs < threads ? pairs : threads, members = threads / teams;
  members = members < mostMembers ? members : mostMembers;
  int64_t team = device_thread() % teams, member = device_thread() / teams;
  double *own = shared + 4 * device_thread();
  double turned = 0;
  for (int64_t round = 0; round + 1 < players; ++round)
    for (int64_t first = 0; first < pairs; first += teams) {
      auto [p, q] = ColumnPair(players, round, first + team);
      bool hasPair = member < members && first + team < pairs && q < n;
      double pp = 0, qq = 0, re = 0, im = 0;
      for (int64_t i = member; hasPair && i < m; i += members) {
        T x = work[i * n + p], y = work[i * n + q];
        double xr = real(x), xi = imaginary(x), yr = real(y), yi = imaginary(y);
        pp += xr * xr + xi * xi;
        qq += yr * yr + yi * yi;
        re += xr * yr + xi * yi;
        im += xr * yi - xi * yr;
      }
      own[0] = pp;
      own[1] = qq;
      own[2] = re;
      own[3] = im;
      device_barrier();
      if (hasPair) {
        pp = qq = re = im = 0;
        for (int64_t i = 0; i < members; ++i) {
          const double *other = shared + 4 * (i * teams + team);
          pp += other[0];
          qq += other[1];
          re += other[2];
          im += other[3];
        }
        if (pp > negligibleSquare && qq > negligibleSquare &&
            std::sqrt(re * re + im * im) > tolerance * std::sqrt(pp) * std::sqrt(qq)) {
          turned = 1;
          Rotation<T> rotation(pp, qq, re, im);
          for (int64_t i = member; i < m; i += members)
            rotation.columns(work[i * n + p], work[i * n + q]);
          for (int64_t i = member; hasVectors && i < n; i += members)
            rotation.columns(vectors[i * n + p], vectors[i * n + q]);
        }
      }
      device_barrier(); // wait before the next pairs use these columns
    }
  return sumOfBlock(turned, shared) > 0;
}

/// Vectors that are the columns of a matrix in memory, stored directly or as its adjoint.
template <typename T> struct Basis {
  T *data;
  int64_t length; // length of a row in memory
  bool isAdjoint;

  DEVICE_INLINE T at(int64_t i, int64_t j) const {
    return isAdjoint ? conjugate(data[j * length + i]) : data[i * length + j];
  }
  DEVICE_INLINE void set(int64_t i, int64_t j, T x) const {
    if (isAdjoint)
      data[j * length + i] = conjugate(x);
    else
      data[i * length + j] = x;
  }
};

/// Completes an orthonormal basis: vectors `from` to `to` become orthonormal to those before. Each starts as the unit
/// vector farthest from their span, and its projection is subtracted twice (Gram and Schmidt). `products` has a place
/// for each vector.
template <typename T>
DEVICE_INLINE void completeBasis(Basis<T> basis, int64_t size, int64_t from, int64_t to, T *products, double *shared) {
  for (int64_t k = from; k < to; ++k) {
    int64_t chosen = greatestOfBlock(0, size, shared, [&](int64_t i) {
      double inside = 0;
      for (int64_t j = 0; j < k; ++j)
        inside += square(basis.at(i, j));
      return inside < 1 ? 1 - inside : 0;
    });
    forEach(size, [&](int64_t i) { basis.set(i, k, i == chosen ? T(1) : T(0)); });
    for (int pass = 0; pass < 2; ++pass) {
      forEach(k, [&](int64_t j) {
        T sum = T(0);
        for (int64_t i = 0; i < size; ++i)
          sum += conjugate(basis.at(i, j)) * basis.at(i, k);
        products[j] = sum;
      });
      forEach(size, [&](int64_t i) {
        T sum = T(0);
        for (int64_t j = 0; j < k; ++j)
          sum += basis.at(i, j) * products[j];
        basis.set(i, k, basis.at(i, k) - sum);
      });
    }
    double own = 0;
    for (int64_t i = device_thread(); i < size; i += device_threads())
      own += square(basis.at(i, k));
    auto norm = static_cast<RealOf<T>>(std::sqrt(sumOfBlock(own, shared)));
    forEach(size, [&](int64_t i) { basis.set(i, k, basis.at(i, k) / norm); });
  }
}

/// The largest power of two that is at most a positive number; for smaller numbers, the least normal one.
DEVICE_INLINE double powerBelow(double x) {
  double least = std::numeric_limits<double>::min();
  if (!(x > least))
    return least;
  uint64_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  bits &= uint64_t(0x7ff) << 52;
  __builtin_memcpy(&x, &bits, sizeof bits);
  return x;
}

template <typename T> DEVICE_INLINE bool isFinite(T x) {
  constexpr RealOf<T> greatest = std::numeric_limits<RealOf<T>>::max();
  return std::fabs(real(x)) <= greatest && std::fabs(imaginary(x)) <= greatest;
}

/// The maximum absolute part of an element; nan if one is not finite.
template <typename T> DEVICE_INLINE double greatestPart(const T *from, int64_t count, double *shared) {
  double undefinedOnes = 0;
  for (int64_t i = device_thread(); i < count; i += device_threads())
    undefinedOnes += isFinite(from[i]) ? 0 : 1;
  if (sumOfBlock(undefinedOnes, shared) > 0)
    return std::numeric_limits<double>::quiet_NaN();
  auto partOf = [&](int64_t i) {
    return std::fmax(double(std::fabs(real(from[i]))), double(std::fabs(imaginary(from[i]))));
  };
  return count == 0 ? 0 : partOf(greatestOfBlock(0, count, shared, partOf));
}

/// U is [m, uColumns], Vᴴ is [vRows, n]. With p and q the maximum and the minimum of m and n, `work` is [p, q],
/// `vectors` [q, q], `norms` and `order` [q], `products` [p]. `shared` has four places for each thread.
template <typename T>
DEVICE_INLINE void svd(const T *from, RealOf<T> *values, T *u, T *vh, T *work, T *vectors, double *norms,
                       int32_t *order, T *products, int64_t m, int64_t n, int64_t uColumns, int64_t vRows,
                       int64_t hasVectors, double *shared) {
  constexpr int mostSweeps = 60;
  using Real = RealOf<T>;
  bool isTall = m >= n;
  int64_t p = isTall ? m : n, q = isTall ? n : m, matrix = device_block();
  from += matrix * m * n;
  values += matrix * q;
  u += matrix * m * uColumns;
  vh += matrix * vRows * n;
  work += matrix * p * q;
  vectors += matrix * q * q;
  norms += matrix * q;
  order += matrix * q;
  products += matrix * p;

  // Scale the maximum element to about 1, so that no square overflows.
  double greatest = greatestPart(from, m * n, shared), scale = powerBelow(greatest);
  forEach(p * q, [&](int64_t i) {
    T x = isTall ? from[i] : conjugate(from[i % q * n + i / q]);
    if constexpr (isComplex<T>)
      work[i] = T(static_cast<Real>(real(x) / scale), static_cast<Real>(imaginary(x) / scale));
    else
      work[i] = static_cast<T>(x / scale);
  });
  forEach(q * q, [&](int64_t i) { vectors[i] = i / q == i % q ? T(1) : T(0); });
  bool hasConverged = greatest == 0;
  for (int sweep = 0; sweep < mostSweeps && greatest > 0 && !hasConverged; ++sweep)
    hasConverged = !turnPairs(work, vectors, p, q, hasVectors != 0, shared);
  if (!hasConverged) {
    forEach(q, [&](int64_t i) { values[i] = undefined<Real>(); });
    if (hasVectors) {
      forEach(m * uColumns, [&](int64_t i) { u[i] = undefined<T>(); });
      forEach(vRows * n, [&](int64_t i) { vh[i] = undefined<T>(); });
    }
    return;
  }

  forEach(q, [&](int64_t j) {
    double sum = 0;
    for (int64_t i = 0; i < p; ++i)
      sum += square(work[i * q + j]);
    norms[j] = std::sqrt(sum);
  });
  double hasDirection = 0;
  for (int64_t j = device_thread(); j < q; j += device_threads())
    hasDirection += norms[j] * norms[j] > negligibleSquare ? 1 : 0;
  auto rank = static_cast<int64_t>(sumOfBlock(hasDirection, shared));
  // The position of a singular value is the number of those before it.
  forEach(q, [&](int64_t j) {
    int32_t place = 0;
    for (int64_t i = 0; i < q; ++i)
      place += norms[i] > norms[j] || (norms[i] == norms[j] && i < j);
    order[j] = place;
    values[place] = static_cast<Real>(norms[j] * scale);
  });
  if (!hasVectors)
    return;
  Basis<T> left{u, uColumns, false}, right{vh, n, true};
  Basis<T> longer = isTall ? left : right, shorter = isTall ? right : left;
  forEach(q * q, [&](int64_t i) { shorter.set(i / q, order[i % q], vectors[i]); });
  forEach(p * q, [&](int64_t i) {
    if (int64_t j = i % q; order[j] < rank)
      longer.set(i / q, order[j], work[i] / static_cast<Real>(norms[j]));
  });
  completeBasis(longer, p, rank, isTall ? uColumns : vRows, products, shared);
}

} // namespace device

#define DEVICE_SVD(name, T)                                                                                            \
  extern "C" void svd_##name(const T *from, device::RealOf<T> *values, T *u, T *vh, T *work, T *vectors,               \
                             double *norms, int32_t *order, T *products, int64_t m, int64_t n, int64_t uColumns,       \
                             int64_t vRows, int64_t hasVectors, double *shared) {                                      \
    device::svd(from, values, u, vh, work, vectors, norms, order, products, m, n, uColumns, vRows, hasVectors,         \
                shared);                                                                                               \
  }
DEVICE_MATRICES(DEVICE_SVD)
