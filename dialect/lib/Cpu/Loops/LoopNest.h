// Chooses how a linalg op is walked and emits its loop nest. Three files: Strategy chooses, Nest emits, Transpose turns
// tiles.
#ifndef ARRAY_LIB_CPU_LOOPS_LOOPNEST_H
#define ARRAY_LIB_CPU_LOOPS_LOOPNEST_H

#include "LoopBody.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::array::loops {

/// What a choice rests on, of the machine.
struct Machine {
  int64_t registerBits = 512;      ///< the width of a vector register
  int64_t prefetchDistance = 2048; ///< bytes that a large reduction asks for ahead; 0: the machine finds them itself
};

struct LoopSchedule {
  /// The dimension that vectors lie along, and their length. None: scalar loops.
  std::optional<unsigned> vectorDim;
  int64_t lanes = 0;
  int64_t registerBits = 512;

  /// A dimension that is cut in two around the vector loop: blocks outside of it, the elements of a block inside. A
  /// reduced one then streams through whole rows of memory; inputs that are contiguous along it, and not along the
  /// vectors, are transposed block by block.
  std::optional<unsigned> tileDim;
  int64_t tileSize = 0;
  bool transposes(const Access &access) const {
    return tileDim && !access.isOutput && access.moves(*vectorDim) && !access.strides[*vectorDim].isStatic(1) &&
           access.moves(*tileDim) && access.strides[*tileDim].isStatic(1);
  }

  /// One row follows the other as they lie in memory, and the accumulators are a row in the first cache.
  bool readsInOrder = false;

  /// Bytes of memory ahead of a load that the core is told to fetch; 0: it finds them itself.
  int64_t prefetchBytes = 0;
  /// Instead, what the next element of the first dimension loads.
  bool fetchesNextRow = false;

  /// A parallel dimension of which several elements are done at once in the loops inside of it, so that what does not
  /// move along it is loaded once for all of them.
  std::optional<unsigned> jamDim;
  int64_t jamSize = 1;

  /// Short dimensions inside of the vector loop, without a loop of their own.
  SmallVector<unsigned, 2> unrolledDims;
  bool isUnrolled(unsigned dim) const { return llvm::is_contained(unrolledDims, dim); }

  /// A dimension was put in front of `before`.
  void shiftDims(unsigned before = 0) {
    for (std::optional<unsigned> *dim : {&vectorDim, &tileDim, &jamDim})
      if (*dim && **dim >= before)
        ++**dim;
    for (unsigned &dim : unrolledDims)
      dim += dim >= before ? 1 : 0;
  }
};

/// The cheapest way by a count of memory operations for an element.
LoopSchedule chooseSchedule(linalg::LinalgOp op, const IterationSpace &space, const Machine &machine);

/// An op as it is going to be emitted.
struct Nest {
  linalg::LinalgOp op;
  IterationSpace space;
  LoopSchedule schedule;
  bool startsFromNeutral = false; // each element of the first dimension sets its accumulators' memory first

  /// Whether the outermost loop is a plain one over the first dimension, and that is parallel.
  bool startsWithRows() const {
    return !space.dims.empty() && !space.dims[0].reduced && schedule.vectorDim != 0u && schedule.tileDim != 0u &&
           schedule.jamDim != 0u && !schedule.isUnrolled(0);
  }
};

/// Of nests that are going to share the loop over their rows, chooses one that fetches the next row, if that pays.
void chooseFetchOfRows(MutableArrayRef<Nest> nests);

/// Emits loops that do what the ops do, one after the other; several (that start with equally many rows) share the loop
/// over their rows. Large parallel ones are marked (ParallelLoops.h). The ops stay. Returns the number of rows that
/// temporaries need at most whose rows share memory.
int64_t emitNests(OpBuilder &b, IndexBuilder &indices, ArrayRef<Nest> nests, int64_t registerBits);

bool hasStaticSizes(const IterationSpace &space);

/// What a nest takes in one thread, in nanoseconds, for the sizes that one expects.
double estimateNs(const Nest &nest, int64_t registerBits);
/// What one iteration over dimension `dim` takes, if it is the outermost loop, in picoseconds.
SymbolicSize picosecondsOfStep(const Nest &nest, unsigned dim, int64_t registerBits);
/// How many of `trips` iterations, that take so long each, are a piece for a thread: all of them, if they are not worth
/// sharing.
Value iterationsOfPiece(OpBuilder &b, IndexBuilder &indices, Location loc, Value trips,
                        const SymbolicSize &picoseconds);
/// Marks a loop whose iterations take `picoseconds` each, if it may be large enough.
void markSized(scf::ForOp loop, const SymbolicSize &trips, int64_t picoseconds);
/// Cuts the columns of a reduction across them, of which the whole takes `costNs`, into blocks that take `leastNs` or
/// more each, and become the first dimension. Returns the columns that no block takes, if there are such. For sizes
/// that are known.
std::optional<Nest> cutColumns(Nest &nest, double costNs, double leastNs);
/// Cuts them into blocks of a constant size; the last one may be shorter.
void cutColumns(OpBuilder &b, IndexBuilder &indices, Nest &nest);

/// The blocks of a reduction: that many, and never more than `most`.
struct Blocks {
  SymbolicSize count;
  int64_t most;
};
/// Cuts a large reduction to one element, or to a short row of them, into blocks, by its sizes alone, so that the
/// result depends on nothing else: they become the first dimension.
std::optional<Blocks> cutReduction(OpBuilder &b, IndexBuilder &indices, Nest &nest);

/// A block of a buffer that is contiguous along its columns: `rows` x `columns` elements at flat[start + row *
/// rowStride], both multiples of the side of a square.
struct TransposedTile {
  Value flat, start;
  SymbolicSize rowStride;
  int64_t rows, columns;
  Value lastRow;     // rows behind this one are not read (null: all are there)
  Value columnCount; // columns that are there (null: all)
};
/// Writes the block to `scratch`, so that element (row, column) stands at [column * rows + row].
void emitTransposedTile(OpBuilder &b, IndexBuilder &indices, Location loc, const TransposedTile &tile, Value scratch);
/// The side of the square that is transposed in registers.
int64_t transposeSide(Type element);

} // namespace mlir::array::loops

#endif // ARRAY_LIB_CPU_LOOPS_LOOPNEST_H
