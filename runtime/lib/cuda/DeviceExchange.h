// The work of a collective among GPUs of this process. Each GPU fetches its part from the others by copies on its own
// stream; events order the streams, and no host thread waits for a device. After CudaDeviceBase; Rendezvous brings the
// members together.
//
// When a wait is enqueued, the awaited work is on its stream already. So streams never wait in a cycle, for any
// programs that run at the same time.
#ifndef PYCOMPILER_RUNTIME_LIB_CUDA_DEVICEEXCHANGE_H
#define PYCOMPILER_RUNTIME_LIB_CUDA_DEVICEEXCHANGE_H

#include "cuda/ExchangePieces.h"
#include "driver/DriverTypes.h"

#include <mutex>

namespace pcrt::cuda {

class CudaDeviceBase;

class DeviceExchange final : public CollectiveWork {
public:
  DeviceExchange() = default;
  ~DeviceExchange() override;

  /// Records the member's position in its stream: there the input is ready, and the output free.
  Status arrive(size_t place, const Contribution &own) override;
  bool prepare(const std::vector<Contribution> &members) override;
  /// An item is the fetches of one member.
  uint32_t items() const override { return static_cast<uint32_t>(pieces.members); }
  bool isLarge() const override { return pieces.members > 2; }
  void run(uint32_t target) override;
  /// The member's stream continues after the others have fetched its input.
  Status leave(size_t place, const Contribution &own) override;

private:
  /// A member's device, and events on its stream: it has arrived at the meeting; it has fetched its part.
  struct Side {
    CudaDeviceBase *device = nullptr;
    CUevent ready = nullptr, fetched = nullptr;
  };
  Side &sideOf(size_t place, const Contribution &own);
  Status fetch(size_t target);

  const std::vector<Contribution> *members = nullptr;
  CollectiveParams params{nullptr};
  ExchangePieces pieces;

  /// Guards the list of sides, which grows with the first arrival of each member, and the failure.
  std::mutex lock;
  std::vector<std::unique_ptr<Side>> sides;
  Status failure;
};

} // namespace pcrt::cuda

#endif // PYCOMPILER_RUNTIME_LIB_CUDA_DEVICEEXCHANGE_H
