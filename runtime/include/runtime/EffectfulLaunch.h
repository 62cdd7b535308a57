// Launches with effects: those with ordered ones start one after the other, as the program made them, and all of them
// can be waited for. After Stream; before whoever launches.
#ifndef PYCOMPILER_RUNTIME_EFFECTFULLAUNCH_H
#define PYCOMPILER_RUNTIME_EFFECTFULLAUNCH_H

#include "runtime/Stream.h"

#include <vector>

namespace pcrt {

/// Takes its place in the order when it is made; the launch is to follow at once, by the same thread and before any
/// other that takes a place. Where none follows, its place is given up.
class EffectfulLaunch {
public:
  /// `call`, where a call is several launches, is one number for all of them: a failure of one is told for all.
  EffectfulLaunch(const Launch &launch, bool ordered, uint64_t call = 0);
  ~EffectfulLaunch();
  EffectfulLaunch(const EffectfulLaunch &) = delete;
  EffectfulLaunch &operator=(const EffectfulLaunch &) = delete;

  /// Returns at once.
  void enqueue(Stream &stream);
  /// Waits for its turn and runs here; false when `hook` ended the wait.
  bool runInPlace(Stream &stream, InterruptHook hook);

  /// Waits for all that were made before; false when `hook` ended the wait.
  static bool waitForAll(InterruptHook hook);
  /// The first failure, since the last call of this, of one without results, which nobody else tells of; else null.
  static RefPtr<Error> takeFailure();
  /// The first failure of one with results that no read has told of; else null. It counts as told.
  static RefPtr<Error> takeUntold();
  /// A read of a result has raised the failure.
  static void wasTold(const Error &error);
  /// Nothing is in flight, and the lock is in the state of a new process: for the child of a fork.
  static void afterForkInChild();

private:
  Launch launch;
  RefPtr<Token> before, done;
  std::vector<Token *> after;
  bool launched = false;
};

/// An order of its own: what a callback launches comes within the launch that called it, which it can't wait for.
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
