// The kernel of a row fusion (RowFusionForm.h). Several lanes of a warp, or a block, share a row; a thread takes groups
// of 16 bytes, and has the same columns from beginning to end. The kernel runs in phases. Each phase computes the
// values that need only reductions of earlier phases, and ends with reductions; the last one stores.
//
// If they fit, a thread holds its elements of the row in registers: all of them are loaded at the beginning, and
// computed once. Elements of longer rows are loaded, and computed, again in every phase: they come from the second
// cache.
#include "RowFusionKernels.h"
#include "Analysis/Footprint.h"
#include "Gpu/Kernels/Kernels.h"
#include "RowSharing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"
#include <map>

namespace mlir::array {

namespace {

class RowKernel {
public:
  RowKernel(KernelBuilder &k, const GpuRowFusion &fusion)
      : k(k), fusion(fusion), members(fusion.members), loads(fusion.loads), sharing(fusion), lanes(sharing.lanes),
        groups(sharing.groups), threads(sharing.threads) {}

  void emit() {
    k.setGrid(llvm::divideCeil(fusion.rows, sharing.rows), sharing.rows * threads);
    share = k.remainder(k.thread(), threads);
    Value own = k.add(k.mul(k.block(), sharing.rows), k.divide(k.thread(), threads));
    std::tie(row, isInside) = k.clamp(own, fusion.rows, fusion.rows % sharing.rows == 0);
    for (const RowMember &member : members)
      rowAt.push_back(k.place(sizesOf(member.space(), 0, member.rowDims), row));
    for (const RowLoad &load : loads)
      rowLoads.push_back(fusion.isAlongColumns(load) ? Value() : loadOfRow(load));
    for (int64_t number = 0; number < sharing.held; ++number)
      heldGroups.push_back(holdGroup(number));
    for (unsigned phase = 0; phase <= sharing.phases; ++phase) {
      computeRows(phase);
      reduce(phase);
    }
    storeRows();
    storeColumns();
  }

private:
  using Key = std::pair<unsigned, unsigned>; // a member and the number of an output

  /// Neighbouring elements of a row that a thread has.
  struct Group {
    Value column;                 // the first one's
    Value isInside;               // null: it always is
    SmallVector<Values> elements; // of each load
    std::map<Key, Values> values; // that members have computed
  };

  //===-- Elements ------------------------------------------------------------------------------------------------===//

  Values placeOf(unsigned member, Value column) {
    Values at = rowAt[member];
    const IterationSpace &space = members[member].space();
    at.append(k.place(sizesOf(space, members[member].rowDims, space.dims.size()), column));
    return at;
  }

  Value loadOfRow(const RowLoad &load) { return k.load(fusion.accessOf(load), placeOf(load.member, k.index(0))); }

  Values loadColumns(const RowLoad &load, Value column) {
    const Access &access = fusion.accessOf(load);
    auto last = static_cast<unsigned>(access.strides.size()) - 1;
    Values at = placeOf(load.member, column), elements;
    if (lanes > 1 && isWide(access, last, lanes))
      return k.loadWide(access, k.offsetOf(access, at), lanes);
    for (int64_t lane = 0; lane < lanes; ++lane)
      elements.push_back(k.load(access, k.moved(at, last, lane)));
    return elements;
  }

  /// Values that are the same for all rows stay in the first cache until they are needed.
  Group holdGroup(int64_t number) {
    Group group;
    Value own = k.add(share, number * threads);
    std::tie(own, group.isInside) = k.clamp(own, groups, (number + 1) * threads <= groups);
    group.column = k.mul(own, lanes);
    for (const RowLoad &load : loads)
      group.elements.push_back(fusion.isOfElements(load) ? loadColumns(load, group.column) : Values());
    return group;
  }

  Value elementOf(const Source &source, const Access &access, Group *group, int64_t lane) {
    switch (source.kind) {
    case Source::None:
      return {};
    case Source::Scalar:
      return access.scalar;
    case Source::Memory: {
      if (Value value = rowLoads[source.number])
        return value;
      Values &elements = group->elements[source.number];
      if (elements.empty())
        elements = loadColumns(loads[source.number], group->column);
      return elements[lane];
    }
    case Source::Computed:
      if (members[source.number].storesRows)
        return rowValues.at({source.number, source.output});
      return compute(source.number, source.output, *group)[lane];
    }
    llvm_unreachable("all kinds of sources");
  }

  /// The arguments of a member's body; a reduction adds to `sums`.
  Values argumentsOf(const RowMember &member, Group *group, int64_t lane, ValueRange sums = {}) {
    Values arguments;
    size_t count = member.space().accesses.size() - sums.size();
    for (auto [source, access] : llvm::zip(ArrayRef(member.sources).take_front(count), member.space().accesses))
      arguments.push_back(elementOf(source, access, group, lane));
    llvm::append_range(arguments, sums);
    return arguments;
  }

  /// The indices of a group's lanes, for a body that uses them.
  Values placeOfLane(unsigned member, const Group &group, int64_t lane) {
    const IterationSpace &space = members[member].space();
    Values at = placeOf(member, group.column);
    return k.moved(at, static_cast<unsigned>(space.dims.size()) - 1, lane);
  }

  const Values &compute(unsigned number, unsigned output, Group &group) {
    const RowMember &member = members[number];
    if (auto known = group.values.find({number, output}); known != group.values.end())
      return known->second;
    SmallVector<Values> results(member.space().outputs().size());
    for (int64_t lane = 0; lane < lanes; ++lane) {
      Values arguments = argumentsOf(member, &group, lane);
      for (auto [result, value] :
           llvm::zip_equal(results, member.member.body(arguments, placeOfLane(number, group, lane))))
        result.push_back(value);
    }
    for (auto [each, values] : llvm::enumerate(results))
      group.values[{number, static_cast<unsigned>(each)}] = std::move(values);
    return group.values[{number, output}];
  }

  //===-- Phases ------------------------------------------------------------------------------------------------===//

  /// The members' values for a row: every thread that shares it computes them.
  void computeRows(unsigned phase) {
    for (auto [number, member] : llvm::enumerate(members)) {
      if (!member.storesRows || member.isReduction() || member.phase != phase)
        continue;
      Values results = member.member.body(argumentsOf(member, nullptr, 0), rowAt[number]);
      for (auto [output, value] : llvm::enumerate(results))
        rowValues[{static_cast<unsigned>(number), static_cast<unsigned>(output)}] = value;
    }
  }

  Values addGroup(unsigned number, Group &group, ValueRange sums) {
    const RowMember &member = members[number];
    size_t outputs = member.space().outputs().size();
    Values next;
    for (int64_t lane = 0; lane < lanes; ++lane)
      next.append(member.member.body(argumentsOf(member, &group, lane, sums.slice(lane * outputs, outputs)),
                                     placeOfLane(number, group, lane)));
    if (group.isInside)
      for (auto [value, before] : llvm::zip_equal(next, sums))
        value = arith::SelectOp::create(k, group.isInside, value, before);
    return next;
  }

  void reduce(unsigned phase) {
    SmallVector<unsigned> reductions;
    SmallVector<Values> sums;
    for (auto [number, member] : llvm::enumerate(members))
      if (member.isReduction() && member.phase == phase) {
        reductions.push_back(static_cast<unsigned>(number));
        Values &own = sums.emplace_back();
        for (int64_t lane = 0; lane < lanes; ++lane)
          own.append(member.join->neutral(k));
      }
    if (reductions.empty())
      return;
    for (Group &group : heldGroups)
      for (auto [number, own] : llvm::zip_equal(reductions, sums))
        own = addGroup(number, group, own);
    if (sharing.held == 0)
      sweepRow(reductions, sums);
    for (auto [number, own] : llvm::zip_equal(reductions, sums))
      joinSums(number, std::move(own));
  }

  void joinSums(unsigned number, Values sums) {
    const RowMember &member = members[number];
    Values joined = member.join->ofLanes(k, std::move(sums), lanes);
    joined = threads > kWarpSize ? member.join->inBlock(k, std::move(joined), k.thread(), threads)
                                 : member.join->inWarp(k, std::move(joined), threads);
    Values before;
    for (auto [output, source] :
         llvm::zip_equal(member.space().outputs(), ArrayRef(member.sources).drop_front(member.space().numInputs)))
      before.push_back(elementOf(source, output, nullptr, 0));
    for (auto [output, value] : llvm::enumerate((*member.join)(k, before, joined)))
      rowValues[{number, static_cast<unsigned>(output)}] = value;
  }

  //===-- Rows that are not held ----------------------------------------------------------------------------------===//

  /// The loads of a member's elements, and of its operands.
  void addLoads(unsigned number, llvm::SmallSetVector<unsigned, 4> &needed) const {
    for (const Source &source : members[number].sources) {
      if (source.kind == Source::Memory && fusion.isAlongColumns(loads[source.number]))
        needed.insert(source.number);
      else if (source.kind == Source::Computed && !members[source.number].storesRows)
        addLoads(source.number, needed);
    }
  }

  Group loadGroup(Value number, const llvm::SmallSetVector<unsigned, 4> &needed) {
    Group group;
    group.column = k.mul(number, lanes);
    group.elements.resize(loads.size());
    for (unsigned load : needed)
      group.elements[load] = loadColumns(loads[load], group.column);
    return group;
  }

  void sweepRow(ArrayRef<unsigned> reductions, MutableArrayRef<Values> sums) {
    llvm::SmallSetVector<unsigned, 4> needed;
    Values all;
    for (auto [number, own] : llvm::zip_equal(reductions, sums)) {
      addLoads(number, needed);
      all.append(own);
    }
    bool isShort = sharing.operations <= static_cast<int64_t>(4 * kShortBody);
    all = sweep(
        k, share, k.index(groups), threads, isShort, std::move(all),
        [&](Value number) {
          Group group = loadGroup(number, needed);
          return Loaded{{Values{group.column}}, std::move(group.elements)};
        },
        [&](const Loaded &loaded, ValueRange carried) {
          Group group{loaded.at.front().front(), Value(), loaded.arguments, {}};
          Values next;
          for (auto [number, own] : llvm::zip_equal(reductions, sums)) {
            next.append(addGroup(number, group, carried.take_front(own.size())));
            carried = carried.drop_front(own.size());
          }
          return next;
        });
    for (Values &own : sums) {
      size_t count = own.size();
      own.assign(all.begin(), all.begin() + count);
      all.erase(all.begin(), all.begin() + count);
    }
  }

  //===-- Stores --------------------------------------------------------------------------------------------------===//

  /// One thread stores elements that the others may have loaded.
  void storeRows() {
    auto isLoaded = [&](Key key) {
      Value root = loops::rootOf(members[key.first].output(key.second).memref);
      return llvm::any_of(llvm::zip_equal(loads, rowLoads), [&](auto load) {
        return std::get<1>(load) && loops::rootOf(fusion.accessOf(std::get<0>(load)).memref) == root;
      });
    };
    auto stored = llvm::filter_to_vector(fusion.stores, [&](Key key) { return members[key.first].storesRows; });
    if (stored.empty())
      return;
    if (llvm::any_of(stored, isLoaded))
      gpu::BarrierOp::create(k);
    k.when(k.both(isInside, k.isLess(share, 1)), [&] {
      for (Key key : stored)
        k.store(rowValues.at(key), members[key.first].output(key.second), placeOf(key.first, k.index(0)));
    });
  }

  void storeColumns() {
    auto stored = llvm::filter_to_vector(fusion.stores, [&](Key key) { return !members[key.first].storesRows; });
    if (stored.empty())
      return;
    if (sharing.held > 0) {
      MutableArrayRef<Group> whole = heldGroups;
      if (Value isPart = whole.back().isInside) {
        storeGroups(stored, whole.drop_back(), isInside);
        return storeGroups(stored, whole.take_back(), k.both(isInside, isPart));
      }
      return storeGroups(stored, whole, isInside);
    }
    llvm::SmallSetVector<unsigned, 4> needed;
    for (Key key : stored)
      addLoads(key.first, needed);
    k.loop(share, k.index(groups), k.index(threads), {}, [&](Value number, ValueRange) {
      Group group = loadGroup(number, needed);
      storeGroups(stored, group, isInside);
      return Values();
    });
  }

  /// All values are computed before any is stored: a store may overwrite a loaded element.
  void storeGroups(ArrayRef<Key> stored, MutableArrayRef<Group> some, Value condition) {
    k.when(condition, [&] {
      for (Group &group : some)
        for (auto [member, output] : stored)
          compute(member, output, group);
      for (Group &group : some)
        for (auto [member, output] : stored)
          storeGroup(member, output, group);
    });
  }

  void storeGroup(unsigned number, unsigned output, Group &group) {
    const Access &access = members[number].output(output);
    auto last = static_cast<unsigned>(access.strides.size()) - 1;
    const Values &values = group.values.at({number, output});
    Values at = placeOf(number, group.column);
    if (lanes > 1 && isWide(access, last, lanes))
      return k.storeWide(values, access, k.offsetOf(access, at));
    for (int64_t lane = 0; lane < lanes; ++lane)
      k.store(values[lane], access, k.moved(at, last, lane));
  }

  KernelBuilder &k;
  const GpuRowFusion &fusion;
  ArrayRef<RowMember> members;
  ArrayRef<RowLoad> loads;
  const RowSharing sharing;
  const int64_t lanes, groups, threads;

  Value row, isInside, share;
  SmallVector<Values> rowAt;      ///< The indices of the row, for each member.
  SmallVector<Value> rowLoads;    ///< Of each load without columns.
  std::map<Key, Value> rowValues; ///< That members have computed.
  SmallVector<Group> heldGroups;
};

} // namespace

void emitRowFusion(KernelBuilder &k, const GpuRowFusion &fusion) { RowKernel(k, fusion).emit(); }

} // namespace mlir::array
