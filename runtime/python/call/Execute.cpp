// Executions outside of the hot path.
#include "call/Execute.h"

using namespace pcrt;
using namespace pcrt::python;

bool pcrt::python::executeWithFreedMemory(const DevicePlacement &where, Executable &executable, Buffer *const *args,
                                          size_t argCount, AvalObject *const *outAvals, size_t resultCount,
                                          PyObject **results, Buffer *const *given) {
  // Before the GIL is released, and until the launch holds them.
  HeldArguments held(args, argCount);
  for (size_t i = 0; i < resultCount; ++i)
    if (!given || !given[i])
      waitForFreed(*where.device, outAvals[i]);
  return executeAtOnce(where, executable, args, argCount, outAvals, resultCount, results, given);
}

bool pcrt::python::execute(Device &device, Executable &executable, Buffer *const *args, size_t argCount,
                           AvalObject *const *outAvals, size_t resultCount, PyObject **results, Buffer *const *given,
                           bool committed) {
  return executeInline({&device, committed}, executable, args, argCount, outAvals, resultCount, results, given);
}
