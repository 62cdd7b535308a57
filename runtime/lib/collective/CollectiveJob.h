// The work of one collective in the host's memory. It is divided into items, which write disjoint memory, and any
// member may execute an item. Sums are added in the order of the members, so all members get the same bits.
#ifndef PYCOMPILER_RUNTIME_LIB_COLLECTIVEJOB_H
#define PYCOMPILER_RUNTIME_LIB_COLLECTIVEJOB_H

#include "runtime/CollectiveWork.h"

#include <cstddef>
#include <cstdint>

namespace pcrt {

/// The parameters of the routine `collective` (runtime/Abi.h).
struct CollectiveParams {
  explicit CollectiveParams(const int64_t *params) : params(params) {}

  PcrtCollective code() const { return static_cast<PcrtCollective>(params[0]); }
  PcrtReduction reduction() const { return static_cast<PcrtReduction>(params[1]); }
  int64_t dimension() const { return params[2]; }
  int64_t otherDimension() const { return params[3]; }
  int64_t pairCount() const { return params[4]; }
  int64_t groupCount() const { return params[5]; }
  int64_t groupSize() const { return params[6]; }
  const int64_t *group(int64_t index) const { return params + 7 + index * groupSize(); }
  const int64_t *pairs() const { return group(groupCount()); }
  int64_t length() const { return 7 + groupCount() * groupSize() + 2 * pairCount(); }
  /// "all_reduce", for messages.
  const char *name() const;

private:
  const int64_t *params;
};

/// Whether the contributions agree: the same collective on operands of the same shapes.
bool areAlike(const std::vector<Contribution> &members);

class CollectiveJob : public CollectiveWork {
public:
  bool prepare(const std::vector<Contribution> &members) override;
  uint32_t items() const override { return itemCount; }
  bool isLarge() const override { return itemCount > 1 && bytes >= largeBytes; }
  void run(uint32_t item) override;

protected:
  // The results go to the members with an output; those of other processes have none (RemoteCollective).
  void reduce(size_t first, size_t end) const;
  void gather(size_t source) const;
  void permute(size_t target) const;
  /// Combines `length` elements of each of the inputs, one for each member, in their order.
  void combine(const std::vector<const char *> &inputs, size_t length, char *output) const;
  /// The source's part of an all_to_all or a reduce_scatter for the target: in its input, as a dense array, and (for
  /// all_to_all) in the target's output.
  size_t blockBytes() const { return elements / members->size() * width; }
  void takeBlock(size_t source, size_t target, char *block) const;
  void placeBlock(size_t source, size_t target, const char *block) const;

  const std::vector<Contribution> *members = nullptr;
  CollectiveParams params{nullptr};
  uint32_t itemCount = 0;
  /// Of one input, in elements; of an element, and of all inputs, in bytes.
  size_t elements = 0, width = 0, bytes = 0;
  /// The input as [outer, along the dimension, inner].
  size_t outer = 1, along = 1, inner = 1;

private:
  static constexpr size_t largeBytes = size_t(1) << 18;

  bool fits() const;
  void scatter(size_t target) const;
  void exchange(size_t target) const;
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_LIB_COLLECTIVEJOB_H
