// Launches with effects: those with ordered effects start one after the other, in the order of the program, those of
// operations outside of compiled functions in the order of their thread, and callers can wait for all of them. After
// Stream and Executable; before the binding and array-run.
#ifndef PYCOMPILER_RUNTIME_EFFECTFULLAUNCH_H
#define PYCOMPILER_RUNTIME_EFFECTFULLAUNCH_H

#include "runtime/Executable.h"
#include "runtime/Stream.h"

#include <vector>

namespace pcrt {

/// Takes its place in the order at construction. The launch must follow at once, by the same thread and before any
/// other that takes a place. Without a launch, the place is given up.
class EffectfulLaunch {
public:
  /// `call` is a common number if a call consists of several launches: reporting a failure of one reports it for all.
  EffectfulLaunch(const Launch &launch, Executable::Effects effects, uint64_t call = 0);
  ~EffectfulLaunch();
  EffectfulLaunch(const EffectfulLaunch &) = delete;
  EffectfulLaunch &operator=(const EffectfulLaunch &) = delete;

  /// Returns at once.
  void enqueue(Stream &stream);
  /// Waits for its turn and runs here; false if `hook` ended the wait.
  bool runInPlace(Stream &stream, InterruptHook hook);

  /// Waits for all earlier ones; false if `hook` ended the wait.
  static bool waitForAll(InterruptHook hook);
  /// The first failure, since the last call of this function, of a launch without results, which no read would report;
  /// else null.
  static RefPtr<Error> takeFailure();
  /// The first failure of a launch with results that no read has reported; else null. It counts as reported.
  static RefPtr<Error> takeUntold();
  /// Notes that a read of a result has raised the failure.
  static void wasTold(const Error &error);
  /// For the child of a fork: nothing is in flight, and the lock is in its initial state.
  static void afterForkInChild();

private:
  Launch launch;
  RefPtr<Token> before, beforeInThread, done;
  std::vector<Token *> after;
  bool launched = false;
};

/// A separate order: the launches of a callback are part of the launch that called it, so they must not wait for it.
class NestedOrder {
public:
  NestedOrder();
  /// Waits for the last of it.
  ~NestedOrder();
  NestedOrder(const NestedOrder &) = delete;
  NestedOrder &operator=(const NestedOrder &) = delete;

private:
  friend class EffectfulLaunch;
  RefPtr<Token> last;
  NestedOrder *const outer;
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_EFFECTFULLAUNCH_H
