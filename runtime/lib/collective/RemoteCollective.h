// The work of one collective among participants of several processes. Each process fetches the operands of its
// participants from the others, and then computes as CollectiveJob does: sums have the same bits for every division of
// the participants among processes.
#ifndef PYCOMPILER_RUNTIME_LIB_REMOTECOLLECTIVE_H
#define PYCOMPILER_RUNTIME_LIB_REMOTECOLLECTIVE_H

#include "collective/CollectiveJob.h"
#include "collective/Communicator.h"

#include <memory>

namespace pcrt {

class RemoteCollective final : public CollectiveJob {
public:
  /// `participants` are all members of the group.
  RemoteCollective(SharedLaunch &launch, const std::vector<int64_t> &participants);

  /// Only the contributions of this process exist.
  bool prepare(const std::vector<Contribution> &contributions) override;
  /// One item, in which a thread waits for the messages.
  uint32_t items() const override { return 1; }
  bool isLarge() const override { return false; }
  void run(uint32_t item) override;
  Status leave(size_t place, const Contribution &own) override;

private:
  using Block = std::unique_ptr<char[]>;
  class HostCopies;

  Status perform();
  Status fetchWhole(bool toOutputs);
  Status reduceInParts();
  Status scatterBlocks();
  Status exchangeBlocks();
  Status permuteWhole();
  /// Begins a step and waits for it.
  Status step(const std::vector<Piece> &sends, const std::vector<Piece> &receives);
  char *block(size_t bytes);

  bool isHere(size_t member) const { return processes[member] == communicator.launch.transport.rank(); }
  /// The number of a message from a member to a member.
  size_t between(size_t source, size_t target) const { return source * processes.size() + target; }
  /// The number of a message from a member to a process.
  size_t towards(size_t source, size_t process) const { return source * processes.size() + process; }

  Communicator communicator;
  /// The process of each member; the processes, each once; the members of this process.
  std::vector<unsigned> processes, others, ordered;
  std::vector<size_t> here;
  /// The contributions, with copies of those of other processes.
  std::vector<Contribution> full;
  std::vector<Block> blocks;
  Status failure;
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_LIB_REMOTECOLLECTIVE_H
