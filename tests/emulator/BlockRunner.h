// Runs the blocks of a launch one after the other, and the threads of a block as fibers of one host thread. After
// Fiber; before Stream, which has one.
#ifndef PYCOMPILER_TESTS_EMULATOR_BLOCKRUNNER_H
#define PYCOMPILER_TESTS_EMULATOR_BLOCKRUNNER_H

#include "EmulatedKernel.h"
#include "Fiber.h"
#include "driver/DriverTypes.h"

#include <array>
#include <csignal>
#include <deque>
#include <string>
#include <vector>

namespace emulator {

struct Dimensions {
  std::array<uint32_t, 3> grid, block;
  uint32_t sharedBytes;
};

class BlockRunner {
public:
  BlockRunner() = default;
  ~BlockRunner();
  BlockRunner(const BlockRunner &) = delete;
  BlockRunner &operator=(const BlockRunner &) = delete;

  /// Always called by the same host thread. A kernel that traps, or whose threads wait for each other forever, ends the
  /// launch with CUDA's error; `message` has details.
  CUresult run(EmulatedKernel kernel, void *const *params, const Dimensions &dimensions);
  const std::string &message() const { return text; }

private:
  enum class State { New, Running, AtBarrier, AtShuffle, Ready, Returned };
  struct Fiber {
    FiberContext context;
    char *stack;
  };
  struct Thread {
    EmulatedThread view;
    State state;
    Fiber *fiber;
    int32_t site; ///< Of the barrier.
    int32_t mode;
    uint32_t value, offset, width;
    uint32_t result;
    uint8_t valid;
  };

  static void barrier(const EmulatedThread *thread, int32_t site);
  static uint32_t shuffle(const EmulatedThread *thread, int32_t mode, uint32_t value, uint32_t offset, uint32_t width,
                          uint8_t *valid);
  static void fiberMain();
  static void onSignal(int signal, siginfo_t *info, void *context);
  static void catchSignals();

  bool runBlock();
  void startThreads();
  void resumeReady();
  bool release();
  bool exchange(size_t firstLane);
  void suspend(Thread &thread, State state);
  void enter(Fiber &fiber);
  bool fail(CUresult error, const std::string &why);
  std::string nameOf(const Thread &thread) const;
  Fiber *freeFiber();
  void reserveShared(uint32_t bytes);

  /// The runner of a kernel in this host thread.
  static thread_local BlockRunner *current;

  FiberContext scheduler;
  std::deque<Fiber> fibers;
  std::vector<Fiber *> idle;
  std::vector<Thread> threads;
  size_t nextThread = 0;
  Thread *running = nullptr;
  Fiber *runningFiber = nullptr;
  bool backwards = false;
  EmulatedKernel kernel = nullptr;
  void *const *params = nullptr;
  CUresult error = CUDA_SUCCESS;
  int caughtSignal = 0;
  void *faultAddress = nullptr;
  std::string text;
  char *sharedMapping = nullptr;
  size_t sharedCapacity = 0;
  char *shared = nullptr;
  char *signalStack = nullptr;
};

} // namespace emulator

#endif // PYCOMPILER_TESTS_EMULATOR_BLOCKRUNNER_H
