// Row fusions: neighbouring linalg ops that work on the same rows and become one kernel, in which a row is read once,
// its temporaries never lie in memory, and what leaves the row fusion is stored at the end (softmax, normalization, and
// their gradients). MapRowFusionsToGpu.cpp collects the members, RowFusionKernels.cpp writes the kernel.
//
// A member is a reduction of rows to one value each, or elementwise, over rows and columns or over rows. What one
// member writes and another one reads or writes are the same elements, at the same row and column: so the elements of a
// row belong to the thread that has their column, and all that a row fusion reads of memory was there before it.
#ifndef ARRAY_LIB_GPU_ROWFUSION_ROWFUSIONFORM_H
#define ARRAY_LIB_GPU_ROWFUSION_ROWFUSIONFORM_H

#include "Gpu/Kernels/KernelJoin.h"

namespace mlir::array {

/// Where an access of a member finds what it reads.
struct Source {
  enum Kind { None, Scalar, Memory, Computed } kind = None;
  unsigned number = 0; ///< of the load (Memory) or of the member (Computed)
  unsigned output = 0; ///< of the member
};

/// An op of a row fusion: its first `rowDims` dimensions count the rows, the others the columns.
struct RowMember {
  linalg::LinalgOp op;
  Member member;
  std::optional<Join> join; // of a reduction
  unsigned rowDims = 0;
  unsigned phase = 0;      ///< The reductions that come before it, one after the other.
  bool storesRows = false; ///< One value for each row.
  SmallVector<Source> sources;

  const IterationSpace &space() const { return member.space; }
  bool isReduction() const { return join.has_value(); }
  unsigned columnDims() const { return static_cast<unsigned>(space().dims.size()) - rowDims; }
  const Access &output(unsigned number) const { return space().outputs()[number]; }
  /// Whether an access has an element for each column, and whether it has other ones for each row.
  bool movesAlongColumns(const Access &access) const;
  bool movesAlongRows(const Access &access) const;
  /// The phase from which on its results are there.
  unsigned readyPhase() const { return phase + (isReduction() ? 1 : 0); }
};

/// Elements that are loaded for one or several members: those of an access of a member.
struct RowLoad {
  unsigned member, access;
};

class GpuRowFusion {
public:
  /// Of a reduction along rows; nothing for one whose rows are no use to a row fusion.
  static std::optional<GpuRowFusion> of(linalg::LinalgOp op, Member member, const Join &join);

  /// Whether an op may be a member at all, by its sizes alone.
  bool mayTake(linalg::LinalgOp op) const;
  /// Adds an op that comes after the members, if it works on the same rows.
  bool add(linalg::LinalgOp op, Member member, std::optional<Join> join);
  /// Keeps the members that share elements with each other and with `op`, and what they store.
  void finish(Operation *op);

  int64_t rows = 1, columns = 1;
  std::vector<RowMember> members;
  SmallVector<RowLoad> loads;
  /// Outputs that somebody else reads: the last ones at their places.
  SmallVector<std::pair<unsigned, unsigned>> stores;

  const Access &accessOf(const RowLoad &load) const { return members[load.member].space().accesses[load.access]; }
  /// Whether a load has an element for each column, and whether these are other ones for each row.
  bool isAlongColumns(const RowLoad &load) const { return members[load.member].movesAlongColumns(accessOf(load)); }
  bool isOfElements(const RowLoad &load) const {
    return isAlongColumns(load) && (rows == 1 || members[load.member].movesAlongRows(accessOf(load)));
  }

private:
  bool cut(RowMember &candidate) const;
  bool resolve(RowMember &candidate);
  bool readsCaptured(const RowMember &writer, const RowMember &reader) const;
  bool isPrivate(Value root) const;
};

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_ROWFUSION_ROWFUSIONFORM_H
