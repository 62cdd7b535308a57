// Launching executions. An Execution is the token of its results and the pool's task at once: one allocation for a
// call.
#include "runtime/Collective.h"
#include "runtime/Device.h"
#include "runtime/Profile.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>

using namespace pcrt;

/// Handing a task to a worker costs about this, awake or asleep: shorter ones run in place.
static constexpr double inPlaceNsAwake = 5000, inPlaceNsAsleep = 20000;
/// Above it a thread should not hold its lock (Python's) while it runs.
static constexpr double shortNs = 10000;
/// On one core handing a task over only adds to it, and who waits for the lock could not run either.
static constexpr double onOneCoreNs = 100000;
/// The operations of compiled code that an attempt may spend: about inPlaceNsAwake.
static constexpr int64_t attemptBudget = 10000;
/// A waiter runs what it waits for itself, or takes part in its loops, only if that is soon done: meanwhile nothing can
/// interrupt it.
static constexpr double claimNs = 10e6, shareNs = 100e6;

static uint64_t bytesOf(Buffer *const *buffers, unsigned count) {
  uint64_t total = 0;
  for (unsigned i = 0; i < count; ++i)
    total += buffers[i]->size();
  return total;
}

static double expectedNs(const Launch &launch) {
  uint64_t bytes = bytesOf(launch.args, launch.argCount) + bytesOf(launch.results, launch.resultCount);
  return launch.executable ? launch.executable->expectedNs(bytes) : 200 + 0.05 * static_cast<double>(bytes);
}

static bool mayBlock(const Executable *executable) { return executable && executable->mayBlock(); }

/// All memory is the host's so far.
static void copyAll(const Launch &launch) {
  ProfileScope scope(ProfileKind::Copy, "copy between devices", launch.place);
  for (unsigned i = 0; i < launch.argCount; ++i)
    std::memcpy(launch.results[i]->data(), launch.args[i]->data(), launch.args[i]->size());
}

/// What it would cost a waiter to run it: one that may block is left to the pool.
static double costOf(const Launch &launch) {
  return mayBlock(launch.executable) ? std::numeric_limits<double>::infinity() : expectedNs(launch);
}

/// The failure that the inputs carry: that of the first one in the order of the arguments.
static Error *poisonOf(const Launch &launch) {
  for (unsigned i = 0; i < launch.argCount; ++i)
    if (Error *error = launch.args[i]->error())
      return error;
  return nullptr;
}

static const char *placeOf(const Launch &launch) {
  return !launch.place && launch.findPlace ? launch.findPlace() : launch.place;
}

/// Out of line, as nobody records as a rule.
[[gnu::noinline]] static void recordRun(Device &device, const Launch &launch, int64_t start) {
  Profile::record(ProfileKind::Run, launch.executable->name(), start, nowNs(), placeOf(launch), launch.flow,
                  "\"device\": " + std::to_string(device.id()));
}

/// Runs the code of a launch whose inputs are ready.
static Status runCode(Device &device, const Launch &launch, int64_t budget) {
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

static RefPtr<Error> errorOf(const Launch &launch, const Status &status) {
  if (status.isOk())
    return nullptr;
  if (RefPtr<Error> cause = collectiveFailure(launch.participant))
    return cause;
  const char *place = placeOf(launch);
  return RefPtr<Error>::adopt(new Error(status, launch.executable->name(), place ? place : ""));
}

/// Runs a launch whose inputs are ready; null when it went well.
static RefPtr<Error> perform(Device &device, const Launch &launch) {
  if (Error *poison = poisonOf(launch))
    return RefPtr<Error>(poison);
  if (!launch.executable) {
    copyAll(launch);
    return nullptr;
  }
  return errorOf(launch, runCode(device, launch, PCRT_UNLIMITED));
}

//===-- Execution
//---------------------------------------------------------------------------------------------------===//

namespace pcrt {

class Execution final : public Token, public Task {
public:
  static Execution *create(Stream &stream, const Launch &launch) {
    // The buffers, the further tokens and what hangs on all tokens follow the object.
    unsigned pointers = launch.argCount + launch.resultCount + launch.afterCount;
    unsigned inputs = launch.argCount + launch.afterCount;
    size_t bytes = sizeof(Execution) + pointers * sizeof(void *) + inputs * sizeof(Dependency);
    return new (::operator new(bytes)) Execution(stream, launch);
  }
  static void operator delete(void *memory) { ::operator delete(memory); }

  /// Starts once the inputs are ready; the reference that `create` gave is the execution's own from here on.
  void launch();
  void runTask() override;

private:
  struct Dependency : Continuation {
    Execution *execution;
  };
  static_assert(alignof(Dependency) <= alignof(Buffer *));

  Execution(Stream &stream, const Launch &launch);
  Buffer **buffers() { return reinterpret_cast<Buffer **>(this + 1); }
  Token **others() { return reinterpret_cast<Token **>(buffers() + request.argCount + request.resultCount); }
  Dependency *dependencies() { return reinterpret_cast<Dependency *>(others() + request.afterCount); }
  void waitsFor(Token *token, unsigned number);
  void inputReady();
  void waitAwake() override;

  Stream &stream;
  RefPtr<Executable> executable;
  Launch request;
  const double cost;
  const uint64_t resultBytes;
  /// Inputs that are still pending, and one until all were looked at.
  std::atomic<unsigned> pendingInputs{1};
};

} // namespace pcrt

Execution::Execution(Stream &stream, const Launch &launch)
    : stream(stream), executable(launch.executable), request(launch), cost(costOf(launch)),
      resultBytes(bytesOf(launch.results, launch.resultCount)) {
  for (unsigned i = 0; i < request.argCount; ++i)
    buffers()[i] = launch.args[i];
  for (unsigned i = 0; i < request.resultCount; ++i)
    buffers()[request.argCount + i] = launch.results[i];
  for (unsigned i = 0; i < request.argCount + request.resultCount; ++i)
    buffers()[i]->retain();
  for (unsigned i = 0; i < request.afterCount; ++i) {
    others()[i] = launch.after[i];
    others()[i]->retain();
  }
  if (request.completes)
    request.completes->retain();
  request.args = buffers();
  request.results = buffers() + request.argCount;
  request.after = others();
}

void Execution::launch() {
  stream.calls.fetch_add(1);
  stream.bytes.fetch_add(resultBytes);
  for (unsigned i = 0; i < request.argCount; ++i)
    waitsFor(request.args[i]->token(), i);
  for (unsigned i = 0; i < request.afterCount; ++i)
    waitsFor(request.after[i], request.argCount + i);
  inputReady();
}

void Execution::waitsFor(Token *token, unsigned number) {
  if (!token || token->isDone())
    return;
  Dependency *dependency = new (dependencies() + number) Dependency;
  dependency->execution = this;
  dependency->run = [](Continuation *self) { static_cast<Dependency *>(self)->execution->inputReady(); };
  pendingInputs.fetch_add(1);
  if (!token->then(dependency))
    pendingInputs.fetch_sub(1);
}

void Execution::inputReady() {
  if (pendingInputs.fetch_sub(1) != 1)
    return;
  stream.device.threads().submit(this);
}

void Execution::waitAwake() {
  if (pendingInputs.load() != 0 || cost > shareNs)
    return Token::waitAwake();
  ThreadPool &threads = stream.device.threads();
  if (cost > claimNs || !threads.runIfQueued(this))
    threads.helpUntil([this] { return isDone(); }, this, spinNs);
}

void Execution::runTask() {
  Stream &owner = stream;
  uint64_t bytes = resultBytes;
  RefPtr<Error> error = perform(owner.device, request);
  endParticipant(request.participant, error.get());
  // Whoever sees the token done may rely on the inputs being free again.
  for (unsigned i = 0; i < request.argCount; ++i)
    request.args[i]->release();
  for (unsigned i = 0; i < request.afterCount; ++i)
    request.after[i]->release();
  executable = nullptr;
  Token *also = request.completes;
  RefPtr<Error> cause = also ? error : nullptr;
  complete(std::move(error));
  if (also) {
    also->complete(std::move(cause));
    also->release();
  }
  for (unsigned i = 0; i < request.resultCount; ++i)
    request.results[i]->release();
  release(); // the execution's own reference
  owner.finished(bytes);
}

//===-- Stream
//------------------------------------------------------------------------------------------------------===//

static bool isReady(const Launch &launch) {
  return std::all_of(launch.args, launch.args + launch.argCount, [](Buffer *buffer) { return buffer->isReady(); }) &&
         std::all_of(launch.after, launch.after + launch.afterCount, [](Token *token) { return token->isDone(); });
}

Stream::Manner Stream::mannerOf(const Launch &launch) const {
  double cost = expectedNs(launch);
  bool blocks = mayBlock(launch.executable);
  const ThreadPool &threads = device.threads();
  bool hasOneCore = threads.hasOneCore();
  Manner here = cost < (hasOneCore ? onOneCoreNs : shortNs) && !blocks ? Manner::Short : Manner::Long;
  if (inPlace)
    return here;
  bool isLong = cost > (hasOneCore ? onOneCoreNs : threads.hasSpinner() ? inPlaceNsAwake : inPlaceNsAsleep);
  bool isAttempt = std::isinf(cost) && launch.executable->isWorthAnAttempt(inPlaceNsAwake);
  if (blocks || (isLong && !isAttempt) || !isReady(launch))
    return Manner::Enqueue;
  return isAttempt ? Manner::Attempt : here;
}

/// What has run in place is done, or carries an error.
static void settle(const Launch &launch, RefPtr<Error> error) {
  if (launch.completes)
    launch.completes->complete(error);
  if (!error)
    return;
  RefPtr<Token> failed = Token::failed(std::move(error));
  for (unsigned i = 0; i < launch.resultCount; ++i)
    launch.results[i]->setToken(failed);
}

void Stream::runInPlace(const Launch &launch) { settle(launch, perform(device, launch)); }

bool Stream::attempt(const Launch &launch) {
  if (Error *poison = poisonOf(launch)) {
    settle(launch, RefPtr<Error>(poison));
    return true;
  }
  Status status = runCode(device, launch, attemptBudget);
  bool isOver = status.code() != Code::OutOfBudget;
  launch.executable->noteAttempt(isOver);
  if (isOver)
    settle(launch, errorOf(launch, status));
  return isOver;
}

void Stream::enqueue(const Launch &launch) {
  if (Profile::isOn() && !launch.flow) {
    Launch recorded = launch;
    recorded.flow = Profile::newFlow();
    int64_t start = nowNs();
    enqueue(recorded);
    Profile::record(ProfileKind::Enqueue, "enqueue " + (launch.executable ? launch.executable->name() : "copy"), start,
                    nowNs(), placeOf(launch), recorded.flow);
    return;
  }
  Execution *execution = Execution::create(*this, launch);
  for (unsigned i = 0; i < launch.resultCount; ++i)
    launch.results[i]->setToken(RefPtr<Token>(execution));
  execution->launch();
}

bool Stream::hasRoom(uint64_t resultBytes) const {
  unsigned inFlight = calls.load(std::memory_order_relaxed);
  if (inFlight == 0 || ThreadPool::isWorker())
    return true;
  return inFlight < bound.calls && bytes.load(std::memory_order_relaxed) + resultBytes <= bound.bytes;
}

void Stream::finished(uint64_t resultBytes) {
  bytes.fetch_sub(resultBytes);
  calls.fetch_sub(1);
  if (waiters.load() == 0)
    return;
  progress.fetch_add(1);
  futexWake(progress, INT_MAX);
}

template <typename Condition> bool Stream::waitUntil(Condition condition, InterruptHook hook) {
  BlockingScope blocking;
  waiters.fetch_add(1);
  bool met;
  while (true) {
    uint32_t seen = progress.load();
    met = condition();
    if (met)
      break;
    futexWait(progress, seen, hook ? 100 : -1);
    if (hook && hook())
      break;
  }
  waiters.fetch_sub(1);
  return met;
}

bool Stream::waitForRoom(uint64_t resultBytes, InterruptHook hook) {
  return waitUntil([&] { return hasRoom(resultBytes); }, hook);
}

bool Stream::synchronize(InterruptHook hook) {
  return waitUntil([&] { return calls.load() == 0; }, hook);
}
