// A function of the host program that compiled code calls (`array.host_call`). Executable holds a table of them,
// Callbacks has their threads, and the binding makes them from Python functions.
#ifndef PYCOMPILER_RUNTIME_HOSTCALLBACK_H
#define PYCOMPILER_RUNTIME_HOSTCALLBACK_H

#include "runtime/Abi.h"
#include "runtime/Status.h"

namespace pcrt {

class HostCallback : public RefCounted<HostCallback> {
public:
  /// Compiled code does not wait for a `detached` one: it has no outputs, and gets copies of the inputs. For an
  /// `attended` one, the call of the program waits: a user sits at a terminal.
  explicit HostCallback(bool detached, bool attended = false) : detached(detached), attended(attended) {}
  virtual ~HostCallback() = default;

  /// Runs it, in a thread of the callbacks' pool.
  virtual Status invoke(const PcrtTensor *inputs, int32_t inputCount, const PcrtTensor *outputs,
                        int32_t outputCount) = 0;

  const bool detached;
  const bool attended;
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_HOSTCALLBACK_H
