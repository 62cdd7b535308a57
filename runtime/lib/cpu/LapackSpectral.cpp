// Eigenvalues and singular values: eigh, eig, svd, schur, and the Sylvester equation that schur solves. Matrices that
// do not converge, or contain a nan or an infinity, give nan.
#include "LapackSpectral.h"

using namespace pcrt;
using namespace pcrt::lapack;

namespace {

/// A = V diag(w) Vᴴ; a is overwritten by V when `vectors`.
template <typename T> int hermitian(T *a, int n, char half, bool vectors, RealOf<T> *w, Workspace<T> &space) {
  char job = vectors ? 'V' : 'N';
  int info = 0, lead = leading(n);
  auto run = [&](int *size, int *realSize, int *intSize) {
    if constexpr (isComplex<T>)
      call<T>(Routine::syevd, &job, &half, &n, a, &lead, w, space.work.data(), size, space.real.data(), realSize,
              space.integers.data(), intSize, &info);
    else
      call<T>(Routine::syevd, &job, &half, &n, a, &lead, w, space.work.data(), size, space.integers.data(), intSize,
              &info);
  };
  int query = -1, queryReal = -1, queryInt = -1;
  run(&query, &queryReal, &queryInt);
  int size = workSize(space.work[0]), realSize = workSize(space.real[0]), intSize = std::max(1, space.integers[0]);
  space.work.resize(std::max(space.work.size(), size_t(size)));
  space.real.resize(std::max(space.real.size(), size_t(realSize)));
  space.integers.resize(std::max(space.integers.size(), size_t(intSize)));
  run(&size, &realSize, &intSize);
  return info;
}

/// The eigenvectors of a real matrix, as LAPACK packs conjugate pairs: columns of real and imaginary parts. Written
/// row-major.
template <typename T>
void unpackVectors(const T *packed, const std::vector<T> &imaginary, int n, std::complex<T> *vectors) {
  for (int j = 0; j < n; ++j) {
    const T *column = packed + int64_t(j) * n;
    if (imaginary[j] == T(0)) {
      for (int i = 0; i < n; ++i)
        vectors[int64_t(i) * n + j] = column[i];
      continue;
    }
    for (int i = 0; i < n; ++i) {
      std::complex<T> x(column[i], column[n + i]);
      vectors[int64_t(i) * n + j] = x;
      vectors[int64_t(i) * n + j + 1] = std::conj(x);
    }
    ++j;
  }
}

/// geev: the eigenvalues of a, which is destroyed, and vectors if there is memory for them (row-major).
template <typename T>
int general(T *a, int n, ComplexOf<T> *w, ComplexOf<T> *left, ComplexOf<T> *right, Workspace<T> &space) {
  char jobLeft = left ? 'V' : 'N', jobRight = right ? 'V' : 'N';
  int info = 0, lead = leading(n), size = -1;
  std::vector<T> packedLeft(left ? size_t(n) * n : 1), packedRight(right ? size_t(n) * n : 1), re(n), im(n);
  space.real.resize(2 * size_t(n) + 1);
  auto run = [&] {
    if constexpr (isComplex<T>)
      call<T>(Routine::geev, &jobLeft, &jobRight, &n, a, &lead, w, packedLeft.data(), &lead, packedRight.data(), &lead,
              space.work.data(), &size, space.real.data(), &info);
    else
      call<T>(Routine::geev, &jobLeft, &jobRight, &n, a, &lead, re.data(), im.data(), packedLeft.data(), &lead,
              packedRight.data(), &lead, space.work.data(), &size, &info);
  };
  run();
  size = workSize(space.work[0]);
  space.work.resize(std::max(space.work.size(), size_t(size)));
  run();
  if (info != 0)
    return info; // partial results need not come in pairs
  if constexpr (isComplex<T>) {
    if (left)
      transpose(packedLeft.data(), n, n, left);
    if (right)
      transpose(packedRight.data(), n, n, right);
  } else {
    for (int i = 0; i < n; ++i)
      w[i] = {re[i], im[i]};
    if (left)
      unpackVectors(packedLeft.data(), im, n, left);
    if (right)
      unpackVectors(packedRight.data(), im, n, right);
  }
  return info;
}

/// C = op(A) op(B), column-major.
template <typename T>
void multiply(char opA, char opB, int m, int n, int k, const T *a, int leadA, const T *b, int leadB, T *c) {
  T one = 1, none = 0;
  int leadC = leading(m);
  call<T>(Routine::gemm, &opA, &opB, &m, &n, &k, &one, a, &leadA, b, &leadB, &none, c, &leadC);
}

/// X of A X + X B = C by Bartels and Stewart (1972): both matrices to Schur form, then a triangular equation. All are
/// column-major; a, b and c are destroyed, c becomes X. False if an iteration does not converge, or if X is not unique.
template <typename T> bool sylvesterOf(T *a, int m, T *b, int n, T *c, Workspace<T> &space) {
  std::vector<T> u(size_t(m) * m), v(size_t(n) * n), other(size_t(m) * n);
  if (schurOf(a, m, u.data(), true, space) != 0 || schurOf(b, n, v.data(), true, space) != 0)
    return false;
  char adjoint = isComplex<T> ? 'C' : 'T', none = 'N';
  multiply(adjoint, none, m, n, m, u.data(), m, c, m, other.data());
  multiply(none, none, m, n, n, other.data(), m, v.data(), n, c);
  int sign = 1, info = 0;
  RealOf<T> scale = 1;
  call<T>(Routine::trsyl, &none, &none, &sign, &m, &n, a, &m, b, &n, c, &m, &scale, &info);
  if (info != 0 || scale == 0)
    return false;
  multiply(none, none, m, n, m, u.data(), m, c, m, other.data());
  multiply(none, adjoint, m, n, n, other.data(), m, v.data(), n, c);
  for (int64_t i = 0; scale != 1 && i < int64_t(m) * n; ++i)
    c[i] /= scale;
  return true;
}

} // namespace

static int32_t eighWhole(const PcrtFrame *, const PcrtTensor *in, int32_t inCount, const PcrtTensor *out,
                         int32_t outCount, const int64_t *params) {
  bool vectors = params[0];
  char half = params[1] ? 'L' : 'U';
  return dispatch(in, inCount, in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    int n = columnsOf(in[0]);
    Stack from(in[0], 2), w(out[outCount - 1], 1), v(out[0], vectors ? 2 : 1);
    if constexpr (!isComplex<T>)
      if (isInLanes(in[0], n, n))
        return lanes::smallMatrices<T>().symmetric(from.at<T>(0), w.at<T>(0), vectors ? v.at<T>(0) : nullptr,
                                                   from.count, n, half == 'L');
    std::vector<T> a(from.size);
    Workspace<T> space;
    for (int64_t i = 0; i < from.count && from.size; ++i) {
      bool ok = allFinite(from.at<T>(i), from.size);
      if (ok) {
        transpose(from.at<T>(i), n, n, a.data());
        ok = hermitian(a.data(), n, half, vectors, w.at<RealOf<T>>(i), space) == 0;
      }
      if (!ok) {
        fillNan(w.at<RealOf<T>>(i), n);
        fillNan(a.data(), from.size);
      }
      if (vectors)
        transpose(a.data(), n, n, v.at<T>(i));
    }
  });
}

int32_t library::eigh(const PcrtFrame *frame, const PcrtTensor *in, int32_t inCount, const PcrtTensor *out,
                      int32_t outCount, const int64_t *params) {
  return overMatrices(eighWhole, 2, 60, frame, in, inCount, out, outCount, params);
}

static int32_t eigWhole(const PcrtFrame *, const PcrtTensor *in, int32_t inCount, const PcrtTensor *out, int32_t,
                        const int64_t *params) {
  bool wantsLeft = params[0], wantsRight = params[1];
  return dispatch(in, inCount, in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    using C = ComplexOf<T>;
    int n = columnsOf(in[0]);
    Stack from(in[0], 2), w(out[0], 1), left(out[wantsLeft ? 1 : 0], wantsLeft ? 2 : 1),
        right(out[wantsRight ? 1 + wantsLeft : 0], wantsRight ? 2 : 1);
    std::vector<T> a(from.size);
    Workspace<T> space;
    for (int64_t i = 0; i < from.count && from.size; ++i) {
      C *vl = wantsLeft ? left.at<C>(i) : nullptr, *vr = wantsRight ? right.at<C>(i) : nullptr;
      bool ok = allFinite(from.at<T>(i), from.size);
      if (ok) {
        transpose(from.at<T>(i), n, n, a.data());
        ok = general(a.data(), n, w.at<C>(i), vl, vr, space) == 0;
      }
      if (ok)
        continue;
      fillNan(w.at<C>(i), n);
      for (C *vectors : {vl, vr})
        if (vectors)
          fillNan(vectors, from.size);
    }
  });
}

int32_t library::eig(const PcrtFrame *frame, const PcrtTensor *in, int32_t inCount, const PcrtTensor *out,
                     int32_t outCount, const int64_t *params) {
  return overMatrices(eigWhole, 2, 200, frame, in, inCount, out, outCount, params);
}

static int32_t svdWhole(const PcrtFrame *, const PcrtTensor *in, int32_t inCount, const PcrtTensor *out, int32_t,
                        const int64_t *params) {
  bool byQr = params[0], vectors = params[1], full = params[2];
  return dispatch(in, inCount, in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    int m = rowsOf(in[0]), n = columnsOf(in[0]), k = std::min(m, n);
    Stack from(in[0], 2), s(out[0], 1), u(out[vectors ? 1 : 0], vectors ? 2 : 1),
        vt(out[vectors ? 2 : 0], vectors ? 2 : 1);
    int columns = full ? m : k, rows = full ? n : k;
    std::vector<T> a(from.size), left(vectors ? size_t(m) * columns : 1), right(vectors ? size_t(rows) * n : 1);
    Workspace<T> space;
    for (int64_t i = 0; i < s.count; ++i) {
      if (from.size == 0) {
        if (vectors) {
          identity(u.at<T>(i), m, columns);
          identity(vt.at<T>(i), rows, n);
        }
        continue;
      }
      bool ok = allFinite(from.at<T>(i), from.size);
      if (ok) {
        transpose(from.at<T>(i), m, n, a.data());
        ok = singular(a.data(), m, n, vectors ? full ? 'A' : 'S' : 'N', rows, byQr, s.at<RealOf<T>>(i), left.data(),
                      right.data(), space) == 0;
      }
      if (!ok) {
        fillNan(s.at<RealOf<T>>(i), k);
        fillNan(left.data(), left.size());
        fillNan(right.data(), right.size());
      }
      if (vectors) {
        transpose(left.data(), columns, m, u.at<T>(i));
        transpose(right.data(), n, rows, vt.at<T>(i));
      }
    }
  });
}

int32_t library::svd(const PcrtFrame *frame, const PcrtTensor *in, int32_t inCount, const PcrtTensor *out,
                     int32_t outCount, const int64_t *params) {
  return overMatrices(svdWhole, 2, 100, frame, in, inCount, out, outCount, params);
}

static int32_t schurWhole(const PcrtFrame *, const PcrtTensor *in, int32_t inCount, const PcrtTensor *out, int32_t,
                          const int64_t *params) {
  bool vectors = params[0];
  return dispatch(in, inCount, in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    int n = columnsOf(in[0]);
    Stack from(in[0], 2), t(out[0], 2), z(out[vectors ? 1 : 0], 2);
    std::vector<T> a(from.size), basis(from.size);
    Workspace<T> space;
    for (int64_t i = 0; i < from.count && from.size; ++i) {
      bool ok = allFinite(from.at<T>(i), from.size);
      if (ok) {
        transpose(from.at<T>(i), n, n, a.data());
        ok = schurOf(a.data(), n, basis.data(), vectors, space) == 0;
      }
      if (!ok) {
        fillNan(a.data(), from.size);
        fillNan(basis.data(), from.size);
      }
      transpose(a.data(), n, n, t.at<T>(i));
      if (vectors)
        transpose(basis.data(), n, n, z.at<T>(i));
    }
  });
}

int32_t library::schur(const PcrtFrame *frame, const PcrtTensor *in, int32_t inCount, const PcrtTensor *out,
                       int32_t outCount, const int64_t *params) {
  return overMatrices(schurWhole, 2, 150, frame, in, inCount, out, outCount, params);
}

int32_t library::sylvester(const PcrtFrame *, const PcrtTensor *in, int32_t inCount, const PcrtTensor *out, int32_t,
                           const int64_t *) {
  return dispatch(in, inCount, in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    int m = columnsOf(in[0]), n = columnsOf(in[1]);
    Stack a(in[0], 2), b(in[1], 2), c(in[2], 2), x(out[0], 2);
    std::vector<T> left(a.size), right(b.size), middle(c.size);
    Workspace<T> space;
    for (int64_t i = 0; i < x.count && x.size; ++i) {
      bool ok = allFinite(a.at<T>(i), a.size) && allFinite(b.at<T>(i), b.size);
      if (ok) {
        transpose(a.at<T>(i), m, m, left.data());
        transpose(b.at<T>(i), n, n, right.data());
        transpose(c.at<T>(i), m, n, middle.data());
        ok = sylvesterOf(left.data(), m, right.data(), n, middle.data(), space);
      }
      ok ? transpose(middle.data(), n, m, x.at<T>(i)) : fillNan(x.at<T>(i), x.size);
    }
  });
}
