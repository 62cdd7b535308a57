// Convolutions of dilated operands (transposed convolutions, and the gradients of strided ones by their operands)
// without the zeros between the elements. Of a dilation s, the results at the positions s q + r read every s-th tap of
// the window, from one that depends on the phase r. So the phases are output features of a convolution of the operand
// itself, with windows of 1 / s of the size, and are put together afterwards ("sub-pixel convolution", W. Shi and
// others, 2016, arXiv:1609.05158).
//
// Results before the first one are added so that all phases begin with the same element: the result at s q + r reads
// the element q + d + j for the tap s j + s - 1 - r. These are the numbers of a window that is padded to a multiple of
// s, in reverse order within each group of s.
#include "Contraction.h"
#include "array/IR/Plan.h"
#include "array/IR/Precision.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace mlir::array {

namespace {

/// One spatial dimension.
struct Phases {
  int64_t count;           ///< The dilation.
  int64_t added;           ///< The number of results before the first one.
  int64_t taps;            ///< of a phase
  int64_t after;           ///< The padding of the window.
  int64_t low, high;       ///< The padding of the operand.
  int64_t places, results; ///< of a phase, and of all
};

Phases phasesOf(int64_t dilation, int64_t size, int64_t window, int64_t low, int64_t results) {
  Phases phases;
  phases.count = dilation;
  phases.added = ((dilation - 1 - low) % dilation + dilation) % dilation;
  phases.taps = llvm::divideCeil(window, dilation);
  phases.after = dilation * phases.taps - window;
  phases.low = (low + phases.added - (dilation - 1)) / dilation; // exactly
  phases.results = results;
  phases.places = llvm::divideCeil(results + phases.added, dilation);
  phases.high = phases.places + phases.taps - 1 - size - phases.low;
  return phases;
}

int64_t product(ArrayRef<int64_t> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), int64_t(1), std::multiplies<int64_t>());
}

} // namespace

Value convolvePhases(OpBuilder &builder, ConvGeneralDilatedOp op) {
  auto isOne = [](int64_t number) { return number == 1; };
  RankedTensorType lhs = op.getLhs().getType(), rhs = op.getRhs().getType(), result = op.getType();
  bool isStatic = lhs.hasStaticShape() && rhs.hasStaticShape() && result.hasStaticShape() && op.getSizes().empty();
  if (llvm::all_of(op.getLhsDilation(), isOne) || !llvm::all_of(op.getWindowStrides(), isOne) ||
      !llvm::all_of(op.getRhsDilation(), isOne) || op.getFeatureGroupCount() != 1 || op.getBatchGroupCount() != 1 ||
      !isStatic)
    return {};
  // array-lower-convolutions divides the positions of few phases, without windows that are padded, if the features fill
  // registers.
  constexpr int64_t mostParts = 16, leastFeatures = 16;
  if (product(op.getLhsDilation()) <= mostParts && rhs.getDimSize(op.getRhsSpec()[0]) >= leastFeatures)
    return {};
  const int64_t spatial = result.getRank() - 2;
  const int64_t inFeatures = rhs.getDimSize(op.getRhsSpec()[1]), outFeatures = rhs.getDimSize(op.getRhsSpec()[0]);
  SmallVector<Phases> dims;
  int64_t all = 1;
  for (int64_t i = 0; i < spatial; ++i) {
    dims.push_back(phasesOf(op.getLhsDilation()[i], lhs.getDimSize(op.getLhsSpec()[i + 2]),
                            rhs.getDimSize(op.getRhsSpec()[i + 2]), op.getLow()[i],
                            result.getDimSize(op.getOutSpec()[i + 2])));
    all *= dims.back().count;
  }

  ImplicitLocOpBuilder b(op.getLoc(), builder);
  auto transposed = [&](Value x, ArrayRef<int64_t> order) -> Value {
    return llvm::equal(order, llvm::seq<int64_t>(0, int64_t(order.size())))
               ? x
               : TransposeOp::create(b, x, order).getResult();
  };
  auto reshaped = [&](Value x, ArrayRef<int64_t> shape) -> Value {
    return ReshapeOp::create(b, cast<RankedTensorType>(x.getType()).clone(shape), x, ValueRange());
  };

  // The windows: taps, input features, then phases and output features.
  SmallVector<int64_t> order(op.getRhsSpec().drop_front(2));
  order.append({op.getRhsSpec()[1], op.getRhsSpec()[0]});
  Value windows = transposed(op.getRhs(), order);
  SmallVector<int64_t> after, zeros(spatial + 2, 0), shape, reversed;
  for (const Phases &dim : dims) {
    after.push_back(dim.after);
    shape.append({dim.taps, dim.count});
    reversed.push_back(int64_t(shape.size()) - 1);
  }
  after.append({0, 0});
  shape.append({inFeatures, outFeatures});
  Type element = lhs.getElementType();
  Value zero = ConstantOp::create(
      b, cast<ElementsAttr>(DenseElementsAttr::get(RankedTensorType::get({}, element), b.getZeroAttr(element))));
  windows = PadOp::create(b, windows, zero, zeros, after, zeros, ValueRange());
  windows = ReverseOp::create(b, reshaped(windows, shape), reversed);
  order.clear();
  for (int64_t i = 0; i < spatial; ++i)
    order.push_back(2 * i);
  order.push_back(2 * spatial);
  for (int64_t i = 0; i < spatial; ++i)
    order.push_back(2 * i + 1);
  order.push_back(2 * spatial + 1);
  shape.clear();
  for (const Phases &dim : dims)
    shape.push_back(dim.taps);
  shape.append({inFeatures, all * outFeatures});
  windows = reshaped(transposed(windows, order), shape);

  // The convolution, with features last.
  SmallVector<int64_t> low, high, ones(spatial, 1), places{lhs.getDimSize(op.getLhsSpec()[0])}, rhsSpec,
      outSpec{0, spatial + 1};
  rhsSpec.append({spatial + 1, spatial});
  for (int64_t i = 0; i < spatial; ++i) {
    low.push_back(dims[i].low);
    high.push_back(dims[i].high);
    places.push_back(dims[i].places);
    rhsSpec.push_back(i);
    outSpec.push_back(i + 1);
  }
  SmallVector<int64_t> convolved(places);
  convolved.push_back(all * outFeatures);
  auto convolution = ConvGeneralDilatedOp::create(b, result.clone(convolved), op.getLhs(), windows, ones, low, high,
                                                  ones, ones, op.getLhsSpec(), rhsSpec, outSpec, 1, 1, ValueRange());
  handOnPlan(op, convolution);
  handOnPrecision(op, convolution);

  // The phases become positions.
  shape = places;
  for (const Phases &dim : dims)
    shape.push_back(dim.count);
  shape.push_back(outFeatures);
  order = {0};
  SmallVector<int64_t> joined{places[0]}, start{0}, strides(spatial + 2, 1), limit{places[0]};
  for (int64_t i = 0; i < spatial; ++i) {
    order.append({i + 1, i + 1 + spatial});
    joined.push_back(dims[i].places * dims[i].count);
    start.push_back(dims[i].added);
    limit.push_back(dims[i].added + dims[i].results);
  }
  order.push_back(2 * spatial + 1);
  joined.push_back(outFeatures);
  start.push_back(0);
  limit.push_back(outFeatures);
  Value joint = reshaped(transposed(reshaped(convolution, shape), order), joined);
  joint = SliceOp::create(b, joint, start, limit, strides, ValueRange());
  // From batch, positions, features to the dimensions of the result.
  SmallVector<int64_t> back(spatial + 2);
  back[op.getOutSpec()[0]] = 0;
  back[op.getOutSpec()[1]] = spatial + 1;
  for (int64_t i = 0; i < spatial; ++i)
    back[op.getOutSpec()[i + 2]] = i + 1;
  return transposed(joint, back);
}

} // namespace mlir::array
