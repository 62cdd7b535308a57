// The kernel's wait on a 32-bit word, for tokens, the pool and the bound on run-ahead. Unlike a condition variable it
// returns when a signal arrives, so that Ctrl-C can interrupt a wait.
#ifndef PYCOMPILER_RUNTIME_FUTEX_H
#define PYCOMPILER_RUNTIME_FUTEX_H

#include <atomic>
#include <cstdint>

namespace pcrt {

using FutexWord = std::atomic<uint32_t>;

/// Sleeps while the word holds `expected`, at most `timeoutMs` (negative: unlimited). It may return early.
void futexWait(const FutexWord &word, uint32_t expected, int timeoutMs = -1);
void futexWake(const FutexWord &word, int count);

/// Nanoseconds of the monotonic clock.
int64_t nowNs();

/// Tells the core that this is a spinning loop.
inline void spinPause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Spins until `isOver`, for `ns` nanoseconds at most; returns whether it is over.
template <typename Predicate> bool spinUntil(Predicate isOver, int64_t ns) {
  for (int64_t end = nowNs() + ns; nowNs() < end;)
    for (int i = 0; i < 32; ++i) {
      if (isOver())
        return true;
      spinPause();
    }
  return false;
}

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_FUTEX_H
