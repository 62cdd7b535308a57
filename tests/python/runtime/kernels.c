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
