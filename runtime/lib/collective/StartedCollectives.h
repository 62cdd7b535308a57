// The collectives that a participant has started and that run beside its computation, in their order. A separate thread
// runs them, or the participant itself while it waits for one. Rendezvous has one object for each participant that
// starts any.
#ifndef PYCOMPILER_RUNTIME_LIB_STARTEDCOLLECTIVES_H
#define PYCOMPILER_RUNTIME_LIB_STARTEDCOLLECTIVES_H

#include "runtime/RunContext.h"
#include "runtime/ThreadPool.h"
#include "runtime/Transport.h"

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace pcrt {

class StartedCollectives final : public Task, public UnfinishedWork {
public:
  /// Performs one: from the input to the output, with these params.
  using Exchange = std::function<Status(const PcrtTensor &, const PcrtTensor &, const int64_t *)>;

  StartedCollectives(RefPtr<SharedLaunch> launch, Exchange exchange)
      : launch(std::move(launch)), exchange(std::move(exchange)) {}
  ~StartedCollectives();

  // All in the participant's thread.
  void start(const PcrtTensor &input, const PcrtTensor &output, const int64_t *params);
  /// The result of the collective with this output; success if none was started with it.
  Status wait(const void *output);
  /// Before another collective. Each keeps its result for `wait`.
  void waitForAll();
  void finish() override;

  void runTask() override;

private:
  /// With copies of the call's arrays, which are on its stack.
  struct Started {
    Started(const PcrtTensor &input, const PcrtTensor &output, const int64_t *params);
    PcrtTensor input, output;
    std::vector<int64_t> inputDims, outputDims, params;
    Status status;
    bool isDone = false;
  };
  void runUntil(std::unique_lock<std::mutex> &guard, const Started *last);
  void waitFor(std::unique_lock<std::mutex> &guard, const Started &one);

  const RefPtr<SharedLaunch> launch;
  const Exchange exchange;
  std::mutex lock;
  // Under the lock. The first `done` of the list are done, and not awaited yet.
  std::deque<std::unique_ptr<Started>> list;
  size_t done = 0;
  /// Whether a thread runs them, and whether one was requested.
  bool isRunning = false, isSubmitted = false;
  FutexWord changes{0};
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_LIB_STARTEDCOLLECTIVES_H
