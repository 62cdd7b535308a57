// A token: pending, then ready or failed for good. What an array that is being computed waits on, and what later work
// is chained to. Comes before Buffer (which holds one) and Stream (whose executions are tokens).
#ifndef PYCOMPILER_RUNTIME_TOKEN_H
#define PYCOMPILER_RUNTIME_TOKEN_H

#include "runtime/Futex.h"
#include "runtime/Status.h"

namespace pcrt {

/// Something to run when a token is done, in the thread that completes it: it must be short. Owned by whoever adds it.
struct Continuation {
  Continuation *next = nullptr;
  void (*run)(Continuation *self) = nullptr;
};

/// Called while a thread waits, when a signal arrived or a tenth of a second passed. True ends the wait.
using InterruptHook = bool (*)();

class Stream;

class Token : public RefCounted<Token> {
public:
  Token() = default;
  virtual ~Token() = default;
  /// A token that failed already.
  static RefPtr<Token> failed(RefPtr<Error> error);

  bool isDone() const { return (state.load(std::memory_order_acquire) & ~waitersBit) != pending; }
  /// The first cause of the failure; null when the token is ready. Only after it is done.
  Error *error() const { return cause.get(); }

  /// Ends the token, once. The caller keeps its reference until this returns.
  void complete(RefPtr<Error> failure = nullptr);
  /// Runs `continuation` when the token is done. False when it is done already: then nothing is kept.
  bool then(Continuation *continuation);
  /// What work has to wait for before it is enqueued on `stream`: the token itself, or, if the stream keeps the order
  /// of what it is given, that this was enqueued there. Lives as long as this token.
  virtual Token *orderedOn(const Stream &) { return this; }
  /// Waits until the token is done; false when `hook` ended the wait.
  bool wait(InterruptHook hook = nullptr);

protected:
  /// How long a waiter spins before it sleeps: about what a sleep and a wake-up cost.
  static constexpr int64_t spinNs = 10000;
  /// What a thread that waits does before it sleeps: it spins. Work that would complete this token may be done instead.
  virtual void waitAwake();

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
