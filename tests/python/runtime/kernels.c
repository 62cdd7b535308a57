// Hand-written compiled modules for the tests of the runtime's binding: the runtime is tested apart from the compiler.
#include "runtime/Abi.h"

#include <string.h>

#define FLOATS 4

// f32[4] -> f32[4]: x + 1.
int32_t add_one(const PcrtFrame *frame) {
  const float *x = frame->args[0];
  float *y = frame->results[0];
  for (int i = 0; i < FLOATS; ++i)
    y[i] = x[i] + 1.0f;
  return PCRT_OK;
}

// f32[4], f32[4] -> f32[4], f32[4]: sum and difference, by way of the arena.
int32_t sum_and_difference(const PcrtFrame *frame) {
  const float *x = frame->args[0], *y = frame->args[1];
  float *sum = frame->results[0], *difference = frame->results[1], *scratch = frame->arena;
  for (int i = 0; i < FLOATS; ++i)
    scratch[i] = x[i] - y[i];
  for (int i = 0; i < FLOATS; ++i)
    sum[i] = x[i] + y[i];
  memcpy(difference, scratch, FLOATS * sizeof(float));
  return PCRT_OK;
}

static int32_t spin(const PcrtFrame *frame, long rounds) {
  volatile double waste = 0;
  for (long i = 0; i < rounds; ++i)
    waste = waste + 1;
  return add_one(frame);
}

// x + 1 after some milliseconds, some tenth of a second, some seconds.
int32_t brief_add_one(const PcrtFrame *frame) { return spin(frame, 2000000); }
int32_t slow_add_one(const PcrtFrame *frame) { return spin(frame, 50000000); }
int32_t very_slow_add_one(const PcrtFrame *frame) { return spin(frame, 700000000); }

int32_t fails(const PcrtFrame *frame) { return PCRT_LIBRARY_FAILED; }

// Time for others to do what is waited for: a test that takes so long has failed.
static int patience(void) {
  static int rounds;
#if defined(__x86_64__)
  // The loader knows no nanosleep: a millisecond by the system call itself.
  long millisecond[2] = {0, 1000000}, result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(35L), "D"(millisecond), "S"(0L) : "rcx", "r11", "memory");
#else
  for (volatile long i = 0; i < 300000; ++i)
    ;
#endif
  return __atomic_add_fetch(&rounds, 1, __ATOMIC_RELAXED) < 60000;
}

// x + 1 once the second argument, memory that the test writes to, is not 0.
int32_t gated_add_one(const PcrtFrame *frame) {
  const volatile float *gate = frame->args[1];
  while (*gate == 0)
    if (!patience())
      return PCRT_LIBRARY_FAILED;
  return add_one(frame);
}

// x + 1 once another one runs at the same time.
int32_t meet(const PcrtFrame *frame) {
  static int arrived;
  int mine = __atomic_add_fetch(&arrived, 1, __ATOMIC_RELAXED);
  while (__atomic_load_n(&arrived, __ATOMIC_RELAXED) < (mine + 1) / 2 * 2)
    if (!patience())
      return PCRT_LIBRARY_FAILED;
  return add_one(frame);
}
