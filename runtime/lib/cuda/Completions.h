// Telling the host how far a stream has come: the device's side of tokens. After Context; before whatever launches.
#ifndef PYCOMPILER_RUNTIME_LIB_CUDA_COMPLETIONS_H
#define PYCOMPILER_RUNTIME_LIB_CUDA_COMPLETIONS_H

#include "cuda/Context.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace pcrt::cuda {

/// What waits for the work that was enqueued before it. Owned by whoever adds it.
class Completion {
public:
  virtual ~Completion() = default;
  /// Called once, in a thread of the runtime's where the driver may be called and the device's context is current. Not
  /// Ok when the device was lost on the way. It must be short, as those that are behind it wait.
  virtual void done(const Status &status) = 0;
};

/// The thread that waits for events. Not cuLaunchHostFunc: on a device that a kernel has broken such functions are not
/// called at all, and in them the driver must not be called, not even to free memory.
class Completions {
public:
  static Result<std::unique_ptr<Completions>> create(const Context &context, CUstream stream);
  /// After everything that was added is done.
  ~Completions();
  Completions(const Completions &) = delete;
  Completions &operator=(const Completions &) = delete;

  /// Returns at once; `completion` is told when the stream has done everything that is on it now. In any thread. A
  /// failure means that it will not be told.
  Status add(Completion &completion);
  /// Waits until everything that was added before is done.
  void drain();
  size_t pending();

private:
  struct Entry {
    CUevent event;
    Completion *completion;
  };
  Completions(const Context &context, CUstream stream) : context(context), stream(stream) {}
  Result<CUevent> takeEvent();
  void loop();
  CUresult waitFor(CUevent event) const;

  const Context context;
  CUstream const stream;
  std::mutex lock;
  /// Something was added, or the end has come; something was done.
  std::condition_variable added, finished;
  std::deque<Entry> entries;
  /// For the next ones.
  std::vector<CUevent> events;
  uint64_t addedCount = 0, doneCount = 0;
  bool isEnding = false;
  std::thread thread;
};

} // namespace pcrt::cuda

#endif // PYCOMPILER_RUNTIME_LIB_CUDA_COMPLETIONS_H
