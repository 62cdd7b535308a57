// The entry points of LAPACK and BLAS for the library routines. The runtime links neither: the caller fills the table
// before a decomposition runs (Python from SciPy's `cython_lapack`, programs without Python from the system's
// libraries). Before it: Status. After it: lib/cpu.
#ifndef PYCOMPILER_RUNTIME_LAPACK_H
#define PYCOMPILER_RUNTIME_LAPACK_H

#include "runtime/Status.h"

#include <string_view>
#include <vector>

// X(name for reals, name for complex numbers), without the letter of the type. 32-bit integers, Fortran's convention.
#define PCRT_LAPACK_ROUTINES(X)                                                                                        \
  X(gemm, gemm)                                                                                                        \
  X(trsm, trsm)                                                                                                        \
  X(trsv, trsv)                                                                                                        \
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

/// Parameters of a routine after its arguments: none (SciPy's wrappers), or the length of each string argument (Fortran
/// compilers).
enum class Strings { Alone, WithLengths };

/// Reads and sets the number of threads over which the library, for example OpenBLAS, divides a routine: for the whole
/// process.
struct Threads {
  int (*get)() = nullptr;
  void (*set)(int) = nullptr;
};

/// While a routine of the table runs, the library uses no other threads: they would occupy cores that the pool, or
/// other programs, use. Afterwards the program's own setting is restored.
void setThreads(Threads threads);

/// Fills the table, one pointer for each of the names. It may be called again while no routine runs.
void fill(const std::vector<void *> &entries, Strings strings = Strings::Alone);

/// Fills the table from the system's LAPACK, which stays loaded, unless it is filled. PYCOMPILER_LAPACK names its file;
/// the default is a search for liblapack.so.3 and libopenblas.so.0. The failure lists the names that were tried, and
/// the package to install.
Status fillFromSystem();

/// Whether the table was filled.
bool isFilled();

} // namespace pcrt::lapack

#endif // PYCOMPILER_RUNTIME_LAPACK_H
