// wgmma.mma_async (GpuMatmulWarpgroup.h): a warpgroup of four warps multiplies 64 rows by all columns of the block's
// tile, 16 terms at a time, and reads both factors from shared memory itself. The instructions of a stage run while the
// next stage's begin.
#include "GpuMatmulWarpgroup.h"
#include "GpuMatmulInstructions.h"
#include "MatrixDescriptor.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::array {

namespace {

class WarpgroupMultiplier : public GpuMatmulMultiplier {
public:
  WarpgroupMultiplier(GpuMatmulKernel &kernel, GpuMatmulLoader &left, GpuMatmulLoader &right)
      : GpuMatmulMultiplier(kernel, left, right), columns(kernel.plan.tile.n) {
    Value warpgroup = kernel.div(kernel.warp, 4);
    first[0] = describe(left, kernel.mul(warpgroup, kRows * descriptor::kRowBytes));
    first[1] = describe(right, kernel.index(0));
    auto sum = cast<FloatType>(kernel.product.sum);
    sumsType = LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(columns / 2, sum));
  }

  SmallVector<Value> zeros() override { return {LLVM::ZeroOp::create(b, sumsType)}; }

  /// The previous stage may still be multiplied.
  int64_t stagesHeld() const override { return 2; }

  SmallVector<Value> add(ValueRange before, Value stage) override {
    Value sums = before.front();
    Value starts[] = {at(0, stage), at(1, stage)};
    createWarpgroupFence(b);
    for (int64_t term = 0; term < kernel.plan.tile.k; term += kTerms)
      sums = multiply(sums, atTerm(left, starts[0], term), atTerm(right, starts[1], term));
    createCommitWarpgroup(b);
    createWaitForWarpgroup(b, /*pending=*/1);
    return {sums};
  }

  /// Waits for all. The empty assembly tells the compiler that the registers hold the sums only then; otherwise it
  /// might move uses before the wait.
  SmallVector<Value> finish(ValueRange before) override {
    createWaitForWarpgroup(b, /*pending=*/0);
    SmallVector<Value> sums;
    std::string results, same;
    for (int64_t number = 0; number < columns / 2; ++number) {
      sums.push_back(LLVM::ExtractValueOp::create(b, before.front(), number));
      results += "=f,";
      same += std::to_string(number) + (number + 1 < columns / 2 ? "," : "");
    }
    auto held =
        LLVM::InlineAsmOp::create(b, TypeRange{sumsType}, sums, /*asm_string=*/"", /*constraints=*/results + same,
                                  /*has_side_effects=*/true, /*is_align_stack=*/false, LLVM::TailCallKind::None,
                                  /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr);
    return {held.getRes()};
  }

  /// A warp has 16 rows: lane `4 * group + member` has two neighbours of row `group` and two of row `group + 8` of
  /// every 8 columns.
  SmallVector<GpuMatmulFragment> fragments(ValueRange sums) override {
    Value group = kernel.div(kernel.lane, 4), member = kernel.mul(kernel.rem(kernel.lane, 4), 2);
    Value row = kernel.add(kernel.mul(kernel.warp, 16), group);
    auto pair = VectorType::get({2}, kernel.product.sum);
    SmallVector<GpuMatmulFragment> found;
    for (int64_t half = 0; half < 2; ++half)
      for (int64_t narrow = 0; narrow < columns / 8; ++narrow) {
        int64_t number = 4 * narrow + 2 * half;
        SmallVector<Value> own{LLVM::ExtractValueOp::create(b, sums.front(), number),
                               LLVM::ExtractValueOp::create(b, sums.front(), number + 1)};
        found.push_back(
            {kernel.add(row, 8 * half), kernel.add(member, 8 * narrow), vector::FromElementsOp::create(b, pair, own)});
      }
    return found;
  }

private:
  static constexpr int64_t kRows = 64, kTerms = 16;

  Value word(int64_t value) { return arith::ConstantIntOp::create(b, b.getI64Type(), value); }

  /// The descriptor of a loader's first stage, from `offset` bytes on.
  Value describe(GpuMatmulLoader &loader, Value offset) {
    int64_t blockBytes = kernel.plan.tile.k * descriptor::kRowBytes; // of adjacent elements
    int64_t fields = (blockBytes >> descriptor::kUnitBits) << descriptor::kLeading |
                     (descriptor::kBlockBytes >> descriptor::kUnitBits) << descriptor::kStride |
                     descriptor::kSwizzle128 << descriptor::kSwizzle;
    Value address = arith::IndexCastUIOp::create(b, b.getI64Type(), kernel.add(loader.address(), offset));
    address = arith::ShRUIOp::create(b, address, word(descriptor::kUnitBits));
    address = arith::AndIOp::create(b, address, word(descriptor::kFieldMask));
    return arith::OrIOp::create(b, address, word(fields));
  }

  /// A side's descriptor for a stage.
  Value at(unsigned side, Value stage) {
    GpuMatmulLoader &loader = side == 0 ? left : right;
    Value distance = kernel.mul(stage, loader.stageBytes() >> descriptor::kUnitBits);
    return arith::AddIOp::create(b, first[side], arith::IndexCastUIOp::create(b, b.getI64Type(), distance));
  }

  /// Terms are neighbours in a row, or rows.
  Value atTerm(GpuMatmulLoader &loader, Value start, int64_t term) {
    int64_t bytes = loader.areTermsInner() ? 2 * term : term * descriptor::kRowBytes;
    return bytes == 0 ? start : arith::AddIOp::create(b, start, word(bytes >> descriptor::kUnitBits)).getResult();
  }

  Value multiply(Value sums, Value rows, Value others) {
    bool isHalf = kernel.product.operands[GpuMatmul::Left].element().isF16();
    // Rows of terms are "row" of the left factor, and "col" of the right one.
    return createWarpgroupMma(b, sums, rows, others,
                              {kRows, columns, kTerms, isHalf, left.areTermsInner(), !right.areTermsInner()});
  }

  int64_t columns;
  Value first[2];
  LLVM::LLVMStructType sumsType;
};

} // namespace

std::unique_ptr<GpuMatmulMultiplier> makeWarpgroupMultiplier(GpuMatmulKernel &kernel, GpuMatmulLoader &left,
                                                             GpuMatmulLoader &right) {
  return std::make_unique<WarpgroupMultiplier>(kernel, left, right);
}

} // namespace mlir::array
