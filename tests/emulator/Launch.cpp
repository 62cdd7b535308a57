// The function to which array-emulate-gpu lowers launches, for host parts that are compiled with their kernels: a
// launch returns when the kernel has run. Generated code cannot report failures: the first one is kept for the
// program's caller, and no later launch runs.
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

/// The failure of this thread's launches since the last call; empty if there is none. Valid until the next call.
EXPORTED const char *emulated_failure() {
  static thread_local std::string taken;
  taken.swap(failure);
  failure.clear();
  return taken.c_str();
}
