// Exchanges by grouped sends and receives, and the end of exchanges that lack the other side after a failure.
#include "cuda/NcclCommunicator.h"

#include "cuda/CudaDeviceBase.h"
#include "runtime/ThreadPool.h"

#include <algorithm>
#include <ctime>
#include <memory>

using namespace pcrt;
using namespace pcrt::cuda;

/// After the failure of a launch, its exchanges that all processes have enqueued end within this time.
static constexpr int64_t graceNs = 1'000'000'000;
/// The time that a first exchange may take to connect its ranks while no other stream begins to wait here.
static constexpr int64_t connectNs = 1'000'000'000;

static void pauseShortly(int64_t ns) {
  timespec time{0, ns};
  nanosleep(&time, nullptr);
}

static const Driver &driverOf(const NcclCommunicator::Own &own) { return own.device->parts().context().driver(); }

//===-- The beginning
//-----------------------------------------------------------------------------------------------===//

/// All communicators, also those that failed or were replaced: launches in flight refer to them.
static NcclCommunicator *kept(std::unique_ptr<NcclCommunicator> made) {
  static auto *const lock = new std::mutex();
  static auto *const all = new std::vector<std::unique_ptr<NcclCommunicator>>();
  std::lock_guard<std::mutex> guard(*lock);
  return all->emplace_back(std::move(made)).get();
}

Result<NcclCommunicator *> NcclCommunicator::create(const Nccl &library, const ncclUniqueId &id, size_t members,
                                                    const std::vector<Own> &here, SharedLaunch &launch) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char byte : id.internal)
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  // 0 and 1 have a meaning of their own.
  NcclCommunicator *made = kept(std::unique_ptr<NcclCommunicator>(new NcclCommunicator(library, hash | 2)));
  for (const Own &own : here) {
    Rank rank;
    rank.place = own.place;
    rank.device = own.device;
    made->ranks.push_back(rank);
  }
  if (Status status = made->begin(id, members, launch); !status.isOk()) {
    made->abort(status);
    return status;
  }
  return made;
}

Status NcclCommunicator::begin(const ncclUniqueId &id, size_t members, SharedLaunch &launch) {
  ncclConfig_t config = {sizeof(ncclConfig_t), static_cast<unsigned>(NCCL_API_MAGIC), NCCL_CONFIG_VERSION,
                         /*blocking=*/0};
  if (Status status = library.check(library.ncclGroupStart(), "ncclGroupStart"); !status.isOk())
    return status;
  Status status;
  for (Rank &rank : ranks) {
    status = rank.device->parts().context().makeCurrent();
    if (status.isOk())
      status = library.check(library.ncclCommInitRankConfig(&rank.handle, static_cast<int>(members), id,
                                                            static_cast<int>(rank.place), &config),
                             "ncclCommInitRankConfig");
    if (!status.isOk())
      break;
  }
  Status ended = library.check(library.ncclGroupEnd(), "ncclGroupEnd");
  if (status.isOk())
    status = std::move(ended);
  bool isDone;
  return status.isOk() ? settle(launch, "ncclCommInitRankConfig", INT64_MAX, isDone) : std::move(status);
}

Status NcclCommunicator::settle(SharedLaunch &launch, const char *call, int64_t longestNs, bool &isDone) {
  BlockingScope blocking;
  SharedLaunch::Waiting waiting(launch);
  const int64_t begin = nowNs();
  isDone = true;
  for (const Rank &rank : ranks) {
    for (int64_t ns = 1'000;; ns = std::min<int64_t>(2 * ns, 1'000'000)) {
      ncclResult_t state = ncclSuccess;
      Status status = library.check(library.ncclCommGetAsyncError(rank.handle, &state), "ncclCommGetAsyncError");
      if (status.isOk())
        status = library.check(state, call);
      if (!status.isOk())
        return status;
      if (state != ncclInProgress)
        break;
      if (RefPtr<Error> failed = launch.failure())
        return Status(failed->code, failed->message);
      if (nowNs() - begin > longestNs) {
        isDone = false;
        return Status::ok();
      }
      pauseShortly(ns);
    }
  }
  return Status::ok();
}

//===-- Exchanges
//---------------------------------------------------------------------------------------------------===//

/// The member's part for itself, and the zeros of a member without a sender.
Status NcclCommunicator::copyOwn(const Rank &rank, const CollectiveParams &form, const ExchangePieces &pieces,
                                 const Contribution &own) {
  Status status = rank.device->parts().context().makeCurrent();
  CUstream stream = rank.device->parts().stream();
  CUdeviceptr output = addressOf(own.output.data);
  if (status.isOk() && pieces.bytes > 0 && !pieces.isReceiver(form, rank.place))
    status = driverOf(rank).check(driverOf(rank).cuMemsetD8Async(output, 0, pieces.bytes, stream), "cuMemsetD8Async");
  Piece piece = pieces.between(form, rank.place, rank.place);
  if (status.isOk() && piece.bytes > 0)
    status =
        rank.device->enqueueCopy(output + piece.to, *rank.device, addressOf(own.input.data) + piece.from, piece.bytes);
  return status;
}

Status NcclCommunicator::enqueue(const Rank &rank, const CollectiveParams &form, const ExchangePieces &pieces,
                                 const Contribution &own) {
  Status status = rank.device->parts().context().makeCurrent();
  CUstream stream = rank.device->parts().stream();
  for (size_t other = 0; other < pieces.members && status.isOk(); ++other) {
    if (other == rank.place)
      continue;
    if (Piece sent = pieces.between(form, other, rank.place); sent.bytes > 0)
      status = library.check(library.ncclSend(static_cast<const char *>(own.input.data) + sent.from, sent.bytes,
                                              ncclInt8, static_cast<int>(other), rank.handle, stream),
                             "ncclSend");
    if (Piece received = pieces.between(form, rank.place, other); received.bytes > 0 && status.isOk())
      status = library.check(library.ncclRecv(static_cast<char *>(own.output.data) + received.to, received.bytes,
                                              ncclInt8, static_cast<int>(other), rank.handle, stream),
                             "ncclRecv");
  }
  return status;
}

Status NcclCommunicator::exchange(SharedLaunch &launch, const CollectiveParams &form, const ExchangePieces &pieces,
                                  const std::vector<Contribution> &contributions) {
  std::lock_guard<std::mutex> guard(lock);
  if (isBroken.load())
    return Status(Code::LibraryFailed, "NCCL's communicator of these GPUs was ended by the failure of another launch");
  Status status;
  std::unique_lock<std::mutex> streams(betweenStreams());
  for (const Rank &rank : ranks)
    if (status.isOk())
      status = copyOwn(rank, form, pieces, contributions[rank.place]);
  if (status.isOk())
    status = library.check(library.ncclGroupStart(), "ncclGroupStart");
  if (status.isOk()) {
    for (const Rank &rank : ranks)
      if (status.isOk())
        status = enqueue(rank, form, pieces, contributions[rank.place]);
    Status ended = library.check(library.ncclGroupEnd(), "ncclGroupEnd");
    if (status.isOk())
      status = std::move(ended);
    // NCCL may enqueue in its own thread. The first exchange of two ranks connects them, and for this their processes
    // wait for each other: at most a second with the lock, because another exchange of these processes may need the
    // lock.
    bool isEnqueued = !status.isOk();
    if (status.isOk())
      status = settle(launch, "ncclGroupEnd", connectNs, isEnqueued);
    if (!isEnqueued && status.isOk()) {
      streams.unlock();
      status = settle(launch, "ncclGroupEnd", INT64_MAX, isEnqueued);
    }
  }
  if (status.isOk())
    status = noteUse(launch);
  if (!status.isOk()) // The other processes may have enqueued it.
    abort(status);
  return status;
}

//===-- Failures
//----------------------------------------------------------------------------------------------------===//

/// After the failure of a launch: a short time for its exchanges to end, then they are ended.
class NcclCommunicator::Ending final : public Task {
public:
  Ending(NcclCommunicator &communicator, RefPtr<LaunchFailure> launch)
      : communicator(communicator), launch(std::move(launch)) {}

  void runTask() override {
    auto isOver = [&] {
      std::lock_guard<std::mutex> guard(communicator.lock);
      for (const User &user : communicator.users)
        if (user.launch.get() == launch.get())
          return communicator.isOver(user);
      return true;
    };
    bool ended = isOver();
    {
      BlockingScope blocking;
      for (int64_t end = nowNs() + graceNs; !ended && nowNs() < end; ended = isOver())
        pauseShortly(1'000'000);
    }
    if (!ended) {
      std::lock_guard<std::mutex> guard(communicator.lock);
      RefPtr<Error> cause = launch->error();
      communicator.abort(Status(cause->code, "an exchange by NCCL was ended, because " + cause->message));
    }
    delete this;
  }

private:
  NcclCommunicator &communicator;
  const RefPtr<LaunchFailure> launch;
};

/// Whether the GPUs have passed the exchanges of a launch, or are lost.
bool NcclCommunicator::isOver(const User &user) const {
  for (size_t i = 0; i < ranks.size(); ++i)
    if (!ranks[i].device->parts().context().makeCurrent().isOk() ||
        driverOf(ranks[i]).cuEventQuery(user.passed[i]) == CUDA_ERROR_NOT_READY)
      return false;
  return true;
}

/// Under the lock.
Status NcclCommunicator::noteUse(SharedLaunch &launch) {
  auto known = std::find_if(users.begin(), users.end(),
                            [&](const User &user) { return user.launch.get() == launch.outcome.get(); });
  if (known == users.end()) {
    User made{launch.outcome, {}};
    if (!users.empty() && isOver(users.front())) {
      made.passed = std::move(users.front().passed);
      users.pop_front();
    }
    for (size_t i = made.passed.size(); i < ranks.size(); ++i) {
      CUevent event = nullptr;
      Status status = ranks[i].device->parts().context().makeCurrent();
      if (status.isOk())
        status = driverOf(ranks[i]).check(driverOf(ranks[i]).cuEventCreate(&event, CU_EVENT_DISABLE_TIMING),
                                          "cuEventCreate");
      if (!status.isOk())
        return status;
      made.passed.push_back(event);
    }
    users.push_back(std::move(made));
    known = std::prev(users.end());
    ThreadPool &threads = ranks[0].device->threads();
    launch.outcome->whenFailed([this, &threads, failed = launch.outcome.get()] {
      threads.submit(new Ending(*this, RefPtr<LaunchFailure>(failed)));
    });
  }
  for (size_t i = 0; i < ranks.size(); ++i) {
    Status status = ranks[i].device->parts().context().makeCurrent();
    if (status.isOk())
      status = driverOf(ranks[i]).check(
          driverOf(ranks[i]).cuEventRecord(known->passed[i], ranks[i].device->parts().stream()), "cuEventRecord");
    if (!status.isOk())
      return status;
  }
  return Status::ok();
}

/// Ends the exchanges on the streams, with the failure of every launch of such an exchange. Under the lock, or before
/// the communicator is shared.
void NcclCommunicator::abort(const Status &why) {
  if (isBroken.exchange(true))
    return;
  std::vector<RefPtr<LaunchFailure>> failing;
  for (const User &user : users)
    if (!isOver(user))
      failing.push_back(user.launch);
  for (const Rank &rank : ranks)
    if (rank.handle && rank.device->parts().context().makeCurrent().isOk())
      library.ncclCommAbort(rank.handle);
  for (const RefPtr<LaunchFailure> &launch : failing)
    launch->fail(RefPtr<Error>::adopt(new Error(why.code(), why.message(), "", "")));
}
