// Executions outside of the hot path.
#include "call/Execute.h"

using namespace pcrt;
using namespace pcrt::python;

bool pcrt::python::execute(Device &device, Executable &executable, Buffer *const *args, size_t argCount,
                           AvalObject *const *outAvals, size_t resultCount, PyObject **results, Buffer *const *given,
                           bool committed) {
  return executeInline({&device, committed}, executable, args, argCount, outAvals, resultCount, results, given);
}
