// The decompositions: each op becomes a call of the library routine of its name. Its attributes, in alphabetical order,
// are the parameters.
#include "IndexMath.h"

using namespace mlir;
using namespace mlir::array;

namespace {

int64_t parameterOf(Attribute attribute) {
  if (auto flag = dyn_cast<BoolAttr>(attribute))
    return flag.getValue();
  return cast<IntegerAttr>(attribute).getInt();
}

/// The sizes of results from those of operands, by the op's letters (LinearAlgebra.td).
class LetterSizes {
public:
  LetterSizes(OpBuilder &b, Location loc, StringRef operandWords, ValueRange operands) : index(b, loc), b(b), loc(loc) {
    SmallVector<StringRef> words;
    operandWords.split(words, ',');
    for (auto [word, operand] : llvm::zip_equal(words, operands)) {
      SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, operand);
      StringRef letters = lettersOf(word);
      size_t lead = sizes.size() - letters.size();
      batch.resize(std::max(batch.size(), lead));
      for (size_t dim = 0; dim < sizes.size(); ++dim)
        note(dim < lead ? batch[dim] : known[letters[dim - lead]], sizes[dim]);
    }
  }

  void note(char letter, OpFoldResult size) { note(known[letter], size); }

  SmallVector<OpFoldResult> of(StringRef word, RankedTensorType result) {
    SmallVector<OpFoldResult> sizes(batch);
    for (char letter : lettersOf(word))
      sizes.push_back(sizeOf(letter));
    return knownSizes(b, result, sizes);
  }

private:
  /// Strips the element kind with which a word may start.
  static StringRef lettersOf(StringRef word) { return word.contains(':') ? word.drop_front(2) : word; }

  /// A constant is preferred.
  static void note(OpFoldResult &known, OpFoldResult size) {
    if (!known || isa<Attribute>(size))
      known = size;
  }

  OpFoldResult sizeOf(char letter) {
    if (letter == 'r')
      return index.minimum(known['m'], known['n']);
    if (letter == 'l')
      return index.maximum(index.add(known['n'], -1), 0);
    return known[letter];
  }

  IndexMath index;
  OpBuilder &b;
  Location loc;
  SmallVector<OpFoldResult> batch;
  llvm::SmallDenseMap<char, OpFoldResult> known;
};

template <typename Op> struct MatrixLowering : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  using OpAdaptor = typename Op::Adaptor;
  LogicalResult matchAndRewrite(Op op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    ValueRange operands = adaptor.getOperands(), ofParams;
    if constexpr (std::is_same_v<Op, LuPivotsToPermutationOp>) {
      ofParams = adaptor.getSizes();
      operands = operands.drop_back(ofParams.size());
    }
    auto [operandWords, resultWords] = op.getShapes().split("->");
    LetterSizes letters(rewriter, op.getLoc(), operandWords, operands);
    if (!ofParams.empty())
      letters.note('p', getAsOpFoldResult(ofParams.front()));
    SmallVector<StringRef> words;
    resultWords.split(words, ',');
    SmallVector<SmallVector<OpFoldResult>> sizes;
    for (auto [word, type] : llvm::zip_equal(words, op->getResultTypes()))
      sizes.push_back(letters.of(word, cast<RankedTensorType>(type)));
    SmallVector<int64_t> params;
    SmallVector<StringRef> names(Op::getAttributeNames());
    llvm::sort(names);
    for (StringRef name : names)
      params.push_back(parameterOf(op->getAttr(name)));
    replaceByRoutine(rewriter, op, op.getOperationName().split('.').second, params, operands, sizes, ofParams);
    return success();
  }
};

template <typename... Ops> void addAll(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<MatrixLowering<Ops>...>(converter, patterns.getContext());
}

} // namespace

void array::populateLinearAlgebra(const TypeConverter &converter, RewritePatternSet &patterns) {
  addAll<CholeskyOp, TriangularSolveOp, LuOp, LuPivotsToPermutationOp, LinearSolveOp, TridiagonalSolveOp,
         CholeskyUpdateOp, QrOp, GeqrfOp, Geqp3Op, HouseholderProductOp, OrmqrOp, HessenbergOp, TridiagonalOp, EighOp,
         EigOp, SvdOp, SchurOp, SylvesterOp, ExpmOp, ExpmFrechetOp>(converter, patterns);
}
