// The work of a collective among GPUs of this process. Each GPU fetches its part from the others by copies on its own
// stream; events order the streams, and no host thread waits for a device. After CudaDeviceBase; Rendezvous brings the
// members together. The computations of a collective are kernels around it (array-expand-collectives of the dialect).
//
// When a wait is enqueued, the awaited work is on its stream already. So streams never wait in a circle, for any
// programs that run at the same time.
#ifndef PYCOMPILER_RUNTIME_LIB_CUDA_DEVICEEXCHANGE_H
#define PYCOMPILER_RUNTIME_LIB_CUDA_DEVICEEXCHANGE_H

#include "collective/CollectiveJob.h"
#include "cuda/DriverTypes.h"

#include <mutex>

namespace pcrt::cuda {

class CudaDeviceBase;

class DeviceExchange final : public CollectiveWork {
public:
  DeviceExchange() = default;
  ~DeviceExchange() override;

  /// Records the member's position in its stream: there the input is ready, and the output free.
  Status arrive(size_t place, const Contribution &own) override;
  /// Supports all_gather and all_to_all along the first dimension, and collective_permute.
  bool prepare(const std::vector<Contribution> &members) override;
  /// An item is the fetches of one member.
  uint32_t items() const override { return count; }
  bool isLarge() const override { return count > 2; }
  void run(uint32_t target) override;
  /// The member's stream continues after the others have fetched its input.
  Status leave(size_t place, const Contribution &own) override;

private:
  /// A member's device, and events on its stream: it has arrived at the meeting; it has fetched its part.
  struct Side {
    CudaDeviceBase *device = nullptr;
    CUevent ready = nullptr, fetched = nullptr;
  };
  /// Bytes of a source's input, and their place in the target's output.
  struct Piece {
    size_t from, to, bytes;
  };
  bool fits() const;
  Side &sideOf(size_t place, const Contribution &own);
  /// The bytes that the target fetches from the source; possibly none.
  Piece pieceFor(const CollectiveParams &form, size_t target, size_t source) const;
  bool isReceiver(size_t target) const;
  Status fetch(size_t target);

  const std::vector<Contribution> *members = nullptr;
  CollectiveParams params{nullptr};
  uint32_t count = 0;
  /// Of one input.
  size_t bytes = 0;

  /// Guards the list of sides, which grows with the first arrival of each member, and the failure.
  std::mutex lock;
  std::vector<std::unique_ptr<Side>> sides;
  Status failure;
};

} // namespace pcrt::cuda

#endif // PYCOMPILER_RUNTIME_LIB_CUDA_DEVICEEXCHANGE_H
