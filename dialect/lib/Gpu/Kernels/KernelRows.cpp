// Reductions along memory: neighbouring lanes read adjacent elements of a row, 16 bytes each if the rows allow it, and
// join their values by shuffles. A short row is shared by as many lanes as it has such groups, a long one by the
// threads of a block, and few long ones by several blocks.
#include "Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::array {

namespace {

/// Minimum steps for which a block shares a result.
constexpr int64_t kBlockSteps = 1024;

class Rows {
public:
  Rows(KernelBuilder &k, const Member &member, const Join &join)
      : k(k), member(member), join(join), parallel(countParallel(member.space)),
        last(static_cast<unsigned>(member.space.dims.size()) - 1), pointSizes(sizesOf(member.space, 0, parallel)),
        stepSizes(sizesOf(member.space, parallel, last + 1)), points(product(pointSizes)), steps(product(stepSizes)),
        lanes(chooseLanes()), groups(steps / lanes), sharers(chooseSharers()) {}

  Values emit(int64_t mostParts) {
    int64_t parts = sharers < kBlockSize ? 1 : std::min(mostParts / points, steps / kPartSteps);
    Steps cut(groups, std::max<int64_t>(parts, 1));
    int64_t pointsOfBlock = kBlockSize / sharers;
    k.setGrid(llvm::divideCeil(points, pointsOfBlock) * cut.parts, kBlockSize);
    Value part = k.remainder(k.block(), cut.parts), share = k.remainder(k.thread(), sharers);
    Value own = k.add(k.mul(k.divide(k.block(), cut.parts), pointsOfBlock), k.divide(k.thread(), sharers));
    auto [point, isInside] = k.clamp(own, points, points % pointsOfBlock == 0);

    Values at = k.place(pointSizes, point);
    Values result = join.ofLanes(k, sumUp(at, k.add(cut.first(k, part), share), cut.end(k, part)), lanes);
    result = addTail(at, share, part, cut.parts, std::move(result));
    result = sharers > kWarpSize ? join.inBlock(k, std::move(result), k.thread(), sharers)
                                 : join.inWarp(k, std::move(result), sharers);
    Values buffers = askForParts(k, member, cut.parts, points);
    k.when(k.both(isInside, k.isLess(share, 1)), [&, point = point] {
      storeResult(k, member, join, result, atStep(at, k.index(0)), buffers, k.add(k.mul(part, points), point));
    });
    return buffers;
  }

private:
  /// Groups of lanes do not cross from one contiguous part of memory to the next; the end of a single part may be left
  /// over.
  int64_t chooseLanes() const {
    int64_t most = lanesAlong(member.space, last);
    bool fits = stepSizes.back() % most == 0 || (stepSizes.size() == 1 && steps >= most);
    bool isOfUse = llvm::any_of(member.space.inputs(),
                                [&](const Access &input) { return !input.scalar && isWide(input, last, most); });
    return fits && isOfUse ? most : 1;
  }

  int64_t chooseSharers() const {
    if (steps >= kBlockSteps)
      return kBlockSize;
    return std::min<int64_t>(kWarpSize, llvm::PowerOf2Ceil(std::max<int64_t>(groups, 1)));
  }

  Values atStep(ArrayRef<Value> at, Value step) {
    Values all(at);
    all.append(k.place(stepSizes, step));
    return all;
  }

  Values sumUp(ArrayRef<Value> at, Value from, Value to) {
    Values sums;
    for (int64_t lane = 0; lane < lanes; ++lane)
      sums.append(join.neutral(k));
    bool isShort = member.bodySize <= kShortBody && groups > sharers;
    return sweep(
        k, from, to, sharers, isShort, std::move(sums),
        [&](Value group) { return loadStep(k, member, last, lanes, atStep(at, k.mul(group, lanes))); },
        [&](const Loaded &loaded, ValueRange sums) { return addStep(member, loaded, sums); });
  }

  /// The last steps, fewer than a group, go to the first threads of the last part, one each.
  Values addTail(ArrayRef<Value> at, Value share, Value part, int64_t parts, Values sums) {
    int64_t tail = steps % lanes;
    if (tail == 0)
      return sums;
    Value from = k.add(share, steps - tail);
    // A loop of zero or one iterations.
    if (parts > 1)
      from = k.add(from, k.mul(arith::SubIOp::create(k, k.index(parts - 1), part), steps));
    return k.loop(from, k.index(steps), k.index(sharers), sums, [&](Value step, ValueRange carried) {
      return addStep(member, loadStep(k, member, last, 1, atStep(at, step)), carried);
    });
  }

  KernelBuilder &k;
  const Member &member;
  const Join &join;
  unsigned parallel, last;
  SmallVector<int64_t> pointSizes, stepSizes;
  int64_t points, steps, lanes, groups, sharers;
};

} // namespace

Values emitRows(KernelBuilder &k, const Member &member, const Join &join, int64_t mostParts) {
  return Rows(k, member, join).emit(mostParts);
}

} // namespace mlir::array
