// The test harness: CHECK prints the failed condition and its place, and the process then ends with status 1.
#ifndef PYCOMPILER_TESTS_CPP_CHECK_H
#define PYCOMPILER_TESTS_CPP_CHECK_H

#include <cstdio>
#include <cstdlib>
#include <exception>

namespace test {

inline int &failures() {
  static int count = 0;
  return count;
}

inline bool check(bool met, const char *condition, const char *file, int line) {
  if (!met) {
    std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, condition);
    ++failures();
  }
  return met;
}

/// Runs one test function; main returns the sum.
inline void run(const char *name, void (*function)()) {
  int before = failures();
  function();
  std::printf("%s %s\n", failures() == before ? "ok  " : "FAIL", name);
  std::fflush(stdout); // a test that hangs is the next one
}

} // namespace test

#define CHECK(condition) ::test::check(static_cast<bool>(condition), #condition, __FILE__, __LINE__)
/// For conditions that the rest of the test needs.
#define REQUIRE(condition)                                                                                             \
  do {                                                                                                                 \
    if (!CHECK(condition))                                                                                             \
      std::exit(1);                                                                                                    \
  } while (false)
#define RUN(function) ::test::run(#function, function)

#endif // PYCOMPILER_TESTS_CPP_CHECK_H
