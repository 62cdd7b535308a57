// Reductions across memory: a thread has adjacent results, for 16 bytes of its input, so that rows of threads read
// contiguous memory. The rows of threads of a block share the steps and combine their results in shared memory. If
// there are few results and many steps, several blocks share the steps.
#include "Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::array {

namespace {

/// Minimum steps of a thread for adding another row of threads, and another block.
constexpr int64_t kStepsOfRow = 8, kStepsOfPart = 32;

class Columns {
public:
  Columns(KernelBuilder &k, const Member &member, const Join *join)
      : k(k), member(member), join(join), parallel(countParallel(member.space)),
        pointSizes(sizesOf(member.space, 0, parallel)),
        stepSizes(sizesOf(member.space, parallel, member.space.dims.size())), points(product(pointSizes)),
        steps(product(stepSizes)), lanes(chooseLanes()), groups(points / lanes) {
    if (join) {
      width = std::min<int64_t>(kWarpSize, llvm::PowerOf2Ceil(groups));
      rows = std::min<int64_t>(kBlockSize / width, llvm::PowerOf2Ceil(llvm::divideCeil(steps, kStepsOfRow)));
    }
    width = kBlockSize / rows;
  }

  Values emit(int64_t mostParts) {
    int64_t blocks = llvm::divideCeil(groups, width);
    int64_t parts = join ? std::min(mostParts / blocks, steps / (rows * kStepsOfPart)) : 1;
    Steps cut(steps, std::max<int64_t>(parts, 1));
    k.setGrid(blocks * cut.parts, kBlockSize);
    Value part = k.divide(k.block(), blocks), x = k.remainder(k.thread(), width), y = k.divide(k.thread(), width);
    auto [group, isInside] =
        k.clamp(k.add(k.mul(k.remainder(k.block(), blocks), width), x), groups, groups % width == 0);
    Value point = k.mul(group, lanes);
    SmallVector<Values> at; // of each lane
    for (int64_t lane = 0; lane < lanes; ++lane)
      at.push_back(lane == 0 ? k.place(pointSizes, point) : k.moved(at.front(), parallel - 1, lane));

    if (!join) {
      k.when(isInside, [&] { emitAlone(at.front()); });
      return {};
    }
    Values sums = sumUp(at.front(), k.add(cut.first(k, part), y), cut.end(k, part));
    Values buffers = askForParts(k, member, cut.parts, points);
    joinRows(sums, x, y, isInside, [&](int64_t lane, ValueRange values) {
      Value number = k.add(k.mul(part, points), k.add(point, lane));
      storeResult(k, member, *join, values, atStep(at[lane], k.index(0)), buffers, number);
    });
    return buffers;
  }

private:
  int64_t chooseLanes() const {
    if (!join || parallel == 0)
      return 1;
    int64_t most = lanesAlong(member.space, parallel - 1);
    bool isOfUse = llvm::any_of(
        member.space.inputs(), [&](const Access &input) { return !input.scalar && isWide(input, parallel - 1, most); });
    return pointSizes.back() % most == 0 && isOfUse ? most : 1;
  }

  Values atStep(ArrayRef<Value> at, Value step) {
    Values all(at);
    all.append(k.place(stepSizes, step));
    return all;
  }

  Values sumUp(ArrayRef<Value> at, Value from, Value to) {
    Values sums;
    for (int64_t lane = 0; lane < lanes; ++lane)
      sums.append(join->neutral(k));
    return sweep(
        k, from, to, rows, member.bodySize <= kShortBody, std::move(sums),
        [&](Value step) { return loadStep(k, member, parallel == 0 ? 0 : parallel - 1, lanes, atStep(at, step)); },
        [&](const Loaded &loaded, ValueRange sums) { return addStep(member, loaded, sums); });
  }

  /// Each row of threads stores its partial result; the first row joins them.
  void joinRows(ValueRange sums, Value x, Value y, Value isInside, function_ref<void(int64_t, ValueRange)> store) {
    size_t outputs = member.space.outputs().size();
    Values shared;
    if (rows > 1) {
      for (const Access &output : member.space.outputs())
        shared.push_back(shareBuffer(k, {rows, lanes, width}, output.element));
      for (int64_t lane = 0; lane < lanes; ++lane)
        for (auto [buffer, value] : llvm::zip_equal(shared, sums.slice(lane * outputs, outputs)))
          memref::StoreOp::create(k, value, buffer, ValueRange{y, k.index(lane), x});
      gpu::BarrierOp::create(k);
    }
    Value isFirst = rows > 1 ? k.isLess(y, 1) : Value();
    k.when(k.both(isInside, isFirst), [&] {
      for (int64_t lane = 0; lane < lanes; ++lane) {
        Values joined(sums.slice(lane * outputs, outputs));
        if (rows > 1)
          joined = k.loop(k.index(1), k.index(rows), k.index(1), joined, [&](Value row, ValueRange carried) {
            Values other;
            for (Value buffer : shared)
              other.push_back(memref::LoadOp::create(k, buffer, ValueRange{row, k.index(lane), x}));
            return (*join)(k, carried, other);
          });
        store(lane, joined);
      }
    });
  }

  /// Executes steps sequentially, by the body alone. Outputs that move along them are stored in each step.
  void emitAlone(ArrayRef<Value> at) {
    ArrayRef<Access> outputs = member.space.outputs();
    auto moves = [&](const Access &output) {
      return llvm::any_of(llvm::seq<unsigned>(parallel, member.space.dims.size()),
                          [&](unsigned dim) { return output.moves(dim); });
    };
    Values origin = atStep(at, k.index(0)), sums;
    for (const Access &output : outputs)
      if (!moves(output))
        sums.push_back(k.before(output, origin));
    sums = k.loop(k.index(0), k.index(steps), k.index(1), sums, [&](Value step, ValueRange carried) {
      Values here = atStep(at, step), arguments, next;
      Loaded loaded = loadStep(k, member, 0, 1, here);
      size_t number = 0;
      for (auto [access, values] : llvm::zip_equal(member.space.accesses, loaded.arguments))
        arguments.push_back(!access.isOutput       ? values.front()
                            : !moves(access)       ? carried[number++]
                            : member.reads(access) ? k.before(access, here)
                                                   : Value());
      for (auto [output, value] : llvm::zip_equal(outputs, member.body(arguments, here))) {
        if (moves(output))
          k.store(value, output, here);
        else
          next.push_back(value);
      }
      return next;
    });
    size_t number = 0;
    for (const Access &output : outputs)
      if (!moves(output))
        k.store(sums[number++], output, origin);
  }

  KernelBuilder &k;
  const Member &member;
  const Join *join;
  unsigned parallel;
  SmallVector<int64_t> pointSizes, stepSizes;
  int64_t points, steps, lanes, groups;
  int64_t rows = 1, width = kBlockSize; ///< Of a block's threads.
};

} // namespace

Values emitColumns(KernelBuilder &k, const Member &member, const Join *join, int64_t mostParts) {
  return Columns(k, member, join).emit(mostParts);
}

} // namespace mlir::array
