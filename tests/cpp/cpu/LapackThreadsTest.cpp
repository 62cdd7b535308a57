// The number of threads of LAPACK's library: one while the runtime calls its routines, and afterwards the program's
// setting.
#include "Check.h"
#include "FakeLapack.h"
#include "Operands.h"
#include "runtime/HostLibrary.h"

#include <atomic>

using namespace test;

static const PcrtTable &table = pcrt::libraryTable();

/// The library's setting, and its value during calls of its routines.
static std::atomic<int> setting{1}, mostSeen{0}, calls{0};
static int getThreads() { return setting.load(); }
static void setThreads(int count) { setting.store(count); }

/// A setting that the program makes during a call, or 0.
static std::atomic<int> setByProgram{0};

static void potrf(const char *, const int *, double *, const int *, int *info) {
  int now = setting.load(), seen = mostSeen.load();
  while (now > seen && !mostSeen.compare_exchange_weak(seen, now))
    ;
  ++calls;
  if (int given = setByProgram.load())
    setting.store(given);
  *info = 0;
}

static void fill() {
  std::vector<void *> entries;
  for (std::string_view name : pcrt::lapack::names())
    entries.push_back(name == "dpotrf" ? reinterpret_cast<void *>(potrf) : nullptr);
  pcrt::lapack::fill(entries);
}

static void factorize() {
  Operand<double> a({3, 17, 17}), factor(a.dims); // smaller ones are not LAPACK's
  a.values.assign(a.values.size(), 1.0);
  CHECK(call(table.cholesky, {a}, {factor}) == PCRT_OK);
}

static void withoutControl() {
  setting = 4;
  mostSeen = calls = 0;
  factorize();
  CHECK(calls == 3 && mostSeen == 4 && setting == 4);
}

static void one() {
  pcrt::lapack::setThreads({getThreads, setThreads});
  for (int given : {4, 2, 1}) {
    setting = given;
    mostSeen = calls = 0;
    factorize();
    CHECK(calls == 3 && mostSeen == 1);
    CHECK(setting == given);
  }
}

static void manyCallers() {
  setting = 8;
  mostSeen = 0;
  CHECK(holdsConcurrently([&](int) {
    for (int i = 0; i < 200; ++i)
      factorize();
    return true;
  }));
  CHECK(mostSeen == 1);
  CHECK(setting == 8);
}

static void setMeanwhile() {
  setting = 8;
  setByProgram = 6;
  factorize();
  setByProgram = 0;
  CHECK(setting == 6);
}

static void refused() {
  setting = 8;
  Operand<int32_t> integers({2, 2});
  CHECK(call(table.cholesky, {integers}, {integers}) == PCRT_INVALID_ARGUMENT);
  CHECK(setting == 8);
}

int main() {
  fill();
  RUN(withoutControl);
  RUN(one);
  RUN(manyCallers);
  RUN(setMeanwhile);
  RUN(refused);
  return test::failures() != 0;
}
