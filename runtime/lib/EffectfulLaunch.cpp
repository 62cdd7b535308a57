// The order of launches with effects, and the list of those in flight.
#include "runtime/EffectfulLaunch.h"

#include <algorithm>
#include <mutex>
#include <new>

using namespace pcrt;

namespace {
struct Entry {
  RefPtr<Token> token;
  /// Nobody reads a result that would tell of a failure.
  bool isSilent;
};

/// Everything that was launched with effects and is not known to be done.
struct Registry {
  std::mutex lock;
  RefPtr<Token> last;
  std::vector<Entry> inFlight;
  RefPtr<Error> failure;

  /// Forgets what is done, but for the first failure. The lock is held.
  void prune() {
    for (const Entry &entry : inFlight)
      if (entry.isSilent && !failure && entry.token->isDone() && entry.token->error())
        failure = RefPtr<Error>(entry.token->error());
    auto isDone = [](const Entry &entry) { return entry.token->isDone(); };
    inFlight.erase(std::remove_if(inFlight.begin(), inFlight.end(), isDone), inFlight.end());
  }
};
} // namespace

static Registry &registry() {
  static auto *const made = new Registry();
  return *made;
}

static thread_local NestedOrder *nested = nullptr;

EffectfulLaunch::EffectfulLaunch(const Launch &request, bool ordered)
    : launch(request), done(RefPtr<Token>::adopt(new Token())) {
  after.assign(launch.after, launch.after + launch.afterCount);
  Registry &all = registry();
  std::lock_guard<std::mutex> guard(all.lock);
  if (ordered) {
    before = std::exchange(nested ? nested->last : all.last, done);
    if (before)
      after.push_back(before.get());
  }
  if (all.inFlight.size() == all.inFlight.capacity())
    all.prune();
  all.inFlight.push_back({done, launch.resultCount == 0});
  launch.after = after.data();
  launch.afterCount = static_cast<unsigned>(after.size());
  launch.completes = done.get();
}

EffectfulLaunch::~EffectfulLaunch() {
  if (!launched)
    done->complete();
}

void EffectfulLaunch::enqueue(Stream &stream) {
  launched = true;
  stream.enqueue(launch);
}

bool EffectfulLaunch::runInPlace(Stream &stream, InterruptHook hook) {
  for (Token *token : after)
    if (!token->wait(hook))
      return false;
  launched = true;
  stream.runInPlace(launch);
  return true;
}

bool EffectfulLaunch::waitForAll(InterruptHook hook) {
  Registry &all = registry();
  std::vector<Entry> waitedFor;
  {
    std::lock_guard<std::mutex> guard(all.lock);
    waitedFor = all.inFlight;
  }
  for (const Entry &entry : waitedFor)
    if (!entry.token->wait(hook))
      return false;
  return true;
}

RefPtr<Error> EffectfulLaunch::takeFailure() {
  Registry &all = registry();
  std::lock_guard<std::mutex> guard(all.lock);
  all.prune();
  return std::exchange(all.failure, nullptr);
}

void EffectfulLaunch::afterForkInChild() {
  // Another thread of the parent may have held the lock; what it guards was not being changed then, as no launch is
  // made while a process forks.
  new (&registry().lock) std::mutex();
}

NestedOrder::NestedOrder() : outer(std::exchange(nested, this)) {}

NestedOrder::~NestedOrder() {
  nested = outer;
  if (last)
    last->wait();
}
