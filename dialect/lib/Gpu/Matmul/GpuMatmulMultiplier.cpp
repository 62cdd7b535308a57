// Multiplies tiles (GpuMatmulMultiplier.h): by threads, each with a part of a tile, or by warps with the tensor cores.
#include "GpuMatmulMultiplier.h"
#include "GpuMatmulInstructions.h"
#include "GpuMatmulWarpgroup.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::array {

SmallVector<Value> GpuMatmulMultiplier::zeros(int64_t count, VectorType type) {
  return SmallVector<Value>(count, arith::ConstantOp::create(b, b.getZeroAttr(type)));
}

namespace {

/// The lanes of a warp are 4 x 8. Each has rows and columns in groups of 4, which are a row or column of lanes apart,
/// so neighbours read adjacent vectors from shared memory.
class ThreadMultiplier : public GpuMatmulMultiplier {
public:
  ThreadMultiplier(GpuMatmulKernel &kernel, GpuMatmulLoader &left, GpuMatmulLoader &right)
      : GpuMatmulMultiplier(kernel, left, right), rowGroups(kernel.plan.tile.warpM() / (lanesM * group)),
        columnGroups(kernel.plan.tile.warpN() / (lanesN * group)) {
    row = kernel.add(warpRow(), kernel.mul(kernel.div(kernel.lane, lanesN), group));
    column = kernel.add(warpColumn(), kernel.mul(kernel.rem(kernel.lane, lanesN), group));
  }

  SmallVector<Value> zeros() override {
    return GpuMatmulMultiplier::zeros(rowGroups * group * columnGroups, vectorType());
  }

  SmallVector<Value> add(ValueRange before, Value stage) override {
    SmallVector<Value> sums(before);
    for (int64_t term = 0; term < kernel.plan.tile.k; ++term) {
      SmallVector<Value> rows, columns;
      for (int64_t number = 0; number < rowGroups; ++number)
        rows.push_back(read(left, stage, kernel.add(row, number * lanesM * group), term));
      for (int64_t number = 0; number < columnGroups; ++number)
        columns.push_back(read(right, stage, kernel.add(column, number * lanesN * group), term));
      size_t next = 0;
      for (Value some : rows)
        for (int64_t number = 0; number < group; ++number) {
          Value factor = vector::ExtractOp::create(b, some, number);
          Value factors = vector::BroadcastOp::create(b, vectorType(), factor);
          for (Value others : columns) {
            sums[next] = multiplyAdd(factors, others, sums[next]);
            ++next;
          }
        }
    }
    return sums;
  }

  SmallVector<GpuMatmulFragment> fragments(ValueRange sums) override {
    SmallVector<GpuMatmulFragment> found;
    for (auto [index, sum] : llvm::enumerate(sums)) {
      auto number = static_cast<int64_t>(index);
      int64_t own = number / columnGroups, rowOffset = own / group * lanesM * group + own % group;
      found.push_back({kernel.add(row, rowOffset), kernel.add(column, number % columnGroups * lanesN * group), sum});
    }
    return found;
  }

private:
  static constexpr int64_t lanesM = 4, lanesN = 8, group = 4;

  VectorType vectorType() { return VectorType::get({group}, kernel.product.sum); }

  Value read(GpuMatmulLoader &loader, Value stage, Value outer, int64_t term) {
    auto load =
        vector::LoadOp::create(b, vectorType(), loader.memory(), loader.place(stage, outer, kernel.index(term)));
    int64_t bytes = group * kernel.product.sum.getIntOrFloatBitWidth() / 8;
    load->setAttr("alignment", b.getI64IntegerAttr(std::min<int64_t>(bytes, 16)));
    return load;
  }

  Value multiplyAdd(Value x, Value y, Value sum) {
    if (isa<FloatType>(kernel.product.sum))
      return vector::FMAOp::create(b, x, y, sum);
    return arith::AddIOp::create(b, sum, arith::MulIOp::create(b, x, y));
  }

  int64_t rowGroups, columnGroups;
  Value row, column;
};

/// mma.sync: 16 rows by 8 columns at a time. ldmatrix loads the registers of both factors from shared memory, four
/// matrices of 8 rows of 16 bytes at once: for the left factor two by two for 16 rows, for the right one for two
/// instructions.
class TensorCoreMultiplier : public GpuMatmulMultiplier {
public:
  TensorCoreMultiplier(GpuMatmulKernel &kernel, GpuMatmulLoader &left, GpuMatmulLoader &right)
      : GpuMatmulMultiplier(kernel, left, right), element(kernel.product.operands[GpuMatmul::Left].element()),
        rowBlocks(kernel.plan.tile.warpM() / block), columnBlocks(kernel.plan.tile.warpN() / block),
        unit(16 * 8 / element.getIntOrFloatBitWidth()), row(warpRow()), column(warpColumn()) {}

  SmallVector<Value> zeros() override {
    return GpuMatmulMultiplier::zeros(rowBlocks * 2 * columnBlocks, VectorType::get({2, 2}, kernel.product.sum));
  }

  SmallVector<Value> add(ValueRange before, Value stage) override {
    SmallVector<Value> sums(before);
    for (int64_t term = 0; term < kernel.plan.tile.k; term += 2 * unit) {
      SmallVector<Value> rows, columns;
      for (int64_t number = 0; number < rowBlocks; ++number)
        rows.push_back(read(left, /*isLeft=*/true, stage, kernel.add(row, number * block), term));
      for (int64_t number = 0; number < columnBlocks; ++number)
        columns.push_back(read(right, /*isLeft=*/false, stage, kernel.add(column, number * block), term));
      size_t next = 0;
      for (Value some : rows)
        for (Value others : columns)
          for (int64_t half = 0; half < 2; ++half) {
            sums[next] = multiply(some, others, half, sums[next]);
            ++next;
          }
    }
    return sums;
  }

  /// Lane `4 * group + member` has two neighbours of row `group` and two of row `group + 8`.
  SmallVector<GpuMatmulFragment> fragments(ValueRange sums) override {
    Value group = kernel.div(kernel.lane, 4), member = kernel.mul(kernel.rem(kernel.lane, 4), 2);
    SmallVector<GpuMatmulFragment> found;
    for (int64_t rowBlock = 0; rowBlock < rowBlocks; ++rowBlock)
      for (int64_t half = 0; half < 2; ++half) {
        Value ownRow = kernel.add(row, kernel.add(group, rowBlock * block + half * 8));
        for (int64_t narrow = 0; narrow < 2 * columnBlocks; ++narrow) {
          Value sum = sums[rowBlock * 2 * columnBlocks + narrow];
          found.push_back(
              {ownRow, kernel.add(column, kernel.add(member, narrow * 8)), vector::ExtractOp::create(b, sum, half)});
        }
      }
    return found;
  }

private:
  static constexpr int64_t block = 16; ///< rows, or columns, whose registers are read at once

  /// The registers that `read` gives, loaded one by one: matrix `number` has rows of 16 bytes, a row for four lanes.
  Value readNumbers(GpuMatmulLoader &loader, bool isLeft, Value stage, Value first, int64_t term, VectorType type) {
    Value row = kernel.add(first, kernel.div(kernel.lane, 4)), column = kernel.add(kernel.rem(kernel.lane, 4), term);
    Value numbers = arith::ConstantOp::create(b, b.getZeroAttr(type));
    for (int64_t number = 0; number < 4; ++number) {
      int64_t low = number % 2, high = number / 2;
      Value outer = kernel.add(row, (isLeft ? low : high) * 8),
            terms = kernel.add(column, (isLeft ? high : low) * unit);
      Value loaded = memref::LoadOp::create(b, loader.memory(), loader.place(stage, outer, terms));
      numbers = vector::InsertOp::create(b, loaded, numbers, ArrayRef<int64_t>{number, 0});
    }
    return numbers;
  }

  /// Matrix `lane / 8` is at 8 rows, or at 16 bytes of terms, from the first; the order of both differs by side. The
  /// lane gives the address of the matrix's row `lane % 8`, which is a term if terms are not adjacent.
  Value read(GpuMatmulLoader &loader, bool isLeft, Value stage, Value first, int64_t term) {
    auto type = VectorType::get({4, 32 / element.getIntOrFloatBitWidth()}, element);
    if (element.isF32() && !loader.areTermsInner())
      return roundToTf32(readNumbers(loader, isLeft, stage, first, term, type));
    Value matrix = kernel.div(kernel.lane, 8), within = kernel.rem(kernel.lane, 8);
    Value low = kernel.rem(matrix, 2), high = kernel.div(matrix, 2);
    bool transposes = !loader.areTermsInner();
    Value outer = kernel.add(first, kernel.mul(isLeft ? low : high, 8));
    Value terms = kernel.add(kernel.mul(isLeft ? high : low, unit), term);
    (transposes ? terms : outer) = kernel.add(transposes ? terms : outer, within);
    Value read = createLoadMatrices(b, type, loader.memory(), loader.place(stage, outer, terms), transposes);
    return element.isF32() ? roundToTf32(read) : read;
  }

  /// To the nearest: the cores would truncate the lower bits.
  Value roundToTf32(Value numbers) {
    for (int64_t each = 0; each < 4; ++each) {
      Value exact = vector::ExtractOp::create(b, numbers, ArrayRef<int64_t>{each, 0});
      Value bits = createRoundToTf32(b, exact);
      numbers = vector::InsertOp::create(b, arith::BitcastOp::create(b, element, bits).getResult(), numbers,
                                         ArrayRef<int64_t>{each, 0});
    }
    return numbers;
  }

  /// 16 rows by 8 columns, the first or the second ones of `columns`, in one instruction or in two.
  Value multiply(Value rows, Value columns, int64_t half, Value sum) {
    int64_t bits = element.getIntOrFloatBitWidth(), depth = kernel.plan.instructionBytes * 8 / bits;
    int64_t steps = 2 * unit / depth;
    for (int64_t step = 0; step < steps; ++step) {
      Value a = part(rows, step * 4 / steps, 4 / steps);
      Value c = part(columns, 2 * half + step * 2 / steps, 2 / steps);
      sum = createMma(b, a, c, sum, {block, 8, depth}, /*isTf32=*/element.isF32());
    }
    return sum;
  }

  Value part(Value registers, int64_t first, int64_t count) {
    auto type = cast<VectorType>(registers.getType());
    if (count == type.getDimSize(0))
      return registers;
    return vector::ShuffleOp::create(b, registers, registers, llvm::to_vector(llvm::seq(first, first + count)));
  }

  Type element;
  int64_t rowBlocks, columnBlocks;
  int64_t unit; ///< elements of 16 bytes
  Value row, column;
};

} // namespace

std::unique_ptr<GpuMatmulMultiplier> makeProductMultiplier(GpuMatmulKernel &kernel, GpuMatmulLoader &left,
                                                           GpuMatmulLoader &right) {
  if (kernel.plan.unit == GpuMatmulUnit::Warpgroups)
    return makeWarpgroupMultiplier(kernel, left, right);
  if (kernel.plan.unit == GpuMatmulUnit::TensorCores)
    return std::make_unique<TensorCoreMultiplier>(kernel, left, right);
  return std::make_unique<ThreadMultiplier>(kernel, left, right);
}

} // namespace mlir::array
