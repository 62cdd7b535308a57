// Launches that are not made in place at once.
#include "array/Launch.h"

#include "array/CallbackWait.h"
#include "runtime/EffectfulLaunch.h"
#include "runtime/Executable.h"
#include "support/ForkGate.h"
#include "support/Gil.h"

using namespace pcrt;
using namespace pcrt::python;

/// Makes a launch with effects: in its place of the order, and recorded for effects_barrier. The GIL is held; false
/// with an exception set.
static bool launchEffectful(Stream &stream, const Launch &launch, Stream::LaunchPolicy policy) {
  EffectfulLaunch effectful(launch, launch.executable->effects());
  if (policy == Stream::LaunchPolicy::Async) {
    effectful.enqueue(stream);
    return true;
  }
  WithoutGil released;
  return effectful.runInPlace(stream, interrupted);
}

/// Makes a launch that is not made in place at once. `launch.place` is known.
static bool launchNow(Stream &stream, Launch &launch, Stream::LaunchPolicy policy, uint64_t resultBytes) {
  if (forkgate::isClosed()) {
    HeldArguments held(launch);
    if (!forkgate::pass())
      return false;
  }
  // A copy between devices has no executable.
  if (launch.executable && launch.executable->effects() != Executable::Effects::None) {
    HeldArguments held(launch);
    if (policy == Stream::LaunchPolicy::Async && !stream.hasRoom(resultBytes)) {
      WithoutGil released;
      if (!stream.waitForRoom(resultBytes, interrupted))
        return false;
    }
    return launchEffectful(stream, launch, policy);
  }
  if (policy == Stream::LaunchPolicy::Speculative && stream.runSpeculatively(launch))
    return true;
  if (policy == Stream::LaunchPolicy::InlineWithoutGil) {
    HeldArguments held(launch);
    WithoutGil released;
    stream.runInPlace(launch);
    return true;
  }
  if (stream.hasRoom(resultBytes)) {
    stream.enqueue(launch);
    return true;
  }
  HeldArguments held(launch);
  {
    WithoutGil released;
    if (!stream.waitForRoom(resultBytes, interrupted))
      return false;
  }
  stream.enqueue(launch);
  return true;
}

bool pcrt::python::launchLong(Stream &stream, Launch &launch, Stream::LaunchPolicy policy, uint64_t resultBytes) {
  launch.place = callSite();
  if (!launch.executable || !waitsForCallbacks(*launch.executable))
    return launchNow(stream, launch, policy, resultBytes);
  auto done = RefPtr<Token>::adopt(new Token());
  launch.completes = done.get();
  return launchNow(stream, launch, policy, resultBytes) && finishCallbacks({done});
}
