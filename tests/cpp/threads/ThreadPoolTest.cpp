// The thread pool: everything submitted runs, tasks overlap, blocked workers are replaced, threads are few and lazy.
#include "runtime/ThreadPool.h"

#include "Check.h"
#include "Tasks.h"
#include "runtime/ParallelFor.h"
#include "runtime/Token.h"
#include "threads/CpuLimits.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <sched.h>
#include <set>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace pcrt;

static void runsEverything() {
  std::atomic<int> done{0};
  {
    ThreadPool pool(3);
    CHECK(pool.liveThreads() == 0);
    for (int i = 0; i < 10000; ++i)
      submit(pool, [&] { ++done; });
    CHECK(pool.liveThreads() <= 3);
  }
  CHECK(done == 10000);
}

static void tasksOverlap() {
  // Each waits for the other: this ends only if they run concurrently.
  std::atomic<int> started{0}, met{0};
  ThreadPool pool(2);
  for (int i = 0; i < 2; ++i)
    submit(pool, [&] {
      ++started;
      met += eventually([&] { return started == 2; });
    });
  CHECK(eventually([&] { return met == 2; }));
}

static void overlapAfterSleep() {
  // Two tasks at once for sleeping workers: both must wake.
  ThreadPool pool(2);
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> started{0}, met{0};
    for (int i = 0; i < 2; ++i)
      submit(pool, [&] {
        ++started;
        met += eventually([&] { return started == 2; });
      });
    CHECK(eventually([&] { return met == 2; }));
    std::this_thread::sleep_for(std::chrono::microseconds(round % 2 ? 200 : 10));
  }
}

static void waitingInsideAWorker() {
  // The only worker waits for a token that a later task completes.
  auto token = RefPtr<Token>::adopt(new Token());
  std::atomic<bool> done{false};
  ThreadPool pool(1);
  submit(pool, [&] {
    CHECK(ThreadPool::isWorker());
    token->wait();
    done = true;
  });
  submit(pool, [&] { token->complete(); });
  CHECK(eventually([&] { return done.load(); }));
  CHECK(eventually([&] { return pool.liveThreads() <= 2; }));
}

static void nestedWaits() {
  // Eight levels of waiting on a pool of one.
  std::vector<RefPtr<Token>> tokens;
  for (int i = 0; i < 9; ++i)
    tokens.push_back(RefPtr<Token>::adopt(new Token()));
  ThreadPool pool(1);
  for (int i = 0; i < 8; ++i)
    submit(pool, [&, i] {
      tokens[static_cast<size_t>(i) + 1]->wait();
      tokens[static_cast<size_t>(i)]->complete();
    });
  submit(pool, [&] { tokens[8]->complete(); });
  CHECK(tokens[0]->wait());
}

static void threadsComeBack() {
  // Each round needs a second thread while the first waits, and afterwards one thread less.
  std::mutex lock;
  std::set<long> seen;
  {
    ThreadPool pool(1);
    for (int round = 0; round < 30; ++round) {
      auto token = RefPtr<Token>::adopt(new Token());
      std::atomic<int> done{0};
      auto note = [&] {
        std::lock_guard<std::mutex> guard(lock);
        seen.insert(syscall(SYS_gettid));
        ++done;
      };
      submit(pool, [&, token] { token->wait(), note(); });
      submit(pool, [&, token] { note(), token->complete(); });
      CHECK(eventually([&] { return done == 2 && pool.liveThreads() <= 1; }));
    }
  }
  CHECK(seen.size() >= 2 && seen.size() <= 5);
}

static void whoWaitsRunsWhatIsQueued() {
  // The only worker is blocked; of the three tasks after it, the waiting thread runs the second.
  std::atomic<bool> holding{true}, isHeld{false};
  std::atomic<int> done{0};
  std::vector<int> order;
  std::thread::id self = std::this_thread::get_id(), second;
  ThreadPool pool(1);
  submit(pool, [&] {
    isHeld = true;
    eventually([&] { return !holding; });
  });
  CHECK(eventually([&] { return isHeld.load(); }));
  std::vector<std::unique_ptr<HeldTask>> tasks;
  for (int i = 0; i < 3; ++i) {
    tasks.push_back(std::make_unique<HeldTask>([&, i] {
      order.push_back(i);
      if (i == 1)
        second = std::this_thread::get_id();
      ++done;
    }));
    pool.submit(tasks.back().get());
  }
  CHECK(pool.runIfQueued(tasks[1].get()) && done == 1 && second == self);
  CHECK(!pool.runIfQueued(tasks[1].get()));
  holding = false;
  CHECK(eventually([&] { return done == 3; }));
  CHECK((order == std::vector<int>{1, 0, 2}));
  CHECK(!pool.runIfQueued(tasks[2].get()));
}

static void worksAfterShutdown() {
  ThreadPool pool(2);
  submit(pool, [] {});
  pool.shutdown();
  bool ran = false;
  submit(pool, [&] { ran = true; });
  CHECK(ran && pool.liveThreads() == 0);
}

static void environmentSetsSize() {
  setenv("PYCOMPILER_NUM_THREADS", "7", 1);
  CHECK(ThreadPool::defaultSize() == 7);
  setenv("PYCOMPILER_NUM_THREADS", "many", 1);
  CHECK(ThreadPool::defaultSize() >= 1 && ThreadPool::defaultSize() <= std::thread::hardware_concurrency());
  unsetenv("PYCOMPILER_NUM_THREADS");
}

static void affinitySetsSize() {
  cpu_set_t before, one;
  REQUIRE(sched_getaffinity(0, sizeof(before), &before) == 0);
  CPU_ZERO(&one);
  for (size_t core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++core)
    if (CPU_ISSET(core, &before))
      CPU_SET(core, &one);
  REQUIRE(sched_setaffinity(0, sizeof(one), &one) == 0);
  CHECK(ThreadPool::defaultSize() == 1);
  sched_setaffinity(0, sizeof(before), &before);
  CHECK(ThreadPool::defaultSize() <= static_cast<unsigned>(CPU_COUNT(&before)));
}

static void quotasOfControlGroups() {
  namespace fs = std::filesystem;
  fs::path root = fs::temp_directory_path() / ("cgroups" + std::to_string(getpid()));
  auto write = [&](const char *path, const char *text) {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  };
  auto quota = [&](const char *groups) {
    write("groups", groups);
    return cgroupQuota(root / "groups", root);
  };
  auto near = [](double a, double b) { return std::fabs(a - b) < 1e-9; };
  CHECK(near(quota("0::/\n"), 0));
  write("cpu.max", "max 100000\n");
  write("a/cpu.max", "150000 100000\n");
  write("a/b/cpu.max", "max 100000\n");
  write("c/cpu.max", "300000 100000\n");
  CHECK(near(quota("0::/\n"), 0));
  CHECK(near(quota("0::/a\n"), 1.5));
  CHECK(near(quota("0::/a/b\n"), 1.5)); // of the group above
  CHECK(near(quota("0::/c/none\n"), 3));
  // Version 1, next to a unified hierarchy without the controller.
  write("cpu/d/cpu.cfs_quota_us", "50000\n");
  write("cpu/d/cpu.cfs_period_us", "100000\n");
  write("cpu/e/cpu.cfs_quota_us", "-1\n");
  write("cpu/e/cpu.cfs_period_us", "100000\n");
  CHECK(near(quota("3:cpuset:/a\n2:cpu,cpuacct:/d\n0::/\n"), 0.5));
  CHECK(near(quota("2:cpu,cpuacct:/e\n"), 0));
  // Inside a container, the path may be that of the host.
  write("cpu.max", "200000 100000\n");
  CHECK(near(quota("0::/host/path\n"), 2));
  CHECK(near(cgroupQuota(root / "absent", root), 0));
  fs::remove_all(root);
}

static void idlenessIsFree() {
  ThreadPool pool(2);
  std::atomic<int> done{0};
  for (int i = 0; i < 100; ++i)
    submit(pool, [&] { ++done; });
  CHECK(eventually([&] { return done == 100; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(20)); // long after the spinning
  auto used = [] {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  };
  double before = used();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  CHECK(used() - before < 0.05);
}

// The thread sanitizer's runtime does not follow threads through fork, and qemu ends the child.
#if !defined(__SANITIZE_THREAD__) && !defined(IN_EMULATOR)
#define HAS_FORKS
static int32_t countIterations(const PcrtFrame *, const void *captured, int64_t low, int64_t high) {
  *static_cast<std::atomic<int64_t> *>(const_cast<void *>(captured)) += high - low;
  return PCRT_OK;
}

/// A fork while tasks wait and another thread is in a loop: the child runs new tasks, and the parent continues.
static void forkWithPendingWork() {
  std::atomic<int> done{0};
  std::atomic<bool> stop{false};
  ThreadPool pool(2);
  std::thread looping([&] {
    std::atomic<int64_t> iterations{0};
    while (!stop)
      parallelFor(pool, nullptr, countIterations, &iterations, 1000, 1);
  });
  for (int round = 0; round < 5; ++round) {
    int before = done;
    for (int i = 0; i < 200; ++i)
      submit(pool, [&] {
        std::this_thread::sleep_for(std::chrono::microseconds(20));
        ++done;
      });
    pool.beforeFork();
    pid_t child = fork();
    if (child == 0) {
      pool.afterForkInChild();
      std::atomic<int64_t> iterations{0};
      parallelFor(pool, nullptr, countIterations, &iterations, 1000, 1);
      std::atomic<int> own{0};
      submit(pool, [&] { ++own; });
      _exit(iterations == 1000 && eventually([&] { return own == 1; }) ? 0 : 1);
    }
    pool.afterForkInParent();
    int status = 1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(eventually([&] { return done == before + 200; }));
  }
  stop = true;
  looping.join();
}

static void forkResetsThreads() {
  std::atomic<int> done{0};
  ThreadPool pool(2);
  submit(pool, [&] { ++done; });
  CHECK(eventually([&] { return done == 1; }));
  pool.beforeFork();
  pid_t child = fork();
  if (child == 0) {
    pool.afterForkInChild();
    submit(pool, [&] { ++done; });
    _exit(eventually([&] { return done == 2; }) ? 0 : 1);
  }
  pool.afterForkInParent();
  int status = 1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  submit(pool, [&] { ++done; });
  CHECK(eventually([&] { return done == 2; }));
}
#endif

int main() {
  RUN(runsEverything);
  RUN(tasksOverlap);
  RUN(overlapAfterSleep);
  RUN(waitingInsideAWorker);
  RUN(nestedWaits);
  RUN(threadsComeBack);
  RUN(whoWaitsRunsWhatIsQueued);
  RUN(worksAfterShutdown);
  RUN(environmentSetsSize);
  RUN(affinitySetsSize);
  RUN(quotasOfControlGroups);
  RUN(idlenessIsFree);
#ifdef HAS_FORKS
  RUN(forkResetsThreads);
  RUN(forkWithPendingWork);
#endif
  return test::failures() != 0;
}
