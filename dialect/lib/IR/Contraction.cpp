// dot_general: verification, canonicalization.
#include "Inference.h"
#include "array/IR/Plan.h"
#include "array/IR/Precision.h"

using namespace mlir;
using namespace mlir::array;

/// The dimensions that are neither batch nor contracting, in order.
static SmallVector<int64_t> freeDims(RankedTensorType type, ArrayRef<int64_t> batch, ArrayRef<int64_t> contracting) {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!llvm::is_contained(batch, dim) && !llvm::is_contained(contracting, dim))
      dims.push_back(dim);
  return dims;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

static LogicalResult verifyDims(DotGeneralOp op, StringRef side, RankedTensorType type, ArrayRef<int64_t> batch,
                                ArrayRef<int64_t> contracting) {
  auto dims = llvm::to_vector(batch);
  llvm::append_range(dims, contracting);
  if (areDistinctDims(dims, type.getRank()))
    return success();
  return op.emitOpError(side) << "_batch " << listed(batch) << " and " << side << "_contracting " << listed(contracting)
                              << " are not distinct dimensions of " << type << " (C2)";
}

static LogicalResult verifySizes(DotGeneralOp op, StringRef kind, ArrayRef<int64_t> lhsDims, ArrayRef<int64_t> rhsDims,
                                 StringRef constraint) {
  RankedTensorType lhs = op.getLhs().getType(), rhs = op.getRhs().getType();
  for (auto [lhsDim, rhsDim] : llvm::zip_equal(lhsDims, rhsDims))
    if (!mergedSize(lhs.getDimSize(lhsDim), rhs.getDimSize(rhsDim)))
      return op.emitOpError(kind) << " dimensions differ: lhs dimension " << lhsDim << " is " << lhs.getDimSize(lhsDim)
                                  << ", rhs dimension " << rhsDim << " is " << rhs.getDimSize(rhsDim) << " ("
                                  << constraint << ")";
  return success();
}

bool array::isSameOrWider(Type element, Type result) {
  if (element == result)
    return true;
  if (isa<ComplexType>(element) || isa<ComplexType>(result))
    return isa<ComplexType>(element) && isa<ComplexType>(result) &&
           isSameOrWider(partElement(element), partElement(result));
  bool isSameKind = isa<FloatType>(element)
                        ? isa<FloatType>(result)
                        : isa<IntegerType>(result) && element.isUnsignedInteger() == result.isUnsignedInteger();
  return isSameKind && result.getIntOrFloatBitWidth() > element.getIntOrFloatBitWidth();
}

LogicalResult DotGeneralOp::verify() {
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType(), result = getType();
  if (getLhsContracting().size() != getRhsContracting().size() || getLhsBatch().size() != getRhsBatch().size())
    return emitOpError("has ") << getLhsContracting().size() << " and " << getRhsContracting().size()
                               << " contracting dimensions, " << getLhsBatch().size() << " and " << getRhsBatch().size()
                               << " batch dimensions, expected as many of lhs as of rhs (C1)";
  if (failed(verifyDims(*this, "lhs", lhs, getLhsBatch(), getLhsContracting())) ||
      failed(verifyDims(*this, "rhs", rhs, getRhsBatch(), getRhsContracting())) ||
      failed(verifySizes(*this, "contracting", getLhsContracting(), getRhsContracting(), "C3")) ||
      failed(verifySizes(*this, "batch", getLhsBatch(), getRhsBatch(), "C4")))
    return failure();
  if (lhs.getElementType() != rhs.getElementType())
    return emitOpError("element types of lhs and rhs differ: ") << lhs << " and " << rhs << " (C5)";
  SmallVector<int64_t> shape;
  for (auto [lhsDim, rhsDim] : llvm::zip_equal(getLhsBatch(), getRhsBatch()))
    shape.push_back(*mergedSize(lhs.getDimSize(lhsDim), rhs.getDimSize(rhsDim)));
  for (int64_t dim : freeDims(lhs, getLhsBatch(), getLhsContracting()))
    shape.push_back(lhs.getDimSize(dim));
  for (int64_t dim : freeDims(rhs, getRhsBatch(), getRhsContracting()))
    shape.push_back(rhs.getDimSize(dim));
  if (failed(verifyCompatibleShape(shape, result.getShape())))
    return emitOpError("result is ") << result << ", expected " << result.clone(shape) << " (C6)";
  if (!isSameOrWider(lhs.getElementType(), result.getElementType()))
    return emitOpError("result is ") << result << ", expected the element type of " << lhs
                                     << " or a wider one of its kind (C7)";
  return success(succeeded(verifyPlan(*this)) && succeeded(verifyPrecision(*this)));
}

//===----------------------------------------------------------------------===//
// Canonicalization
//===----------------------------------------------------------------------===//

/// A transposed operand is read in its original order: only the numbers of its dimensions change. The free dimensions
/// must keep their order, which is that of the result.
static bool readThroughTranspose(Value &operand, SmallVector<int64_t> &batch, SmallVector<int64_t> &contracting) {
  auto transpose = operand.getDefiningOp<TransposeOp>();
  if (!transpose)
    return false;
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  SmallVector<int64_t> free = freeDims(transpose.getType(), batch, contracting);
  auto sources = [&](ArrayRef<int64_t> dims) {
    return llvm::map_to_vector<6>(dims, [&](int64_t dim) { return permutation[dim]; });
  };
  if (!llvm::is_sorted(sources(free)))
    return false;
  operand = transpose.getOperand();
  batch = sources(batch);
  contracting = sources(contracting);
  return true;
}

namespace {

struct DotGeneralOfTranspose : OpRewritePattern<DotGeneralOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DotGeneralOp op, PatternRewriter &rewriter) const override {
    Value lhs = op.getLhs(), rhs = op.getRhs();
    SmallVector<int64_t> lhsBatch(op.getLhsBatch()), lhsContracting(op.getLhsContracting());
    SmallVector<int64_t> rhsBatch(op.getRhsBatch()), rhsContracting(op.getRhsContracting());
    bool isChanged = readThroughTranspose(lhs, lhsBatch, lhsContracting);
    isChanged |= readThroughTranspose(rhs, rhsBatch, rhsContracting);
    if (!isChanged)
      return failure();
    auto product = DotGeneralOp::create(rewriter, op.getLoc(), op.getType(), lhs, rhs, lhsContracting, rhsContracting,
                                        lhsBatch, rhsBatch);
    handOnPlan(op, product);
    handOnPrecision(op, product);
    rewriter.replaceOp(op, product);
    return success();
  }
};

} // namespace

void DotGeneralOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DotGeneralOfTranspose>(context);
}
