// The pool of callbacks, and the routine `host_call`, by which compiled code calls them.
#include "runtime/Callbacks.h"

#include "memory/HostOperands.h"
#include "runtime/Device.h"
#include "runtime/EffectfulLaunch.h"
#include "runtime/Executable.h"
#include "runtime/ThreadPool.h"
#include "support/LibraryCalls.h"

#include <climits>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

using namespace pcrt;

/// Maximum pending detached callbacks, in number and in bytes of copies; beyond, compiled code waits for some to end.
static constexpr unsigned mostPending = 4096;
static constexpr uint64_t mostPendingBytes = uint64_t(64) << 20;

static thread_local bool runsCallback = false;

namespace {
struct Pool {
  ThreadPool threads{1};
  /// Counts detached callbacks; `progress` changes when one has ended.
  std::atomic<unsigned> pending{0};
  std::atomic<uint64_t> pendingBytes{0};
  FutexWord progress{0};
  std::mutex failureLock;
  RefPtr<Error> failure;

  template <typename Condition> bool waitUntil(Condition condition, InterruptHook hook) {
    BlockingScope blocking;
    while (true) {
      uint32_t seen = progress.load();
      if (condition())
        return true;
      futexWait(progress, seen, hook ? 100 : -1);
      if (hook && hook())
        return false;
    }
  }
};

/// Prepares a thread for a callback. Its launches have a separate order.
class CallbackScope {
public:
  CallbackScope() : outer(std::exchange(runsCallback, true)) {}
  ~CallbackScope() { runsCallback = outer; }

private:
  const bool outer;
  NestedOrder order;
};
} // namespace

static Pool &pool() {
  static auto *const made = new Pool();
  return *made;
}

//===-- The two kinds
//-----------------------------------------------------------------------------------------------===//

namespace {
/// A call that compiled code waits for; it lives on the waiting thread's stack.
class WaitedCall final : public Task {
public:
  WaitedCall(HostCallback &callback, const RunContext &context, const PcrtTensor *inputs, int32_t inputCount,
             const PcrtTensor *outputs, int32_t outputCount)
      : callback(callback), context(context), inputs(inputs), inputCount(inputCount), outputs(outputs),
        outputCount(outputCount) {}

  void runTask() override {
    {
      CallbackScope scope;
      failure = callback.invoke(&context, inputs, inputCount, outputs, outputCount);
    }
    // The last access: the waiting thread continues, and destroys this object.
    FutexWord &word = done;
    word.store(1, std::memory_order_release);
    futexWake(word, INT_MAX);
  }

  Status run() {
    pool().threads.submit(this);
    BlockingScope blocking;
    while (done.load(std::memory_order_acquire) == 0)
      futexWait(done, 0);
    return std::move(failure);
  }

private:
  HostCallback &callback;
  const RunContext &context;
  const PcrtTensor *const inputs;
  const int32_t inputCount;
  const PcrtTensor *const outputs;
  const int32_t outputCount;
  Status failure;
  FutexWord done{0};
};

/// A call that compiled code does not wait for, with copies of its inputs.
class DetachedCall final : public Task {
public:
  DetachedCall(HostCallback &callback, const PcrtTensor *inputs, int32_t count)
      : callback(&callback), tensors(inputs, inputs + count) {
    int64_t dimCount = 0;
    for (const PcrtTensor &tensor : tensors)
      dimCount += tensor.rank;
    dims.reserve(dimCount);
    for (PcrtTensor &tensor : tensors) {
      int64_t size = bytesOf(tensor);
      copies.emplace_back(new char[size > 0 ? size : 1]);
      std::memcpy(copies.back().get(), tensor.data, size);
      tensor.data = copies.back().get();
      bytes += size;
      const int64_t *own = dims.data() + dims.size();
      dims.insert(dims.end(), tensor.dims, tensor.dims + tensor.rank);
      tensor.dims = own;
    }
  }

  void runTask() override {
    std::unique_ptr<DetachedCall> owner(this);
    Pool &all = pool();
    {
      CallbackScope scope;
      Status status = callback->invoke(nullptr, tensors.data(), static_cast<int32_t>(tensors.size()), nullptr, 0);
      if (!status.isOk()) {
        std::lock_guard<std::mutex> guard(all.failureLock);
        if (!all.failure)
          all.failure = RefPtr<Error>::adopt(new Error(status, "", ""));
      }
    }
    uint64_t freed = bytes;
    owner = nullptr;
    all.pendingBytes.fetch_sub(freed);
    all.pending.fetch_sub(1);
    all.progress.fetch_add(1);
    futexWake(all.progress, INT_MAX);
  }

  void submit() {
    Pool &all = pool();
    all.waitUntil([&] { return all.pending.load() < mostPending && all.pendingBytes.load() < mostPendingBytes; },
                  nullptr);
    all.pendingBytes.fetch_add(bytes);
    all.pending.fetch_add(1);
    all.threads.submit(this);
  }

private:
  RefPtr<HostCallback> callback;
  std::vector<PcrtTensor> tensors;
  std::vector<std::unique_ptr<char[]>> copies;
  std::vector<int64_t> dims;
  uint64_t bytes = 0;
};
} // namespace

int32_t library::host_call(const PcrtFrame *frame, const PcrtTensor *inputs, int32_t inputCount,
                           const PcrtTensor *outputs, int32_t outputCount, const int64_t *params) {
  const RunContext &run = RunContext::of(frame);
  HostCallback *callback = run.executable.callback(params[0]);
  using Kind = HostCallback::Kind;
  if (!callback || (callback->kind == Kind::Detached && outputCount != 0))
    return PCRT_INVALID_ARGUMENT;
  HostOperands operands(run.device, inputs, inputCount, outputs, outputCount);
  Status status = operands.fetch();
  if (!status.isOk())
    return run.fail(std::move(status));
  if (callback->kind == Kind::Detached) {
    (new DetachedCall(*callback, operands.inputs(), inputCount))->submit();
    return PCRT_OK;
  }
  if (callback->kind == Kind::Direct)
    status = callback->invoke(&run, operands.inputs(), inputCount, operands.outputs(), outputCount);
  else
    status = WaitedCall(*callback, run, operands.inputs(), inputCount, operands.outputs(), outputCount).run();
  if (status.isOk())
    status = operands.store();
  return status.isOk() ? PCRT_OK : run.fail(std::move(status));
}

//===-- Waiting for callbacks
//------------------------------------------------------------------------------------------===//

bool callbacks::drain(InterruptHook hook) {
  Pool &all = pool();
  return all.waitUntil([&] { return all.pending.load() == 0; }, hook);
}

unsigned callbacks::pending() { return pool().pending.load(); }

RefPtr<Error> callbacks::takeFailure() {
  std::lock_guard<std::mutex> guard(pool().failureLock);
  return std::exchange(pool().failure, nullptr);
}

bool callbacks::isRunning() { return runsCallback; }

void callbacks::shutdown() { pool().threads.shutdown(); }

void callbacks::beforeFork() { pool().threads.beforeFork(); }

void callbacks::afterForkInParent() { pool().threads.afterForkInParent(); }

void callbacks::afterForkInChild() {
  pool().threads.afterForkInChild();
  new (&pool().failureLock) std::mutex();
}
