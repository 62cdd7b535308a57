// The exponential of a matrix, by scaling and squaring of Padé approximants (Higham, SIAM J. Matrix Anal. 26, 2005),
// and its derivative in one direction: the same steps on pairs of a matrix and its change (Al-Mohy and Higham, SIAM J.
// Matrix Anal. 30, 2009). A product of pairs is three products, and a system has one factorization.
//
// exp(Aᵀ) is exp(A)ᵀ, so row-major matrices are passed to column-major routines without transposition.
#include "Lapack.h"
#include "PadeOrders.h"

using namespace pcrt;
using namespace pcrt::lapack;

namespace {

template <typename T> class Exponential {
  using Matrix = std::vector<T>;
  using Real = RealOf<T>;

  /// A matrix, and its change in the direction; empty without a direction.
  struct Pair {
    Matrix value, change;
  };

public:
  explicit Exponential(int n) : n(n), size(size_t(n) * n) {}

  /// a becomes exp(a), and `direction`, if there is one, the derivative in that direction; nan if that takes more than
  /// `maxSquarings` squarings.
  void apply(T *a, T *direction, int64_t maxSquarings) {
    // The pair is the first row of the block matrix [[a, direction], [0, a]].
    Real norm = norm1(a) + (direction ? norm1(direction) : Real(0));
    auto [order, bound] = padeOrderFor<Real>(double(norm));
    int squarings = double(norm) > bound ? std::max(0, int(std::ceil(std::log2(double(norm) / bound)))) : 0;
    if (!std::isfinite(norm) || squarings > maxSquarings) {
      fillNan(a, int64_t(size));
      if (direction)
        fillNan(direction, int64_t(size));
      return;
    }
    Real scale = std::ldexp(Real(1), -squarings);
    Pair x = {scaled(a, scale), direction ? scaled(direction, scale) : Matrix()};
    x = pade(x, order);
    for (int i = 0; i < squarings; ++i)
      x = product(x, x);
    std::copy(x.value.begin(), x.value.end(), a);
    if (direction)
      std::copy(x.change.begin(), x.change.end(), direction);
  }

  Real norm1(const T *a) const {
    Real norm = 0;
    for (int j = 0; j < n; ++j) {
      Real sum = 0;
      for (int i = 0; i < n; ++i)
        sum += std::abs(a[size_t(j) * n + i]);
      norm = sum <= norm ? norm : sum; // a nan stays
    }
    return norm;
  }

private:
  Matrix scaled(const T *a, Real scale) const {
    Matrix x(a, a + size);
    for (T &element : x)
      element *= scale;
    return x;
  }

  /// c = factor a b + c
  void addProduct(T factor, const Matrix &a, const Matrix &b, Matrix &c) const {
    T one = 1;
    call<T>(Routine::gemm, "N", "N", &n, &n, &n, &factor, a.data(), &n, b.data(), &n, &one, c.data(), &n);
  }

  Pair product(const Pair &a, const Pair &b) const {
    Pair c = {Matrix(size), Matrix(a.change.size())};
    addProduct(1, a.value, b.value, c.value);
    if (!c.change.empty()) {
      addProduct(1, a.value, b.change, c.change);
      addProduct(1, a.change, b.value, c.change);
    }
    return c;
  }

  /// to += factor other
  static void add(Matrix &to, Real factor, const Matrix &other) {
    for (size_t k = 0; k < to.size(); ++k)
      to[k] += factor * other[k];
  }

  static void add(Pair &to, Real factor, const Pair &other) {
    add(to.value, factor, other.value);
    add(to.change, factor, other.change);
  }

  /// The sum of coefficients[i 2] powers[i].
  Pair combination(const double *coefficients, const std::vector<Pair> &powers) const {
    Pair sum = {Matrix(size), Matrix(powers[0].change.size())};
    for (size_t i = 0; i < powers.size(); ++i)
      add(sum, Real(coefficients[2 * i]), powers[i]);
    return sum;
  }

  /// The same, with the identity before the powers.
  Pair combinationFromIdentity(const double *coefficients, const std::vector<Pair> &powers) const {
    Pair sum = combination(coefficients + 2, powers);
    for (int i = 0; i < n; ++i)
      sum.value[size_t(i) * n + i] += Real(coefficients[0]);
    return sum;
  }

  Pair pade(const Pair &a, int order) const {
    std::vector<double> b(order + 1);
    writePadeCoefficients(order, b.data());
    std::vector<Pair> powers = {product(a, a)}; // of 2, 4, ...
    for (int p = 2; p <= (order == 13 ? 3 : order / 2); ++p)
      powers.push_back(product(powers.back(), powers[0]));
    Pair odd = combinationFromIdentity(&b[1], powers), even = combinationFromIdentity(&b[0], powers);
    if (order == 13) {
      // The powers 8 to 12 as A^6 times 2 to 6.
      add(odd, 1, product(powers[2], combination(&b[9], powers)));
      add(even, 1, product(powers[2], combination(&b[8], powers)));
    }
    odd = product(a, odd);
    Pair x = even, denominator = std::move(even);
    add(x, 1, odd);
    add(denominator, -1, odd);
    solve(denominator, x);
    return x;
  }

  /// x becomes the solution y of d y = x. Its change solves d y' = x' - d' y.
  void solve(Pair &d, Pair &x) const {
    std::vector<int> pivots(n);
    int info = 0;
    call<T>(Routine::getrf, &n, &n, d.value.data(), &n, pivots.data(), &info);
    call<T>(Routine::getrs, "N", &n, &n, d.value.data(), &n, pivots.data(), x.value.data(), &n, &info);
    if (x.change.empty())
      return;
    addProduct(-1, d.change, x.value, x.change);
    call<T>(Routine::getrs, "N", &n, &n, d.value.data(), &n, pivots.data(), x.change.data(), &n, &info);
  }

  int n;
  size_t size;
};

} // namespace

int32_t library::expm(const PcrtFrame *, const PcrtTensor *in, int32_t inCount, const PcrtTensor *out, int32_t,
                      const int64_t *params) {
  return dispatch(in, inCount, in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    Stack from(in[0], 2), to(out[0], 2);
    Exponential<T> exponential(columnsOf(in[0]));
    for (int64_t i = 0; i < from.count && from.size; ++i) {
      std::copy_n(from.at<T>(i), from.size, to.at<T>(i));
      exponential.apply(to.at<T>(i), nullptr, params[0]);
    }
  });
}

int32_t library::expm_frechet(const PcrtFrame *, const PcrtTensor *in, int32_t inCount, const PcrtTensor *out, int32_t,
                              const int64_t *params) {
  return dispatch(in, inCount, in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    int n = columnsOf(in[0]);
    Stack as(in[0], 2), es(in[1], 2), to(out[0], 2);
    Exponential<T> exponential(n);
    std::vector<T> a, e;
    for (int64_t i = 0; i < as.count && as.size; ++i) {
      a.assign(as.at<T>(i), as.at<T>(i) + as.size);
      e.assign(es.at<T>(i), es.at<T>(i) + es.size);
      // The derivative is linear in the direction. Its norm becomes at most half of the matrix's, by a power of two, so
      // that a great direction takes no squarings.
      RealOf<T> size = exponential.norm1(e.data()), scale = 1;
      RealOf<T> wanted = std::max(exponential.norm1(a.data()) / 2, std::ldexp(RealOf<T>(1), -10));
      if (size > wanted && std::isfinite(size))
        scale = std::exp2(std::floor(std::log2(wanted) - std::log2(size)));
      for (T &element : e)
        element *= scale;
      // The norm of the pair may take one squaring more than the matrix.
      exponential.apply(a.data(), e.data(), params[0] + 1);
      for (int64_t k = 0; k < es.size; ++k)
        to.at<T>(i)[k] = e[k] / scale;
    }
  });
}
