// The threads that callbacks of compiled code (HostCallback) run on. After ThreadPool and EffectfulLaunch.
#ifndef PYCOMPILER_RUNTIME_CALLBACKS_H
#define PYCOMPILER_RUNTIME_CALLBACKS_H

#include "runtime/HostCallback.h"
#include "runtime/Token.h"

namespace pcrt {

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

#endif // PYCOMPILER_RUNTIME_CALLBACKS_H
