// The variance of a large array in one sweep over memory (FuseVariance.h). The mean is known only after everything was
// read. So the deviations are taken, block by block, from a number near it: c, the mean of a block's first elements.
// With d = x - c, and the block's sums D = sum(d) and Q = sum(d^2), its mean is c + D / size, and
//
//   sum((x - mean)^2) = sum over blocks(Q - D^2 / size + size * (mean of the block - mean)^2)
//
// (T. F. Chan, G. H. Golub and R. J. LeVeque, "Algorithms for computing the sample variance", 1983). The difference Q -
// D^2 / size loses digits if size * (mean of the block - c)^2 is much larger than the result. If the first elements are
// like the others, it loses none. If they make c far from the mean, they contribute to the variance as well, and the
// loss is at most the factor size / number of first elements.
#include "FuseVariance.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

namespace mlir::array {
namespace {

/// Smaller arrays, in elements, stay in the cache from one sweep to the next.
constexpr int64_t leastElements = 1 << 16;
/// Minimum and maximum elements of a block, and the number of its first elements, whose mean is the center.
constexpr int64_t leastOfBlock = 1 << 10, mostOfBlock = 1 << 13, sample = 64;

/// The size of equal blocks, preferably a multiple of the vector length; 0 if there is none.
int64_t blockOf(int64_t elements) {
  for (int64_t step : {64, 1})
    for (int64_t block = mostOfBlock; block >= leastOfBlock; block -= step)
      if (elements % block == 0)
        return block;
  return 0;
}

/// The summand of a reduction of all elements to one float, from zero; null for any other op.
Value matchFullSum(linalg::GenericOp op) {
  if (op.getNumParallelLoops() != 0 || op.getNumReductionLoops() == 0 || op.getNumDpsInits() != 1 ||
      op.getRank(op.getDpsInitOperand(0)) != 0)
    return {};
  auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  auto add = op.getBody()->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  BlockArgument accumulator = op.getRegionOutputArgs()[0];
  if (!fill || !matchPattern(fill.value(), m_AnyZeroFloat()) || !add || !accumulator.hasOneUse())
    return {};
  return add.getLhs() == accumulator ? add.getRhs() : add.getRhs() == accumulator ? add.getLhs() : Value();
}

bool readsWhole(linalg::GenericOp op, unsigned input) {
  return op.getMatchingIndexingMap(op.getDpsInputOperand(input)).isIdentity();
}

/// sum((x - total / elements)^2), where total is the sum of the same x.
struct Variance {
  linalg::GenericOp deviations, total;
  Value x;
  FloatAttr inverse; // 1 / elements
};

std::optional<Variance> matchVariance(linalg::GenericOp op) {
  auto square = [&]() -> arith::MulFOp {
    Value term = matchFullSum(op);
    return term && op.getNumDpsInputs() == 2 && readsWhole(op, 0) ? term.getDefiningOp<arith::MulFOp>() : nullptr;
  }();
  auto deviation =
      square && square.getLhs() == square.getRhs() ? square.getLhs().getDefiningOp<arith::SubFOp>() : nullptr;
  auto mean = deviation ? deviation.getRhs().getDefiningOp<arith::MulFOp>() : nullptr;
  FloatAttr inverse;
  if (!mean || deviation.getLhs() != op.getRegionInputArgs()[0] || mean.getLhs() != op.getRegionInputArgs()[1] ||
      !matchPattern(mean.getRhs(), m_Constant(&inverse)))
    return std::nullopt;
  auto type = cast<RankedTensorType>(op.getDpsInputs()[0].getType());
  auto total = op.getDpsInputs()[1].getDefiningOp<linalg::GenericOp>();
  if (!type.hasStaticShape() || !total || total->getBlock() != op->getBlock() || !matchFullSum(total) ||
      total.getNumDpsInputs() != 1 || total.getDpsInputs()[0] != op.getDpsInputs()[0] || !readsWhole(total, 0) ||
      matchFullSum(total) != total.getRegionInputArgs()[0])
    return std::nullopt;
  APFloat expected(1.0 / double(type.getNumElements()));
  bool losesInfo;
  expected.convert(inverse.getValue().getSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  if (inverse.getValue() != expected)
    return std::nullopt;
  return Variance{op, total, op.getDpsInputs()[0], inverse};
}

class Rewriter {
public:
  Rewriter(Variance variance, int64_t block)
      : b(variance.total.getLoc(), variance.total), variance(variance), block(block),
        type(cast<RankedTensorType>(variance.x.getType())), element(type.getElementType()),
        blocks(type.getNumElements() / block), addFlags(variance.deviations.getBody()
                                                            ->getTerminator()
                                                            ->getOperand(0)
                                                            .getDefiningOp<arith::AddFOp>()
                                                            .getFastmath()) {}

  void run() {
    Value x = variance.x;
    if (type.getRank() > 1) {
      SmallVector<ReassociationIndices> all(1);
      llvm::append_range(all.front(), llvm::seq<int64_t>(0, type.getRank()));
      x = tensor::CollapseShapeOp::create(b, x, all);
    }
    SmallVector<ReassociationIndices> both(1, ReassociationIndices{0, 1});
    x = tensor::ExpandShapeOp::create(b, RankedTensorType::get({blocks, block}, element), x, both);
    AffineMap matrix = b.getMultiDimIdentityMap(2), rows = AffineMap::get(2, 0, b.getAffineDimExpr(0)),
              vector = b.getMultiDimIdentityMap(1), scalar = AffineMap::get(1, 0, b.getContext());
    auto parallel = utils::IteratorType::parallel, reduction = utils::IteratorType::reduction;
    Value first =
        tensor::ExtractSliceOp::create(b, x, SmallVector<OpFoldResult>(2, b.getIndexAttr(0)),
                                       SmallVector<OpFoldResult>{b.getIndexAttr(blocks), b.getIndexAttr(sample)},
                                       SmallVector<OpFoldResult>(2, b.getIndexAttr(1)));
    Value center = sum({first}, {matrix, rows}, {parallel, reduction}, [](ValueRange in) { return Terms{in[0]}; })[0];
    // An infinity among the first elements makes deviations of nan, but the sum is not nan. Other users of the sum get
    // the plain one.
    bool isShown = !variance.total->hasOneUse();
    SmallVector<AffineMap> maps{matrix, rows, rows, rows};
    if (isShown)
      maps.push_back(rows);
    Values ofBlocks = sum({x, center}, maps, {parallel, reduction}, [&](ValueRange in) {
      Value deviation = subtract(in[0], multiply(in[1], 1.0 / double(sample)));
      Terms terms{deviation, square(deviation)};
      if (isShown)
        terms.push_back(in[0]);
      return terms;
    });
    Value total;
    if (isShown)
      total = sum({ofBlocks[2]}, {vector, scalar}, {reduction}, [](ValueRange in) { return Terms{in[0]}; })[0];
    else
      total = sum({center, ofBlocks[0]}, {vector, vector, scalar}, {reduction},
                  [&](ValueRange in) { return Terms{add(multiply(in[0], double(block) / double(sample)), in[1])}; })[0];
    variance.total.getResult(0).replaceAllUsesWith(total);
    b.setInsertionPoint(variance.deviations);
    b.setLoc(variance.deviations.getLoc());
    Value all = sum({center, ofBlocks[0], ofBlocks[1], total}, {vector, vector, vector, scalar, scalar}, {reduction},
                    [&](ValueRange in) {
                      Value mean = arith::MulFOp::create(b, in[3], arith::ConstantOp::create(b, variance.inverse));
                      Value beyondCenter = multiply(in[1], 1.0 / double(block));
                      Value within = subtract(in[2], arith::MulFOp::create(b, in[1], beyondCenter));
                      Value ofBlock = add(multiply(in[0], 1.0 / double(sample)), beyondCenter);
                      return Terms{add(within, multiply(square(subtract(ofBlock, mean)), double(block)))};
                    })[0];
    variance.deviations.getResult(0).replaceAllUsesWith(all);
    variance.deviations.erase();
    variance.total.erase();
  }

private:
  using Terms = SmallVector<Value, 2>;
  using Values = SmallVector<Value, 2>;

  Value multiply(Value x, double factor) {
    return arith::MulFOp::create(b, x, arith::ConstantOp::create(b, b.getFloatAttr(element, factor)));
  }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, x, y); }
  Value subtract(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
  Value square(Value x) { return arith::MulFOp::create(b, x, x, arith::FastMathFlags::contract); }

  /// Sums `terms` from zero.
  Values sum(ValueRange inputs, ArrayRef<AffineMap> maps, ArrayRef<utils::IteratorType> iterators,
             function_ref<Terms(ValueRange)> terms) {
    SmallVector<int64_t> shape;
    if (iterators.front() == utils::IteratorType::parallel)
      shape.push_back(blocks);
    Value zero = arith::ConstantOp::create(b, b.getFloatAttr(element, 0.0));
    Values inits;
    for (size_t i = inputs.size(); i < maps.size(); ++i) {
      Value init = tensor::EmptyOp::create(b, shape, element);
      inits.push_back(linalg::FillOp::create(b, zero, init).getResult(0));
    }
    auto generic =
        linalg::GenericOp::create(b, ValueRange(inits).getTypes(), inputs, inits, maps, iterators,
                                  [&](OpBuilder &nested, Location loc, ValueRange args) {
                                    OpBuilder::InsertionGuard guard(b);
                                    b.restoreInsertionPoint(nested.saveInsertionPoint());
                                    Terms next = terms(args.take_front(inputs.size()));
                                    for (auto [term, before] : llvm::zip_equal(next, args.drop_front(inputs.size())))
                                      term = arith::AddFOp::create(b, before, term, addFlags);
                                    linalg::YieldOp::create(b, next);
                                  });
    return Values(generic.getResults());
  }

  ImplicitLocOpBuilder b;
  Variance variance;
  int64_t block;
  RankedTensorType type;
  Type element;
  int64_t blocks;
  arith::FastMathFlags addFlags;
};

} // namespace

void fuseVariances(func::FuncOp function) {
  SmallVector<Variance> found;
  function.walk([&](linalg::GenericOp op) {
    if (auto variance = matchVariance(op))
      found.push_back(*variance);
  });
  SmallPtrSet<Operation *, 4> seen;
  for (Variance &variance : found) {
    int64_t elements = cast<RankedTensorType>(variance.x.getType()).getNumElements();
    int64_t block = elements >= leastElements ? blockOf(elements) : 0;
    // A view of a part is not contiguous memory.
    if (block != 0 && !variance.x.getDefiningOp<tensor::ExtractSliceOp>() && seen.insert(variance.total).second)
      Rewriter(variance, block).run();
  }
}

} // namespace mlir::array
