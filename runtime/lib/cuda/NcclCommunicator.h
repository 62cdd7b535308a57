// A communicator of NCCL: the GPUs of a group of participants, of which other processes have some. Its exchanges are
// work on the streams of the GPUs here. After Libraries and CudaDeviceBase; NcclCollective agrees on it with the other
// processes.
#ifndef PYCOMPILER_RUNTIME_LIB_CUDA_NCCLCOMMUNICATOR_H
#define PYCOMPILER_RUNTIME_LIB_CUDA_NCCLCOMMUNICATOR_H

#include "cuda/ExchangePieces.h"
#include "gpulibraries/Libraries.h"
#include "runtime/Transport.h"

#include <deque>
#include <mutex>

namespace pcrt::cuda {

class CudaDeviceBase;

/// Never destroyed: to end one, all of its processes would have to call its end at a moment without work in flight.
class NcclCommunicator {
public:
  /// A GPU of this process, and its place among the members.
  struct Own {
    size_t place;
    CudaDeviceBase *device;
  };
  /// All processes call this with the same id. Waits for them; ends with the failure of the launch.
  static Result<NcclCommunicator *> create(const Nccl &library, const ncclUniqueId &id, size_t members,
                                           const std::vector<Own> &here, SharedLaunch &launch);

  /// The same number in all processes; 0 once it is broken.
  uint64_t tag() const { return isBroken.load() ? 0 : number; }

  /// Enqueues the exchange on the stream of each GPU here. The other processes also do so, before any of these streams
  /// reaches other work of the processes. `contributions` are those of all members; only the ones of this process
  /// exist.
  Status exchange(SharedLaunch &launch, const CollectiveParams &form, const ExchangePieces &pieces,
                  const std::vector<Contribution> &contributions);

private:
  struct Rank : Own {
    ncclComm_t handle = nullptr;
  };
  /// A launch whose exchanges may be on the streams, and an event after them on each.
  struct User {
    RefPtr<LaunchFailure> launch;
    std::vector<CUevent> passed;
  };
  class Ending;

  NcclCommunicator(const Nccl &library, uint64_t number) : library(library), number(number) {}
  Status begin(const ncclUniqueId &id, size_t members, SharedLaunch &launch);
  /// Waits until NCCL has finished the operation of a call, or for this time; whether it is done.
  Status settle(SharedLaunch &launch, const char *call, int64_t longestNs, bool &isDone);
  Status enqueue(const Rank &rank, const CollectiveParams &form, const ExchangePieces &pieces, const Contribution &own);
  Status copyOwn(const Rank &rank, const CollectiveParams &form, const ExchangePieces &pieces, const Contribution &own);
  Status noteUse(SharedLaunch &launch);
  bool isOver(const User &user) const;
  void abort(const Status &why);

  const Nccl &library;
  const uint64_t number;
  std::atomic<bool> isBroken{false};
  std::vector<Rank> ranks;
  /// One exchange is enqueued at a time.
  std::mutex lock;
  std::deque<User> users;
};

} // namespace pcrt::cuda

#endif // PYCOMPILER_RUNTIME_LIB_CUDA_NCCLCOMMUNICATOR_H
