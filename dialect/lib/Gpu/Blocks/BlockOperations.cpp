// One operation, shared by the threads of a block (BlockOperations.h).
//
// A thread computes whole results, or lanes of a warp (or all threads) compute one result of a reduction together, if
// there are fewer results than threads. A thread of a contraction computes a tile of results, so that it loads an
// operand once for several results.
#include "BlockOperations.h"
#include "BlockProduct.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"
#include <map>

namespace mlir::array {

namespace {

/// Minimum steps for which all threads of a block share one result.
constexpr int64_t kBlockSteps = 256;
/// Maximum results along each of the last two dimensions of a thread's tile.
constexpr int64_t kTile = 4;

class SharedOperation {
public:
  SharedOperation(KernelBuilder &k, const Member &member, const std::optional<Join> &join, int64_t threads)
      : k(k), member(member), join(join), threads(threads), space(member.space), parallel(countParallel(space)),
        pointSizes(sizesOf(space, 0, parallel)), stepSizes(sizesOf(space, parallel, space.dims.size())),
        points(product(pointSizes)), steps(product(stepSizes)) {}

  void emit() {
    if (points == 0 || steps == 0)
      return;
    int64_t sharers = join ? chooseSharers() : 1;
    if (sharers > 1)
      return emitJoined(sharers);
    chooseTile();
    Value end = k.index(tiles());
    k.loop(k.thread(), end, k.index(threads), {}, [&](Value number, ValueRange) {
      emitTile(number);
      return Values();
    });
  }

private:
  //===-- Several threads for a result --------------------------------------------------------------------------===//

  int64_t chooseSharers() const {
    if (points * 2 > threads)
      return 1;
    if (points * kWarpSize < threads && steps >= kBlockSteps)
      return threads;
    auto free = static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(threads / points)));
    return std::min({kWarpSize, free, static_cast<int64_t>(llvm::PowerOf2Ceil(steps))});
  }

  void emitJoined(int64_t sharers) {
    int64_t atOnce = threads / sharers, rounds = llvm::divideCeil(points, atOnce);
    Value share = k.remainder(k.thread(), sharers), own = k.divide(k.thread(), sharers);
    k.loop(k.index(0), k.index(rounds), k.index(1), {}, [&](Value round, ValueRange) {
      // Lanes without a result repeat the last one, because all lanes take part in shuffles.
      auto [point, isInside] = k.clamp(k.add(k.mul(round, atOnce), own), points, points % atOnce == 0);
      Values at = k.place(pointSizes, point);
      Values sums = k.loop(share, k.index(steps), k.index(sharers), join->neutral(k),
                           [&](Value step, ValueRange sums) { return add(atStep(at, step), sums); });
      bool isBlock = sharers > kWarpSize;
      sums = isBlock ? join->inBlock(k, sums, k.thread(), threads) : join->inWarp(k, sums, sharers);
      k.when(k.both(isInside, k.isLess(share, 1)), [&, at = atStep(at, k.index(0))] {
        for (auto [output, value] : llvm::zip_equal(space.outputs(), (*join)(k, before(at), sums)))
          k.store(value, output, at);
      });
      if (isBlock && rounds > 1) // the buffer of the join is written again
        gpu::BarrierOp::create(k);
      return Values();
    });
  }

  Values add(ArrayRef<Value> at, ValueRange sums) {
    Values arguments;
    for (const Access &input : space.inputs())
      arguments.push_back(member.reads(input) ? k.load(input, at) : Value());
    llvm::append_range(arguments, sums);
    return member.body(arguments, at);
  }

  //===-- A tile of results for a thread ------------------------------------------------------------------------===//

  /// Tiles pay if an operand is the same for several results of a reduction.
  void chooseTile() {
    if (stepSizes.empty() || !carries())
      return;
    for (unsigned dim = parallel; dim-- > 0 && dim + 2 >= parallel;) {
      bool isShared = llvm::any_of(space.inputs(), [&](const Access &input) { return !input.moves(dim); });
      int64_t &count = tile[dim + 2 - parallel];
      while (isShared && count < kTile && pointSizes[dim] % (2 * count) == 0 && tiles() >= 2 * threads)
        count *= 2;
    }
  }

  int64_t tiles() const { return points / (tile[0] * tile[1]); }
  int64_t tileAlong(unsigned dim) const { return dim + 2 >= parallel ? tile[dim + 2 - parallel] : 1; }

  /// Whether the outputs are values of a thread from the first step to the last one.
  bool carries() const {
    return llvm::none_of(space.outputs(), [&](const Access &output) {
      return llvm::any_of(llvm::seq<unsigned>(parallel, space.dims.size()),
                          [&](unsigned dim) { return output.moves(dim); });
    });
  }

  void emitTile(Value number) {
    SmallVector<int64_t> sizes(pointSizes);
    for (unsigned dim = 0; dim < parallel; ++dim)
      sizes[dim] /= tileAlong(dim);
    Values first = k.place(sizes, number);
    SmallVector<Values> results; // the points of the tile; neighbouring threads have neighbours
    for (int64_t i = 0; i < tile[0]; ++i)
      for (int64_t j = 0; j < tile[1]; ++j) {
        Values at = first;
        if (parallel >= 2)
          at = k.moved(at, parallel - 2, i * sizes[parallel - 2]);
        if (parallel >= 1)
          at = k.moved(at, parallel - 1, j * sizes[parallel - 1]);
        results.push_back(at);
      }
    bool isCarried = carries();
    Values sums;
    if (isCarried)
      for (const Values &at : results)
        sums.append(before(atStep(at, k.index(0))));
    auto step = [&](Value step, ValueRange carried) { return addTile(results, step, carried, isCarried); };
    if (stepSizes.empty())
      sums = step(Value(), sums);
    else
      sums = k.loop(k.index(0), k.index(steps), k.index(1), sums, step);
    for (auto [i, at] : llvm::enumerate(results))
      if (isCarried)
        store(atStep(at, k.index(0)), ArrayRef<Value>(sums).slice(i * space.outputs().size(), space.outputs().size()));
  }

  /// One step of all results. Without carried values, the outputs are read and written in memory.
  Values addTile(ArrayRef<Values> results, Value step, ValueRange carried, bool isCarried) {
    std::map<std::array<int64_t, 3>, Value> known; // loads, by operand and place in the tile
    size_t outputs = space.outputs().size();
    Values next;
    for (auto [i, result] : llvm::enumerate(results)) {
      Values at = step ? atStep(result, step) : result, arguments;
      int64_t row = static_cast<int64_t>(i) / tile[1], column = static_cast<int64_t>(i) % tile[1];
      for (auto [number, input] : llvm::enumerate(space.inputs())) {
        bool alongRows = parallel >= 2 && input.moves(parallel - 2),
             alongColumns = parallel && input.moves(parallel - 1);
        Value &value = known[{static_cast<int64_t>(number), alongRows ? row : 0, alongColumns ? column : 0}];
        if (!value && member.reads(input))
          value = k.load(input, at);
        arguments.push_back(value);
      }
      if (isCarried)
        llvm::append_range(arguments, carried.slice(i * outputs, outputs));
      else
        arguments.append(before(at));
      Values yielded = member.body(arguments, at);
      if (isCarried)
        next.append(yielded);
      else
        store(at, yielded);
    }
    return next;
  }

  //===-- Both --------------------------------------------------------------------------------------------------===//

  Values atStep(ArrayRef<Value> at, Value step) {
    Values all(at);
    all.append(k.place(stepSizes, step));
    return all;
  }

  Values before(ArrayRef<Value> at) {
    Values values;
    for (const Access &output : space.outputs()) // a join reads all of them
      values.push_back(join || member.reads(output) || !stepSizes.empty() ? k.before(output, at) : Value());
    return values;
  }

  void store(ArrayRef<Value> at, ArrayRef<Value> values) {
    for (auto [output, value] : llvm::zip_equal(space.outputs(), values))
      k.store(value, output, at);
  }

  KernelBuilder &k;
  const Member &member;
  const std::optional<Join> &join;
  int64_t threads;
  const IterationSpace &space;
  unsigned parallel;
  SmallVector<int64_t> pointSizes, stepSizes;
  int64_t points, steps;
  int64_t tile[2] = {1, 1}; ///< results of a thread along the last two parallel dimensions
};

} // namespace

int64_t threadsWanted(Operation *op) {
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return cast<MemRefType>(copy.getSource().getType()).getNumElements();
  auto structured = cast<linalg::LinalgOp>(op);
  int64_t points = 1, steps = 1;
  for (auto [size, kind] : llvm::zip_equal(structured.getStaticLoopRanges(), structured.getIteratorTypesArray()))
    (kind == utils::IteratorType::reduction ? steps : points) *= size;
  return points * (points <= kWarpSize && steps >= kBlockSteps ? steps : std::min(steps, kWarpSize));
}

LogicalResult shareAmongThreads(gpu::LaunchOp launch, Operation *op, int64_t threads, bool hasCores) {
  if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    OpBuilder b(op);
    op = linalg::makeMemRefCopyOp(b, op->getLoc(), copy.getSource(), copy.getTarget());
    copy.erase();
  }
  auto structured = cast<linalg::LinalgOp>(op);
  std::optional<Join> join = Join::of(structured);
  KernelBuilder k(launch, op);
  FailureOr<Member> member = k.read(structured, /*reorderReductions=*/join.has_value());
  if (failed(member))
    return failure();
  if (!hasCores || !emitTensorCoreProduct(k, structured, *member, threads))
    SharedOperation(k, *member, join, threads).emit();
  op->erase();
  return success();
}

} // namespace mlir::array
