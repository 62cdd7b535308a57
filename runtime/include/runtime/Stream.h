// Executions in flight on a device: each starts as soon as its inputs are ready, and completes a token. What it takes
// to start one is the device's (CpuStream, cuda/CudaStream); how far the program may run ahead is counted here. Before
// it: Executable, Buffer, Token; after it: whoever launches (the binding, array-run).
#ifndef PYCOMPILER_RUNTIME_STREAM_H
#define PYCOMPILER_RUNTIME_STREAM_H

#include "runtime/Futex.h"
#include "runtime/Token.h"

namespace pcrt {

class Buffer;
class Executable;

/// One run to be made. The buffers are borrowed for the call that is given the launch.
struct Launch {
  /// Null: each argument is copied to the result of its number, whichever devices they are on.
  Executable *executable;
  Buffer *const *args;
  unsigned argCount;
  /// Fresh buffers: nobody else knows them yet.
  Buffer *const *results;
  unsigned resultCount;
  /// Where the program asked for it, for errors; lives forever, or null. Finding out costs more than a short run, so
  /// there `findPlace` may be given instead: it is called, by the launching thread, if the run fails.
  const char *place;
  const char *(*findPlace)() = nullptr;
  const char *callSite() const { return !place && findPlace ? findPlace() : place; }
  /// What else has to be done before it starts; whether that failed does not matter. Borrowed as the buffers are.
  Token *const *after = nullptr;
  unsigned afterCount = 0;
  /// Which part of a run on several devices it is (RunContext).
  void *participant = nullptr;
  /// The arrow of a profile that leads from where it was enqueued to its run; 0 without one.
  uint64_t flow = 0;
  /// A token that is completed with the run, beside the results'; borrowed.
  Token *completes = nullptr;
};

/// How far the program may run ahead of the work.
struct RunAhead {
  unsigned calls = 1024;
  /// Of results that are still being computed. One call is always allowed.
  uint64_t bytes = uint64_t(128) << 20;
};

class Device;

class Stream {
public:
  virtual ~Stream() = default;
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  /// Every launch is done when the thread that makes it goes on.
  bool isInPlace() const { return inPlace; }

  /// How a launch is to be made, by what it would cost the calling thread. Inline: in this thread, while it holds
  /// whatever lock it holds (Python's, the GIL). InlineWithoutGil: here too, but let others go on meanwhile.
  /// Speculative: how long it takes depends on data, so run it here within a budget, and hand it over if that does not
  /// do. Async: hand it over.
  enum class LaunchPolicy { Inline, InlineWithoutGil, Speculative, Async };
  virtual LaunchPolicy policyOf(const Launch &launch) const = 0;

  /// Runs the launch here; its inputs must be ready. Afterwards the results are filled, or carry an error.
  virtual void runInPlace(const Launch &launch) = 0;
  /// As runInPlace, while holding a lock: false, and nothing has happened, when the run would have taken long.
  virtual bool runSpeculatively(const Launch &launch) = 0;
  /// Returns at once; the results carry the token of the execution.
  void enqueue(const Launch &launch);

  /// Whether a launch with so many bytes of results is within the bound; waitForRoom waits until it is, and is false
  /// when `hook` ended the wait. Workers are not held back: what they launch may be what others wait for.
  bool hasRoom(uint64_t resultBytes) const;
  bool waitForRoom(uint64_t resultBytes, InterruptHook hook = nullptr);
  /// Waits until nothing is in flight.
  bool synchronize(InterruptHook hook = nullptr);

  unsigned callsInFlight() const { return calls.load(); }
  uint64_t bytesInFlight() const { return bytes.load(); }

protected:
  Stream(Device &device, bool inPlace, RunAhead bound) : device(device), inPlace(inPlace), bound(bound) {}
  /// As `enqueue`, which records it in the profile.
  virtual void start(const Launch &launch) = 0;

  Device &device;

private:
  friend class Execution;
  void begun(uint64_t resultBytes);
  void finished(uint64_t resultBytes);
  template <typename Condition> bool waitUntil(Condition condition, InterruptHook hook);

  const bool inPlace;
  const RunAhead bound;
  std::atomic<unsigned> calls{0}, waiters{0};
  std::atomic<uint64_t> bytes{0};
  FutexWord progress{0};
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_STREAM_H
