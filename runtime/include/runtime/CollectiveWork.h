// The work of one collective, in the memory of devices of one kind, after all members of a group have arrived. Each
// kind of device has its own (Device::collectiveWork); Rendezvous brings the members together.
#ifndef PYCOMPILER_RUNTIME_COLLECTIVEWORK_H
#define PYCOMPILER_RUNTIME_COLLECTIVEWORK_H

#include "runtime/Status.h"

#include <vector>

namespace pcrt {

class Device;

/// The buffers of a member. `device` is null if none was given, which means the host.
struct Contribution {
  PcrtTensor input, output;
  const int64_t *params;
  Device *device;
};

/// A group has one CollectiveWork, for all of its meetings. The steps of a meeting:
/// - each member calls `arrive`, in its own thread
/// - the last member calls `prepare`
/// - every item is run once, by any member
/// - each member calls `leave`, in its own thread again
class CollectiveWork {
public:
  virtual ~CollectiveWork() = default;

  virtual Status arrive(size_t /*place*/, const Contribution & /*own*/) { return Status::ok(); }
  /// False if the contributions do not fit together, or the collective is unknown.
  virtual bool prepare(const std::vector<Contribution> &members) = 0;
  virtual uint32_t items() const = 0;
  /// Whether several threads are faster than one.
  virtual bool isLarge() const = 0;
  virtual void run(uint32_t item) = 0;
  /// The result of the meeting, for the member. The other members' buffers may be gone.
  virtual Status leave(size_t /*place*/, const Contribution & /*own*/) { return Status::ok(); }
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_COLLECTIVEWORK_H
