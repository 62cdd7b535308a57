// Reductions by Householder reflectors: qr, geqrf, geqp3, householder_product, ormqr, hessenberg, tridiagonal.
#include "Lapack.h"

using namespace pcrt;
using namespace pcrt::lapack;

/// A matrix in column-major scratch with the workspace of the routines that work on it.
template <typename T> struct Reflectors {
  Reflectors(int rows, int columns, int capacity)
      : m(rows), n(columns), lead(leading(rows)), a(int64_t(rows) * std::max(columns, capacity)),
        taus(std::max(rows, columns)) {}

  /// Runs call(work, lwork), first to query the size of the workspace.
  template <typename Call> void withWork(Call body) {
    T answer = 1;
    int size = -1;
    body(&answer, &size);
    size = workSize(answer);
    if (work.size() < size_t(size))
      work.resize(size);
    body(work.data(), &size);
  }

  void factor() {
    withWork([&](T *w, int *size) { call<T>(Routine::geqrf, &m, &n, a.data(), &lead, taus.data(), w, size, &info); });
  }

  /// A P = Q R; the permutation counts from 0.
  void factorWithPivots(int32_t *pivots) {
    std::fill_n(pivots, n, 0);
    std::vector<RealOf<T>> real(2 * size_t(n) + 1);
    withWork([&](T *w, int *size) {
      if constexpr (isComplex<T>)
        call<T>(Routine::geqp3, &m, &n, a.data(), &lead, pivots, taus.data(), w, size, real.data(), &info);
      else
        call<T>(Routine::geqp3, &m, &n, a.data(), &lead, pivots, taus.data(), w, size, &info);
    });
    for (int j = 0; j < n; ++j)
      --pivots[j];
  }

  /// The first `columns` columns of the product of the first `count` reflectors.
  void multiplyOut(int columns, int count) {
    withWork([&](T *w, int *size) {
      call<T>(Routine::orgqr, &m, &columns, &count, a.data(), &lead, taus.data(), w, size, &info);
    });
  }

  int m, n, lead, info = 0;
  std::vector<T> a, taus, work;
};

static int32_t qrWhole(const PcrtFrame *, const PcrtTensor *in, int32_t inCount, const PcrtTensor *out,
                       int32_t outCount, const int64_t *params) {
  bool pivoting = params[1]; // params[0], full_matrices, shows in the shapes
  return dispatch(in, inCount, in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    int m = rowsOf(in[0]), n = columnsOf(in[0]), k = columnsOf(out[0]), rank = std::min(m, n);
    Stack a(in[0], 2), q(out[0], 2), r(out[1], 2), p(out[outCount - 1], 1);
    if constexpr (!isComplex<T>)
      if (!pivoting && isInLanes(in[0], m, n) && k >= 1)
        return lanes::smallMatrices<T>().qr(a.at<T>(0), q.at<T>(0), r.at<T>(0), a.count, m, n, k);
    Reflectors<T> work(m, n, k);
    std::vector<int32_t> pivots(n);
    for (int64_t i = 0; i < q.count; ++i) {
      int32_t *order = pivoting ? p.at<int32_t>(i) : pivots.data();
      if (a.size == 0) {
        identity(q.at<T>(i), m, k);
        for (int j = 0; j < n; ++j)
          order[j] = j;
        std::fill_n(r.at<T>(i), r.size, T());
        continue;
      }
      transpose(a.at<T>(i), m, n, work.a.data());
      pivoting ? work.factorWithPivots(order) : work.factor();
      T *target = r.at<T>(i);
      for (int row = 0; row < k; ++row)
        for (int j = 0; j < n; ++j)
          target[int64_t(row) * n + j] = row <= j && row < rank ? work.a[int64_t(j) * m + row] : T();
      work.multiplyOut(k, rank);
      transpose(work.a.data(), k, m, q.at<T>(i));
    }
  });
}

int32_t library::qr(const PcrtFrame *frame, const PcrtTensor *in, int32_t inCount, const PcrtTensor *out,
                    int32_t outCount, const int64_t *params) {
  return overMatrices(qrWhole, 2, 20, frame, in, inCount, out, outCount, params);
}

static int32_t reflectors(const PcrtTensor *in, int32_t inCount, const PcrtTensor *out, bool pivoting) {
  return dispatch(in, inCount, in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    int m = rowsOf(in[0]), n = columnsOf(in[0]);
    Stack from(in[0], 2), to(out[0], 2), taus(out[1], 1), pivots(out[pivoting ? 2 : 1], 1);
    Reflectors<T> work(m, n, n);
    for (int64_t i = 0; i < taus.count; ++i) {
      if (from.size == 0) {
        for (int j = 0; pivoting && j < n; ++j)
          pivots.at<int32_t>(i)[j] = j;
        continue;
      }
      transpose(from.at<T>(i), m, n, work.a.data());
      pivoting ? work.factorWithPivots(pivots.at<int32_t>(i)) : work.factor();
      transpose(work.a.data(), n, m, to.at<T>(i));
      std::copy_n(work.taus.data(), taus.size, taus.at<T>(i));
    }
  });
}

template <bool pivoting>
static int32_t reflectorsOf(const PcrtFrame *, const PcrtTensor *in, int32_t inCount, const PcrtTensor *out, int32_t,
                            const int64_t *) {
  return reflectors(in, inCount, out, pivoting);
}

int32_t library::geqrf(const PcrtFrame *frame, const PcrtTensor *in, int32_t inCount, const PcrtTensor *out,
                       int32_t outCount, const int64_t *params) {
  return overMatrices(reflectorsOf<false>, 2, 10, frame, in, inCount, out, outCount, params);
}

int32_t library::geqp3(const PcrtFrame *frame, const PcrtTensor *in, int32_t inCount, const PcrtTensor *out,
                       int32_t outCount, const int64_t *params) {
  return overMatrices(reflectorsOf<true>, 2, 10, frame, in, inCount, out, outCount, params);
}

int32_t library::householder_product(const PcrtFrame *, const PcrtTensor *in, int32_t inCount, const PcrtTensor *out,
                                     int32_t, const int64_t *) {
  return dispatch(in, inCount, in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    int m = rowsOf(in[0]), n = columnsOf(in[0]), k = columnsOf(in[1]);
    Stack a(in[0], 2), taus(in[1], 1), q(out[0], 2);
    Reflectors<T> work(m, n, n);
    for (int64_t i = 0; i < q.count && q.size; ++i) {
      transpose(a.at<T>(i), m, n, work.a.data());
      std::copy_n(taus.at<T>(i), k, work.taus.data());
      work.multiplyOut(n, k);
      transpose(work.a.data(), n, m, q.at<T>(i));
    }
  });
}

int32_t library::ormqr(const PcrtFrame *, const PcrtTensor *in, int32_t inCount, const PcrtTensor *out, int32_t,
                       const int64_t *params) {
  bool left = params[0], transposed = params[1];
  return dispatch(in, inCount, in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    int m = rowsOf(in[2]), n = columnsOf(in[2]), k = columnsOf(in[1]), size = left ? m : n, columns = columnsOf(in[0]);
    Stack a(in[0], 2), taus(in[1], 1), c(in[2], 2), result(out[0], 2);
    Reflectors<T> work(size, columns, columns);
    std::vector<T> product(c.size);
    char side = left ? 'L' : 'R', op = !transposed ? 'N' : isComplex<T> ? 'C' : 'T';
    int lead = leading(m);
    for (int64_t i = 0; i < result.count && result.size; ++i) {
      transpose(a.at<T>(i), size, columns, work.a.data());
      transpose(c.at<T>(i), m, n, product.data());
      work.withWork([&](T *w, int *length) {
        call<T>(Routine::ormqr, &side, &op, &m, &n, &k, work.a.data(), &work.lead, taus.at<T>(i), product.data(), &lead,
                w, length, &work.info);
      });
      transpose(product.data(), n, m, result.at<T>(i));
    }
  });
}

int32_t library::hessenberg(const PcrtFrame *, const PcrtTensor *in, int32_t inCount, const PcrtTensor *out, int32_t,
                            const int64_t *) {
  return dispatch(in, inCount, in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    int n = columnsOf(in[0]), low = 1;
    Stack from(in[0], 2), to(out[0], 2), taus(out[1], 1);
    Reflectors<T> work(n, n, n);
    for (int64_t i = 0; i < from.count && from.size; ++i) {
      transpose(from.at<T>(i), n, n, work.a.data());
      work.withWork([&](T *w, int *size) {
        call<T>(Routine::gehrd, &n, &low, &n, work.a.data(), &work.lead, work.taus.data(), w, size, &work.info);
      });
      transpose(work.a.data(), n, n, to.at<T>(i));
      std::copy_n(work.taus.data(), taus.size, taus.at<T>(i));
    }
  });
}

int32_t library::tridiagonal(const PcrtFrame *, const PcrtTensor *in, int32_t inCount, const PcrtTensor *out, int32_t,
                             const int64_t *params) {
  char half = params[0] ? 'L' : 'U';
  return dispatch(in, inCount, in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    int n = columnsOf(in[0]);
    Stack from(in[0], 2), to(out[0], 2), d(out[1], 1), e(out[2], 1), taus(out[3], 1);
    Reflectors<T> work(n, n, n);
    for (int64_t i = 0; i < from.count && from.size; ++i) {
      transpose(from.at<T>(i), n, n, work.a.data());
      work.withWork([&](T *w, int *size) {
        call<T>(Routine::sytrd, &half, &n, work.a.data(), &work.lead, d.at<RealOf<T>>(i), e.at<RealOf<T>>(i),
                taus.at<T>(i), w, size, &work.info);
      });
      transpose(work.a.data(), n, n, to.at<T>(i));
    }
  });
}
