// Emits one streamed matmul: threads share pieces of the right operand, which are blocks of columns and of depth. Each
// piece is a call of @matmul_stream_*.
#include "Analysis/ParallelLoops.h"
#include "MatmulEmitter.h"

namespace mlir::array {

namespace {

/// A byte that is streamed.
constexpr double readNs = 0.03;

/// Blocks of columns. Except for the first, blocks start at a page of b's first row, and of all rows if these are whole
/// pages long, because hardware prefetching stops at the end of a page.
struct StreamColumns {
  int64_t unit;
  Value count, shift; ///< null if there is one block
};

class StreamEmitter : MatmulEmitter {
public:
  StreamEmitter(ImplicitLocOpBuilder &b, ModuleOp module, const MatmulCall &call) : MatmulEmitter(b, module, call) {}

  void emit() {
    SmallVector<func::FuncOp> streams;
    for (int64_t rows = call.m.least(); rows <= call.m.most(); ++rows)
      streams.push_back(getMatmulStream(module, call.element, {rows, 1, call.tile.lanes}));
    Value number = streams.size() == 1 ? Value() : g.sub(g.index(call.m), call.m.least());
    Value step = streamDepthStep(), isFar = isRightFar();
    StreamColumns columns = streamColumnBlocks();
    auto onePiece = [&](Value part, Value column, Value width) {
      Value zero = g.index(0), rows = g.index(call.m), depth = zero, depths = g.index(call.k);
      MatmulMatrix sums = call.c;
      if (step) {
        depth = g.min(arith::MulIOp::create(b, part, step), depths);
        depths = g.min(g.sub(depths, depth), step);
        sums = depthSums(part);
      }
      Value left = view(call.a, zero, depth, rows, depths, /*unitStride=*/false);
      Value right = view(call.b, depth, column, depths, width, /*unitStride=*/true);
      Value result = view(sums, zero, column, rows, width, /*unitStride=*/true);
      callOne(streams, number, ValueRange{left, right, result, step ? truth(false) : call.accumulate, isFar});
    };
    shareStream(columns, onePiece);
    if (step)
      addDepthSums(columns);
  }

private:
  StreamColumns streamColumnBlocks() {
    int64_t unit = streamColumns(call.element, call.m.most());
    if (call.n.isAtMost(unit + unit / 2 - 1))
      return {unit, {}, {}};
    int64_t bytes = call.element.getIntOrFloatBitWidth() / 8, page = kPageBytes / bytes;
    Value pointer = memref::ExtractAlignedPointerAsIndexOp::create(b, call.b.buffer);
    Value toPage = g.toPage(g.add(pointer, g.mul(call.b.offset, bytes)), bytes);
    Value isFar = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, toPage, g.index(page / 2));
    Value shift = arith::SelectOp::create(b, isFar, g.sub(toPage, page), toPage);
    Value count = arith::DivUIOp::create(b, g.add(g.index(call.n), unit / 2), g.index(unit));
    return {unit, arith::MaxSIOp::create(b, count, g.index(1)), shift};
  }

  /// The first column of a block, and its number of columns.
  std::pair<Value, Value> columnsOf(const StreamColumns &columns, Value block) {
    auto is = [&](Value x, Value y) { return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, y); };
    Value next = g.add(block, 1), place = g.add(g.mul(block, columns.unit), columns.shift);
    Value first = arith::SelectOp::create(b, is(block, g.index(0)), g.index(0), place);
    Value last = arith::SelectOp::create(b, is(next, columns.count), g.index(call.n), g.add(place, columns.unit));
    return {first, g.sub(last, first)};
  }

  /// Calls `piece(block of depth, first column, columns)` in a loop that threads may share.
  void shareStream(const StreamColumns &columns, llvm::function_ref<void(Value, Value, Value)> piece) {
    if (!columns.count && call.depthBlocks == 1)
      return piece(g.index(0), g.index(0), g.index(call.n));
    Value parts = g.index(call.depthBlocks);
    Value count = columns.count ? arith::MulIOp::create(b, parts, columns.count) : parts;
    scf::ForOp loop = g.loop(g.index(0), count, 1, [&](Value number) {
      if (!columns.count)
        return piece(number, g.index(0), g.index(call.n));
      auto [first, width] = columnsOf(columns, arith::RemUIOp::create(b, number, columns.count));
      piece(arith::DivUIOp::create(b, number, columns.count), first, width);
    });
    int64_t n = call.n.expected(), trips = call.depthBlocks * (columns.count ? streamBlocks(n, columns.unit) : 1);
    double bytes = double(call.k.expected() * n * (call.element.getIntOrFloatBitWidth() / 8));
    markParallel(loop, trips, bytes * readNs / double(trips));
  }

  /// The terms of a block of depth, in whole groups of rows that are read together; null if there is one block.
  Value streamDepthStep() {
    constexpr int64_t unit = 8;
    if (call.depthBlocks == 1)
      return {};
    return g.mul(g.ceilDiv(g.ceilDiv(g.index(call.k), call.depthBlocks), unit), unit);
  }

  /// Whether no cache holds the right operand.
  Value isRightFar() {
    constexpr int64_t mostCached = 32 << 20;
    int64_t bytes = call.element.getIntOrFloatBitWidth() / 8;
    if (call.n.isStatic() && call.k.isStatic())
      return truth((call.n * call.k).factor() > mostCached / bytes);
    return arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, g.index(call.n * call.k), g.index(mostCached / bytes));
  }

  MatmulMatrix depthSums(Value part) {
    Value elements = g.mul(g.index(call.m), call.n);
    Value offset = g.add(arith::MulIOp::create(b, part, elements), kStreamSumsOffset);
    return {call.depthSums, offset, call.n, 1};
  }

  /// Adds up the sums of the blocks of depth: streams them, times 1, row by row of c.
  void addDepthSums(const StreamColumns &columns) {
    func::FuncOp stream = getMatmulStream(module, call.element, {1, 1, call.tile.lanes});
    Value zero = g.index(0), one = g.index(1), parts = g.index(call.depthBlocks);
    memref::StoreOp::create(b, arith::ConstantOp::create(b, b.getOneAttr(call.element)), call.depthSums, zero);
    Value ones = view({call.depthSums, zero, 0, 0}, zero, zero, one, parts, /*unitStride=*/false);
    g.loop(zero, g.index(call.m), 1, [&](Value row) {
      auto addColumns = [&](Value first, Value width) {
        MatmulMatrix sums{call.depthSums, g.add(g.advance(zero, row, call.n), kStreamSumsOffset), call.m * call.n, 1};
        Value right = view(sums, zero, first, parts, width, /*unitStride=*/true);
        Value result = view(call.c, row, first, one, width, /*unitStride=*/true);
        func::CallOp::create(b, stream, ValueRange{ones, right, result, call.accumulate, truth(false)});
      };
      if (!columns.count)
        return addColumns(zero, g.index(call.n));
      g.loop(zero, columns.count, 1, [&](Value block) {
        auto [first, width] = columnsOf(columns, block);
        addColumns(first, width);
      });
    });
  }
};

} // namespace

void emitStream(ImplicitLocOpBuilder &b, ModuleOp module, const MatmulCall &call) {
  StreamEmitter(b, module, call).emit();
}

} // namespace mlir::array
