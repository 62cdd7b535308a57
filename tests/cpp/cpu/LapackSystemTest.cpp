// LAPACK of the system: the failure if there is none, and calls of its routines by the convention of their compiler.
#include "Check.h"
#include "Operands.h"
#include "runtime/Executable.h"
#include "runtime/HostLibrary.h"
#include "runtime/Lapack.h"

#include <cmath>
#include <cstdlib>
#include <string>

using namespace test;

static bool contains(const pcrt::Status &status, const char *text) {
  return status.message().find(text) != std::string::npos;
}

static void fileMissing() {
  setenv("PYCOMPILER_LAPACK", "/nowhere/liblapack.so", 1);
  pcrt::Status status = pcrt::lapack::fillFromSystem();
  CHECK(status.code() == pcrt::Code::LibraryFailed);
  CHECK(contains(status, "looked for /nowhere/liblapack.so") && contains(status, "install liblapack3"));
  CHECK(!pcrt::lapack::isFilled());
}

static void anotherLibrary() {
  setenv("PYCOMPILER_LAPACK", "libm.so.6", 1);
  pcrt::Status status = pcrt::lapack::fillFromSystem();
  CHECK(contains(status, "libm.so.6 has no function sgemm_"));
  CHECK(!pcrt::lapack::isFilled());
}

/// x of A x = b, by strings ("N") and by pivots.
[[maybe_unused]] static void solves() {
  unsetenv("PYCOMPILER_LAPACK");
  pcrt::Status status = pcrt::lapack::fillFromSystem();
  if (!CHECK(status.isOk())) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    return;
  }
  CHECK(pcrt::lapack::isFilled());
  CHECK(pcrt::lapack::fillFromSystem().isOk());
  const PcrtTable &table = pcrt::libraryTable();
  Operand<double> a({2, 2}), factors({2, 2}), b({2, 1}), x({2, 1});
  Operand<int32_t> pivots({2}), permutation({2});
  a.values = {1, 2, 3, 4};
  b.values = {5, 11};
  CHECK(call(table.lu, {a}, {factors, pivots, permutation}, {}) == PCRT_OK);
  CHECK(call(table.linear_solve, {a, factors, permutation, b}, {x}, {0}) == PCRT_OK);
  CHECK(std::abs(x.values[0] - 1) < 1e-12 && std::abs(x.values[1] - 2) < 1e-12);
  // The lengths of two strings, which gemm takes after thirteen arguments.
  Operand<double> zero({2, 2}), exponential({2, 2});
  zero.values = {0, 0, 0, 0};
  CHECK(call(table.expm, {zero}, {exponential}, {16}) == PCRT_OK);
  CHECK(exponential.values == (std::vector<double>{1, 0, 0, 1}));
}

int main() {
  RUN(fileMissing);
  RUN(anotherLibrary);
#ifndef IN_EMULATOR // there is no LAPACK of its architecture
  RUN(solves);
#endif
  return failures();
}
