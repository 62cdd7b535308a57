// The decompositions: verification of shapes and element types by each op's letters for sizes.
#include "Inference.h"

using namespace mlir;
using namespace mlir::array;

namespace {

/// Checks one operand or result after the other, and records the size of each letter.
class ShapeChecker {
public:
  explicit ShapeChecker(Operation *op) : op(op), first(getElementTypeOrSelf(op->getOperand(0).getType())) {}

  LogicalResult check(RankedTensorType type, StringRef word, const Twine &what) {
    StringRef kind = word.contains(':') ? word.take_front(2) : StringRef();
    StringRef letters = word.drop_front(kind.size());
    if (type.getElementType() != elementOf(kind))
      return op->emitOpError() << what << " has elements " << type.getElementType() << ", expected " << elementOf(kind)
                               << " (C3)";
    int64_t batchRank = type.getRank() - int64_t(letters.size());
    if (batchRank < 0 || !mergeBatch(type.getShape().take_front(batchRank)))
      return op->emitOpError() << what << " is " << type << ", whose leading dimensions differ from the others' (C1)";
    for (auto [letter, size] : llvm::zip_equal(letters, type.getShape().take_back(letters.size()))) {
      std::optional<int64_t> merged = mergedSize(sizeOf(letter), size);
      if (!merged)
        return op->emitOpError() << what << " is " << type << ", where a size of " << sizeOf(letter)
                                 << " is expected instead of " << size << " (C2)";
      sizes[letter] = *merged;
    }
    return success();
  }

  LogicalResult checkAtMost(char letter, char most) {
    int64_t size = sizeOf(letter), bound = sizeOf(most);
    if (ShapedType::isDynamic(size) || ShapedType::isDynamic(bound) || size <= bound)
      return success();
    return op->emitOpError() << "has " << letter << " = " << size << " and " << most << " = " << bound << ", expected "
                             << letter << " <= " << most << " (C2)";
  }

private:
  Type elementOf(StringRef kind) const {
    auto complex = dyn_cast<ComplexType>(first);
    if (kind == "i:")
      return IntegerType::get(op->getContext(), 32);
    if (kind == "R:")
      return complex ? complex.getElementType() : first;
    if (kind == "C:")
      return complex ? first : ComplexType::get(first);
    return first;
  }

  int64_t sizeOf(char letter) {
    if (auto known = sizes.find(letter); known != sizes.end())
      return known->second;
    auto size = [&](char of) { return sizes.contains(of) ? sizes[of] : ShapedType::kDynamic; };
    int64_t m = size('m'), n = size('n');
    if (letter == 'r' && !ShapedType::isDynamic(m) && !ShapedType::isDynamic(n))
      return std::min(m, n);
    if (letter == 'l' && !ShapedType::isDynamic(n))
      return std::max<int64_t>(n - 1, 0);
    return ShapedType::kDynamic;
  }

  bool mergeBatch(ArrayRef<int64_t> leading) {
    if (!batch)
      batch.emplace(leading);
    if (batch->size() != leading.size())
      return false;
    for (auto [known, size] : llvm::zip_equal(*batch, leading)) {
      std::optional<int64_t> merged = mergedSize(known, size);
      if (!merged)
        return false;
      known = *merged;
    }
    return true;
  }

  Operation *op;
  Type first;
  std::optional<SmallVector<int64_t>> batch;
  llvm::SmallDenseMap<char, int64_t> sizes;
};

} // namespace

LogicalResult array::verifyMatrixShapes(Operation *op, StringRef shapes) {
  auto [operandWords, resultWords] = shapes.split("->");
  ShapeChecker checker(op);
  auto checkAll = [&](TypeRange types, StringRef text, StringRef what) -> LogicalResult {
    SmallVector<StringRef> words;
    text.split(words, ',');
    if (words.size() != types.size())
      return op->emitOpError() << "has " << types.size() << " " << what << "s, expected " << words.size() << " (C2)";
    for (auto [index, type] : llvm::enumerate(types))
      if (failed(checker.check(cast<RankedTensorType>(type), words[index], what + " #" + Twine(index))))
        return failure();
    return success();
  };
  SmallVector<Type> arrays(llvm::make_filter_range(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>));
  if (failed(checkAll(arrays, operandWords, "operand")) ||
      failed(checkAll(op->getResultTypes(), resultWords, "result")))
    return failure();
  // The number of reflectors is at most the columns of their matrix, and at most the rows that they transform.
  if (isa<HouseholderProductOp>(op))
    return failure(failed(checker.checkAtMost('k', 'n')) || failed(checker.checkAtMost('n', 'm')));
  if (auto product = dyn_cast<OrmqrOp>(op))
    return failure(failed(checker.checkAtMost('k', 'q')) ||
                   failed(checker.checkAtMost('k', product.getLeft() ? 'm' : 'n')));
  return success();
}

LogicalResult LuPivotsToPermutationOp::verify() {
  return checkSizes(getLoc(), getOperationName(), {int64_t(getPermutationSize())}, getSizes().size(), "C4");
}

namespace {

/// R alone takes half of the time of both factors.
struct QrWithoutQ : OpRewritePattern<QrOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(QrOp op, PatternRewriter &rewriter) const override {
    // Batches of fewer rows are factored in the lanes of vectors, where Q costs little.
    constexpr int64_t leastRows = 17;
    RankedTensorType type = op.getA().getType();
    int64_t rank = type.getRank();
    if (op.getPivoting() || !op.getResult(0).use_empty() || op.getResult(1).use_empty() || !type.hasStaticShape() ||
        !isa<FloatType>(type.getElementType()) || type.getNumElements() == 0 ||
        (rank > 2 && std::max(type.getDimSize(rank - 2), type.getDimSize(rank - 1)) < leastRows))
      return failure();
    Location loc = op.getLoc();
    auto result = cast<RankedTensorType>(op.getResult(1).getType());
    SmallVector<int64_t> ofTaus(type.getShape().drop_back(2));
    ofTaus.push_back(std::min(type.getDimSize(rank - 2), type.getDimSize(rank - 1)));
    Value r = GeqrfOp::create(rewriter, loc, type, type.clone(ofTaus), op.getA()).getReflectors();
    SmallVector<int64_t> start(rank, 0), stride(rank, 1);
    if (result != type)
      r = SliceOp::create(rewriter, loc, result, r, start, result.getShape(), stride, ValueRange());
    RankedTensorType ofPlaces = result.clone(rewriter.getI32Type());
    Value row = IotaOp::create(rewriter, loc, ofPlaces, rank - 2, ValueRange()),
          column = IotaOp::create(rewriter, loc, ofPlaces, rank - 1, ValueRange());
    Value isInside = LeOp::create(rewriter, loc, result.clone(rewriter.getI1Type()), row, column);
    Value zero = ConstantOp::create(rewriter, loc, result,
                                    DenseElementsAttr::get(result, rewriter.getZeroAttr(result.getElementType())));
    Value triangle = SelectOp::create(rewriter, loc, result, isInside, r, zero);
    rewriter.replaceOp(op, {Value(), triangle});
    return success();
  }
};

} // namespace

void QrOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<QrWithoutQ>(context);
}
