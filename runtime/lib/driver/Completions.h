// Tells the host about the progress of a stream: the device's side of tokens. After Context; before launches.
#ifndef PYCOMPILER_RUNTIME_LIB_DRIVER_COMPLETIONS_H
#define PYCOMPILER_RUNTIME_LIB_DRIVER_COMPLETIONS_H

#include "driver/Context.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace pcrt::cuda {

/// A waiter for work that was enqueued before it. Owned by the caller of `add`.
class Completion {
public:
  virtual ~Completion() = default;
  /// Called once, in the thread of the completions or in one that waits (`help`), which may call the driver; with the
  /// device's context current. Not Ok if the device was lost meanwhile. It must be short, and wait for nothing, because
  /// later completions wait for it.
  virtual void done(const Status &status) = 0;
};

/// The thread that waits for events. cuLaunchHostFunc is not used: on a device that a kernel has broken, such functions
/// are not called at all, and they must not call the driver, not even to free memory.
class Completions {
public:
  static Result<std::unique_ptr<Completions>> create(const Context &context, CUstream stream);
  /// After everything that was added is done.
  ~Completions();
  Completions(const Completions &) = delete;
  Completions &operator=(const Completions &) = delete;

  /// Returns at once; `completion` is called when the stream has finished all work that is on it now. In any thread.
  /// After a failure it will not be called.
  Status add(Completion &completion);
  /// For a thread that waits for a completion: completes the next one, if the device has got that far. The waiting
  /// thread learns of it sooner than through the thread here, which sleeps during long work: two wake-ups take 60 us on
  /// a virtual machine.
  void help();
  /// Waits until all earlier completions are done.
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
  /// Removes the first entry, and completes it. With `turn`.
  void finishFirst(const Status &status);

  const Context context;
  CUstream const stream;
  /// Held while the first entry is removed and completed, so that completions are in the order of the stream. Taken
  /// before `lock`.
  std::mutex turn;
  std::mutex lock;
  /// An entry was added, or the end was requested; a completion is done.
  std::condition_variable added, finished;
  std::deque<Entry> entries;
  /// For the next ones; without the one that the thread waits for.
  std::vector<CUevent> events;
  CUevent awaited = nullptr;
  uint64_t addedCount = 0, takenCount = 0, doneCount = 0;
  bool isEnding = false;
  std::thread thread;
};

} // namespace pcrt::cuda

#endif // PYCOMPILER_RUNTIME_LIB_DRIVER_COMPLETIONS_H
