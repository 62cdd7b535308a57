// The function that array-emulate-gpu makes launches of, for host parts that are compiled with their kernels: a launch
// returns when the kernel has run. Generated code has no way to say that it could not: the first failure is kept for
// who called the program, and no launch after it runs.
#include "BlockRunner.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

static thread_local emulator::BlockRunner runner;
static thread_local std::string failure;

EXPORTED void emulated_launch(EmulatedKernel kernel, int64_t gridX, int64_t gridY, int64_t gridZ, int64_t blockX,
                              int64_t blockY, int64_t blockZ, int64_t sharedBytes, void *const *params) {
  if (!failure.empty())
    return;
  auto sizes = [](int64_t x, int64_t y, int64_t z) {
    return std::array<uint32_t, 3>{static_cast<uint32_t>(x), static_cast<uint32_t>(y), static_cast<uint32_t>(z)};
  };
  emulator::Dimensions dimensions{sizes(gridX, gridY, gridZ), sizes(blockX, blockY, blockZ),
                                  static_cast<uint32_t>(sharedBytes)};
  if (runner.run(kernel, params, dimensions) != CUDA_SUCCESS)
    failure = runner.message();
}

/// What is wrong with a launch of this thread since the last call; empty when nothing is. Valid until the next call.
EXPORTED const char *emulated_failure() {
  static thread_local std::string taken;
  taken.swap(failure);
  failure.clear();
  return taken.c_str();
}
