// The messages among the processes of one group of participants, in one launch. After Transport; before
// RemoteCollective.
#ifndef PYCOMPILER_RUNTIME_LIB_COMMUNICATOR_H
#define PYCOMPILER_RUNTIME_LIB_COMMUNICATOR_H

#include "runtime/Transport.h"

#include <cstddef>

namespace pcrt {

/// A message of a step. `number` identifies it within the step, the same for sender and receiver.
struct Piece {
  unsigned process;
  size_t number;
  void *data;
  size_t bytes;
};

class Communicator {
public:
  /// `members` are the group's participants. Communicators of one group in one launch differ in their `purpose`.
  Communicator(SharedLaunch &launch, const std::vector<int64_t> &members, uint64_t purpose = 0);

  /// Begins a step: all processes of the group call this, each with the other side of the messages.
  RefPtr<Transfer> begin(const std::vector<Piece> &sends, const std::vector<Piece> &receives);
  /// Moves messages until those of the transfer are done; with the failure of the launch if it fails.
  Status wait(Transfer &transfer);

  SharedLaunch &launch;

private:
  const uint64_t group;
  /// Of the numbers in one step.
  const size_t numbers;
  uint64_t steps = 0;
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_LIB_COMMUNICATOR_H
