// Shared parts of tests of threads: functions as tasks of a pool, and waits for other threads.
#ifndef PYCOMPILER_TESTS_CPP_THREADS_TASKS_H
#define PYCOMPILER_TESTS_CPP_THREADS_TASKS_H

#include "runtime/ThreadPool.h"

#include <chrono>
#include <functional>
#include <thread>

class FunctionTask final : public pcrt::Task {
public:
  explicit FunctionTask(std::function<void()> function) : function(std::move(function)) {}
  void runTask() override {
    function();
    delete this;
  }

private:
  std::function<void()> function;
};

/// A task that the test owns.
class HeldTask final : public pcrt::Task {
public:
  explicit HeldTask(std::function<void()> function) : function(std::move(function)) {}
  void runTask() override { function(); }

private:
  std::function<void()> function;
};

inline void submit(pcrt::ThreadPool &pool, std::function<void()> function) {
  pool.submit(new FunctionTask(std::move(function)));
}

/// Whether a condition holds within some seconds.
inline bool eventually(const std::function<bool()> &condition) {
  for (int i = 0; i < 5000 && !condition(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return condition();
}

#endif // PYCOMPILER_TESTS_CPP_THREADS_TASKS_H
