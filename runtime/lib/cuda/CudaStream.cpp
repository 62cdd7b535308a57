// Executions on a CUDA device. Memory is released when the host's part has run, long before the device reaches it: work
// that is enqueued later may use it, because the stream keeps the order.
//
// If a device is lost, values that other devices computed from it are lost, too. Their executions continue, because no
// host thread waits there. So a run of several devices, and work on its results before they are done, is done only when
// all devices are.
#include "cuda/CudaStream.h"

#include "cuda/CudaDeviceBase.h"
#include "runtime/Collective.h"
#include "runtime/KernelImage.h"
#include "runtime/Profile.h"
#include "streams/Execution.h"

using namespace pcrt;
using namespace pcrt::cuda;

/// The maximum bytes that the launching thread copies to page-locked memory itself: some microseconds.
static constexpr uint64_t shortCopyBytes = 256 << 10;

/// The longest time that a thread waits for the device without sleeping. After work of this length, the time of a
/// wake-up no longer counts.
static constexpr int64_t awakeNs = 5'000'000;

//===-- CudaExecution
//-----------------------------------------------------------------------------------------------===//

namespace pcrt::cuda {

/// Runs the host's part as a task or at once, then waits for the device as a Completion.
class CudaExecution final : public Execution, public Completion {
public:
  static RefPtr<Token> start(CudaStream &stream, const Launch &launch) {
    auto *made = create<CudaExecution>(stream, launch);
    RefPtr<Token> token(made);
    made->noteSharedInputs();
    for (unsigned i = 0; i < launch.resultCount; ++i)
      launch.results[i]->setToken(token);
    if (!made->waitForInputs())
      return token;
    if (stream.isShort(launch))
      made->runTask();
    else
      made->inputsReady();
    return token;
  }

  void runTask() override;
  void done(const Status &status) override;
  Token *orderedOn(const Stream &stream) override { return &stream == &owner ? &enqueued : this; }

private:
  friend class Execution;
  CudaExecution(CudaStream &stream, const Launch &launch) : Execution(stream, launch, this + 1), owner(stream) {}
  bool waitAwake(InterruptHook hook) override;
  void inputsReady() override { owner.device.threads().submit(this); }
  void noteSharedInputs();
  void settle(RefPtr<Error> error);
  /// If another device's stream fills the argument, an event orders the copy.
  Token *awaited(const Buffer &argument, Token *token) const override {
    return argument.isHostReadable() ? token : token->orderedOn(argument.device()->stream());
  }

  CudaStream &owner;
  /// Done when the host's part has run; no reference is held.
  Token enqueued;

  /// Tokens of other devices that must be done before this is; with `isShared`, which is fixed when it starts.
  std::vector<RefPtr<Token>> fates;
  bool isShared = false;
  /// For a participant; see DeviceEnds.
  RefPtr<Token> ownEnd;
  RefPtr<Token> settled;
  struct Settling : Continuation {
    CudaExecution *execution;
  } settling;
};

} // namespace pcrt::cuda

/// Before the execution is shared.
void CudaExecution::noteSharedInputs() {
  isShared = request.participant;
  for (unsigned i = 0; i < request.argCount; ++i) {
    const Buffer &argument = *request.args[i];
    Token *token = argument.token();
    if (!token || token->isDone() || argument.isHostReadable() ||
        token->orderedOn(argument.device()->stream()) == token)
      continue;
    // Tokens that are ordered on the stream of a device of this kind are executions of this class.
    if (static_cast<CudaExecution *>(token)->isShared)
      fates.emplace_back(token);
  }
  isShared |= !fates.empty();
}

void CudaExecution::runTask() {
  // The completion may run, and end the execution, before this returns.
  RefPtr<Token> held(this);
  RefPtr<Error> error = owner.perform(request);
  if (request.participant) {
    auto *self = static_cast<Participant *>(std::exchange(request.participant, nullptr));
    DeviceEnds ends = self->run->deviceEnds(self->number);
    ownEnd = std::move(ends.own);
    if (ends.all)
      fates.push_back(std::move(ends.all));
    endParticipant(self, error.get());
  }
  if (error) {
    if (ownEnd)
      ownEnd->complete(error);
    end(std::move(error));
    enqueued.complete();
    return;
  }
  // Memory with other owners, or memory that is used in the order of another stream, is held until the device is done.
  const Device &device = owner.device;
  releaseBuffersIf(
      [&](const Buffer &buffer) { return buffer.isHostReadable() || (buffer.device() == &device && buffer.isOurs()); });
  enqueued.complete();
  if (Status status = owner.resources.completions().add(*this); !status.isOk())
    done(status);
}

void CudaExecution::done(const Status &status) {
  settle(status.isOk() ? nullptr : owner.lose(errorOf(request, status)));
}

bool CudaExecution::waitAwake(InterruptHook) {
  // Until the host's part has run, it may need this thread's place in the pool.
  if (!spinUntil([this] { return enqueued.isDone() || isDone(); }, spinNs))
    return true;
  Completions &completions = owner.resources.completions();
  spinUntil(
      [&] {
        completions.help();
        return isDone();
      },
      awakeNs);
  return true;
}

/// The device has finished it, or is lost.
void CudaExecution::settle(RefPtr<Error> error) {
  if (ownEnd)
    ownEnd->complete(error);
  // Executions that wait for each other in a chain must not keep completed ones alive.
  std::vector<RefPtr<Token>> held = std::exchange(fates, {});
  if (error || held.empty())
    return end(std::move(error));
  std::vector<Token *> others;
  for (const RefPtr<Token> &fate : held)
    others.push_back(fate.get());
  settled = joined(others);
  settling.execution = this;
  settling.run = [](Continuation *self) {
    CudaExecution *execution = static_cast<Settling *>(self)->execution;
    execution->end(RefPtr<Error>(execution->settled->error()));
  };
  if (!settled->then(&settling))
    end(RefPtr<Error>(settled->error()));
}

//===-- CudaStream
//--------------------------------------------------------------------------------------------------===//

void CudaStream::start(const Launch &launch) { CudaExecution::start(*this, launch); }

void CudaStream::runInPlace(const Launch &launch) { CudaExecution::start(*this, launch)->wait(); }

bool CudaStream::isShort(const Launch &launch) const {
  if (!launch.executable)
    return bytesOf(launch.args, launch.argCount) <= shortCopyBytes;
  KernelImage *image = launch.executable->image();
  return !launch.executable->mayBlock() && !launch.participant && (!image || image->find(device));
}

RefPtr<Error> CudaStream::perform(const Launch &launch) {
  if (Error *poison = poisonOf(launch))
    return RefPtr<Error>(poison);
  if (RefPtr<Error> failure = failureOfDevice())
    return failure;
  if (!launch.executable)
    return errorOf(launch, copy(launch));
  if (launch.executable->isBuilt())
    return errorOf(launch, Status(Code::InvalidArgument, device.name() + " can't run a kernel that was built for the "
                                                                         "host; compile it for the device"));
  if (Status status = resources.context().makeCurrent(); !status.isOk())
    return errorOf(launch, status);
  return errorOf(launch, runCode(device, launch, PCRT_UNLIMITED));
}

Status CudaStream::copy(const Launch &launch) {
  ProfileScope scope(ProfileKind::Copy, "copy between devices", launch.place);
  for (unsigned i = 0; i < launch.argCount; ++i) {
    const Buffer &from = *launch.args[i];
    CUdeviceptr target = addressOf(launch.results[i]->data());
    // A GPU without host memory is of this kind.
    Status status = from.isHostReadable() ? resources.staging().upload(target, from.data(), from.size())
                                          : static_cast<CudaDeviceBase &>(device).copyFrom(
                                                *static_cast<CudaDeviceBase *>(from.device()), from, target);
    if (!status.isOk())
      return status;
  }
  return Status::ok();
}

RefPtr<Error> CudaStream::lose(RefPtr<Error> failure) {
  std::lock_guard<std::mutex> guard(lock);
  if (!lost)
    lost = std::move(failure);
  isLost.store(true, std::memory_order_release);
  return lost;
}

RefPtr<Error> CudaStream::failureOfDevice() {
  if (!isLost.load(std::memory_order_acquire))
    return nullptr;
  std::lock_guard<std::mutex> guard(lock);
  return lost;
}
