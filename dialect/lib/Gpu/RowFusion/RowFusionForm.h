// Row fusions: neighbouring linalg ops on the same rows that become one kernel. The kernel reads a row once, has no
// temporaries in memory, and stores its outputs at the end (softmax, normalization, and their gradients).
// MapRowFusionsToGpu.cpp collects the members, RowFusionKernels.cpp emits the kernel.
//
// A member is a reduction of rows to one value each, or elementwise, over rows and columns or over rows. If one member
// writes elements that another one reads or writes, both access them at the same row and column. So the elements of a
// row belong to the thread of their column, and all memory that a row fusion reads was written before it.
#ifndef ARRAY_LIB_GPU_ROWFUSION_ROWFUSIONFORM_H
#define ARRAY_LIB_GPU_ROWFUSION_ROWFUSIONFORM_H

#include "Gpu/Kernels/KernelJoin.h"

namespace mlir::array {

/// The source of a member's access.
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
  unsigned phase = 0;      ///< The number of reductions that must precede it, one after the other.
  bool storesRows = false; ///< One value for each row.
  SmallVector<Source> sources;

  const IterationSpace &space() const { return member.space; }
  bool isReduction() const { return join.has_value(); }
  unsigned columnDims() const { return static_cast<unsigned>(space().dims.size()) - rowDims; }
  const Access &output(unsigned number) const { return space().outputs()[number]; }
  /// Whether an access has an element for each column, and whether these differ between rows.
  bool movesAlongColumns(const Access &access) const;
  bool movesAlongRows(const Access &access) const;
  /// The phase from which on its results are available.
  unsigned readyPhase() const { return phase + (isReduction() ? 1 : 0); }
};

/// Elements that are loaded for one or several members: those of an access of a member.
struct RowLoad {
  unsigned member, access;
};

class GpuRowFusion {
public:
  /// The fusion that starts with a reduction along rows; none if its rows are unsuitable.
  static std::optional<GpuRowFusion> of(linalg::LinalgOp op, Member member, const Join &join);

  /// Whether an op may be a member, by its sizes alone.
  bool mayTake(linalg::LinalgOp op) const;
  /// Adds an op that comes after the members, if it works on the same rows.
  bool add(linalg::LinalgOp op, Member member, std::optional<Join> join);
  /// Keeps the members that share elements with each other and with `op`, and their stores.
  void finish(Operation *op);

  int64_t rows = 1, columns = 1;
  std::vector<RowMember> members;
  SmallVector<RowLoad> loads;
  /// Outputs with readers outside: the last writes of their elements.
  SmallVector<std::pair<unsigned, unsigned>> stores;

  const Access &accessOf(const RowLoad &load) const { return members[load.member].space().accesses[load.access]; }
  /// Whether a load has an element for each column, and whether these differ between rows.
  bool isAlongColumns(const RowLoad &load) const { return members[load.member].movesAlongColumns(accessOf(load)); }
  bool isOfElements(const RowLoad &load) const {
    return isAlongColumns(load) && (rows == 1 || members[load.member].movesAlongRows(accessOf(load)));
  }

private:
  bool cut(RowMember &candidate) const;
  bool resolve(RowMember &candidate);
  bool isPrivate(Value root) const;
};

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_ROWFUSION_ROWFUSIONFORM_H
