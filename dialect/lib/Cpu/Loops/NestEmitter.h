// The loop nest of one linalg op while it is emitted: shared by LoopNest.cpp (order, levels, plain loops),
// LoopTile.cpp (jammed and tiled loops), LoopAccumulators.cpp, LoopSums.cpp and
// LoopSumsOfRows.cpp (long reductions) and LoopSearch.cpp.
//
// Loops stand in this order: parallel dimensions, the jammed one, the vector dimension if it is parallel, reductions,
// the vector dimension if it is reduced. With a tiled dimension: all others, its blocks, the vectors, the elements of a
// block. Short dimensions whose elements lie between those of a vector are inside of its loop, and have no loop of
// their own: what they load is in the same registers. Everything is emitted at the level (number of loops entered) from
// which on it does not change: operands are loaded and body operations computed there, so what is uniform in the inner
// loop is outside of it. Accumulators are iter_args of the reduction loops; an output that moves along some reduced
// dimensions only is updated in memory.
#ifndef ARRAY_LIB_CPU_LOOPS_NESTEMITTER_H
#define ARRAY_LIB_CPU_LOOPS_NESTEMITTER_H

#include "LoopNest.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace mlir::array::loops {

struct Level {
  unsigned dim;
  enum Kind { Scalar, Unrolled, Vector, Jam, TileBlocks, TileElements } kind;
};

/// One copy of the work inside of the loops entered so far; more than one inside of a jammed loop.
struct Instance {
  BodyCloner body;
  SmallVector<Value> position; // for each access, its linear index
};

/// An output that the reduction loops carry in a register.
struct Accumulator {
  const Access *access;
  std::optional<Combiner> combiner; // on vectors, but for an arg reduction
  /// Its lanes are joined behind the loops: the vectors lie along a reduced dimension.
  bool isJoined = false;
  /// A maximum or minimum of floats: a comparison of numbers, and a nan replaces what is there. That is three
  /// instructions, where the operation, which orders zeros by their sign as well, is five.
  bool isExtremum = false;
  /// Lanes that are joined later keep their nans in a second value, so that a step waits for one instruction.
  bool hasNans() const { return isExtremum && isJoined; }
};

/// An arg reduction as two sweeps: one for the extreme value, one for the first element that is equal to it.
struct Search {
  ArgReduction arg;
  Value candidate;                        // the body's value that is compared
  SmallPtrSet<Operation *, 4> operations; // what computes it
  TypedAttr neutral;
};

/// What `accumulator`, the combiner's argument, holds after `value`: scalars, or vectors.
Value combine(OpBuilder &b, const Combiner &combiner, Value accumulator, Value before, Value value);
/// What a block starts from: a neutral element.
TypedAttr startOf(const Combiner &combiner);
/// A constant of a type: the value, or a vector of it.
Value splat(OpBuilder &b, IndexBuilder &indices, Type type, TypedAttr value);
/// A buffer on the stack for so many accumulators in memory, and where they begin in it: apart from the rows that the
/// nest reads in order.
std::pair<Value, SymbolicSize> placeRows(OpBuilder &b, IndexBuilder &indices, Location loc, const Nest &nest,
                                         int64_t elements, Type element, unsigned number, bool shared = false);
/// A loop over whole vectors of columns, then a masked step for the rest.
void sweepColumns(OpBuilder &b, IndexBuilder &indices, Location loc, const SymbolicSize &columns, int64_t lanes,
                  function_ref<void(Value column, Value mask)> body);

/// The rows of the shortest blocks whose accumulators are rows in memory: those of longer ones may be in the second
/// cache.
constexpr int64_t blockOfRows = 8;
/// Four blocks are a longer one, and so on: four equal numbers are added up without an error but that of the third one.
constexpr int64_t blocksOfBlock = 4;

class NestEmitter {
public:
  NestEmitter(OpBuilder &b, IndexBuilder &indices, const Nest &nest)
      : b(b), indices(indices), nest(nest), op(nest.op), space(nest.space), schedule(nest.schedule),
        startsFromNeutral(nest.startsFromNeutral), loc(op.getLoc()), accesses(space.accesses) {}

  /// What precedes the loops. Those of a nest that takes `nestNs` may be marked for several threads.
  void prepare(double nestNs = 0);
  /// The rows that follow are those of a block: where rows share memory, those of a block do.
  void startBlock(Value number);
  void emitLoops() { emitLevel(0, {}); }
  /// One iteration of the outermost loop, which is made elsewhere.
  void emitHoisted() { emitEntered(0, instances.front(), {}); }
  void emitRow(Value iv) { emitStep(0, iv, {}); }

private:
  using Values = SmallVector<Value>;
  using EmitBody = function_ref<Values(Value iv, ArrayRef<Value> carried)>;

  void orderLoops();
  void assignLevels();
  void mapCaptures(BodyCloner &body);
  unsigned levelOf(Value bodyValue);

  // Loops: each returns the accumulators' values behind it.
  Values emitLevel(unsigned level, ArrayRef<Value> carried);
  Values emitLoop(unsigned level, ArrayRef<Value> carried);
  Values emitInnermost(ArrayRef<Value> carried);
  Values emitVectorLoop(unsigned level, ArrayRef<Value> carried);
  Values emitDynamicTail(unsigned level, Value first, Value rest, ArrayRef<Value> carried);
  Values emitUnrolled(unsigned level, ArrayRef<Value> carried);
  void emitJammedLoop(unsigned level);
  void emitJammedStep(unsigned level, Value iv, int64_t count);
  Values emitTileElements(unsigned level, ArrayRef<Value> carried);
  Values emitStep(unsigned level, Value iv, ArrayRef<Value> carried);
  Values emitFor(Value begin, Value end, int64_t step, ArrayRef<Value> accumulators, EmitBody emitBody) {
    return emitFor(begin, end, indices.index(b, step), accumulators, emitBody);
  }
  Values emitFor(Value begin, Value end, Value step, ArrayRef<Value> accumulators, EmitBody emitBody);
  /// The same for a loop at `level` over the elements of its dimension; marked if it is the outermost one and parallel.
  Values emitLevelFor(unsigned level, Value begin, Value end, int64_t step, ArrayRef<Value> accumulators,
                      EmitBody emitBody);

  // Sizes, where we are: the last block of a dimension that was cut may be shorter.
  SymbolicSize sizeOf(unsigned dim) const;
  SizeFacts factsOfSize(unsigned dim) const;
  bool isWhole(unsigned dim, int64_t unit) const { return factsOfSize(dim).multipleOf % unit == 0; }

  // Inside of a level.
  void emitEntered(unsigned level, Instance &instance, ArrayRef<Value> carried);
  void move(Instance &instance, unsigned level, Value iv);
  void transposeTile(Access &access);
  void setLanes(int64_t lanes, Value mask);
  Value load(Instance &instance, const Access &access);
  void prefetch(Instance &instance, const Access &access);
  void store(Instance &instance, const Access &access, Value value);
  bool hasColumns(const Access &access, unsigned level) const;

  // Accumulators: for each instance, one value for each accumulated output, then one for each that has nans.
  void findAccumulators();
  Values startAccumulators();
  void nextAccumulators(Instance &instance, ArrayRef<Value> before, Values &results);
  void finishAccumulators(ArrayRef<Value> values);
  Value joinExtremum(vector::CombiningKind kind, Value lanes, Value areNans);
  Value joinLanes(Instance &instance, const Accumulator &accumulator, Value lanes, Value nans);
  void joinArgReduction(const ArgReduction &arg, MutableArrayRef<Value> carried);

  // Long reductions, in blocks.
  int64_t tripsOf(unsigned level, int64_t size) const;
  bool hasStaticTrips(unsigned level) const;
  int64_t stepsInside(unsigned level) const;
  struct Steps {
    int64_t operations = 0, registers = 0;
    bool addsProducts = false; // by one instruction for both
    bool wait = false;         // for the sums before rather than for each other
  };
  Steps stepsOfBody();
  int64_t stepsOfBlock();
  SmallVector<int64_t> blocksOf(unsigned level);
  bool hasFloatSums() const;
  Values neutralValues(ArrayRef<Value> like);
  Values combineValues(ArrayRef<Value> totals, ArrayRef<Value> values);
  Values emitInBlocks(unsigned level, Value end, int64_t each, ArrayRef<Value> carried);
  Values emitBlocks(unsigned level, Value begin, Value end, int64_t each, ArrayRef<int64_t> blocks,
                    std::optional<int64_t> total, ArrayRef<Value> carried);
  std::optional<Values> emitWholeTile(unsigned level, ArrayRef<Value> carried);
  Value endOfBlock(Value start, int64_t block, Value end, std::optional<int64_t> total);
  void sweepRows(function_ref<void(const Accumulator &accumulator, Value column)> body);
  void setToNeutral();
  void findBlocksOfRows();
  SmallVector<int64_t> blocksOfRows(unsigned level);
  void emitRowsInBlocks(unsigned level);
  /// Rows of accumulators in memory: the outputs' own, or those of a block. What is added up may be added to them, or
  /// set, or go on with them to the next ones.
  struct Rows {
    SmallVector<Access, 4> accesses;
    SmallVector<Value> position;
    enum Kind { Set, Add, Pass } kind;
  };
  Rows rowsHere() const;
  Rows rowsAt(ArrayRef<std::pair<Value, SymbolicSize>> places);
  void useRows(const Rows &rows);
  void emitJoinedBlock(unsigned level, Value start, ArrayRef<int64_t> blocks, ArrayRef<Rows> rows,
                       ArrayRef<Rows> targets);
  Value addToRows(const Accumulator &accumulator, const Rows &rows, Value column, Value value);
  void emitBlocksOfRows(unsigned level, Value begin, Value end, ArrayRef<int64_t> blocks, std::optional<int64_t> total);

  // The place of an extreme value.
  void findSearch();
  void emitSearch(unsigned level);
  struct Found {
    Value number, anyNan, begin;
  };
  Found emitParts(unsigned level, int64_t size, int64_t part);
  Values emitPart(unsigned level, Value begin, Value end, int64_t rest, Values values);
  Value areAhead(Value x, Value before);
  Value areEqual(Value x, Value y);
  Value emitPlace(unsigned level, Value begin, Value end, int64_t size, function_ref<Value(Value)> isHit);
  Value extremeOf(vector::CombiningKind kind, Value x, Value before, Value *nans = nullptr);
  Value areNans(Value x);
  Value noNans(Type element);
  Value withNans(Value nans, Value x);

  /// Whether the accumulators are rows in memory, to which tiles of rows are added.
  bool hasRowsInMemory() const {
    return schedule.tileDim && space.dims[*schedule.tileDim].reduced && !isVectorReduced();
  }
  bool transposesTiles() const {
    return llvm::any_of(space.accesses, [&](const Access &access) { return schedule.transposes(access); });
  }
  bool isVectorReduced() const { return schedule.vectorDim && space.dims[*schedule.vectorDim].reduced; }
  ArrayRef<Access> inputs() const { return ArrayRef(accesses).take_front(space.numInputs); }
  ArrayRef<Access> outputs() const { return ArrayRef(accesses).drop_front(space.numInputs); }
  unsigned valuesOfInstance() const {
    return accumulators.size() + llvm::count_if(accumulators, [](const Accumulator &a) { return a.hasNans(); });
  }
  static unsigned numberOf(const Access &access) { return access.argument.getArgNumber(); }
  bool isAccumulated(const Access &access) const {
    return llvm::any_of(accumulators, [&](const Accumulator &other) { return other.access == &access; });
  }

  OpBuilder &b;
  IndexBuilder &indices;
  const Nest &nest;
  linalg::LinalgOp op;
  const IterationSpace &space;
  const LoopSchedule &schedule;
  bool startsFromNeutral;
  Location loc;
  SmallVector<Access, 4> accesses; // the space's; a transposed tile stands for its operand while it is there
  SmallVector<Accumulator> accumulators;
  SmallVector<Level> levels;
  unsigned reductionLevel = 0;
  int64_t depthOfRows = 0; // blocks within blocks for whose rows of accumulators the stack has place
  // Where we are, of tiles of rows: all are whole; they set the accumulators; with these they go on to other rows.
  bool hasWholeTiles = false, setsRows = false;
  SmallVector<Rows, 0> joinedRows;
  std::optional<Search> search;
  bool fetchesAhead = true;
  double nestNs = 0;
  Value lengthOfBlock; // of the dimension that was cut
  SmallVector<unsigned> accessLevels;
  DenseMap<Operation *, unsigned> opLevels;
  SmallVector<SmallVector<Operation *>> opsOfLevel;
  SmallVector<Instance> instances;
  Value tileStart, vectorStart;
  /// Of outputs that are stored when all columns of their rows are there.
  llvm::MapVector<const Access *, Values> columns;
};

} // namespace mlir::array::loops

#endif // ARRAY_LIB_CPU_LOOPS_NESTEMITTER_H
