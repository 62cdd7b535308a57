// The list of started collectives, and the thread that runs them.
#include "collective/StartedCollectives.h"

#include "collective/CollectiveJob.h"
#include "runtime/Profile.h"

#include <algorithm>
#include <climits>
#include <sched.h>
#include <unistd.h>

using namespace pcrt;

/// As in Communicator: a waiting thread asks whether it should stop.
static constexpr int askMs = 50;

/// Threads that mostly wait for messages. Those of the device's pool compute, which would delay the messages. They end
/// with the process; a child has none of them, and makes its own.
static ThreadPool &threadsForMessages() {
  static std::mutex lock;
  static ThreadPool *pool = nullptr;
  static pid_t owner = 0;
  constexpr unsigned most = 256;
  std::lock_guard<std::mutex> guard(lock);
  if (!pool || owner != getpid()) {
    pool = new ThreadPool(most);
    owner = getpid();
  }
  return *pool;
}

StartedCollectives::Started::Started(const PcrtTensor &input, const PcrtTensor &output, const int64_t *given)
    : input(input), output(output), inputDims(input.dims, input.dims + input.rank),
      outputDims(output.dims, output.dims + output.rank), params(given, given + CollectiveParams(given).length()) {
  this->input.dims = inputDims.data();
  this->output.dims = outputDims.data();
}

StartedCollectives::~StartedCollectives() { finish(); }

void StartedCollectives::start(const PcrtTensor &input, const PcrtTensor &output, const int64_t *params) {
  auto made = std::make_unique<Started>(input, output, params);
  std::lock_guard<std::mutex> guard(lock);
  list.push_back(std::move(made));
  if (isRunning || isSubmitted)
    return;
  isSubmitted = true;
  threadsForMessages().submit(this);
}

void StartedCollectives::runTask() {
  std::unique_lock<std::mutex> guard(lock);
  isSubmitted = false;
  // The participant took over while this task was in the queue, or was about to leave it.
  if (!isRunning)
    runUntil(guard, nullptr);
}

/// Runs them in order up to one, or all.
void StartedCollectives::runUntil(std::unique_lock<std::mutex> &guard, const Started *last) {
  isRunning = true;
  while (done < list.size() && !(last && last->isDone)) {
    Started &next = *list[done];
    guard.unlock();
    Status status = exchange(next.input, next.output, next.params.data());
    guard.lock();
    next.status = std::move(status);
    next.isDone = true;
    ++done;
    changes.fetch_add(1);
    futexWake(changes, INT_MAX);
  }
  isRunning = false;
  if (done < list.size() && !isSubmitted) {
    isSubmitted = true;
    threadsForMessages().submit(this);
  }
  changes.fetch_add(1);
  futexWake(changes, INT_MAX);
}

void StartedCollectives::waitFor(std::unique_lock<std::mutex> &guard, const Started &one) {
  while (!one.isDone) {
    if (!isRunning) {
      // The requested thread has not begun, and this one is ready.
      runUntil(guard, &one);
      continue;
    }
    uint32_t seen = changes.load();
    guard.unlock();
    {
      BlockingScope blocking;
      futexWait(changes, seen, askMs);
    }
    if (WaiterScope::askHook())
      launch->interrupt();
    guard.lock();
  }
}

Status StartedCollectives::wait(const void *output) {
  std::unique_lock<std::mutex> guard(lock);
  auto isIt = [&](const std::unique_ptr<Started> &each) { return each->output.data == output; };
  // No other thread changes the list.
  auto found = std::find_if(list.begin(), list.end(), isIt);
  if (found == list.end())
    return Status::ok();
  if (!(*found)->isDone) {
    ProfileScope recorded(ProfileKind::Wait, "collective");
    waitFor(guard, **found);
  }
  Status status = std::move((*found)->status);
  list.erase(found);
  --done;
  return status;
}

void StartedCollectives::waitForAll() {
  std::unique_lock<std::mutex> guard(lock);
  if (!list.empty())
    waitFor(guard, *list.back());
}

void StartedCollectives::finish() {
  waitForAll();
  std::unique_lock<std::mutex> guard(lock);
  list.clear();
  done = 0;
  // A task in the queue points here.
  while (isRunning || isSubmitted) {
    guard.unlock();
    if (!threadsForMessages().runIfQueued(this))
      sched_yield();
    guard.lock();
  }
}
