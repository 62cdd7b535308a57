// Calls that return only when the callbacks of their program have run.
#include "array/CallbackWait.h"

#include "runtime/Callbacks.h"
#include "runtime/Profile.h"
#include "support/Gil.h"
#include "support/Wait.h"

#include <atomic>

using namespace pcrt;
using namespace pcrt::python;

static std::atomic<bool> isSet{false};

void pcrt::python::setWaitForCallbacks(bool waits) { isSet.store(waits, std::memory_order_relaxed); }

bool pcrt::python::waitsForCallbacks(const Executable &executable) {
  return executable.callback(0) && (isSet.load(std::memory_order_relaxed) || executable.isAttended());
}

bool pcrt::python::finishCallbacks(const std::vector<RefPtr<Token>> &launches) {
  {
    ProfileScope scope(ProfileKind::Wait, "wait for callbacks");
    WithoutGil released;
    for (const RefPtr<Token> &launch : launches)
      if (!launch->wait(interrupted))
        return false;
    // A callback that makes the call is itself one of those that would be waited for.
    if (!callbacks::isRunning() && !callbacks::drain(interrupted))
      return false;
  }
  for (const RefPtr<Token> &launch : launches) {
    if (Error *error = launch->error()) {
      raise(*error);
      return false;
    }
  }
  RefPtr<Error> failure = callbacks::isRunning() ? nullptr : callbacks::takeFailure();
  if (failure)
    raise(*failure);
  return !failure;
}
