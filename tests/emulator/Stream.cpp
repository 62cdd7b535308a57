// The threads of streams.
#include "Stream.h"

#include <thread>

using namespace emulator;

thread_local bool emulator::inHostFunction = false;

void Moment::happen() {
  std::lock_guard<std::mutex> guard(lock);
  when = std::chrono::steady_clock::now();
  happened = true;
  changed.notify_all();
}

bool Moment::hasHappened() {
  std::lock_guard<std::mutex> guard(lock);
  return happened;
}

void Moment::wait() {
  std::unique_lock<std::mutex> guard(lock);
  changed.wait(guard, [this] { return happened; });
}

CUstream_st::CUstream_st(CUcontext context) : context(context) {
  {
    std::lock_guard<std::mutex> guard(context->lock);
    context->streams.insert(this);
  }
  std::thread([this] { loop(); }).detach();
}

void CUstream_st::enqueue(std::function<CUresult(BlockRunner &)> work, bool always) {
  std::lock_guard<std::mutex> guard(lock);
  items.push_back({std::move(work), always});
  ++enqueued;
  changed.notify_all();
}

bool CUstream_st::isIdle() {
  std::lock_guard<std::mutex> guard(lock);
  return enqueued == completed;
}

CUresult CUstream_st::synchronize() {
  std::unique_lock<std::mutex> guard(lock);
  uint64_t until = enqueued;
  changed.wait(guard, [&] { return completed >= until; });
  return context->sticky.load();
}

void CUstream_st::finish() {
  {
    std::lock_guard<std::mutex> guard(context->lock);
    context->streams.erase(this);
  }
  std::lock_guard<std::mutex> guard(lock);
  finishing = true;
  changed.notify_all();
}

void CUstream_st::loop() {
  {
    BlockRunner runner;
    std::unique_lock<std::mutex> guard(lock);
    while (true) {
      changed.wait(guard, [this] { return !items.empty() || finishing; });
      if (items.empty())
        break;
      Item item = std::move(items.front());
      items.pop_front();
      guard.unlock();
      if (item.always || context->sticky.load() == CUDA_SUCCESS) {
        CUresult result = item.work(runner);
        CUresult none = CUDA_SUCCESS;
        if (result != CUDA_SUCCESS)
          context->sticky.compare_exchange_strong(none, result);
      }
      item = {};
      guard.lock();
      ++completed;
      changed.notify_all();
    }
  }
  delete this;
}
