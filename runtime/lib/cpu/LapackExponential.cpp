// The exponential of a matrix, by scaling and squaring of Padé approximants (Higham, SIAM J. Matrix Anal. 26, 2005),
// and its derivative in one direction, read off the exponential of a block matrix (Mathias, 1996).
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

public:
  explicit Exponential(int n) : n(n), size(size_t(n) * n) {}

  /// a becomes exp(a); nan if that takes more than `maxSquarings` squarings.
  void apply(T *a, int64_t maxSquarings) {
    Real norm = norm1(a);
    if (!std::isfinite(norm))
      return fillNan(a, int64_t(size));
    auto [order, bound] = padeOrderFor<Real>(double(norm));
    int squarings = double(norm) > bound ? std::max(0, int(std::ceil(std::log2(double(norm) / bound)))) : 0;
    if (squarings > maxSquarings)
      return fillNan(a, int64_t(size));
    Real scale = std::ldexp(Real(1), -squarings);
    Matrix x(a, a + size);
    for (T &element : x)
      element *= scale;
    x = pade(x, order);
    for (int i = 0; i < squarings; ++i)
      x = product(x, x);
    std::copy(x.begin(), x.end(), a);
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
  Matrix product(const Matrix &a, const Matrix &b) const {
    Matrix c(size);
    T one = 1, none = 0;
    call<T>(Routine::gemm, "N", "N", &n, &n, &n, &one, a.data(), &n, b.data(), &n, &none, c.data(), &n);
    return c;
  }

  /// sum of coefficients[first + 2 i] powers[i]; powers[0] is the identity.
  Matrix combination(const std::vector<double> &coefficients, size_t first, size_t count,
                     const std::vector<Matrix> &powers) const {
    Matrix sum(size);
    for (size_t i = 0; i < count; ++i)
      for (size_t k = 0; k < size; ++k)
        sum[k] += Real(coefficients[first + 2 * i]) * powers[i][k];
    return sum;
  }

  static void add(Matrix &to, const Matrix &other) {
    for (size_t k = 0; k < to.size(); ++k)
      to[k] += other[k];
  }

  Matrix pade(const Matrix &a, int order) const {
    std::vector<double> b(order + 1);
    writePadeCoefficients(order, b.data());
    std::vector<Matrix> powers(1, Matrix(size));
    for (int i = 0; i < n; ++i)
      powers[0][size_t(i) * n + i] = 1;
    powers.push_back(product(a, a));
    for (int p = 2; p <= (order == 13 ? 3 : order / 2); ++p)
      powers.push_back(product(powers.back(), powers[1]));
    size_t count = powers.size();
    Matrix odd = combination(b, 1, count, powers), even = combination(b, 0, count, powers);
    if (order == 13) {
      // The powers 8 to 12 as A^6 times 2 to 6.
      std::vector<Matrix> high(powers.begin() + 1, powers.end());
      add(odd, product(powers[3], combination(b, 9, 3, high)));
      add(even, product(powers[3], combination(b, 8, 3, high)));
    }
    odd = product(a, odd);
    Matrix x(size), denominator(size);
    for (size_t k = 0; k < size; ++k) {
      x[k] = even[k] + odd[k];
      denominator[k] = even[k] - odd[k];
    }
    std::vector<int> pivots(n);
    int info = 0;
    call<T>(Routine::getrf, &n, &n, denominator.data(), &n, pivots.data(), &info);
    call<T>(Routine::getrs, "N", &n, &n, denominator.data(), &n, pivots.data(), x.data(), &n, &info);
    return x;
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
      exponential.apply(to.at<T>(i), params[0]);
    }
  });
}

int32_t library::expm_frechet(const PcrtFrame *, const PcrtTensor *in, int32_t inCount, const PcrtTensor *out, int32_t,
                              const int64_t *params) {
  return dispatch(in, inCount, in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    int n = columnsOf(in[0]);
    Stack as(in[0], 2), es(in[1], 2), to(out[0], 2);
    Exponential<T> single(n), exponential(2 * n);
    std::vector<T> block;
    for (int64_t i = 0; i < as.count && as.size; ++i) {
      const T *a = as.at<T>(i), *e = es.at<T>(i);
      // Scale the direction down to the norm of the matrix: it must not add squarings.
      RealOf<T> size = single.norm1(e), wanted = std::max(single.norm1(a), RealOf<T>(1)), scale = 1;
      if (size > wanted && std::isfinite(size))
        scale = wanted / size;
      block.assign(4 * size_t(as.size), T());
      for (int row = 0; row < n; ++row)
        for (int column = 0; column < n; ++column) {
          block[size_t(row) * 2 * n + column] = block[size_t(row + n) * 2 * n + n + column] = a[row * n + column];
          block[size_t(row) * 2 * n + n + column] = e[row * n + column] * scale;
        }
      exponential.apply(block.data(), params[0] + 1); // the norm of the block matrix may be twice the norm of the
                                                      // matrix
      for (int row = 0; row < n; ++row)
        for (int column = 0; column < n; ++column)
          to.at<T>(i)[row * n + column] = block[size_t(row) * 2 * n + n + column] / scale;
    }
  });
}
