// The futex system call and the clock.
#include "runtime/Futex.h"

#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace pcrt;

void pcrt::futexWait(const FutexWord &word, uint32_t expected, int timeoutMs) {
  timespec timeout{timeoutMs / 1000, (timeoutMs % 1000) * 1000000L};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, timeoutMs < 0 ? nullptr : &timeout, nullptr, 0);
}

void pcrt::futexWake(const FutexWord &word, int count) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

int64_t pcrt::nowNs() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}
