// Functions of the host program that compiled code calls (`array.host_call`), and the threads that they run on. After
// ThreadPool; Executable holds a table of them, the binding makes them of Python functions.
#ifndef PYCOMPILER_RUNTIME_HOSTCALLBACK_H
#define PYCOMPILER_RUNTIME_HOSTCALLBACK_H

#include "runtime/Abi.h"
#include "runtime/Status.h"
#include "runtime/Token.h"

namespace pcrt {

class HostCallback : public RefCounted<HostCallback> {
public:
  /// Compiled code does not wait for one that is `detached`: it has no outputs, and is given copies of the inputs.
  explicit HostCallback(bool detached) : detached(detached) {}
  virtual ~HostCallback() = default;

  /// Runs it, in a thread of the callbacks' pool.
  virtual Status invoke(const PcrtTensor *inputs, int32_t inputCount, const PcrtTensor *outputs,
                        int32_t outputCount) = 0;

  const bool detached;
};

/// Callbacks of the process. They run on a pool of one thread, one after the other; while one waits for compiled code
/// the pool has a thread more, so that what it waits for may call back too.
namespace callbacks {

/// Waits until no detached callback is pending; false when `hook` ended the wait.
bool drain(InterruptHook hook = nullptr);
/// How many detached ones have not ended.
unsigned pending();
/// The first failure of a detached callback since the last call of this; null when there was none.
RefPtr<Error> takeFailure();
/// The calling thread runs a callback.
bool isRunning();
/// Ends the threads once nothing is queued; a later callback runs in the thread that asks for it.
void shutdown();

/// Around fork(); nothing may be pending.
void beforeFork();
void afterForkInParent();
void afterForkInChild();

} // namespace callbacks

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_HOSTCALLBACK_H
