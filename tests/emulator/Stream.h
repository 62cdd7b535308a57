// Emulated streams, each a thread that executes its work in order, events, and their device. After DeviceMemory and
// BlockRunner; before the functions of the driver.
#ifndef PYCOMPILER_TESTS_EMULATOR_STREAM_H
#define PYCOMPILER_TESTS_EMULATOR_STREAM_H

#include "BlockRunner.h"
#include "DeviceMemory.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <set>

/// A device with its primary context. Never destroyed: streams end after main.
struct CUctx_st {
  CUctx_st(int number, uint64_t bytes) : number(number), memory(bytes) {}
  const int number;
  emulator::DeviceMemory memory;
  /// The error of a kernel that broke the context: every later call returns it.
  std::atomic<CUresult> sticky{CUDA_SUCCESS};
  std::mutex lock;
  std::set<CUstream> streams;
  /// Made when it is first used.
  CUstream defaultStream = nullptr;
  /// CU_LIMIT_STACK_SIZE, at first CUDA's.
  std::atomic<size_t> stackBytes{1024};
};

namespace emulator {

/// One recording of an event.
class Moment {
public:
  void happen();
  bool hasHappened();
  void wait();
  std::chrono::steady_clock::time_point time() const { return when; }

private:
  std::mutex lock;
  std::condition_variable changed;
  bool happened = false;
  std::chrono::steady_clock::time_point when;
};

/// Whether this thread runs a function of cuLaunchHostFunc.
extern thread_local bool inHostFunction;

} // namespace emulator

struct CUevent_st {
  CUcontext context;
  bool isTimed;
  std::mutex lock;
  /// The last recording; null before the first.
  std::shared_ptr<emulator::Moment> latest;

  std::shared_ptr<emulator::Moment> last() {
    std::lock_guard<std::mutex> guard(lock);
    return latest;
  }
};

struct CUstream_st {
public:
  explicit CUstream_st(CUcontext context);

  /// `work` is skipped on a lost device; with `always` it runs even then.
  void enqueue(std::function<CUresult(emulator::BlockRunner &)> work, bool always = false);
  bool isIdle();
  /// Waits for earlier work; returns the device's state then.
  CUresult synchronize();
  /// Returns at once; the stream ends when its work is done.
  void finish();

  CUcontext const context;

private:
  struct Item {
    std::function<CUresult(emulator::BlockRunner &)> work;
    bool always;
  };
  void loop();

  std::mutex lock;
  std::condition_variable changed;
  std::deque<Item> items;
  uint64_t enqueued = 0, completed = 0;
  bool finishing = false;
};

#endif // PYCOMPILER_TESTS_EMULATOR_STREAM_H
