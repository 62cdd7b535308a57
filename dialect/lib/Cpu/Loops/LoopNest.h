// Chooses the schedule of a linalg op and emits its loop nest. LoopSchedule.cpp chooses, the other Loop*.cpp files
// emit.
#ifndef ARRAY_LIB_CPU_LOOPS_LOOPNEST_H
#define ARRAY_LIB_CPU_LOOPS_LOOPNEST_H

#include "LoopBody.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::array::loops {

/// The properties of the machine that a schedule depends on.
struct Machine {
  int64_t registerBits = 512;      ///< the width of a vector register
  int64_t prefetchDistance = 2048; ///< prefetch distance of large reductions in bytes; 0: hardware prefetching suffices
};

struct LoopSchedule {
  /// The dimension of the vectors, and their length. None: scalar loops.
  std::optional<unsigned> vectorDim;
  int64_t lanes = 0;
  int64_t registerBits = 512;

  /// A dimension that is split in two around the vector loop: blocks outside of it, the elements of a block inside. A
  /// reduced one then streams through whole rows of memory; inputs that are contiguous along it, and not along the
  /// vectors, are transposed block by block.
  std::optional<unsigned> tileDim;
  int64_t tileSize = 0;
  bool transposes(const Access &access) const {
    return tileDim && !access.isOutput && access.moves(*vectorDim) && !access.strides[*vectorDim].isStatic(1) &&
           access.moves(*tileDim) && access.strides[*tileDim].isStatic(1);
  }

  /// Rows are read in the order of memory, and the accumulators are a row in the first cache.
  bool readsInOrder = false;

  /// The prefetch distance in bytes; 0: no software prefetching.
  int64_t prefetchBytes = 0;
  /// Prefetches the loads of the next element of the first dimension instead.
  bool fetchesNextRow = false;

  /// A parallel dimension of which the inner loops compute several elements at once, so that elements that several of
  /// them read are loaded once: those of operands that do not move along it, and those that one operand has at an
  /// element and another one at the next (a stencil).
  std::optional<unsigned> jamDim;
  int64_t jamSize = 1;

  /// Short dimensions inside of the vector loop, unrolled.
  SmallVector<unsigned, 2> unrolledDims;
  bool isUnrolled(unsigned dim) const { return llvm::is_contained(unrolledDims, dim); }

  /// Adjusts the schedule after a dimension was inserted before `before`.
  void shiftDims(unsigned before = 0) {
    for (std::optional<unsigned> *dim : {&vectorDim, &tileDim, &jamDim})
      if (*dim && **dim >= before)
        ++**dim;
    for (unsigned &dim : unrolledDims)
      dim += dim >= before ? 1 : 0;
  }
};

/// The cheapest schedule, by the number of memory operations for an element. `jamsRows`: rows of an op without a
/// reduction may be computed several at once; else one by one, beside those of other ops.
LoopSchedule chooseSchedule(linalg::LinalgOp op, const IterationSpace &space, const Machine &machine,
                            bool jamsRows = true);

/// Whether `other` has at element `distance + i` of a dimension the element of memory that `access` has at i, for all i
/// and all elements of the other dimensions, as far as it is known.
bool isShifted(const IterationSpace &space, const Access &access, const Access &other, unsigned dim, int64_t distance);

/// Whether vectors may lie along a dimension: their accumulators must be joinable.
bool mayBeVector(linalg::LinalgOp op, const IterationSpace &space, unsigned dim);
/// The lanes of vectors along a dimension; 0 if an element is wider than a register.
int64_t lanesFor(linalg::LinalgOp op, const IterationSpace &space, unsigned dim, int64_t registerBits);
/// Whether some output moves along a part of the reduced dimensions: it is updated in memory at every step.
bool hasPartialOutput(const IterationSpace &space);
/// Whether the rows of the vector dimension are adjacent without gaps.
bool hasDenseRows(const IterationSpace &space, unsigned rows, unsigned vector);
/// Whether the body and its operands have forms as vectors.
bool hasVectorForm(linalg::LinalgOp op, const IterationSpace &space);

/// An op with its schedule, ready to be emitted.
struct Nest {
  linalg::LinalgOp op;
  IterationSpace space;
  LoopSchedule schedule;
  bool startsFromNeutral = false; // each element of the first dimension sets its accumulators' memory first
  bool isGiven = false;           // the schedule is the program's own (ScheduleAttr.h): no pass changes it

  /// Whether the outermost loop is a plain, parallel one over the first dimension.
  bool startsWithRows() const {
    return !space.dims.empty() && !space.dims[0].reduced && schedule.vectorDim != 0u && schedule.tileDim != 0u &&
           schedule.jamDim != 0u && !schedule.isUnrolled(0);
  }
};

/// Chooses one of several nests that will share the loop over their rows to prefetch the next row, if that pays.
void chooseFetchOfRows(MutableArrayRef<Nest> nests);

/// Emits loops that compute the ops, one after the other. Several ops, with equal numbers of rows first, share the loop
/// over their rows. Large parallel loops are marked (ParallelLoops.h). The ops stay. Returns the maximum number of rows
/// that temporaries with shared rows need.
int64_t emitNests(OpBuilder &b, IndexBuilder &indices, ArrayRef<Nest> nests, int64_t registerBits);

bool hasStaticSizes(const IterationSpace &space);

/// The expected time of a nest in one thread, in nanoseconds.
double estimateNs(const Nest &nest, int64_t registerBits);
/// The time of one iteration over dimension `dim`, as the outermost loop, in picoseconds.
SymbolicSize picosecondsOfStep(const Nest &nest, unsigned dim, int64_t registerBits);
/// The number of iterations, of `trips` with this time each, in a piece for a thread: all of them if sharing does not
/// pay.
Value iterationsOfPiece(OpBuilder &b, IndexBuilder &indices, Location loc, Value trips,
                        const SymbolicSize &picoseconds);
/// Marks a loop whose iterations take `picoseconds` each, if it may be large enough.
void markSized(scf::ForOp loop, const SymbolicSize &trips, int64_t picoseconds);
/// Divides the columns of a reduction across them, whose total time is `costNs`, into blocks of at least `leastNs`,
/// which become the first dimension. Returns the remaining columns, if any. For known sizes.
std::optional<Nest> cutColumns(Nest &nest, double costNs, double leastNs);
/// Divides the dimension into blocks of a constant size; the last one may be shorter.
void cutColumns(OpBuilder &b, IndexBuilder &indices, Nest &nest);

/// The blocks of a reduction: their number, and its maximum.
struct Blocks {
  SymbolicSize count;
  int64_t most;
};
/// Divides a large reduction to one element, or to a short row of elements, into blocks, which become the first
/// dimension. The blocks depend on the sizes alone, and therefore so does the result.
std::optional<Blocks> cutReduction(OpBuilder &b, IndexBuilder &indices, Nest &nest);

/// A block of a buffer that is contiguous along its columns: `rows` x `columns` elements at flat[start + row *
/// rowStride], both multiples of the side of a square.
struct TransposedTile {
  Value flat, start;
  SymbolicSize rowStride;
  int64_t rows, columns;
  Value lastRow;     // rows after this one are not read (null: all exist)
  Value columnCount; // columns that are there (null: all)
};
/// Writes the block to `scratch`, with element (row, column) at [column * rows + row].
void emitTransposedTile(OpBuilder &b, IndexBuilder &indices, Location loc, const TransposedTile &tile, Value scratch);
/// The side of the square that is transposed in registers.
int64_t transposeSide(Type element);

} // namespace mlir::array::loops

#endif // ARRAY_LIB_CPU_LOOPS_LOOPNEST_H
