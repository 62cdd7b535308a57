// Shared parts of the emulated libraries: numbers of the device's memory as doubles, work on its streams, and failures
// that tests request. After EmulatorControls; each library of this folder includes it once.
#ifndef PYCOMPILER_TESTS_EMULATOR_LIBRARIES_EMULATEDLIBRARY_H
#define PYCOMPILER_TESTS_EMULATOR_LIBRARIES_EMULATEDLIBRARY_H

#include "EmulatorControls.h"
#include "gpulibraries/LibraryTypes.h"
#include "support/NarrowFloats.h"

#include <atomic>
#include <functional>

#define PCRT_EXPORTED __attribute__((visibility("default")))

namespace emulator {

inline std::atomic<uint64_t> computations{0};
inline std::atomic<int> failure{0};

/// The status with which the next computation must fail; 0 for none.
inline int takeFailure() { return failure.exchange(0); }

inline uint64_t bytesOf(cudaDataType type) {
  switch (type) {
  case CUDA_R_16F:
  case CUDA_R_16BF:
    return 2;
  case CUDA_R_32F:
    return 4;
  case CUDA_C_64F:
    return 16;
  default:
    return 8;
  }
}

/// Does the work when the stream reaches it; returns whether the driver accepted it.
inline bool enqueue(CUstream stream, std::function<void()> work) {
  ++computations;
  auto *held = new std::function<void()>(std::move(work));
  auto run = [](void *data) {
    auto *work = static_cast<std::function<void()> *>(data);
    (*work)();
    delete work;
  };
  return emulatorEnqueue(stream, run, held) == CUDA_SUCCESS;
}

} // namespace emulator

extern "C" {
/// The number of requested computations.
PCRT_EXPORTED uint64_t emulatedComputations(void) { return emulator::computations; }
PCRT_EXPORTED void emulatedFailNext(int status) { emulator::failure = status; }
}

#endif // PYCOMPILER_TESTS_EMULATOR_LIBRARIES_EMULATEDLIBRARY_H
