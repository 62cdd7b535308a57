// Shared loops: every iteration runs once, the first failure is returned, nothing deadlocks, and loops and tasks
// together use no more threads than the pool has.
#include "runtime/ParallelFor.h"
#include "Check.h"
#include "Tasks.h"
#include "runtime/ThreadPool.h"

#include <functional>
#include <memory>
#include <thread>
#include <vector>

using namespace pcrt;

namespace {
using Body = std::function<int32_t(int64_t, int64_t)>;
} // namespace

static int32_t callBody(const PcrtFrame *, const void *captured, int64_t low, int64_t high) {
  return (*static_cast<const Body *>(captured))(low, high);
}

static int32_t loop(ThreadPool &pool, int64_t count, int64_t grain, const Body &body) {
  return parallelFor(pool, nullptr, callBody, &body, count, grain);
}

static void everyIterationOnce() {
  for (unsigned threads : {1u, 2u, 3u, 8u}) {
    ThreadPool pool(threads);
    for (int64_t count : {0, 1, 2, 7, 64, 1000, 10007})
      for (int64_t grain : {1, 3, 100, 20000}) {
        std::unique_ptr<std::atomic<int>[]> done(new std::atomic<int>[static_cast<size_t>(count) + 1]());
        std::atomic<int64_t> tooSmall{0};
        CHECK(loop(pool, count, grain, [&](int64_t low, int64_t high) {
                if (high - low < grain && high != count)
                  ++tooSmall;
                for (int64_t i = low; i < high; ++i)
                  ++done[static_cast<size_t>(i)];
                return PCRT_OK;
              }) == PCRT_OK);
        int64_t once = 0;
        for (int64_t i = 0; i < count; ++i)
          once += done[static_cast<size_t>(i)] == 1;
        CHECK(once == count && tooSmall == 0);
      }
  }
}

static void smallLoopsStartNoThread() {
  ThreadPool pool(4);
  std::thread::id self = std::this_thread::get_id();
  loop(pool, 10, 10, [&](int64_t low, int64_t high) {
    CHECK(low == 0 && high == 10 && std::this_thread::get_id() == self);
    return PCRT_OK;
  });
  CHECK(pool.liveThreads() == 0);
}

/// Three pieces are for threads that are awake, and wake none; single iterations may be long, and wake one.
static void littleWorkWakesNoThread() {
  ThreadPool pool(2);
  std::thread::id self = std::this_thread::get_id();
  std::atomic<int> elsewhere{0};
  auto count = [&](int64_t, int64_t) {
    elsewhere += std::this_thread::get_id() != self;
    return PCRT_OK;
  };
  loop(pool, 30, 10, count);
  CHECK(elsewhere == 0 && pool.liveThreads() == 0);
  loop(pool, 2, 1, count);
  CHECK(pool.liveThreads() == 1);
}

static void awakeThreadsShareLittleWork() {
  ThreadPool pool(2);
  // A thread that has just worked spins for a moment. On a busy machine it may sleep already: one of many tries counts.
  bool isShared = false;
  for (int round = 0; round < 1000 && !isShared; ++round) {
    std::atomic<int> started{0}, pieces{0};
    loop(pool, 2, 1, [&](int64_t, int64_t) {
      ++started;
      spinUntil([&] { return started == 2; }, 1000000000);
      return PCRT_OK;
    });
    loop(pool, 20, 10, [&](int64_t, int64_t) {
      ++pieces;
      return PCRT_OK;
    });
    isShared = pieces == 2;
  }
  CHECK(isShared);
}

static void threadsShareALoop() {
  // Each piece waits for another one: this ends only if they run concurrently.
  ThreadPool pool(2);
  for (int round = 0; round < 30; ++round) {
    std::atomic<int> started{0}, met{0};
    loop(pool, 2, 1, [&](int64_t, int64_t) {
      ++started;
      met += eventually([&] { return started == 2; });
      return PCRT_OK;
    });
    CHECK(met == 2);
    if (round % 3 == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(300));
  }
  CHECK(pool.liveThreads() == 1);
}

static void firstFailureWins() {
  ThreadPool pool(3);
  for (int round = 0; round < 300; ++round) {
    // Iterations 40, 41, ... fail, each with its own status; the pieces depend on the threads.
    int32_t status = loop(pool, 200, 1, [&](int64_t low, int64_t high) {
      for (int64_t i = low; i < high; ++i)
        if (i >= 40)
          return static_cast<int32_t>(i);
      return static_cast<int32_t>(PCRT_OK);
    });
    CHECK(status == 40);
  }
}

static void loopsInLoops() {
  ThreadPool pool(2);
  std::atomic<int> done{0};
  loop(pool, 8, 1, [&](int64_t low, int64_t high) {
    for (int64_t i = low; i < high; ++i) {
      std::thread::id self = std::this_thread::get_id();
      loop(pool, 100, 1, [&](int64_t innerLow, int64_t innerHigh) {
        CHECK(std::this_thread::get_id() == self);
        done += static_cast<int>(innerHigh - innerLow);
        return PCRT_OK;
      });
    }
    return PCRT_OK;
  });
  CHECK(done == 800);
}

static void loopsInTasks() {
  // All workers run tasks with loops, and further tasks wait: nothing deadlocks, and no more threads work at the same
  // time than the pool has.
  std::atomic<int> done{0}, active{0}, most{0};
  {
    ThreadPool pool(2);
    for (int task = 0; task < 40; ++task)
      submit(pool, [&] {
        loop(pool, 50, 1, [&](int64_t low, int64_t high) {
          int now = ++active;
          for (int before = most; before < now && !most.compare_exchange_weak(before, now);)
            ;
          std::this_thread::sleep_for(std::chrono::microseconds(20));
          --active;
          done += static_cast<int>(high - low);
          return PCRT_OK;
        });
      });
  }
  CHECK(done == 40 * 50);
  CHECK(most <= 2);
}

static void loopsOfManyThreads() {
  std::atomic<int64_t> sum{0};
  ThreadPool pool(3);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round)
        loop(pool, 64, 1, [&](int64_t low, int64_t high) {
          for (int64_t i = low; i < high; ++i)
            sum += i;
          return PCRT_OK;
        });
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(sum == 4 * 200 * (63 * 64 / 2));
}

static void loopsBeforeTasks() {
  // The worker is in a task when a loop opens and a second task is queued: it helps the loop first.
  ThreadPool pool(2);
  std::atomic<bool> holding{true}, loopDone{false}, taskSawLoop{false}, taskRan{false};
  std::atomic<int> inTask{0};
  for (int i = 0; i < 2; ++i)
    submit(pool, [&] {
      ++inTask;
      eventually([&] { return !holding; });
    });
  CHECK(eventually([&] { return inTask == 2; }));
  submit(pool, [&] {
    taskSawLoop = loopDone.load();
    taskRan = true;
  });
  // Outside of the pool; its second piece needs a worker.
  std::atomic<int> started{0};
  loop(pool, 2, 1, [&](int64_t, int64_t) {
    if (++started == 1)
      holding = false;
    eventually([&] { return started == 2; });
    loopDone = started == 2;
    return PCRT_OK;
  });
  CHECK(loopDone && eventually([&] { return taskRan.load(); }));
}

static void whoWaitsTakesPart() {
  // One worker is blocked, and the other one runs a loop of two pieces that wait for each other: the waiting thread
  // must be the third.
  ThreadPool pool(2);
  for (int round = 0; round < 20; ++round) {
    std::atomic<bool> holding{true}, isDone{false};
    std::atomic<int> started{0}, held{0}, met{0}, here{0};
    submit(pool, [&] {
      ++held;
      eventually([&] { return !holding; });
      --held;
    });
    CHECK(eventually([&] { return held == 1; }));
    std::thread::id self = std::this_thread::get_id();
    HeldTask looping([&] {
      loop(pool, 2, 1, [&](int64_t, int64_t) {
        ++started;
        here += std::this_thread::get_id() == self;
        met += eventually([&] { return started == 2; });
        return PCRT_OK;
      });
      isDone = true;
    });
    pool.submit(&looping);
    pool.helpUntil([&] { return isDone.load(); }, &looping, 5'000'000'000);
    // It may not have observed the end of the task, which is later than that of the loop.
    REQUIRE(eventually([&] { return isDone.load(); }));
    CHECK(met == 2 && here == 1);
    holding = false;
    CHECK(eventually([&] { return held == 0; }));
  }
}

static void whoWaitsTakesNoPartInOtherLoops() {
  ThreadPool pool(2);
  std::atomic<bool> holding{true}, isDone{false};
  std::atomic<int> pieces{0}, here{0};
  std::thread::id self = std::this_thread::get_id();
  HeldTask held([&] {
    eventually([&] { return !holding; });
    isDone = true;
  });
  pool.submit(&held);
  submit(pool, [&] {
    loop(pool, 64, 1, [&](int64_t low, int64_t high) {
      here += std::this_thread::get_id() == self;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      if ((pieces += static_cast<int>(high - low)) == 64)
        holding = false;
      return PCRT_OK;
    });
  });
  pool.helpUntil([&] { return isDone.load(); }, &held, 5'000'000'000);
  REQUIRE(eventually([&] { return isDone.load(); }));
  CHECK(pieces == 64 && here == 0);
}

/// A program of many small loops wakes a thread for the later ones.
static void manySmallLoopsWakeAThread() {
  ThreadPool pool(2, /*cores=*/2);
  std::atomic<bool> helped{false};
  int before = 0;
  // A new thread has no small loops of other tests behind it.
  std::thread([&] {
    std::thread::id self = std::this_thread::get_id();
    for (; before < 100000 && !helped; ++before)
      loop(pool, 30, 10, [&](int64_t, int64_t) {
        helped = helped || std::this_thread::get_id() != self;
        for (int64_t end = nowNs() + 3000; nowNs() < end;)
          ;
        return PCRT_OK;
      });
  }).join();
  CHECK(helped && before >= 8);
}

static void afterShutdown() {
  ThreadPool pool(2);
  loop(pool, 100, 1, [](int64_t, int64_t) { return PCRT_OK; });
  pool.shutdown();
  int calls = 0;
  loop(pool, 100, 1, [&](int64_t low, int64_t high) {
    calls += low == 0 && high == 100;
    return PCRT_OK;
  });
  CHECK(calls == 1 && pool.liveThreads() == 0);
}

int main() {
  RUN(everyIterationOnce);
  RUN(smallLoopsStartNoThread);
  RUN(littleWorkWakesNoThread);
  RUN(manySmallLoopsWakeAThread);
  RUN(awakeThreadsShareLittleWork);
  RUN(threadsShareALoop);
  RUN(firstFailureWins);
  RUN(loopsInLoops);
  RUN(loopsInTasks);
  RUN(loopsOfManyThreads);
  RUN(loopsBeforeTasks);
  RUN(whoWaitsTakesPart);
  RUN(whoWaitsTakesNoPartInOtherLoops);
  RUN(afterShutdown);
  return test::failures() != 0;
}
