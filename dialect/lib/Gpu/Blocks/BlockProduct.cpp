// A product by the tensor cores (BlockProduct.h): a warp computes 16 rows by some columns, 8 at a time, and holds their
// sums in registers. Each lane loads its elements of the factors from where they are, shared memory or the arrays.
//
// A factor's register has 32 bits. Lane 4 * group + member has, with `per` elements to a register:
//   left:  register r is row group + r % 2 * 8, terms (member + r / 2 * 4) * per and the next ones
//   right: register r is column group, terms (member + r * 4) * per and the next ones
//   sums:  [h, e] is row group + h * 8, column 2 * member + e
#include "BlockProduct.h"
#include "Gpu/Matmul/GpuMatmulInstructions.h"
#include "array/IR/Precision.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::array {

namespace {

constexpr int64_t kRows = 16, kColumns = 8;
/// Groups of columns of a warp: they share the registers of the left factor.
constexpr int64_t kMostGroups = 4;

/// The argument of a factor, through the cast from its element in memory.
BlockArgument factorOf(Value value, Type sum) {
  Operation *cast = value.getDefiningOp();
  if (isa_and_nonnull<arith::ExtFOp, arith::ExtSIOp>(cast) && value.getType() == sum)
    value = cast->getOperand(0);
  return dyn_cast<BlockArgument>(value);
}

/// Whether a body adds the product of its two inputs to its output.
bool isProduct(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0)
    return false;
  BlockArgument sum = body->getArgument(2);
  Operation *add = body->getTerminator()->getOperand(0).getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(add))
    return false;
  Value other = add->getOperand(add->getOperand(0) == sum ? 1 : 0);
  Operation *multiply = other.getDefiningOp();
  if (!llvm::is_contained(add->getOperands(), sum) || !isa_and_nonnull<arith::MulFOp, arith::MulIOp>(multiply))
    return false;
  BlockArgument x = factorOf(multiply->getOperand(0), sum.getType()),
                y = factorOf(multiply->getOperand(1), sum.getType());
  return x && y && x != y && x != sum && y != sum && x.getOwner() == body && y.getOwner() == body;
}

/// Whether the cores can multiply the elements, without loss of precision if none is allowed.
bool haveTensorCores(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  Type left = body->getArgument(0).getType(), right = body->getArgument(1).getType(),
       sum = body->getArgument(2).getType();
  if (left != right)
    return false;
  if (left.isInteger(8))
    return sum.isInteger(32);
  return sum.isF32() && (left.isF16() || left.isBF16() || (left.isF32() && allowsTf32(op)));
}

class TensorCoreProduct {
public:
  TensorCoreProduct(KernelBuilder &k, const Member &member, int64_t threads)
      : k(k), space(member.space), threads(threads), parallel(countParallel(space)),
        pointSizes(sizesOf(space, 0, parallel)), stepSizes(sizesOf(space, parallel, space.dims.size())),
        element(space.accesses[0].element), sum(space.accesses[2].element),
        per(32 / static_cast<int64_t>(element.getIntOrFloatBitWidth())) {}

  bool emit() {
    if (llvm::any_of(space.accesses, [](const Access &access) { return access.scalar != nullptr; }) ||
        stepSizes.empty() || stepSizes.back() % depth() != 0 || !(chooseSides(0, 1) || chooseSides(1, 0)))
      return false;
    int64_t groups = kMostGroups, columns = pointSizes[n] / kColumns;
    while (columns % groups != 0 || (groups > 1 && tiles(groups) * kWarpSize < threads))
      groups /= 2;
    Value lane = k.remainder(k.thread(), kWarpSize);
    group = k.divide(lane, 4);
    this->lane = k.remainder(lane, 4);
    k.loop(k.divide(k.thread(), kWarpSize), k.index(tiles(groups)), k.index(threads / kWarpSize), {},
           [&](Value number, ValueRange) {
             emitTile(number, groups);
             return Values();
           });
    return true;
  }

private:
  /// Terms of an instruction.
  int64_t depth() const { return 8 * per; }
  int64_t tiles(int64_t groups) const { return product(pointSizes) / (kRows * kColumns * groups); }

  /// Rows and columns are dimensions along which one factor moves. Other dimensions are batches.
  bool chooseSides(unsigned first, unsigned second) {
    std::optional<unsigned> rows, columns;
    for (unsigned dim = 0; dim < parallel; ++dim) {
      bool movesLeft = space.accesses[first].moves(dim), movesRight = space.accesses[second].moves(dim);
      if (movesLeft && !movesRight && pointSizes[dim] % kRows == 0)
        rows = dim;
      if (movesRight && !movesLeft && pointSizes[dim] % kColumns == 0)
        columns = dim;
    }
    if (!rows || !columns)
      return false;
    left = first, right = second, m = *rows, n = *columns;
    return true;
  }

  void emitTile(Value number, int64_t groups) {
    SmallVector<int64_t> sizes(pointSizes);
    sizes[m] /= kRows;
    sizes[n] /= kColumns * groups;
    Values at = k.place(sizes, number);
    at[m] = k.mul(at[m], kRows);
    at[n] = k.mul(at[n], kColumns * groups);

    auto sumType = VectorType::get({2, 2}, sum);
    Values sums;
    for (int64_t number = 0; number < groups; ++number) {
      Value own = zero(sumType);
      eachSum(at, number, [&](ArrayRef<Value> place, ArrayRef<int64_t> position) {
        own = vector::InsertOp::create(k, k.load(space.accesses[2], place), own, position);
      });
      sums.push_back(own);
    }
    SmallVector<int64_t> steps(stepSizes);
    steps.back() /= depth();
    sums = k.loop(k.index(0), k.index(product(steps)), k.index(1), sums, [&](Value step, ValueRange before) {
      Values terms = k.place(steps, step), next;
      terms.back() = k.mul(terms.back(), depth());
      Value rows = loadLeft(at, terms);
      for (int64_t number = 0; number < groups; ++number)
        next.push_back(createMma(k, rows, loadRight(at, terms, number), before[number], {kRows, kColumns, depth()},
                                 /*isTf32=*/element.isF32()));
      return next;
    });
    for (int64_t number = 0; number < groups; ++number)
      eachSum(at, number, [&](ArrayRef<Value> place, ArrayRef<int64_t> position) {
        k.store(vector::ExtractOp::create(k, sums[number], position), space.accesses[2], place);
      });
  }

  /// The places of the lane's sums in a group of columns.
  void eachSum(Values at, int64_t number, function_ref<void(ArrayRef<Value>, ArrayRef<int64_t>)> visit) {
    for (int64_t half = 0; half < 2; ++half)
      for (int64_t next = 0; next < 2; ++next) {
        Values place(at);
        place[m] = k.add(k.add(at[m], group), half * 8);
        place[n] = k.add(k.add(at[n], k.mul(lane, 2)), number * kColumns + next);
        place.append(Values(stepSizes.size(), k.index(0)));
        visit(place, {half, next});
      }
  }

  Value loadLeft(ArrayRef<Value> at, ArrayRef<Value> terms) {
    Value numbers = zero(VectorType::get({4, per}, element));
    for (int64_t number = 0; number < 4; ++number) {
      Values place(at);
      place[m] = k.add(k.add(at[m], group), number % 2 * 8);
      numbers = loadRegister(space.accesses[left], place, terms, number / 2 * 4, number, numbers);
    }
    return numbers;
  }

  Value loadRight(ArrayRef<Value> at, ArrayRef<Value> terms, int64_t columns) {
    Value numbers = zero(VectorType::get({2, per}, element));
    Values place(at);
    place[n] = k.add(k.add(at[n], group), columns * kColumns);
    for (int64_t number = 0; number < 2; ++number)
      numbers = loadRegister(space.accesses[right], place, terms, number * 4, number, numbers);
    return numbers;
  }

  /// The elements of register `number`, whose terms begin at `(member + distance) * per`.
  Value loadRegister(const Access &access, Values place, ArrayRef<Value> terms, int64_t distance, int64_t number,
                     Value numbers) {
    place.append(terms.begin(), terms.end());
    place.back() = k.add(terms.back(), k.mul(k.add(lane, distance), per));
    for (int64_t each = 0; each < per; ++each) {
      Value loaded = k.load(access, k.moved(place, space.dims.size() - 1, each));
      if (element.isF32()) // the cores would truncate the lower bits
        loaded = arith::BitcastOp::create(k, element, createRoundToTf32(k, loaded));
      numbers = vector::InsertOp::create(k, loaded, numbers, ArrayRef<int64_t>{number, each});
    }
    return numbers;
  }

  Value zero(VectorType type) { return arith::ConstantOp::create(k, k.getZeroAttr(type)); }

  KernelBuilder &k;
  const IterationSpace &space;
  int64_t threads;
  unsigned parallel;
  SmallVector<int64_t> pointSizes, stepSizes;
  Type element, sum;
  int64_t per; ///< elements of a register
  unsigned left = 0, right = 1, m = 0, n = 1;
  Value group, lane; ///< of the thread, in the warp and in its group
};

} // namespace

bool emitTensorCoreProduct(KernelBuilder &k, linalg::LinalgOp op, const Member &member, int64_t threads) {
  return isProduct(op) && haveTensorCores(op) && TensorCoreProduct(k, member, threads).emit();
}

} // namespace mlir::array
