// Runs the code of a launch, and holds the objects that it needs until then.
#include "streams/Execution.h"

#include "runtime/Collective.h"
#include "runtime/Device.h"
#include "runtime/Executable.h"
#include "runtime/Profile.h"

#include <algorithm>

using namespace pcrt;

//===-- The outcome of a launch
//--------------------------------------------------------------------------------------===//

uint64_t pcrt::bytesOf(Buffer *const *buffers, unsigned count) {
  uint64_t total = 0;
  for (unsigned i = 0; i < count; ++i)
    total += buffers[i]->size();
  return total;
}

double pcrt::expectedNs(const Launch &launch) {
  uint64_t bytes = bytesOf(launch.args, launch.argCount) + bytesOf(launch.results, launch.resultCount);
  return launch.executable ? launch.executable->expectedNs(bytes) : 200 + 0.05 * static_cast<double>(bytes);
}

bool pcrt::isReady(const Launch &launch) {
  return std::all_of(launch.args, launch.args + launch.argCount, [](Buffer *buffer) { return buffer->isReady(); }) &&
         std::all_of(launch.after, launch.after + launch.afterCount, [](Token *token) { return token->isDone(); });
}

Error *pcrt::poisonOf(const Launch &launch) {
  for (unsigned i = 0; i < launch.argCount; ++i)
    if (launch.args[i]->isReady())
      if (Error *error = launch.args[i]->error())
        return error;
  return nullptr;
}

/// Not inlined, because recording is usually off.
[[gnu::noinline]] static void recordRun(Device &device, const Launch &launch, int64_t start) {
  Profile::record(ProfileKind::Run, launch.executable->name(), start, nowNs(), launch.callSite(), launch.flow,
                  "\"device\": " + std::to_string(device.id()));
}

Status pcrt::runCode(Device &device, const Launch &launch, int64_t budget) {
  constexpr unsigned few = 32;
  void *onStack[few];
  unsigned count = launch.argCount + launch.resultCount;
  std::unique_ptr<void *[]> onHeap(count > few ? new void *[count] : nullptr);
  void **pointers = onHeap ? onHeap.get() : onStack;
  for (unsigned i = 0; i < launch.argCount; ++i)
    pointers[i] = launch.args[i]->data();
  for (unsigned i = 0; i < launch.resultCount; ++i)
    pointers[launch.argCount + i] = launch.results[i]->data();
  RunContext context{device, *launch.executable, launch.participant};
  int64_t start = Profile::isOn() ? nowNs() : 0;
  Status status = launch.executable->run(context, pointers, pointers + launch.argCount, budget);
  if (start && status.code() != Code::OutOfBudget)
    recordRun(device, launch, start);
  return status;
}

RefPtr<Error> pcrt::errorOf(const Launch &launch, const Status &status) {
  if (status.isOk())
    return nullptr;
  if (RefPtr<Error> cause = collectiveFailure(launch.participant))
    return cause;
  const char *place = launch.callSite();
  return RefPtr<Error>::adopt(
      new Error(status, launch.executable ? launch.executable->name() : "copy", place ? place : ""));
}

//===-- Execution
//---------------------------------------------------------------------------------------------------===//

size_t Execution::roomFor(const Launch &launch) {
  unsigned pointers = launch.argCount + launch.resultCount + launch.afterCount;
  unsigned inputs = launch.argCount + launch.afterCount;
  return pointers * sizeof(void *) + inputs * sizeof(Dependency);
}

Execution::Execution(Stream &stream, const Launch &launch, void *room)
    : executable(launch.executable), request(launch), stream(stream), held(static_cast<Buffer **>(room)),
      dependencies(reinterpret_cast<Dependency *>(held + launch.argCount + launch.resultCount + launch.afterCount)),
      resultBytes(bytesOf(launch.results, launch.resultCount)) {
  static_assert(alignof(Dependency) <= alignof(Buffer *) && alignof(Buffer *) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  std::copy_n(launch.args, request.argCount, held);
  std::copy_n(launch.results, request.resultCount, held + request.argCount);
  for (unsigned i = 0; i < request.argCount + request.resultCount; ++i)
    held[i]->retain();
  for (unsigned i = 0; i < request.afterCount; ++i) {
    others()[i] = launch.after[i];
    others()[i]->retain();
  }
  if (request.completes)
    request.completes->retain();
  request.args = held;
  request.results = held + request.argCount;
  request.after = others();
  stream.begun(resultBytes);
}

bool Execution::waitForInputs() {
  for (unsigned i = 0; i < request.argCount; ++i)
    if (Token *token = request.args[i]->token())
      waitsFor(awaited(*request.args[i], token), i);
  for (unsigned i = 0; i < request.afterCount; ++i)
    waitsFor(request.after[i], request.argCount + i);
  return pendingInputs.fetch_sub(1) == 1;
}

Token *Execution::awaited(const Buffer &, Token *token) const { return token; }

void Execution::waitsFor(Token *token, unsigned number) {
  if (token->isDone())
    return;
  auto *dependency = new (dependencies + number) Dependency;
  dependency->execution = this;
  dependency->run = [](Continuation *self) {
    Execution *execution = static_cast<Dependency *>(self)->execution;
    if (execution->pendingInputs.fetch_sub(1) == 1)
      execution->inputsReady();
  };
  pendingInputs.fetch_add(1);
  if (!token->then(dependency))
    pendingInputs.fetch_sub(1);
}

void Execution::releaseInputs() {
  for (unsigned i = 0; i < request.argCount; ++i)
    if (held[i])
      std::exchange(held[i], nullptr)->release();
  for (unsigned i = 0; i < request.afterCount; ++i)
    if (others()[i])
      std::exchange(others()[i], nullptr)->release();
}

void Execution::end(RefPtr<Error> error) {
  Stream &owner = stream;
  uint64_t bytes = resultBytes;
  // When the token is done, observers may rely on the inputs being free again.
  releaseInputs();
  executable = nullptr;
  Token *also = request.completes;
  RefPtr<Error> cause = also ? error : nullptr;
  complete(std::move(error));
  if (also) {
    also->complete(std::move(cause));
    also->release();
  }
  releaseBuffersIf([](const Buffer &) { return true; });
  release(); // the execution's own reference
  owner.finished(bytes);
}
