// Calls that return only when the callbacks of their program have run, as JAX's do on CPU. Before Launch.
#ifndef PYCOMPILER_RUNTIME_PYTHON_ARRAY_CALLBACKWAIT_H
#define PYCOMPILER_RUNTIME_PYTHON_ARRAY_CALLBACKWAIT_H

#include "runtime/Executable.h"
#include "runtime/Token.h"

#include <vector>

namespace pcrt::python {

/// The setting `wait_for_callbacks`.
void setWaitForCallbacks(bool waits);

/// Whether a call of this executable waits for its run.
bool waitsForCallbacks(const Executable &executable);

/// Waits without the GIL for the launches of one call, by their tokens, and for their callbacks. Raises the first
/// failure; false with an exception set.
bool finishCallbacks(const std::vector<RefPtr<Token>> &launches);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_ARRAY_CALLBACKWAIT_H
