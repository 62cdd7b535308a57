// The work of one collective, in the memory of devices of one kind: what the members of a group do once all of them
// have come. Each kind of device has its own (Device::collectiveWork); Rendezvous brings the members together.
#ifndef PYCOMPILER_RUNTIME_COLLECTIVEWORK_H
#define PYCOMPILER_RUNTIME_COLLECTIVEWORK_H

#include "runtime/Status.h"

#include <vector>

namespace pcrt {

class Device;

/// What a member brings. `device` is null where no device was said, which is the host.
struct Contribution {
  PcrtTensor input, output;
  const int64_t *params;
  Device *device;
};

/// A group has one, for all of its meetings. A meeting is `arrive` of each member, in its own thread; `prepare` by who
/// came last; every item once, by whichever members; `leave` of each member, in its own thread again.
class CollectiveWork {
public:
  virtual ~CollectiveWork() = default;

  virtual Status arrive(size_t /*place*/, const Contribution & /*own*/) { return Status::ok(); }
  /// False when the contributions don't fit together or are of no collective that there is.
  virtual bool prepare(const std::vector<Contribution> &members) = 0;
  virtual uint32_t items() const = 0;
  /// Whether several threads are done sooner than one.
  virtual bool isLarge() const = 0;
  virtual void run(uint32_t item) = 0;
  /// What became of the meeting, for the member. What the others brought may be gone with them.
  virtual Status leave(size_t /*place*/, const Contribution & /*own*/) { return Status::ok(); }
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_COLLECTIVEWORK_H
