// The loop nest of one linalg op during its emission. LoopNest.cpp (order, levels, plain loops), LoopVector.cpp,
// LoopTile.cpp (jammed and tiled loops), LoopAccumulators.cpp, LoopSums.cpp and LoopSumsOfRows.cpp (long reductions)
// and LoopSearch.cpp share it.
//
// The order of the loops: parallel dimensions, the jammed one, the vector dimension if it is parallel, reductions, the
// vector dimension if it is reduced. With a tiled dimension: all others, its blocks, the vectors, the elements of a
// block. Short dimensions whose elements lie between those of a vector are unrolled inside its loop: their elements are
// in the same loaded registers. Each operation is emitted at the outermost level (number of loops entered) at which its
// operands are available, so loads and body operations that are uniform in an inner loop are outside of it.
// Accumulators are iter_args of the reduction loops. An output that moves along only some reduced dimensions is updated
// in memory.
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
  std::optional<Combiner> combiner; // on vectors, except for an arg reduction
  /// Its lanes are joined after the loops: the vectors lie along a reduced dimension.
  bool isJoined = false;
  /// A maximum or minimum of floats: a comparison of numbers, and a nan replaces the number. This takes three
  /// instructions; the operation itself, which orders zeros by their sign as well, takes five.
  bool isExtremum = false;
  /// Lanes that are joined later record their nans in a second value, so that a step waits for one instruction.
  bool hasNans() const { return isExtremum && isJoined; }
};

/// An arg reduction as two sweeps: one for the extreme value, one for the first element that is equal to it.
struct Search {
  ArgReduction arg;
  Value candidate;                        // the body's value that is compared
  SmallPtrSet<Operation *, 4> operations; // the operations that compute it
  TypedAttr neutral;
};

/// The combination of `accumulator`, the combiner's argument, and `value`: scalars, or vectors.
Value combine(OpBuilder &b, const Combiner &combiner, Value accumulator, Value before, Value value);
/// The initial value of a block: a neutral element.
TypedAttr startOf(const Combiner &combiner);
/// A constant of a type: the value, or a vector of it.
Value splat(OpBuilder &b, IndexBuilder &indices, Type type, TypedAttr value);
/// A stack buffer for the accumulators in memory, and their start in it, apart from the rows that the nest reads in
/// order.
std::pair<Value, SymbolicSize> placeRows(OpBuilder &b, IndexBuilder &indices, Location loc, const Nest &nest,
                                         int64_t elements, Type element, unsigned number, bool shared = false);
/// A loop over whole vectors of columns, then a masked step for the rest.
void sweepColumns(OpBuilder &b, IndexBuilder &indices, Location loc, const SymbolicSize &columns, int64_t lanes,
                  function_ref<void(Value column, Value mask)> body);

/// The rows of the smallest blocks with accumulators in memory: rows of larger ones may be in the second cache.
constexpr int64_t blockOfRows = 8;
/// The number of blocks in the next larger one: adding up four equal numbers rounds only at the third one.
constexpr int64_t blocksOfBlock = 4;

class NestEmitter {
public:
  NestEmitter(OpBuilder &b, IndexBuilder &indices, const Nest &nest)
      : b(b), indices(indices), nest(nest), op(nest.op), space(nest.space), schedule(nest.schedule),
        startsFromNeutral(nest.startsFromNeutral), loc(op.getLoc()), accesses(space.accesses) {}

  /// Emits operations before the loops. Loops of a nest that takes `nestNs` may be marked for several threads.
  void prepare(double nestNs = 0);
  /// Begins a block of rows: temporaries with shared rows share them within a block.
  void startBlock(Value number);
  void emitLoops() { emitLevel(0, {}); }
  /// One iteration of the outermost loop, which the caller emits.
  void emitHoisted() { emitEntered(0, instances.front(), {}); }
  void emitRow(Value iv) { emitStep(0, iv, {}); }

private:
  using Values = SmallVector<Value>;
  using EmitBody = function_ref<Values(Value iv, ArrayRef<Value> carried)>;

  void orderLoops();
  void assignLevels();
  void mapCaptures(BodyCloner &body);
  unsigned levelOf(Value bodyValue);

  // Loops: each returns the accumulators' values after it.
  Values emitLevel(unsigned level, ArrayRef<Value> carried);
  Values emitLoop(unsigned level, ArrayRef<Value> carried);
  Values emitInnermost(ArrayRef<Value> carried);
  Values emitVectorLoop(unsigned level, ArrayRef<Value> carried);
  int64_t elementsBeforeLine(unsigned level);
  bool mayRepeat();
  int64_t lanesOfRegister() const;
  Value startOfAligned(unsigned level);
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

  // Sizes at the current position: the last block of a divided dimension may be shorter.
  SymbolicSize sizeOf(unsigned dim) const;
  SizeFacts factsOfSize(unsigned dim) const;
  bool isWhole(unsigned dim, int64_t unit) const { return factsOfSize(dim).multipleOf % unit == 0; }

  // Inside of a level.
  void emitEntered(unsigned level, Instance &instance, ArrayRef<Value> carried);
  void move(Instance &instance, unsigned level, Value iv);
  void transposeTile(Access &access);
  void setLanes(int64_t lanes, Value mask);
  Value load(Instance &instance, const Access &access);
  Value loadedBefore(unsigned level, const Instance &instance, const Access &access) const;
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
    bool addsProducts = false; // by one instruction for multiplication and addition
    bool wait = false;         // for earlier sums rather than for each other
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
  /// Rows of accumulators in memory: the outputs' own, or those of a block. A sum may be added to them, set them, or be
  /// continued from them in the next ones.
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

  // The search for the index of an extreme value.
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
  SmallVector<Access, 4> accesses; // of the space; a transposed tile replaces its operand while it exists
  SmallVector<Accumulator> accumulators;
  SmallVector<Level> levels;
  unsigned reductionLevel = 0;
  int64_t depthOfRows = 0; // levels of nested blocks for whose rows of accumulators the stack has space
  // State of the current tiles of rows: whether all are whole, whether they set the accumulators, and the rows to
  // which the results are added.
  bool hasWholeTiles = false, setsRows = false;
  SmallVector<Rows, 0> joinedRows;
  std::optional<Search> search;
  bool fetchesAhead = true;
  bool repeats = false; // an element may be computed twice
  double nestNs = 0;
  Value lengthOfBlock; // of the divided dimension
  SmallVector<unsigned> accessLevels;
  DenseMap<Operation *, unsigned> opLevels;
  SmallVector<SmallVector<Operation *>> opsOfLevel;
  SmallVector<Instance> instances;
  Value tileStart, vectorStart;
  /// Columns of outputs that are stored once all columns of their rows are computed.
  llvm::MapVector<const Access *, Values> columns;
};

} // namespace mlir::array::loops

#endif // ARRAY_LIB_CPU_LOOPS_NESTEMITTER_H
