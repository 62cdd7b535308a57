// Events that launching threads record, and that one thread waits for, in the order of the stream.
#include "driver/Completions.h"

#include <chrono>

using namespace pcrt;
using namespace pcrt::cuda;

/// Polling returns at once, and sleeping costs a wake-up, so short kernels are polled.
static constexpr auto spinTime = std::chrono::microseconds(20);

Result<std::unique_ptr<Completions>> Completions::create(const Context &context, CUstream stream) {
  if (Status status = context.makeCurrent(); !status.isOk())
    return status;
  std::unique_ptr<Completions> made(new Completions(context, stream));
  // Create one event now, so that a driver without events is detected before work depends on it.
  Result<CUevent> first = made->takeEvent();
  if (!first.isOk())
    return Status(first.status().code(), first.status().message());
  made->events.push_back(first.value());
  made->thread = std::thread([self = made.get()] { self->loop(); });
  return made;
}

Completions::~Completions() {
  if (!thread.joinable())
    return;
  {
    std::lock_guard<std::mutex> guard(lock);
    isEnding = true;
    added.notify_one();
  }
  thread.join();
  if (context.makeCurrent().isOk())
    for (CUevent event : events)
      context.driver().cuEventDestroy(event);
}

Result<CUevent> Completions::takeEvent() {
  {
    std::lock_guard<std::mutex> guard(lock);
    if (!events.empty()) {
      CUevent event = events.back();
      events.pop_back();
      return event;
    }
  }
  const Driver &driver = context.driver();
  CUevent event = nullptr;
  Status status =
      driver.check(driver.cuEventCreate(&event, CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING), "cuEventCreate");
  if (!status.isOk())
    return status;
  return event;
}

Status Completions::add(Completion &completion) {
  if (Status status = context.makeCurrent(); !status.isOk())
    return status;
  Result<CUevent> event = takeEvent();
  if (!event.isOk())
    return Status(event.status().code(), event.status().message());
  const Driver &driver = context.driver();
  // Under the lock, so that the entries are in the order of the stream.
  std::lock_guard<std::mutex> guard(lock);
  Status status = driver.check(driver.cuEventRecord(event.value(), stream), "cuEventRecord");
  if (!status.isOk()) {
    events.push_back(event.value());
    return status;
  }
  entries.push_back({event.value(), &completion});
  ++addedCount;
  added.notify_one();
  return Status::ok();
}

CUresult Completions::waitFor(CUevent event) const {
  const Driver &driver = context.driver();
  auto end = std::chrono::steady_clock::now() + spinTime;
  CUresult result;
  while ((result = driver.cuEventQuery(event)) == CUDA_ERROR_NOT_READY && std::chrono::steady_clock::now() < end)
    std::this_thread::yield();
  return result == CUDA_ERROR_NOT_READY ? driver.cuEventSynchronize(event) : result;
}

void Completions::finishFirst(const Status &status) {
  std::unique_lock<std::mutex> guard(lock);
  Entry entry = entries.front();
  entries.pop_front();
  ++takenCount;
  guard.unlock();
  entry.completion->done(status);
  guard.lock();
  // The thread would wait for the next recording of its event.
  if (entry.event != awaited)
    events.push_back(entry.event);
  ++doneCount;
  finished.notify_all();
}

void Completions::loop() {
  Status current = context.makeCurrent();
  std::unique_lock<std::mutex> guard(lock);
  while (true) {
    added.wait(guard, [this] { return !entries.empty() || isEnding; });
    if (entries.empty())
      return;
    CUevent event = awaited = entries.front().event;
    uint64_t number = takenCount;
    guard.unlock();
    Status status = current.isOk() ? context.driver().check(waitFor(event), "waiting for the device")
                                   : Status(current.code(), current.message());
    {
      std::lock_guard<std::mutex> ours(turn);
      guard.lock();
      awaited = nullptr;
      bool isFirst = takenCount == number; // no waiter has completed it meanwhile
      if (!isFirst)
        events.push_back(event);
      guard.unlock();
      if (isFirst)
        finishFirst(status);
    }
    // The destroyed objects may have switched to another device's context.
    if (current.isOk())
      current = context.makeCurrent();
    guard.lock();
  }
}

void Completions::help() {
  std::unique_lock<std::mutex> ours(turn, std::try_to_lock);
  if (!ours.owns_lock() || !context.makeCurrent().isOk())
    return;
  CUevent event;
  {
    std::lock_guard<std::mutex> guard(lock);
    if (entries.empty())
      return;
    event = entries.front().event;
  }
  CUresult result = context.driver().cuEventQuery(event);
  if (result != CUDA_ERROR_NOT_READY)
    finishFirst(context.driver().check(result, "waiting for the device"));
}

void Completions::drain() {
  std::unique_lock<std::mutex> guard(lock);
  uint64_t until = addedCount;
  finished.wait(guard, [&] { return doneCount >= until; });
}

size_t Completions::pending() {
  std::lock_guard<std::mutex> guard(lock);
  return addedCount - doneCount;
}
