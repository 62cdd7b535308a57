// The threads of callbacks of compiled code (HostCallback). After ThreadPool and EffectfulLaunch.
#ifndef PYCOMPILER_RUNTIME_CALLBACKS_H
#define PYCOMPILER_RUNTIME_CALLBACKS_H

#include "runtime/HostCallback.h"
#include "runtime/Token.h"

namespace pcrt {

/// Callbacks of the process. They run on a pool of one thread, one after the other. While one waits for compiled code,
/// the pool has another thread, so that this code may call back, too.
namespace callbacks {

/// Waits until no detached callback is pending; false if `hook` ended the wait.
bool drain(InterruptHook hook = nullptr);
/// The number of detached callbacks that have not ended.
unsigned pending();
/// The first failure of a detached callback since the last call of this function; null if there was none.
RefPtr<Error> takeFailure();
/// The calling thread runs a callback.
bool isRunning();
/// Ends the threads once nothing is queued; a later callback runs in its calling thread.
void shutdown();

/// Around fork(); no callback may be pending.
void beforeFork();
void afterForkInParent();
void afterForkInChild();

} // namespace callbacks

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_CALLBACKS_H
