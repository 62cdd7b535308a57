// A token: pending, then ready or failed for good. Arrays that are being computed wait on it, and later work is chained
// to it. Before Buffer (which holds one) and Stream (whose executions are tokens).
#ifndef PYCOMPILER_RUNTIME_TOKEN_H
#define PYCOMPILER_RUNTIME_TOKEN_H

#include "runtime/Futex.h"
#include "runtime/Status.h"

namespace pcrt {

/// A callback for a completed token, in the completing thread: it must be short. Owned by the caller of `then`.
struct Continuation {
  Continuation *next = nullptr;
  void (*run)(Continuation *self) = nullptr;
};

/// Called while a thread waits, after a signal or after a tenth of a second. True ends the wait.
using InterruptHook = bool (*)();

class Stream;

/// The scope of work that a waiting thread does itself: waits for others within this work call the waiter's hook.
class WaiterScope {
public:
  explicit WaiterScope(InterruptHook hook);
  ~WaiterScope();
  WaiterScope(const WaiterScope &) = delete;
  WaiterScope &operator=(const WaiterScope &) = delete;

  /// Whether the hook ended the wait.
  bool isInterrupted() const { return ended; }
  /// Asks the hook of this thread's scope; false without one. May take the lock of the host program (Python's).
  static bool askHook();

private:
  WaiterScope *const before;
  const InterruptHook hook;
  bool ended = false;
};

class Token : public RefCounted<Token> {
public:
  Token() = default;
  virtual ~Token() = default;
  /// A token that failed already.
  static RefPtr<Token> failed(RefPtr<Error> error);

  bool isDone() const { return (state.load(std::memory_order_acquire) & ~waitersBit) != pending; }
  /// The first cause of the failure; null if the token is ready. Only after it is done.
  Error *error() const { return cause.get(); }

  /// Completes the token, once. The caller keeps its reference until this returns.
  void complete(RefPtr<Error> failure = nullptr);
  /// Runs `continuation` when the token is done. False, without keeping it, if the token is done already.
  bool then(Continuation *continuation);
  /// The token to wait for before work is enqueued on `stream`: this token, or, if the stream keeps the order of its
  /// work, a token for the enqueueing there. Lives as long as this token.
  virtual Token *orderedOn(const Stream &) { return this; }
  /// Waits until the token is done; false if `hook` ended the wait.
  bool wait(InterruptHook hook = nullptr);

protected:
  /// The spinning time of a waiter before it sleeps: about the cost of a sleep and a wake-up.
  static constexpr int64_t spinNs = 10000;
  /// The action of a waiting thread before it sleeps: it spins. An override may do work that would complete this token.
  /// False if the hook ended the wait meanwhile.
  virtual bool waitAwake(InterruptHook hook);

private:
  friend class RefCounted<Token>;
  void destroy() { delete this; }

  static constexpr uint32_t pending = 0, done = 1, waitersBit = 2;
  FutexWord state{pending};
  std::atomic<Continuation *> continuations{nullptr};
  RefPtr<Error> cause;
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_TOKEN_H
