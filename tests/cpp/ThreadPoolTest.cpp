// The thread pool: everything submitted runs, tasks overlap, blocked workers are replaced, threads are few and lazy.
#include "runtime/ThreadPool.h"
#include "Check.h"
#include "runtime/Token.h"

#include <cstdlib>
#include <functional>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace pcrt;

namespace {
class FunctionTask final : public Task {
public:
  explicit FunctionTask(std::function<void()> function) : function(std::move(function)) {}
  void runTask() override {
    function();
    delete this;
  }

private:
  std::function<void()> function;
};
} // namespace

static void submit(ThreadPool &pool, std::function<void()> function) {
  pool.submit(new FunctionTask(std::move(function)));
}

static bool eventually(const std::function<bool()> &condition) {
  for (int i = 0; i < 5000 && !condition(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return condition();
}

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
  // Each waits for the other: only possible side by side.
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
  // Two tasks at once for workers that are asleep: both must wake.
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
  // The only worker waits for what a task behind it completes.
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

#if !defined(__SANITIZE_THREAD__) // its runtime does not follow threads through fork
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
  RUN(worksAfterShutdown);
  RUN(environmentSetsSize);
#if !defined(__SANITIZE_THREAD__)
  RUN(forkResetsThreads);
#endif
  return test::failures() != 0;
}
