// Decides which ops share a kernel row by row (RowFusionForm.h), by sizes and layouts alone.
#include "RowFusionForm.h"
#include "Analysis/BufferUses.h"
#include "Analysis/Footprint.h"
#include "Gpu/Kernels/Kernels.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::array {

using loops::Footprint;
using loops::SymbolicSize;

/// The maximum number of members: a larger kernel takes long to compile, and spills.
static constexpr size_t mostMembers = 32;
/// Blocks that keep the GPU busy. With fewer rows, several blocks share a long one (KernelRows.cpp).
static constexpr int64_t leastRows = 128;

//===-- Rows and columns ----------------------------------------------------------------------------------------===//

static bool movesAlong(const Access &access, unsigned first, unsigned end) {
  return llvm::any_of(llvm::seq(first, end), [&](unsigned dim) { return access.moves(dim); });
}

bool RowMember::movesAlongColumns(const Access &access) const {
  return movesAlong(access, rowDims, static_cast<unsigned>(space().dims.size()));
}

bool RowMember::movesAlongRows(const Access &access) const { return movesAlong(access, 0, rowDims); }

/// Splits a dimension so that the first dimensions have `rows` points; false if no dimension can be split.
static std::optional<unsigned> cutRows(IterationSpace &space, int64_t rows) {
  unsigned dim = 0;
  int64_t before = 1;
  for (; before < rows && dim < space.dims.size(); ++dim) {
    const loops::LoopDim &cut = space.dims[dim];
    if (rows % before != 0)
      return std::nullopt;
    int64_t outer = rows / before;
    if (cut.size.factor > outer) {
      if (cut.size.factor % outer != 0 || cut.indexSource)
        return std::nullopt;
      space.split(dim, SymbolicSize(outer), SymbolicSize(cut.size.factor / outer));
    }
    before *= space.dims[dim].size.factor;
  }
  return before == rows ? std::optional(dim) : std::nullopt;
}

/// Whether every access that moves along the columns moves along memory there.
static bool runsAlongColumns(const RowMember &member) {
  return llvm::all_of(member.space().accesses, [&](const Access &access) {
    return access.scalar || !member.movesAlongColumns(access) || access.strides.back().isStatic(1);
  });
}

/// Whether no two points share an element.
static bool isInjective(const Access &access, const IterationSpace &space) {
  SmallVector<std::pair<int64_t, int64_t>> walk; // stride and size
  for (auto [dim, stride] : llvm::zip_equal(space.dims, access.strides)) {
    if (!stride.isStatic() || stride.factor < 0)
      return false;
    if (stride.factor != 0)
      walk.push_back({stride.factor, dim.size.factor});
  }
  llvm::sort(walk);
  int64_t span = 1;
  for (auto [stride, size] : walk) {
    if (stride < span)
      return false;
    span += stride * (size - 1);
  }
  return true;
}

/// Reads the space of a candidate as rows and columns.
bool GpuRowFusion::cut(RowMember &candidate) const {
  IterationSpace &space = candidate.member.space;
  int64_t points = product(sizesOf(space, 0, space.dims.size()));
  candidate.storesRows = candidate.isReduction() || points == rows;
  if (candidate.isReduction()) {
    candidate.rowDims = countParallel(space);
    if (product(sizesOf(space, 0, candidate.rowDims)) != rows || points != rows * columns)
      return false;
  } else if (points == rows) {
    candidate.rowDims = static_cast<unsigned>(space.dims.size());
  } else if (std::optional<unsigned> dims = points == rows * columns ? cutRows(space, rows) : std::nullopt) {
    candidate.rowDims = *dims;
  } else {
    return false;
  }
  return runsAlongColumns(candidate) && llvm::all_of(space.outputs(), [&](const Access &output) {
           return !output.scalar && isInjective(output, space);
         });
}

//===-- Elements ------------------------------------------------------------------------------------------------===//

/// Strides and sizes of the dimensions [first, end), with compatible neighbours merged.
static SmallVector<std::pair<int64_t, int64_t>> walkOf(const Access &access, const IterationSpace &space,
                                                       unsigned first, unsigned end) {
  SmallVector<std::pair<int64_t, int64_t>> walk;
  for (unsigned dim = first; dim < end; ++dim) {
    int64_t stride = access.strides[dim].factor, size = space.dims[dim].size.factor;
    if (!walk.empty() && walk.back().first == stride * size)
      walk.back() = {stride, walk.back().second * size};
    else
      walk.push_back({stride, size});
  }
  return walk;
}

/// Whether an access has one element for each row and column, or for each row.
static bool hasSameElements(const RowMember &a, const Access &x, const RowMember &b, const Access &y) {
  Footprint first = footprintOf(x, a.space()), second = footprintOf(y, b.space());
  if (!first.known || !second.known || first.root != second.root || first.first != second.first ||
      x.element != y.element || a.movesAlongColumns(x) != b.movesAlongColumns(y))
    return false;
  auto ends = [](const RowMember &member) { return static_cast<unsigned>(member.space().dims.size()); };
  if (walkOf(x, a.space(), 0, a.rowDims) != walkOf(y, b.space(), 0, b.rowDims))
    return false;
  return !a.movesAlongColumns(x) ||
         walkOf(x, a.space(), a.rowDims, ends(a)) == walkOf(y, b.space(), b.rowDims, ends(b));
}

static bool overlaps(const RowMember &a, const Access &x, const RowMember &b, const Access &y) {
  return !x.scalar && !y.scalar && mayOverlap(footprintOf(x, a.space()), footprintOf(y, b.space()));
}

/// Finds the sources of a candidate's accesses. False if it touches other elements of a member's output, or writes
/// other elements of a member's input.
bool GpuRowFusion::resolve(RowMember &candidate) {
  for (const Access &output : candidate.space().outputs()) {
    auto clashes = [&](const RowMember &other, const Access &access) {
      return overlaps(candidate, output, other, access) && !hasSameElements(candidate, output, other, access);
    };
    auto clashesWith = [&](const RowMember &other) {
      return llvm::any_of(other.space().accesses, [&](const Access &access) { return clashes(other, access); });
    };
    if (clashesWith(candidate) || llvm::any_of(members, clashesWith))
      return false;
  }
  if (writesLoaded(candidate.space(), candidate.op) || llvm::any_of(members, [&](const RowMember &other) {
        return writesLoaded(other.space(), candidate.op) || writesLoaded(candidate.space(), other.op);
      }))
    return false;

  auto self = static_cast<unsigned>(members.size());
  for (const Access &access : candidate.space().accesses) {
    Source &source = candidate.sources.emplace_back();
    if (access.scalar)
      source.kind = Source::Scalar;
    if (access.scalar || !candidate.member.reads(access))
      continue;
    for (unsigned writer = self; writer-- > 0 && source.kind == Source::None;) {
      const RowMember &other = members[writer];
      for (auto [output, written] : llvm::enumerate(other.space().outputs())) {
        if (!overlaps(candidate, access, other, written))
          continue;
        if (!hasSameElements(candidate, access, other, written))
          return false;
        source = {Source::Computed, writer, static_cast<unsigned>(output)};
        candidate.phase = std::max(candidate.phase, other.readyPhase());
      }
    }
    if (source.kind == Source::None)
      source.kind = Source::Memory;
  }
  return true;
}

//===-- Members -------------------------------------------------------------------------------------------------===//

std::optional<GpuRowFusion> GpuRowFusion::of(linalg::LinalgOp op, Member member, const Join &join) {
  IterationSpace &space = member.space;
  unsigned parallel = countParallel(space), end = static_cast<unsigned>(space.dims.size());
  if (!space.hasReduction() || !runsAlongMemory(space))
    return std::nullopt;
  GpuRowFusion fusion;
  fusion.rows = product(sizesOf(space, 0, parallel));
  fusion.columns = product(sizesOf(space, parallel, end));
  if (fusion.rows == 0 || fusion.columns < 2 || (fusion.rows < leastRows && fusion.columns >= 2 * kPartSteps))
    return std::nullopt;
  GpuRowFusion alone = fusion;
  return alone.add(op, std::move(member), join) ? std::optional(std::move(fusion)) : std::nullopt;
}

bool GpuRowFusion::mayTake(linalg::LinalgOp op) const {
  if (op.hasDynamicShape() || !op.hasPureBufferSemantics() || members.size() == mostMembers)
    return false;
  int64_t points = product(op.getStaticLoopRanges());
  return points == rows * columns || points == rows;
}

bool GpuRowFusion::add(linalg::LinalgOp op, Member member, std::optional<Join> join) {
  RowMember candidate;
  candidate.op = op;
  bool isReduction = member.space.hasReduction();
  if (isReduction && (!join || !runsAlongMemory(member.space)))
    return false;
  candidate.member = std::move(member);
  if (isReduction)
    candidate.join = std::move(join);
  if (!cut(candidate) || !resolve(candidate))
    return false;
  members.push_back(std::move(candidate));
  return true;
}

/// Whether only the members use a buffer, and they read only elements that they have written.
bool GpuRowFusion::isPrivate(Value root) const {
  if (!root.getDefiningOp<memref::AllocOp>())
    return false;
  for (const RowMember &member : members)
    for (auto [access, source] : llvm::zip_equal(member.space().accesses, member.sources))
      if (source.kind == Source::Memory && loops::rootOf(access.memref) == root)
        return false;
  return llvm::all_of(viewsOf(root), [&](Value view) {
    return llvm::all_of(view.getUsers(), [&](Operation *user) {
      return isa<ViewLikeOpInterface, memref::DeallocOp>(user) ||
             llvm::any_of(members, [&](const RowMember &member) { return member.op == user; });
    });
  });
}

void GpuRowFusion::finish(Operation *op) {
  // Finds the members that share elements, directly or indirectly, starting from `op`.
  SmallVector<bool> isKept(members.size(), false);
  SmallVector<unsigned> pending;
  for (auto [number, member] : llvm::enumerate(members))
    if (member.op == op) {
      isKept[number] = true;
      pending.push_back(number);
    }
  auto share = [&](const RowMember &a, const RowMember &b) {
    return llvm::any_of(a.space().accesses, [&](const Access &x) {
      return !x.scalar && (a.movesAlongRows(x) || rows == 1) && llvm::any_of(b.space().accesses, [&](const Access &y) {
        return !y.scalar && hasSameElements(a, x, b, y);
      });
    });
  };
  while (!pending.empty()) {
    unsigned current = pending.pop_back_val();
    for (unsigned other = 0; other < members.size(); ++other)
      if (!isKept[other] && share(members[current], members[other])) {
        isKept[other] = true;
        pending.push_back(other);
      }
  }
  std::vector<RowMember> kept;
  for (auto [number, member] : llvm::enumerate(members))
    if (isKept[number])
      kept.push_back(std::move(member));
  members.clear();
  // Numbers of members have changed.
  for (RowMember &member : kept) {
    member.sources.clear();
    member.phase = 0;
    bool fits = resolve(member);
    assert(fits && "a part of a cluster is a row fusion");
    (void)fits;
    members.push_back(std::move(member));
  }

  for (auto [number, member] : llvm::enumerate(members))
    for (auto [access, source] : llvm::enumerate(member.sources)) {
      if (source.kind != Source::Memory)
        continue;
      const Access &own = member.space().accesses[access];
      auto known = llvm::find_if(loads, [&, &member = member](const RowLoad &load) {
        return hasSameElements(members[load.member], accessOf(load), member, own);
      });
      source.number = static_cast<unsigned>(known - loads.begin());
      if (known == loads.end())
        loads.push_back({static_cast<unsigned>(number), static_cast<unsigned>(access)});
    }

  for (auto [number, member] : llvm::enumerate(members))
    for (auto [output, access] : llvm::enumerate(member.space().outputs())) {
      bool isLast = llvm::none_of(
          ArrayRef(members).drop_front(number + 1), [&, &access = access, &member = member](const RowMember &later) {
            return llvm::any_of(later.space().outputs(),
                                [&](const Access &written) { return hasSameElements(member, access, later, written); });
          });
      if (isLast && !isPrivate(loops::rootOf(access.memref)))
        stores.push_back({static_cast<unsigned>(number), static_cast<unsigned>(output)});
    }
}

} // namespace mlir::array
