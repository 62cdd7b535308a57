// Schedules as attributes: their text, and the rules that one must keep to (ScheduleAttr.h).
#include "ScheduleAttr.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::array::loops {

//===--- Writing --------------------------------------------------------------------------------------------------===//

static std::string textOf(const LoopDim &dim) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(dim.sources, os, [&](unsigned source) { os << 'd' << source; }, ".");
  os << ": ";
  if (dim.size.isStatic())
    os << dim.size.factor;
  else
    os << '?';
  if (dim.reduced)
    os << " reduced";
  return text;
}

static ArrayAttr loopsOf(Builder &b, const IterationSpace &space) {
  return b.getArrayAttr(
      llvm::map_to_vector(space.dims, [&](const LoopDim &dim) -> Attribute { return b.getStringAttr(textOf(dim)); }));
}

DictionaryAttr toAttribute(MLIRContext *context, const IterationSpace &space, const LoopSchedule &schedule) {
  Builder b(context);
  SmallVector<NamedAttribute> entries;
  auto set = [&](StringRef name, Attribute value) { entries.push_back(b.getNamedAttr(name, value)); };
  auto number = [&](StringRef name, int64_t value) { set(name, b.getI64IntegerAttr(value)); };
  set("loops", loopsOf(b, space));
  if (schedule.vectorDim) {
    number("vector", *schedule.vectorDim);
    number("lanes", schedule.lanes);
  }
  if (schedule.tileDim) {
    number("tile", *schedule.tileDim);
    number("tile_size", schedule.tileSize);
  }
  if (schedule.readsInOrder)
    set("in_order", b.getUnitAttr());
  if (schedule.jamDim) {
    number("jam", *schedule.jamDim);
    number("jam_size", schedule.jamSize);
  }
  if (!schedule.unrolledDims.empty())
    set("unrolled", b.getDenseI64ArrayAttr(llvm::to_vector_of<int64_t>(schedule.unrolledDims)));
  if (schedule.prefetchBytes)
    number("prefetch", schedule.prefetchBytes);
  return b.getDictionaryAttr(entries);
}

//===--- Reading --------------------------------------------------------------------------------------------------===//

namespace {

constexpr int64_t mostTile = 256, mostJam = 8, mostUnrolled = 64, mostPrefetch = 1 << 16, mostRegisters = 4;

class Reader {
public:
  Reader(const Nest &nest, const Machine &machine, DictionaryAttr entries)
      : op(nest.op), space(nest.space), machine(machine), entries(entries) {}

  FailureOr<LoopSchedule> read();

private:
  InFlightDiagnostic error() { return op.emitOpError("array.schedule: "); }

  LogicalResult readNames();
  LogicalResult readVector();
  LogicalResult readTile();
  LogicalResult readJam();
  LogicalResult readUnrolled();

  /// The entry, if there is one: a number within the bounds.
  LogicalResult readNumber(StringRef name, int64_t least, int64_t most, std::optional<int64_t> &number) {
    Attribute entry = entries.get(name);
    if (!entry)
      return success();
    auto integer = dyn_cast<IntegerAttr>(entry);
    if (!integer || !integer.getType().isSignlessInteger(64) || integer.getInt() < least || integer.getInt() > most)
      return error() << "'" << name << "' must be an i64 from " << least << " to " << most << ", got " << entry;
    number = integer.getInt();
    return success();
  }

  LogicalResult readLoop(StringRef name, std::optional<unsigned> &loop) {
    std::optional<int64_t> number;
    if (failed(readNumber(name, 0, int64_t(space.dims.size()) - 1, number)))
      return failure();
    if (number)
      loop = *number;
    return success();
  }

  linalg::LinalgOp op;
  const IterationSpace &space;
  const Machine &machine;
  DictionaryAttr entries;
  LoopSchedule schedule;
};

LogicalResult Reader::readNames() {
  constexpr StringLiteral names[] = {"in_order", "jam",  "jam_size",  "lanes",    "loops",
                                     "prefetch", "tile", "tile_size", "unrolled", "vector"};
  for (NamedAttribute entry : entries) {
    if (llvm::is_contained(names, entry.getName().getValue()))
      continue;
    InFlightDiagnostic unknown = error() << "there is no '" << entry.getName().getValue() << "'; a schedule has ";
    llvm::interleaveComma(names, unknown);
    return unknown;
  }
  Builder b(op.getContext());
  ArrayAttr loops = loopsOf(b, space);
  Attribute given = entries.get("loops");
  if (given && given != loops)
    return error() << "the loops are " << loops << ", got " << given;
  return success();
}

LogicalResult Reader::readVector() {
  if (failed(readLoop("vector", schedule.vectorDim)))
    return failure();
  if (!schedule.vectorDim) {
    for (NamedAttribute entry : entries)
      if (entry.getName() != "loops")
        return error() << "'" << entry.getName().getValue() << "' needs 'vector', the loop of the vectors";
    return success();
  }
  unsigned vector = *schedule.vectorDim;
  if (!hasVectorForm(op, space))
    return error() << "the body has no form on vectors; leave 'vector' out";
  if (!mayBeVector(op, space, vector))
    return error() << "'vector' is " << vector << ", a loop of a reduction whose lanes can't be joined";
  schedule.lanes = lanesFor(op, space, vector, machine.registerBits);
  if (schedule.lanes == 0)
    return error() << "an element is wider than a register; leave 'vector' out";
  int64_t width = 8;
  for (const Access &access : space.accesses)
    width = std::max(width, 8 * bytesOf(access.element));
  std::optional<int64_t> lanes;
  if (failed(readNumber("lanes", 1, mostRegisters * machine.registerBits / width, lanes)))
    return failure();
  if (lanes && !llvm::isPowerOf2_64(*lanes))
    return error() << "'lanes' must be a power of two, got " << *lanes;
  schedule.lanes = lanes.value_or(schedule.lanes);
  std::optional<int64_t> prefetch;
  if (failed(readNumber("prefetch", 0, mostPrefetch, prefetch)))
    return failure();
  schedule.prefetchBytes = prefetch.value_or(0);
  return success();
}

LogicalResult Reader::readTile() {
  if (failed(readLoop("tile", schedule.tileDim)))
    return failure();
  Attribute inOrder = entries.get("in_order");
  if (inOrder && !isa<UnitAttr>(inOrder))
    return error() << "'in_order' must be a unit, got " << inOrder;
  schedule.readsInOrder = bool(inOrder);
  if (!schedule.tileDim) {
    for (StringRef name : {"tile_size", "in_order"})
      if (entries.get(name))
        return error() << "'" << name << "' needs 'tile'";
    return success();
  }
  unsigned tile = *schedule.tileDim, vector = *schedule.vectorDim;
  bool isFull = llvm::all_of(space.dims, [](const LoopDim &dim) { return dim.reduced; });
  if (tile == vector)
    return error() << "'tile' is the loop of the vectors; vectors divide it already";
  if (space.dims[tile].reduced != space.hasReduction())
    return error() << "'tile' is " << tile << "; in a reduction it must be a reduced loop";
  if (space.dims[vector].reduced && !isFull)
    return error() << "'tile' is not for vectors along a reduced loop";
  if (hasPartialOutput(space))
    return error() << "'tile' is not for outputs that move along a part of the reduced loops";
  std::optional<int64_t> size;
  if (failed(readNumber("tile_size", 1, mostTile, size)))
    return failure();
  int64_t side = 1;
  for (const Access &access : space.inputs())
    if (schedule.transposes(access))
      side = std::max(side, transposeSide(access.element));
  schedule.tileSize = size.value_or(side > 1 ? side : 4);
  if (!llvm::isPowerOf2_64(schedule.tileSize))
    return error() << "'tile_size' must be a power of two, got " << schedule.tileSize;
  if (schedule.tileSize < side || schedule.lanes < side)
    return error() << "squares of " << side << " x " << side << " are transposed in registers: 'tile_size' and 'lanes' "
                   << "must be at least " << side << ", got " << schedule.tileSize << " and " << schedule.lanes;
  if (schedule.readsInOrder && (!space.dims[tile].reduced || !hasDenseRows(space, tile, vector)))
    return error() << "'in_order' needs a reduced loop as 'tile' whose rows are adjacent";
  return success();
}

LogicalResult Reader::readJam() {
  if (failed(readLoop("jam", schedule.jamDim)))
    return failure();
  std::optional<int64_t> size;
  if (failed(readNumber("jam_size", 2, mostJam, size)))
    return failure();
  if (!schedule.jamDim)
    return size ? LogicalResult(error() << "'jam_size' needs 'jam'") : success();
  unsigned jam = *schedule.jamDim;
  if (schedule.tileDim)
    return error() << "'jam' and 'tile' exclude each other";
  if (space.dims[jam].reduced || jam == *schedule.vectorDim || hasPartialOutput(space))
    return error() << "'jam' is " << jam << "; it must be a parallel loop, and not that of the vectors";
  schedule.jamSize = size.value_or(2);
  return success();
}

LogicalResult Reader::readUnrolled() {
  Attribute entry = entries.get("unrolled");
  if (!entry)
    return success();
  auto loops = dyn_cast<DenseI64ArrayAttr>(entry);
  if (!loops)
    return error() << "'unrolled' must be array<i64>, the numbers of loops, got " << entry;
  if (schedule.tileDim || space.dims[*schedule.vectorDim].reduced)
    return error() << "'unrolled' needs vectors along a parallel loop, and no 'tile'";
  int64_t steps = 1;
  for (int64_t loop : loops.asArrayRef()) {
    bool exists = loop >= 0 && loop < int64_t(space.dims.size());
    if (!exists || loop == *schedule.vectorDim || loop == schedule.jamDim || schedule.isUnrolled(loop))
      return error() << "'unrolled' has " << loop << ", which is no other loop of the " << space.dims.size();
    const SymbolicSize &size = space.dims[loop].size;
    if (!size.isStatic() || size.factor > mostUnrolled || (steps *= size.factor) > mostUnrolled)
      return error() << "'unrolled' loops have at most " << mostUnrolled
                     << " steps together, known when it is compiled";
    schedule.unrolledDims.push_back(loop);
  }
  return success();
}

FailureOr<LoopSchedule> Reader::read() {
  schedule.registerBits = machine.registerBits;
  if (failed(readNames()) || failed(readVector()))
    return failure();
  if (schedule.vectorDim && (failed(readTile()) || failed(readJam()) || failed(readUnrolled())))
    return failure();
  return schedule;
}

} // namespace

LogicalResult takeSchedule(Nest &nest, const Machine &machine) {
  nest.schedule = chooseSchedule(nest.op, nest.space, machine);
  Attribute attribute = nest.op->getDiscardableAttr(kScheduleAttr);
  if (!attribute)
    return success();
  auto given = dyn_cast<DictionaryAttr>(attribute);
  if (!given)
    return nest.op.emitOpError("array.schedule must be a dictionary, got ") << attribute;
  FailureOr<LoopSchedule> schedule = Reader(nest, machine, given).read();
  if (failed(schedule))
    return failure();
  // A schedule that equals the model's choice does not prevent row fusion: neighbours may share its loops.
  MLIRContext *context = nest.op->getContext();
  nest.isGiven = toAttribute(context, nest.space, *schedule) != toAttribute(context, nest.space, nest.schedule);
  nest.schedule = std::move(*schedule);
  return success();
}

} // namespace mlir::array::loops
