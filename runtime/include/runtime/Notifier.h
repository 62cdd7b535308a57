// Notifies an event loop of completed tokens: a file descriptor becomes readable, so the completing thread takes no
// lock and makes no call. After Token; before the binding, where `await` waits on it.
#ifndef PYCOMPILER_RUNTIME_NOTIFIER_H
#define PYCOMPILER_RUNTIME_NOTIFIER_H

#include "runtime/Token.h"

#include <vector>

namespace pcrt {

class Notifier : public RefCounted<Notifier> {
public:
  /// OutOfMemory when the process has no descriptor left.
  static Result<RefPtr<Notifier>> create();

  /// Readable while there are keys to take.
  int descriptor() const { return event; }
  /// Once the token is done, `take` returns `key`. False if the token is done already.
  bool watch(Token &token, uint64_t key);
  /// The keys of tokens that were done since the last call, in order.
  std::vector<uint64_t> take();

private:
  friend class RefCounted<Notifier>;
  struct Watch : Continuation {
    RefPtr<Notifier> notifier;
    uint64_t key;
    Watch *nextDone;
  };
  explicit Notifier(int event) : event(event) {}
  ~Notifier();
  void add(Watch *watch);

  const int event;
  std::atomic<Watch *> done{nullptr};
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_NOTIFIER_H
