// Elementwise ops: a thread computes adjacent points for 16 bytes of the widest operand, and several such groups if
// there are many. It reads all groups before it writes.
//
// If every output is dense, the points of any shape form one long row. Single threads compute a rest that is smaller
// than a group. Operands that are dense in the same way, and those that are contiguous in groups of the last dimension,
// are moved in groups; others element by element.
#include "Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::array {

namespace {

/// Groups of one thread, if this leaves enough blocks.
constexpr int64_t kGroups = 2;
/// Larger bodies, in operations, keep a thread busy with one group.
constexpr size_t kShortPoint = 48;

class Elementwise {
public:
  Elementwise(KernelBuilder &k, const Member &member)
      : k(k), member(member), space(member.space), sizes(sizesOf(space, 0, space.dims.size())), points(product(sizes)) {
  }

  void emit() {
    if (points == 0)
      return k.abandon();
    chooseLanes();
    int64_t groups = points / lanes, tail = points % lanes;
    int64_t perThread = groups >= kManyBlocks * kBlockSize * kGroups && member.bodySize <= kShortPoint ? kGroups : 1;
    int64_t threads = std::min<int64_t>(kBlockSize, kWarpSize * llvm::divideCeil(std::max(groups, tail), kWarpSize));
    int64_t blocks = std::max<int64_t>(llvm::divideCeil(groups, threads * perThread), 1);
    k.setGrid(blocks, threads);
    Value first = k.add(k.mul(k.block(), threads * perThread), k.thread());
    bool isExact = groups == blocks * threads * perThread;
    if (groups > 0)
      emitGroups(first, groups, threads, perThread, isExact);
    if (tail == 0)
      return;
    Value number = k.add(k.mul(k.block(), threads), k.thread());
    k.when(k.isLess(number, tail), [&] { emitPoint(k.add(number, groups * lanes)); });
  }

private:
  /// Whether the elements of an access follow each other in the order of the points.
  bool isDense(const Access &access) const {
    int64_t stride = 1;
    if (access.scalar)
      return false;
    for (size_t dim = sizes.size(); dim-- > 0; stride *= sizes[dim])
      if (!access.strides[dim].isStatic(stride))
        return false;
    return true;
  }

  unsigned last() const { return static_cast<unsigned>(sizes.size()) - 1; }

  void chooseLanes() {
    if (sizes.empty())
      return;
    int64_t most = lanesAlong(space, last());
    bool isWhole = sizes.back() % most == 0;
    if (llvm::all_of(space.outputs(), [&](const Access &access) {
          return isDense(access) || (isWhole && access.strides.back().isStatic(1));
        }))
      lanes = points >= most ? most : 1;
    isInRow = sizes.back() % lanes == 0;
  }

  /// The number of the first element if all lanes are moved together; else null.
  Value wideOffset(const Access &access, Value point, ArrayRef<Value> at) {
    if (lanes == 1 || access.scalar || !hasWholeBytes(access.element))
      return {};
    if (isDense(access)) { // all is one row
      Access row = access;
      row.strides.assign(1, loops::SymbolicSize(1));
      return isWide(row, 0, lanes) ? k.offsetOf(row, {point}) : Value();
    }
    return isInRow && isWide(access, last(), lanes) ? k.offsetOf(access, at) : Value();
  }

  struct Group {
    Value point, isInside;
    SmallVector<Values> at; // of each lane
    SmallVector<Values> arguments;
  };

  void emitGroups(Value first, int64_t groups, int64_t threads, int64_t perThread, bool isExact) {
    // A single group is skipped as a whole. Several groups are all read, at clamped positions.
    Value isInside = isExact || perThread > 1 ? Value() : k.isLess(first, groups);
    k.when(isInside, [&] {
      SmallVector<Group, kGroups> read;
      for (int64_t number = 0; number < perThread; ++number) {
        Group group;
        Value own = k.add(first, number * threads);
        if (perThread > 1 && !isExact) {
          group.isInside = k.isLess(own, groups);
          own = k.least(own, groups - 1);
        }
        group.point = k.mul(own, lanes);
        readGroup(group);
        read.push_back(std::move(group));
      }
      for (Group &group : read)
        computeGroup(group);
    });
  }

  void readGroup(Group &group) {
    for (int64_t lane = 0; lane < lanes; ++lane)
      group.at.push_back(lane == 0 || !isInRow ? k.place(sizes, k.add(group.point, lane))
                                               : k.moved(group.at.front(), last(), lane));
    for (const Access &access : space.accesses) {
      Values values(lanes);
      if (!member.reads(access)) {
      } else if (access.isOutput && access.init) {
        values.assign(lanes, access.init);
      } else if (Value offset = wideOffset(access, group.point, group.at.front())) {
        values = k.loadWide(access, offset, lanes);
      } else if (lanes > 1 && isInRow && !access.scalar && access.strides.back().isZero()) {
        values.assign(lanes, k.load(access, group.at.front()));
      } else {
        for (int64_t lane = 0; lane < lanes; ++lane)
          values[lane] = k.load(access, group.at[lane]);
      }
      group.arguments.push_back(std::move(values));
    }
  }

  void computeGroup(Group &group) {
    SmallVector<Values> results(space.outputs().size());
    for (int64_t lane = 0; lane < lanes; ++lane) {
      Values arguments = llvm::map_to_vector<4>(group.arguments, [&](const Values &all) { return all[lane]; });
      for (auto [result, value] : llvm::zip_equal(results, member.body(arguments, group.at[lane])))
        result.push_back(value);
    }
    k.when(group.isInside, [&] {
      for (auto [output, values] : llvm::zip_equal(space.outputs(), results)) {
        if (Value offset = wideOffset(output, group.point, group.at.front())) {
          k.storeWide(values, output, offset);
          continue;
        }
        for (int64_t lane = 0; lane < lanes; ++lane)
          k.store(values[lane], output, group.at[lane]);
      }
    });
  }

  void emitPoint(Value point) {
    Values at = k.place(sizes, point), arguments;
    for (const Access &access : space.accesses)
      arguments.push_back(!member.reads(access) ? Value() : k.before(access, at));
    for (auto [output, value] : llvm::zip_equal(space.outputs(), member.body(arguments, at)))
      k.store(value, output, at);
  }

  KernelBuilder &k;
  const Member &member;
  const IterationSpace &space;
  SmallVector<int64_t> sizes;
  int64_t points, lanes = 1;
  bool isInRow = true; ///< The lanes of a group lie along the last dimension.
};

} // namespace

void emitElementwise(KernelBuilder &k, const Member &member) { Elementwise(k, member).emit(); }

} // namespace mlir::array
