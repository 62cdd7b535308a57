// Executions in flight on a device: each starts as soon as its inputs are ready, and completes a token. The device
// implements the start (CpuStream, cuda/CudaStream); this class bounds the run-ahead. Before it: Executable, Buffer,
// Token. After it: the binding and array-run.
#ifndef PYCOMPILER_RUNTIME_STREAM_H
#define PYCOMPILER_RUNTIME_STREAM_H

#include "runtime/Futex.h"
#include "runtime/Token.h"

namespace pcrt {

class Buffer;
class Executable;

/// The request for one run. The buffers are borrowed for the duration of the call.
struct Launch {
  /// Null: each argument is copied to the result of its number, on any devices.
  Executable *executable;
  Buffer *const *args;
  unsigned argCount;
  /// New buffers, not shared yet.
  Buffer *const *results;
  unsigned resultCount;
  /// The place in the program, for errors; lives forever, or null. Finding it costs more than a short run, so
  /// `findPlace` may be given instead: the launching thread calls it if the run fails.
  const char *place;
  const char *(*findPlace)() = nullptr;
  const char *callSite() const { return !place && findPlace ? findPlace() : place; }
  /// Further tokens that must be done before it starts; their failures do not matter. Borrowed like the buffers.
  Token *const *after = nullptr;
  unsigned afterCount = 0;
  /// The participant, in a run on several devices (RunContext).
  void *participant = nullptr;
  /// The arrow in a profile from the enqueueing to the run; 0 without one.
  uint64_t flow = 0;
  /// A token that is completed with the run, in addition to the results'; borrowed.
  Token *completes = nullptr;
};

/// The bound on run-ahead.
struct RunAhead {
  unsigned calls = 1024;
  /// The limit on results that are still being computed. One call is always allowed.
  uint64_t bytes = uint64_t(128) << 20;
  /// A call that exceeds both numbers is far ahead: before it takes new memory of the system for a result, it waits
  /// some time for a freed block. The bytes are some hundred microseconds of work, so the device stays busy. Two calls
  /// for each thread are never too many.
  unsigned callsInNewMemory = 4;
  uint64_t bytesInNewMemory = uint64_t(4) << 20;
};

class Device;

class Stream {
public:
  virtual ~Stream() = default;
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  /// Whether every launch is done when its call returns.
  bool isInPlace() const { return inPlace; }

  /// The launch policy, by the cost for the calling thread. Inline: in this thread, which keeps its lock (Python's
  /// GIL). InlineWithoutGil: in this thread, without the lock. Speculative: the duration depends on data, so run it
  /// here within a budget, and enqueue it if the budget is exceeded. Async: enqueue it.
  enum class LaunchPolicy { Inline, InlineWithoutGil, Speculative, Async };
  virtual LaunchPolicy policyOf(const Launch &launch) const = 0;

  /// Runs the launch here; its inputs must be ready. Afterwards the results are filled, or carry an error.
  virtual void runInPlace(const Launch &launch) = 0;
  /// Like runInPlace, while holding a lock: false, without any effect, if the run would have taken long.
  virtual bool runSpeculatively(const Launch &launch) = 0;
  /// Returns at once; the results carry the token of the execution.
  void enqueue(const Launch &launch);

  /// Whether a launch with this many bytes of results is within the bound. waitForRoom waits until it is, and returns
  /// false if `hook` ended the wait. Workers are exempt: others may wait for their launches.
  bool hasRoom(uint64_t resultBytes) const;
  bool waitForRoom(uint64_t resultBytes, InterruptHook hook = nullptr);
  /// Whether so much is in flight that launches reuse only freed blocks of memory. `lacksFreed`: whether there is also
  /// no freed block for a result of this many bytes. waitForFreed waits for such a block. If no execution ends for some
  /// milliseconds, the wait ends, and until one ends, twice as many calls are allowed.
  bool isFarAhead() const;
  bool lacksFreed(size_t resultBytes) const;
  void waitForFreed(size_t resultBytes);
  /// Waits until nothing is in flight.
  bool synchronize(InterruptHook hook = nullptr);

  unsigned callsInFlight() const { return calls.load(); }
  uint64_t bytesInFlight() const { return bytes.load(); }

protected:
  Stream(Device &device, bool inPlace, RunAhead bound) : device(device), inPlace(inPlace), bound(bound) {}
  /// Implements `enqueue`, which also records it in the profile.
  virtual void start(const Launch &launch) = 0;

  Device &device;

private:
  friend class Execution;
  void begun(uint64_t resultBytes);
  void finished(uint64_t resultBytes);
  template <typename Condition> bool waitUntil(Condition condition, InterruptHook hook, int patienceMs = -1);

  const bool inPlace;
  const RunAhead bound;
  std::atomic<unsigned> calls{0}, waiters{0};
  std::atomic<uint64_t> bytes{0};
  /// Changes with each end of an execution.
  FutexWord progress{0};
  /// In the upper half, the progress at which a wait for a freed block ended without one; in the lower half, the calls
  /// that are allowed since.
  std::atomic<uint64_t> stall{0};
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_STREAM_H
