// The checks at the start of every function of the emulated driver. After Stream; the files that define the functions
// include it.
#ifndef PYCOMPILER_TESTS_EMULATOR_CALLS_H
#define PYCOMPILER_TESTS_EMULATOR_CALLS_H

#include "Stream.h"

#include <string>

extern "C" {
#define PCRT_CUDA(name, symbol, parameters) __attribute__((visibility("default"))) CUresult symbol parameters;
#include "driver/Functions.def"
}

namespace emulator {

enum class Call {
#define PCRT_CUDA(name, symbol, parameters) name,
#include "driver/Functions.def"
  count
};

/// The context of this host thread; null before cuCtxSetCurrent.
extern thread_local CUcontext currentContext;

/// Counts the call. Returns the error of a function without a context, before cuInit or in a host function; and of a
/// function that needs one.
CUresult begin(Call call);
CUresult beginInContext(Call call);

/// The stream of the current context, also for null; null if it does not belong to it.
CUstream findStream(CUstream stream);
/// Device number `number`; null if there is none.
CUcontext findDevice(CUdevice number);

/// Whether devices reach each other's memory.
bool havePeers();

void setLastFailure(const std::string &text);
/// Whether a test requests that an allocation of this many bytes fails.
bool failsOnPurpose(uint64_t bytes);

/// For a function that runs in a context.
#define PCRT_ENTER(name)                                                                                               \
  if (CUresult refused = ::emulator::beginInContext(::emulator::Call::name); refused != CUDA_SUCCESS)                  \
  return refused

/// And on a stream: the parameter `stream`.
#define PCRT_ENTER_STREAM(name)                                                                                        \
  PCRT_ENTER(name);                                                                                                    \
  stream = ::emulator::findStream(stream);                                                                             \
  if (!stream)                                                                                                         \
  return CUDA_ERROR_INVALID_HANDLE

} // namespace emulator

#endif // PYCOMPILER_TESTS_EMULATOR_CALLS_H
