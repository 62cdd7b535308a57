// The work of one collective among GPUs of several processes: by NCCL if all processes have it and no two members share
// a GPU, else by the host's memory.
//
// Streams never wait in a cycle: a launch over processes starts on a GPU when the host's part of the previous one has
// run (run_spmd). So exchanges are on all streams in the same order: that of the launches, and within a launch that of
// the program.
//
// Before each exchange the processes of the group send each other messages: each has reached the exchange, and names
// its communicator. So if a process fails before that, no GPU is in an exchange without its other side.
#ifndef PYCOMPILER_RUNTIME_LIB_CUDA_NCCLCOLLECTIVE_H
#define PYCOMPILER_RUNTIME_LIB_CUDA_NCCLCOLLECTIVE_H

#include "collective/RemoteCollective.h"
#include "cuda/NcclCommunicator.h"

#include <tuple>

namespace pcrt::cuda {

class NcclCollective final : public CollectiveWork {
public:
  /// `participants` are all members of the group.
  NcclCollective(SharedLaunch &launch, const std::vector<int64_t> &participants);

  bool prepare(const std::vector<Contribution> &contributions) override;
  /// One item, in which a thread waits for the messages.
  uint32_t items() const override { return 1; }
  bool isLarge() const override { return false; }
  void run(uint32_t item) override;
  Status leave(size_t place, const Contribution &own) override;

private:
  /// The members that share a communicator. Tests have several transports in one process.
  struct Key {
    const Transport *transport;
    std::vector<unsigned> processes;
    std::vector<int> devices;
    bool operator<(const Key &other) const {
      return std::tie(transport, processes, devices) < std::tie(other.transport, other.processes, other.devices);
    }
  };
  /// The communicator of a group; or the decision that its members use the host's memory.
  struct Route {
    NcclCommunicator *communicator = nullptr;
    bool isStaged = false;
    uint64_t tag() const { return isStaged ? stagedTag : communicator ? communicator->tag() : 0; }
  };
  static constexpr uint64_t stagedTag = 1;
  class Routes;

  Status perform();
  /// By all processes of the group at the same time.
  Status agree(Route &route);
  Status introduce(Route &route);
  /// One message of a process to each other one; `theirs` has place for those of all, by process.
  Status tellAll(const std::vector<char> &own, std::vector<std::vector<char>> &theirs);

  SharedLaunch &launch;
  RemoteCollective staged;
  Communicator messages;
  Key key;
  /// The processes, each once; the first member of each; the members of this process.
  std::vector<unsigned> processes;
  std::vector<size_t> firsts, here;
  const std::vector<Contribution> *members = nullptr;
  Status failure;
};

} // namespace pcrt::cuda

#endif // PYCOMPILER_RUNTIME_LIB_CUDA_NCCLCOLLECTIVE_H
