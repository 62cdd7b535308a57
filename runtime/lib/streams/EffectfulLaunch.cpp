// The order of launches with effects, and the list of those in flight.
#include "runtime/EffectfulLaunch.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <new>

using namespace pcrt;

namespace {
struct Entry {
  RefPtr<Token> token;
  /// No read of a result can report a failure.
  bool isSilent;
  /// The common number of a call's launches, whose failure is reported once; 0 for a call of one launch.
  uint64_t call;
};

/// A failure that reads of results report.
struct Untold {
  RefPtr<Error> error;
  uint64_t call;
};

/// A program with more unreported failures ignores them.
constexpr size_t mostUntold = 64;

/// All launches with effects that are not known to be done.
struct Registry {
  std::mutex lock;
  RefPtr<Token> last;
  std::vector<Entry> inFlight;
  RefPtr<Error> failure;
  std::vector<Untold> untold;
  /// The last calls whose failure was reported: one of their launches may end later.
  std::array<uint64_t, mostUntold> toldCalls{};
  size_t nextTold = 0;

  /// Drops launches that are done without failure. The lock is held.
  void prune() {
    for (const Entry &entry : inFlight)
      if (entry.token->isDone() && entry.token->error())
        note(entry);
    auto isDone = [](const Entry &entry) { return entry.token->isDone(); };
    inFlight.erase(std::remove_if(inFlight.begin(), inFlight.end(), isDone), inFlight.end());
  }

  /// Drops a failure that was reported, and other failures of the same call. A launch that has not ended finds the call
  /// marked, because a result may be ready before its launch is done.
  void forget(const Error &error) {
    error.isTold.store(true, std::memory_order_relaxed);
    if (failure.get() == &error)
      failure = nullptr;
    for (const Untold &each : untold)
      if (each.error.get() == &error)
        rememberTold(each.call);
    auto isForgotten = [&](const Untold &each) { return isTold(*each.error, each.call); };
    untold.erase(std::remove_if(untold.begin(), untold.end(), isForgotten), untold.end());
  }

private:
  bool isTold(const Error &error, uint64_t call) const {
    return error.isTold.load(std::memory_order_relaxed) ||
           (call && std::find(toldCalls.begin(), toldCalls.end(), call) != toldCalls.end());
  }

  void rememberTold(uint64_t call) {
    if (call)
      toldCalls[nextTold++ % toldCalls.size()] = call;
  }

  void note(const Entry &entry) {
    RefPtr<Error> error(entry.token->error());
    if (isTold(*error, entry.call)) {
      rememberTold(entry.call);
      forget(*error);
    } else if (!entry.isSilent) {
      if (untold.size() < mostUntold)
        untold.push_back({std::move(error), entry.call});
    } else if (!failure) {
      failure = std::move(error);
    }
  }
};
} // namespace

static Registry &registry() {
  static auto *const made = new Registry();
  return *made;
}

static thread_local NestedOrder *nested = nullptr;

/// The last launch of this thread whose place is that of its call.
static thread_local RefPtr<Token> lastOfThread;

EffectfulLaunch::EffectfulLaunch(const Launch &request, Executable::Effects effects, uint64_t call)
    : launch(request), done(request.completes ? RefPtr<Token>(request.completes) : RefPtr<Token>::adopt(new Token())) {
  after.assign(launch.after, launch.after + launch.afterCount);
  Registry &all = registry();
  std::lock_guard<std::mutex> guard(all.lock);
  const bool isOrdered = effects == Executable::Effects::Ordered;
  if (isOrdered)
    before = std::exchange(nested ? nested->last : all.last, done);
  // Only within a thread: threads that do not know each other need not wait for each other.
  if (isOrdered || effects == Executable::Effects::OfThread)
    beforeInThread = std::exchange(lastOfThread, done);
  for (Token *token : {before.get(), beforeInThread.get()})
    if (token)
      after.push_back(token);
  if (all.inFlight.size() == all.inFlight.capacity())
    all.prune();
  all.inFlight.push_back({done, launch.resultCount == 0, call});
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

RefPtr<Error> EffectfulLaunch::takeUntold() {
  Registry &all = registry();
  std::lock_guard<std::mutex> guard(all.lock);
  all.prune();
  if (all.untold.empty())
    return nullptr;
  RefPtr<Error> first = all.untold.front().error;
  all.forget(*first);
  return first;
}

void EffectfulLaunch::wasTold(const Error &error) {
  Registry &all = registry();
  std::lock_guard<std::mutex> guard(all.lock);
  all.prune();
  all.forget(error);
}

void EffectfulLaunch::afterForkInChild() {
  // Another thread of the parent may have held the lock. The guarded data was not being changed, because no launch is
  // made while a process forks.
  new (&registry().lock) std::mutex();
}

NestedOrder::NestedOrder() : outer(std::exchange(nested, this)) {}

NestedOrder::~NestedOrder() {
  nested = outer;
  if (last)
    last->wait();
}
