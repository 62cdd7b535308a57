// The thread that compiles while the main thread waits for it and for signals (Interruptible.h).
//
// If a signal handler raises, the compilation cannot be stopped within a pass: it ends by itself, between two passes.
// It must not keep the process from ending, nor run while objects that it uses are destroyed. So a process that ends
// meanwhile does not run destructors.
#include "Interruptible.h"
#include "Gil.h"
#include "array/Target/Stop.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <pthread.h>
#include <unistd.h>

namespace pycompiler {
namespace {

/// How long a signal may wait.
constexpr auto patience = std::chrono::milliseconds(50);
/// Recursions over long programs are deep.
constexpr size_t stackBytes = size_t(64) << 20;

struct Job {
  ContextRef context; // declared first: it must outlive the work
  std::function<void()> work;
  std::atomic<bool> stop = false;
  bool isDone = false, isLeft = false;
};

/// A thread that runs one job after the other, until a job is abandoned to it.
struct Worker {
  std::shared_ptr<Job> next;
};

/// All shared state. Never destroyed: threads may use it while the process ends.
struct Shared {
  std::mutex lock;
  std::condition_variable changed;
  Worker *idle = nullptr;
  std::map<mlir::MLIRContext *, std::shared_ptr<Job>> left; ///< Abandoned jobs that still run, by context.
  int running = 0;
  pid_t process = getpid();
};

Shared &shared() {
  static auto *instance = new Shared();
  return *instance;
}

/// A child process has none of its parent's threads.
Shared &sharedOfProcess() {
  Shared &all = shared();
  if (all.process != getpid()) {
    new (&all.lock) std::mutex();
    new (&all.changed) std::condition_variable();
    all.idle = nullptr;
    all.running = 0;
    all.process = getpid();
  }
  return all;
}

void endWithoutDestructors(int status, void *) {
  if (shared().process != getpid() || shared().running == 0)
    return;
  std::fflush(nullptr);
  _exit(status);
}

void runHere(Job &job) {
  mlir::array::setStopFlag(&job.stop);
  job.work();
  mlir::array::setStopFlag(nullptr);
  job.work = nullptr;
}

void *work(void *given) {
  auto *self = static_cast<Worker *>(given);
  Shared &all = shared();
  std::unique_lock guard(all.lock);
  for (bool goesOn = true; goesOn;) {
    all.changed.wait(guard, [&] { return self->next != nullptr; });
    std::shared_ptr<Job> job = std::move(self->next);
    self->next = nullptr;
    guard.unlock();
    runHere(*job);
    guard.lock();
    job->isDone = true;
    goesOn = !job->isLeft;
    if (job->isLeft) {
      all.left.erase(job->context.get());
      // This may be the last owner of the context.
      guard.unlock();
      ContextRef context = std::move(job->context);
      context.reset();
      guard.lock();
    }
    --all.running;
    all.changed.notify_all();
  }
  guard.unlock();
  delete self;
  return nullptr;
}

/// Null if the process cannot create another thread.
Worker *makeWorker() {
  auto *worker = new Worker();
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, stackBytes);
  // Signals must reach the threads of the program.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  bool failed = pthread_create(&thread, &attributes, work, worker) != 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (!failed)
    return worker;
  delete worker;
  return nullptr;
}

/// Releases the GIL for the scope; `isInterrupted` acquires it for a moment.
class WithoutGil {
public:
  WithoutGil() : state(PyEval_SaveThread()) {}
  ~WithoutGil() { acquireGil(state); }
  WithoutGil(const WithoutGil &) = delete;

  /// Runs the handlers of pending signals; returns whether one of them raised.
  bool isInterrupted() {
    acquireGil(state);
    bool raised = PyErr_CheckSignals() != 0;
    state = PyEval_SaveThread();
    return raised;
  }

private:
  PyThreadState *state;
};

bool isMainThread() {
  nb::module_ threading = nb::module_::import_("threading");
  return threading.attr("main_thread")().attr("ident").equal(threading.attr("get_ident")());
}

} // namespace

bool isLeft(mlir::MLIRContext *context) {
  Shared &all = sharedOfProcess();
  std::lock_guard guard(all.lock);
  return all.left.count(context) != 0;
}

void runInterruptibly(const ContextRef &context, std::function<void()> work) {
  [[maybe_unused]] static int once = on_exit(endWithoutDestructors, nullptr);
  bool handlesSignals = isMainThread(), hasRaised = false;
  Shared &all = sharedOfProcess();
  auto job = std::make_shared<Job>();
  job->context = context;
  job->work = std::move(work);
  {
    WithoutGil released;
    std::unique_lock guard(all.lock);
    // Waits until `condition` holds, or a signal's handler has raised.
    auto waitFor = [&](auto condition) {
      while (!hasRaised && !all.changed.wait_for(guard, patience, condition)) {
        if (!handlesSignals)
          continue;
        guard.unlock();
        hasRaised = released.isInterrupted();
        guard.lock();
      }
    };
    waitFor([&] { return all.left.count(context.get()) == 0; });
    if (!hasRaised) {
      Worker *worker = handlesSignals ? std::exchange(all.idle, nullptr) : nullptr;
      if (handlesSignals && !worker)
        worker = makeWorker();
      ++all.running;
      if (worker) {
        worker->next = job;
        all.changed.notify_all();
        waitFor([&] { return job->isDone; });
      } else {
        guard.unlock();
        runHere(*job);
        guard.lock();
        job->isDone = true;
        --all.running;
      }
      if (!job->isDone) {
        job->stop = job->isLeft = true;
        all.left[context.get()] = job;
        mlir::array::leaveBusyTargets();
      } else if (worker) {
        all.idle = worker;
      }
    }
  }
  if (hasRaised)
    throw nb::python_error();
}

} // namespace pycompiler
