// The entry points of LAPACK and BLAS that the library routines call. The runtime links neither: whoever runs a
// decomposition fills the table first (Python from SciPy's `cython_lapack`, programs without Python from the system's
// libraries). Before it: Status; after it: lib/cpu.
#ifndef PYCOMPILER_RUNTIME_LAPACK_H
#define PYCOMPILER_RUNTIME_LAPACK_H

#include "runtime/Status.h"

#include <string_view>
#include <vector>

// X(name for reals, name for complex numbers), without the letter of the type. 32-bit integers, Fortran's convention.
#define PCRT_LAPACK_ROUTINES(X)                                                                                        \
  X(gemm, gemm)                                                                                                        \
  X(trsm, trsm)                                                                                                        \
  X(potrf, potrf)                                                                                                      \
  X(getrf, getrf)                                                                                                      \
  X(getrs, getrs)                                                                                                      \
  X(gtsv, gtsv)                                                                                                        \
  X(geqrf, geqrf)                                                                                                      \
  X(geqp3, geqp3)                                                                                                      \
  X(orgqr, ungqr)                                                                                                      \
  X(ormqr, unmqr)                                                                                                      \
  X(gehrd, gehrd)                                                                                                      \
  X(sytrd, hetrd)                                                                                                      \
  X(syevd, heevd)                                                                                                      \
  X(geev, geev)                                                                                                        \
  X(gesdd, gesdd)                                                                                                      \
  X(gesvd, gesvd)                                                                                                      \
  X(gees, gees)                                                                                                        \
  X(trsyl, trsyl)

namespace pcrt::lapack {

/// The full names, in the order of the table's slots: "sgemm", "dgemm", "cgemm", "zgemm", "strsm", ...
std::vector<std::string_view> names();

/// What a routine expects after its arguments: nothing (SciPy's wrappers), or the length of each string among them
/// (what a Fortran compiler makes).
enum class Strings { Alone, WithLengths };

/// How many threads the library divides a routine over, as OpenBLAS says and is told it: for the whole process.
struct Threads {
  int (*get)() = nullptr;
  void (*set)(int) = nullptr;
};

/// While a routine of the table runs, the library does not divide it over threads of its own: they would have to run at
/// the same time, on cores that the pool, or other programs, use. What the program has set comes back afterwards.
void setThreads(Threads threads);

/// Fills the table, one pointer for each of the names. May be called again, when no routine is being called.
void fill(const std::vector<void *> &entries, Strings strings = Strings::Alone);

/// Fills the table from the system's LAPACK, which stays loaded, unless it is filled. PYCOMPILER_LAPACK names its file;
/// without it liblapack.so.3 and libopenblas.so.0 are looked for. The failure says what was looked for, and what to
/// install.
Status fillFromSystem();

/// Whether the table was filled.
bool isFilled();

} // namespace pcrt::lapack

#endif // PYCOMPILER_RUNTIME_LAPACK_H
