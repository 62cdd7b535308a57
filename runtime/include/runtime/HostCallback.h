// A function of the host program that compiled code calls (`array.host_call`). Executable holds a table of them, and
// Callbacks has their threads. The binding makes them, from Python functions and from C functions (ForeignCall).
#ifndef PYCOMPILER_RUNTIME_HOSTCALLBACK_H
#define PYCOMPILER_RUNTIME_HOSTCALLBACK_H

#include "runtime/RunContext.h"

namespace pcrt {

class HostCallback : public RefCounted<HostCallback> {
public:
  enum class Kind : uint8_t {
    /// Runs in a thread of the callbacks' pool, and compiled code waits.
    Waited,
    /// Compiled code does not wait: it has no outputs, and gets copies of the inputs. No run belongs to it.
    Detached,
    /// Runs in the thread of the compiled code: it does not need Python.
    Direct
  };

  /// For an `attended` one, the call of the program waits: a user sits at a terminal.
  explicit HostCallback(Kind kind, bool attended = false) : kind(kind), attended(attended) {}
  virtual ~HostCallback() = default;

  /// Runs it. `run` is null for a detached one.
  virtual Status invoke(const RunContext *run, const PcrtTensor *inputs, int32_t inputCount, const PcrtTensor *outputs,
                        int32_t outputCount) = 0;

  const Kind kind;
  const bool attended;
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_HOSTCALLBACK_H
