// Collectives among the devices of a program, which is already one device's part. An attribute of its module has the
// number of devices (kParticipantsAttr). Partitions are participants; JAX has one replica.
#include "Regions.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSwitch.h"

#include <map>

namespace mlir::array::stablehlo {
namespace {

/// The number of participants; 0 for a program that runs alone.
int64_t participantsOf(Operation *op) {
  auto number = op->getParentOfType<ModuleOp>()->getAttrOfType<IntegerAttr>(kParticipantsAttr);
  return number ? number.getInt() : 0;
}

NamedAttribute named(Source &source, StringRef name, Attribute value) {
  return source.builder.getNamedAttr(name, value);
}

/// One group of all participants: of device 0, for a program that runs alone.
Attribute allTogether(Source &source) {
  int64_t count = std::max<int64_t>(participantsOf(source.op), 1);
  return source.builder.getI64TensorAttr(llvm::to_vector(llvm::seq<int64_t>(count)))
      .reshape(RankedTensorType::get({1, count}, source.builder.getI64Type()));
}

/// Whether a program that runs alone, as device 0, names another device, which is an error.
bool refuseOthers(Source &source, ArrayRef<int64_t> devices) {
  if (llvm::all_of(devices, [](int64_t device) { return device == 0; }))
    return false;
  source.error() << "a program for several devices; one for a single device is taken";
  return true;
}

/// Rows of members; without rows, all participants are one group.
Attribute groupsOf(Source &source) {
  auto rows = dyn_cast_or_null<DenseIntElementsAttr>(source.attribute({"replica_groups"}));
  if (!rows) {
    source.error() << "expected the attribute 'replica_groups', rows of devices";
    return {};
  }
  if (participantsOf(source.op) == 0 && refuseOthers(source, llvm::to_vector(rows.getValues<int64_t>())))
    return {};
  Attribute all = allTogether(source);
  return rows.empty() ? all : Attribute(rows);
}

/// The kind of a reduction of the array dialect; empty, after an error, for any other computation.
StringRef kindOf(Source &source, Type element) {
  const Combination *known = combinationOf(source.op->getRegion(0), element);
  StringRef kind = !known ? ""
                          : llvm::StringSwitch<StringRef>(known->binary)
                                .Case("add", "sum")
                                .Case("mul", "prod")
                                .Cases({"max", "min", "and", "or"}, known->binary)
                                .Default("");
  if (kind.empty())
    source.error() << "combines by another computation than a sum, product, maximum, minimum, and, or";
  return kind;
}

/// `array.<name>` for each operand; the operand itself in a program that runs alone.
LogicalResult replaceEach(Source &source, StringRef name, ArrayRef<NamedAttribute> attributes) {
  if (source.op->getNumOperands() != source.op->getNumResults())
    return source.error() << "expected a result for each operand";
  if (participantsOf(source.op) == 0)
    return source.replace(llvm::to_vector(source.op->getOperands()));
  SmallVector<Value> made;
  for (auto [operand, result] : llvm::zip_equal(source.op->getOperands(), source.op->getResultTypes()))
    made.push_back(source.make(name, result, {operand}, attributes));
  return source.replace(made);
}

/// `array.all_reduce` of each operand; empty, after an error.
SmallVector<Value> reduceEach(Source &source, Attribute groups) {
  SmallVector<Value> made;
  for (auto [index, operand] : llvm::enumerate(source.op->getOperands())) {
    StringRef kind = kindOf(source, source.type(index).getElementType());
    if (source.failed())
      return {};
    made.push_back(source.make("all_reduce", source.resultType(index), {operand},
                               {source.namedWord("kind", kind), named(source, "groups", groups)}));
  }
  return made;
}

/// The groups of one size together, by their size: -1 pads the short rows.
std::map<int64_t, SmallVector<int64_t>> bySize(Attribute groups) {
  std::map<int64_t, SmallVector<int64_t>> found;
  auto rows = dyn_cast<DenseIntElementsAttr>(groups);
  if (!rows || rows.getType().getRank() != 2)
    return found;
  auto members = llvm::to_vector(rows.getValues<int64_t>());
  int64_t width = rows.getType().getDimSize(1);
  for (ArrayRef<int64_t> row = members; !row.empty(); row = row.drop_front(width)) {
    auto some = llvm::make_filter_range(row.take_front(width), [](int64_t member) { return member >= 0; });
    if (!some.empty())
      llvm::append_range(found[llvm::range_size(some)], some);
  }
  return found;
}

/// Groups of a collective have one size. So there is a branch for each size, which the members of groups of this size
/// take.
LogicalResult reduceBySize(Source &source, const std::map<int64_t, SmallVector<int64_t>> &groups) {
  OpBuilder &builder = source.builder;
  int64_t count = participantsOf(source.op);
  SmallVector<int32_t> branches(count, 0);
  for (auto [branch, entry] : llvm::enumerate(groups))
    for (int64_t member : entry.second)
      if (member < count)
        branches[member] = branch;
  auto scalar = RankedTensorType::get({}, builder.getI32Type());
  auto table = RankedTensorType::get({count}, builder.getI32Type());
  Value all = source.make("constant", table, {}, {named(source, "value", builder.getI32TensorAttr(branches))});
  Value own = source.make("dynamic_slice", table.clone({1}), {all, source.make("participant", scalar, {})},
                          {source.named("slice_sizes", {1})});
  OperationState state(source.loc(), "array.cond", {source.reshape(own, ArrayRef<int64_t>())},
                       source.op->getResultTypes(), {});
  for (const auto &[size, members] : groups) {
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(state.addRegion());
    auto rows = builder.getI64TensorAttr(members).reshape(
        RankedTensorType::get({int64_t(members.size()) / size, size}, builder.getI64Type()));
    SmallVector<Value> made = reduceEach(source, rows);
    if (source.failed())
      return failure();
    builder.create(OperationState(source.loc(), "array.yield", made, {}, {}));
  }
  return source.replace(builder.create(state)->getResults());
}

LogicalResult convertAllReduce(Source &source) {
  Attribute groups = groupsOf(source);
  if (source.failed())
    return failure();
  if (source.op->getNumOperands() != source.op->getNumResults())
    return source.error() << "expected a result for each operand";
  if (participantsOf(source.op) == 0)
    return source.replace(llvm::to_vector(source.op->getOperands()));
  auto sizes = bySize(groups);
  return sizes.size() > 1 ? reduceBySize(source, sizes) : source.replace(reduceEach(source, groups));
}

LogicalResult convertReduceScatter(Source &source) {
  Attribute groups = groupsOf(source);
  int64_t dimension = source.integer({"scatter_dimension"});
  StringRef kind = kindOf(source, source.type(0).getElementType());
  if (source.failed())
    return failure();
  return replaceEach(
      source, "reduce_scatter",
      {source.namedWord("kind", kind), source.namedNumber("dimension", dimension), named(source, "groups", groups)});
}

LogicalResult convertAllGather(Source &source) {
  Attribute groups = groupsOf(source);
  int64_t dimension = source.integer({"all_gather_dim"});
  if (source.failed())
    return failure();
  return replaceEach(source, "all_gather",
                     {source.namedNumber("dimension", dimension), named(source, "groups", groups)});
}

LogicalResult convertAllToAll(Source &source) {
  Attribute groups = groupsOf(source);
  int64_t split = source.integer({"split_dimension"}), concat = source.integer({"concat_dimension"});
  if (source.failed())
    return failure();
  return replaceEach(source, "all_to_all",
                     {source.namedNumber("split_axis", split), source.namedNumber("concat_axis", concat),
                      named(source, "groups", groups)});
}

/// Alternating senders and receivers. A participant without a sender gets zeros.
LogicalResult replaceByPermute(Source &source, ArrayRef<int64_t> pairs) {
  bool isAlone = participantsOf(source.op) == 0;
  if (isAlone && refuseOthers(source, pairs))
    return failure();
  if (isAlone && pairs.empty())
    return source.replace(llvm::map_to_vector(llvm::seq<unsigned>(source.op->getNumResults()), [&](unsigned index) {
      return source.number(source.resultType(index), 0);
    }));
  return replaceEach(source, "collective_permute",
                     {source.named("pairs", pairs), named(source, "groups", allTogether(source))});
}

LogicalResult convertPermute(Source &source) {
  SmallVector<int64_t> pairs = source.integers({"source_target_pairs"});
  return source.failed() ? failure() : replaceByPermute(source, pairs);
}

/// The first of each row sends to all of the row; any other participant gets zeros.
LogicalResult convertBroadcast(Source &source) {
  auto rows = dyn_cast_or_null<DenseIntElementsAttr>(source.attribute({"replica_groups"}));
  SmallVector<int64_t> pairs, members;
  if (rows && rows.getType().getRank() == 2) {
    int64_t width = rows.getType().getDimSize(1);
    llvm::append_range(members, rows.getValues<int64_t>());
    for (auto [place, member] : llvm::enumerate(members))
      if (member >= 0)
        pairs.append({members[place - place % width], member});
  }
  return replaceByPermute(source, pairs);
}

/// The number of the device that runs the program; alone, it is 0.
LogicalResult convertPartition(Source &source) {
  if (participantsOf(source.op) == 0)
    return source.replace(source.number(source.resultType(), 0));
  auto type = RankedTensorType::get({}, source.builder.getI32Type());
  return source.replace(source.convert(source.make("participant", type, {}), source.resultType().getElementType()));
}

/// The number of this copy of the program: there is one.
LogicalResult convertReplica(Source &source) { return source.replace(source.number(source.resultType(), 0)); }

} // namespace

void addCollectiveRules(Rules &rules) {
  rules["stablehlo.all_reduce"] = {convertAllReduce, parseClauses, 1, ~0u, 1};
  rules["stablehlo.reduce_scatter"] = {convertReduceScatter, parseClauses, 1, 1, 1};
  rules["stablehlo.all_gather"] = {convertAllGather, parseClauses, 1, ~0u};
  rules["stablehlo.all_to_all"] = {convertAllToAll, parseClauses, 1, ~0u};
  rules["stablehlo.collective_permute"] = {convertPermute, parseClauses, 1, ~0u};
  rules["stablehlo.collective_broadcast"] = {convertBroadcast, parseClauses, 1, ~0u};
  rules["stablehlo.partition_id"] = {convertPartition, parseClauses, 0, 0};
  rules["stablehlo.replica_id"] = {convertReplica, parseClauses, 0, 0};
}

} // namespace mlir::array::stablehlo
