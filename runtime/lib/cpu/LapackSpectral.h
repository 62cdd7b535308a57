// Typed calls of LAPACK's singular value and Schur decompositions, with their workspaces. Private to lib/cpu.
#ifndef PYCOMPILER_RUNTIME_LIB_CPU_LAPACKSPECTRAL_H
#define PYCOMPILER_RUNTIME_LIB_CPU_LAPACKSPECTRAL_H

#include "Lapack.h"

namespace pcrt::lapack {

/// The workspaces of a routine, which grow on demand.
template <typename T> struct Workspace {
  std::vector<T> work = std::vector<T>(1);
  std::vector<RealOf<T>> real = std::vector<RealOf<T>>(1);
  std::vector<int> integers = std::vector<int>(1);
};

/// gesdd or gesvd: column-major u and vt of `rank` columns and rows; job is 'N', 'S' or 'A'.
template <typename T>
int singular(T *a, int m, int n, char job, int rank, bool byQr, RealOf<T> *s, T *u, T *vt, Workspace<T> &space) {
  int info = 0, leadA = leading(m), leadU = leading(m), leadV = leading(rank), size = -1;
  int64_t small = std::min(m, n), large = std::max(m, n);
  if (isComplex<T>)
    space.real.resize(size_t(std::max(5 * small * small + 7 * small, 2 * large * small + 2 * small * small + small)) +
                      1);
  space.integers.resize(8 * size_t(small) + 1);
  auto run = [&] {
    T *work = space.work.data();
    RealOf<T> *real = space.real.data();
    if constexpr (isComplex<T>) {
      if (byQr)
        call<T>(Routine::gesvd, &job, &job, &m, &n, a, &leadA, s, u, &leadU, vt, &leadV, work, &size, real, &info);
      else
        call<T>(Routine::gesdd, &job, &m, &n, a, &leadA, s, u, &leadU, vt, &leadV, work, &size, real,
                space.integers.data(), &info);
    } else {
      if (byQr)
        call<T>(Routine::gesvd, &job, &job, &m, &n, a, &leadA, s, u, &leadU, vt, &leadV, work, &size, &info);
      else
        call<T>(Routine::gesdd, &job, &m, &n, a, &leadA, s, u, &leadU, vt, &leadV, work, &size, space.integers.data(),
                &info);
    }
  };
  run();
  size = workSize(space.work[0]);
  space.work.resize(std::max(space.work.size(), size_t(size)));
  run();
  return info;
}

/// gees: a becomes the (quasi-)triangular T of A = Z T Zᴴ; z is column-major.
template <typename T> int schurOf(T *a, int n, T *z, bool vectors, Workspace<T> &space) {
  char job = vectors ? 'V' : 'N', sort = 'N';
  int info = 0, lead = leading(n), size = -1, selected = 0;
  std::vector<T> re(n), im(n);
  std::vector<int> flags(n);
  space.real.resize(size_t(n) + 1);
  void *select = nullptr;
  auto run = [&] {
    if constexpr (isComplex<T>)
      call<T>(Routine::gees, &job, &sort, static_cast<int *>(select), &n, a, &lead, &selected, re.data(), z, &lead,
              space.work.data(), &size, space.real.data(), flags.data(), &info);
    else
      call<T>(Routine::gees, &job, &sort, static_cast<int *>(select), &n, a, &lead, &selected, re.data(), im.data(), z,
              &lead, space.work.data(), &size, flags.data(), &info);
  };
  run();
  size = workSize(space.work[0]);
  space.work.resize(std::max(space.work.size(), size_t(size)));
  run();
  return info;
}

} // namespace pcrt::lapack

#endif // PYCOMPILER_RUNTIME_LIB_CPU_LAPACKSPECTRAL_H
