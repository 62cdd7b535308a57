// Part of array-check-input: conditions of array ops on symbolic sizes that array-guard-sizes cannot see after
// lowering, because they concern indices in bodies and operands of routines.
#include "Guards.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::array {
namespace {

bool isDynamic(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && shaped.hasRank() && !shaped.hasStaticShape();
}

class DialectGuards {
public:
  explicit DialectGuards(Operation *op) : op(op), b(op) {}

  void emit() {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](ComplexOp parts) { guard(parts); })
        .Case([&](GatherOp gather) { guard(gather); })
        .Case([&](ScatterOp scatter) { guard(scatter); })
        .Case([&](ScanOp scan) { guard(scan); })
        .Case([&](BroadcastInDimOp spread) { guard(spread); })
        .Case([&](SliceOp slice) { guard(slice); })
        .Case([&](DynamicSliceOp slice) { guard(slice); })
        .Case([&](DynamicUpdateSliceOp update) { guard(update); })
        .Case([&](ConcatenateOp join) { guard(join); })
        .Case([&](ReshapeOp reshape) { guard(reshape); })
        .Case([&](ConvGeneralDilatedOp convolution) { guard(convolution); })
        .Case([&](FftOp fft) { guard(fft); })
        .Case([&](TopKOp top) { guard(top); })
        .Case([&](SelectAndScatterOp select) { guard(select); })
        .Case([&](SelectAndGatherOp select) { guard(select); })
        .Case<ReduceWindowSumOp, ReduceWindowProdOp, ReduceWindowMaxOp, ReduceWindowMinOp>(
            [&](auto windows) { guardWindows(windows, 0, [](int64_t, Value) {}); })
        .Case<CholeskyOp, TriangularSolveOp, LuOp, LuPivotsToPermutationOp, LinearSolveOp, TridiagonalSolveOp,
              CholeskyUpdateOp, QrOp, GeqrfOp, Geqp3Op, HouseholderProductOp, OrmqrOp, HessenbergOp, TridiagonalOp,
              EighOp, EigOp, SvdOp, SchurOp, SylvesterOp, ExpmOp, ExpmFrechetOp>(
            [&](auto matrix) { guardMatrices(matrix.getShapes()); });
    if (auto product = dyn_cast<HouseholderProductOp>(op)) {
      checkFits(1, {size(0, rank(0) - 1)});
      check(PCRT_CHECK_AT_MOST, 0, rank(0) - 1, {size(0, rank(0) - 1), size(0, rank(0) - 2)});
    }
    if (auto product = dyn_cast<OrmqrOp>(op))
      checkFits(1, {size(0, rank(0) - 1), size(2, product.getLeft() ? rank(2) - 2 : rank(2) - 1)});
    if (auto swaps = dyn_cast<LuPivotsToPermutationOp>(op)) {
      int64_t last = swaps.getPivots().getType().getRank() - 1;
      check(PCRT_CHECK_AT_MOST, 0, last,
            {size(0, last), taken({int64_t(swaps.getPermutationSize())}, swaps.getSizes()).front()});
    }
  }

private:
  OpFoldResult size(int64_t operand, int64_t dim) {
    return tensor::getMixedSize(b, op->getLoc(), op->getOperand(operand), dim);
  }
  int64_t rank(int64_t operand) { return cast<RankedTensorType>(op->getOperand(operand).getType()).getRank(); }
  void check(PcrtCheck kind, int64_t operand, int64_t dim, SmallVector<OpFoldResult> values) {
    emitGuard(b, op, {kind, operand, dim, std::move(values)});
  }

  /// Checks that the last sizes of an operand do not exceed others.
  void checkFits(int64_t operand, ArrayRef<OpFoldResult> most) {
    int64_t last = rank(operand) - 1;
    for (OpFoldResult one : most)
      check(PCRT_CHECK_AT_MOST, operand, last, {size(operand, last), one});
  }

  /// The numbers, with the given operands for each `?`.
  SmallVector<OpFoldResult> taken(ArrayRef<int64_t> numbers, ValueRange given) {
    SmallVector<OpFoldResult> values;
    for (int64_t number : numbers) {
      if (!ShapedType::isDynamic(number)) {
        values.push_back(b.getIndexAttr(number));
        continue;
      }
      values.push_back(given.front());
      given = given.drop_front();
    }
    return values;
  }

  void guard(BroadcastInDimOp spread) {
    SmallVector<OpFoldResult> result = taken(spread.getType().getShape(), spread.getOutputDims());
    for (auto [dim, place] : llvm::enumerate(spread.getBroadcastDimensions()))
      if (getConstantIntValue(size(0, dim)) != 1)
        check(PCRT_CHECK_EQUAL, 0, dim, {size(0, dim), result[place]});
  }

  /// Whether no element is taken, so that upstream's canonicalization removes the slice with its conditions.
  static bool isEmpty(ArrayRef<OpFoldResult> counts) {
    return llvm::any_of(counts, [](OpFoldResult count) { return getConstantIntValue(count) == 0; });
  }

  /// The limit is inside the dimension, even if a stride skips the last elements.
  void guard(SliceOp slice) {
    SmallVector<int64_t> numbers(slice.getStartIndices());
    llvm::append_range(numbers, slice.getLimitIndices());
    SmallVector<OpFoldResult> all = taken(numbers, slice.getSizes()), counts;
    for (int64_t dim = 0; dim < rank(0); ++dim) {
      auto [start, limit] = std::pair(all[dim], all[rank(0) + dim]);
      counts.push_back(arith::SubIOp::create(b, op->getLoc(), asValue(limit), asValue(start)).getResult());
      if (getConstantIntValue(start) && getConstantIntValue(start) == getConstantIntValue(limit))
        counts.back() = b.getIndexAttr(0);
    }
    for (auto [dim, stride] : llvm::enumerate(slice.getStrides()))
      if (stride != 1 || isEmpty(counts))
        check(PCRT_CHECK_SLICE, 0, dim, {all[dim], counts[dim], b.getIndexAttr(1), size(0, dim)});
  }

  void guard(DynamicSliceOp slice) {
    SmallVector<OpFoldResult> counts = taken(slice.getSliceSizes(), slice.getSizes());
    if (isEmpty(counts))
      for (int64_t dim = 0; dim < rank(0); ++dim)
        check(PCRT_CHECK_AT_MOST, 0, dim, {counts[dim], size(0, dim)});
  }

  void guard(DynamicUpdateSliceOp update) {
    SmallVector<OpFoldResult> counts = tensor::getMixedSizes(b, op->getLoc(), update.getUpdate());
    if (isEmpty(counts))
      for (int64_t dim = 0; dim < rank(0); ++dim)
        check(PCRT_CHECK_AT_MOST, 0, dim, {counts[dim], size(0, dim)});
  }

  /// Each part goes its own way afterwards, so no later operation has both.
  void guard(ComplexOp) {
    for (int64_t dim = 0; dim < rank(0); ++dim)
      check(PCRT_CHECK_EQUAL, 1, dim, {size(1, dim), size(0, dim)});
  }

  void guard(ConcatenateOp join) {
    for (int64_t operand = 1; operand < int64_t(op->getNumOperands()); ++operand)
      for (int64_t dim = 0; dim < rank(operand); ++dim)
        if (dim != int64_t(join.getDimension()))
          check(PCRT_CHECK_EQUAL, operand, dim, {size(operand, dim), size(0, dim)});
  }

  /// Without given sizes, the result has the sizes of the operand.
  void guard(ReshapeOp reshape) {
    if (reshape.getOutputDims().empty())
      return;
    SmallVector<OpFoldResult> values = {b.getIndexAttr(rank(0))};
    for (int64_t dim = 0; dim < rank(0); ++dim)
      values.push_back(size(0, dim));
    SmallVector<OpFoldResult> result = taken(reshape.getType().getShape(), reshape.getOutputDims());
    values.push_back(b.getIndexAttr(result.size()));
    llvm::append_range(values, result);
    check(PCRT_CHECK_RESHAPE, 0, 0, std::move(values));
  }

  /// The size is a multiple of the groups.
  void checkGroups(int64_t operand, int64_t dim, int64_t groups) {
    if (groups == 1)
      return;
    Value whole = asValue(size(operand, dim));
    Value each = arith::DivSIOp::create(b, op->getLoc(), whole, number(groups));
    check(PCRT_CHECK_COUNT, operand, dim, {size(operand, dim), b.getIndexAttr(2), b.getIndexAttr(groups), each});
  }

  /// Groups become a dimension of a view of each operand, which would be named instead.
  void guard(ConvGeneralDilatedOp convolution) {
    int64_t ofFeatures = convolution.getFeatureGroupCount(), ofBatch = convolution.getBatchGroupCount();
    int64_t lhsFeature = convolution.getLhsSpec()[1];
    OpFoldResult features = size(1, convolution.getRhsSpec()[1]);
    if (ofFeatures != 1)
      features = arith::MulIOp::create(b, op->getLoc(), asValue(features), number(ofFeatures)).getResult();
    check(PCRT_CHECK_EQUAL, 0, lhsFeature, {size(0, lhsFeature), features});
    checkGroups(0, convolution.getLhsSpec()[0], ofBatch);
    checkGroups(1, convolution.getRhsSpec()[0], std::max(ofFeatures, ofBatch));
  }

  void guard(FftOp fft) {
    SmallVector<OpFoldResult> lengths = taken(fft.getFftLengths(), fft.getSizes());
    if (fft.getFftType() == "IRFFT") { // the last length is that of the result
      Value whole = asValue(lengths.back());
      Value half = arith::DivSIOp::create(b, op->getLoc(), whole, number(2));
      lengths.back() = arith::AddIOp::create(b, op->getLoc(), half, number(1)).getResult();
    }
    int64_t first = rank(0) - lengths.size();
    for (auto [dim, length] : llvm::enumerate(lengths))
      check(PCRT_CHECK_EQUAL, 0, first + dim, {size(0, first + dim), length});
  }

  void guard(TopKOp top) {
    OpFoldResult count = taken({int64_t(top.getK())}, top.getSizes()).front();
    check(PCRT_CHECK_AT_MOST, 0, top.getAxis(), {count, size(0, top.getAxis())});
  }

  /// Checks the windows of an operand, and calls `withCount` with each dimension and the number of windows along it.
  template <typename Op, typename WithCount> void guardWindows(Op windows, int64_t operand, WithCount withCount) {
    Location loc = op->getLoc();
    int64_t dims = rank(operand);
    SmallVector<int64_t> numbers(windows.getWindowDimensions());
    llvm::append_range(numbers, windows.getLow());
    llvm::append_range(numbers, windows.getHigh());
    SmallVector<OpFoldResult> all = taken(numbers, windows.getSizes());
    auto value = [&](OpFoldResult size) { return asValue(size); };
    auto add = [&](Value x, Value y) -> Value { return arith::AddIOp::create(b, loc, x, y); };
    auto dilated = [&](Value length, int64_t by) { // (length - 1) * by + 1, and 0 for an empty dimension
      Value more = arith::MulIOp::create(b, loc, add(length, number(-1)), number(by));
      return arith::MaxSIOp::create(b, loc, add(more, number(1)), number(0)).getResult();
    };
    for (int64_t dim = 0; dim < dims; ++dim) {
      check(PCRT_CHECK_AT_MOST, operand, dim, {b.getIndexAttr(1), value(all[dim])});
      Value padded = add(dilated(value(size(operand, dim)), windows.getBaseDilation()[dim]),
                         add(value(all[dims + dim]), value(all[2 * dims + dim])));
      check(PCRT_CHECK_SHAPE, operand, dim, {b.getIndexAttr(1), b.getIndexAttr(1), padded});
      Value window = dilated(value(all[dim]), windows.getWindowDilation()[dim]);
      int64_t stride = windows.getWindowStrides()[dim];
      Value room = add(arith::SubIOp::create(b, loc, padded, window), number(stride));
      withCount(dim, arith::DivSIOp::create(b, loc, arith::MaxSIOp::create(b, loc, room, number(0)), number(stride)));
    }
  }

  /// The source has an element for each window of the operand.
  void guard(SelectAndScatterOp select) {
    guardWindows(select, 1, [&](int64_t dim, Value count) { check(PCRT_CHECK_EQUAL, 0, dim, {size(0, dim), count}); });
  }

  /// The source has the sizes of the operand.
  void guard(SelectAndGatherOp select) {
    guardWindows(select, 1, [&](int64_t dim, Value) { check(PCRT_CHECK_EQUAL, 0, dim, {size(0, dim), size(1, dim)}); });
  }

  Value asValue(OpFoldResult size) { return getValueOrCreateConstantIndexOp(b, op->getLoc(), size); }
  Value number(int64_t value) { return arith::ConstantIndexOp::create(b, op->getLoc(), value); }

  void guard(GatherOp gather) {
    for (auto [dim, count] : llvm::enumerate(taken(gather.getSliceSizes(), gather.getSizes())))
      if (getConstantIntValue(count) != -1) // all of the dimension
        check(PCRT_CHECK_AT_MOST, 0, dim, {count, size(0, dim)});
    for (auto [dim, ofIndices] : llvm::zip(gather.getOperandBatchingDims(), gather.getStartIndicesBatchingDims()))
      check(PCRT_CHECK_EQUAL, 0, dim, {size(0, dim), size(1, ofIndices)});
  }

  void guard(ScatterOp scatter) {
    ArrayRef<int64_t> windowDims = scatter.getUpdateWindowDims();
    for (int64_t dim = 0; dim < scatter.getOperand().getType().getRank(); ++dim) {
      if (llvm::is_contained(scatter.getInsertedWindowDims(), dim) ||
          llvm::is_contained(scatter.getOperandBatchingDims(), dim)) {
        check(PCRT_CHECK_AT_MOST, 0, dim, {b.getIndexAttr(scatter.getIndices().empty() ? 0 : 1), size(0, dim)});
        continue;
      }
      check(PCRT_CHECK_AT_MOST, 0, dim, {size(1, windowDims.front()), size(0, dim)});
      windowDims = windowDims.drop_front();
    }
    for (unsigned index = 0; index < scatter.getIndices().size(); ++index) {
      int64_t ofIndices = 0;
      for (int64_t dim = 0; dim < scatter.getUpdates().getType().getRank(); ++dim)
        if (!llvm::is_contained(scatter.getUpdateWindowDims(), dim))
          check(PCRT_CHECK_EQUAL, index + 2, ofIndices, {size(index + 2, ofIndices), size(1, dim)}), ++ofIndices;
    }
    for (auto [dim, ofIndices] : llvm::zip(scatter.getOperandBatchingDims(), scatter.getScatterIndicesBatchingDims()))
      check(PCRT_CHECK_EQUAL, 0, dim, {size(0, dim), size(2, ofIndices)});
  }

  void guard(ScanOp scan) {
    OpFoldResult length = b.getIndexAttr(scan.getLength());
    if (!scan.getSizes().empty())
      length = scan.getSizes().front();
    check(PCRT_CHECK_AT_MOST, -1, 0, {length, length});
    for (unsigned index = 0; index < scan.getXs().size(); ++index) {
      int64_t operand = scan.getInits().size() + index;
      check(PCRT_CHECK_EQUAL, operand, 0, {size(operand, 0), length});
    }
    // The joined slices.
    ValueRange given = scan.getOutputDims();
    for (Type type : TypeRange(scan.getResultTypes()).drop_front(scan.getInits().size())) {
      auto joined = cast<RankedTensorType>(type);
      if (joined.isDynamicDim(0) && !given.empty())
        check(PCRT_CHECK_EQUAL, -1, 0, {given.front(), length});
      given = given.drop_front(std::min<size_t>(joined.getNumDynamicDims(), given.size()));
    }
  }

  /// Equal letters are equal sizes. Results are checked if the module gives their sizes.
  void guardMatrices(StringRef shapes) {
    auto [operandWords, resultWords] = shapes.split("->");
    SmallVector<StringRef> words;
    operandWords.split(words, ',');
    llvm::SmallDenseMap<char, OpFoldResult> known;
    SmallVector<OpFoldResult> batch;
    int64_t operand = 0;
    for (StringRef word : words) {
      StringRef letters = word.contains(':') ? word.drop_front(2) : word;
      int64_t batchRank = cast<RankedTensorType>(op->getOperand(operand).getType()).getRank() - letters.size();
      for (int64_t dim = 0; dim < batchRank; ++dim) {
        if (operand == 0)
          batch.push_back(size(operand, dim));
        else
          check(PCRT_CHECK_EQUAL, operand, dim, {size(operand, dim), batch[dim]});
      }
      for (auto [index, letter] : llvm::enumerate(letters)) {
        OpFoldResult one = size(operand, batchRank + index);
        OpFoldResult &first = known.try_emplace(letter, one).first->second;
        check(PCRT_CHECK_EQUAL, operand, batchRank + index, {one, first});
      }
      ++operand;
    }
    words.clear();
    resultWords.split(words, ',');
    for (auto [word, result] : llvm::zip(words, op->getResultTypes())) {
      StringRef letters = word.contains(':') ? word.drop_front(2) : word;
      auto type = cast<RankedTensorType>(result);
      for (int64_t dim = 0; dim < type.getRank(); ++dim) {
        if (type.isDynamicDim(dim))
          continue;
        int64_t batchRank = type.getRank() - letters.size();
        OpFoldResult expected = dim < batchRank ? batch[dim] : sizeOf(letters[dim - batchRank], known);
        if (expected)
          check(PCRT_CHECK_EQUAL, -1, dim, {expected, b.getIndexAttr(type.getDimSize(dim))});
      }
    }
  }

  /// The size of a result: 'r' and 'l' are computed from others; none if an attribute determines it.
  OpFoldResult sizeOf(char letter, llvm::SmallDenseMap<char, OpFoldResult> &known) {
    auto value = [&](char of) { return asValue(known.lookup(of)); };
    if (letter == 'r')
      return arith::MinSIOp::create(b, op->getLoc(), value('m'), value('n')).getResult();
    if (letter == 'l') {
      Value less = arith::SubIOp::create(b, op->getLoc(), value('n'), number(1));
      return arith::MaxSIOp::create(b, op->getLoc(), less, number(0)).getResult();
    }
    return known.lookup(letter);
  }

  Operation *op;
  OpBuilder b;
};

} // namespace

/// If the module gives the sizes of results that follow from symbolic sizes, compares both.
static void castResults(Operation *op) {
  auto rule = dyn_cast<InferTypeOpInterface>(op);
  SmallVector<Type> types;
  if (!rule || failed(rule.inferReturnTypes(op->getContext(), op->getLoc(), op->getOperands(), op->getAttrDictionary(),
                                            op->getPropertiesStorage(), op->getRegions(), types)))
    return;
  OpBuilder b(op->getContext());
  b.setInsertionPointAfter(op);
  for (auto [result, type] : llvm::zip_equal(op->getResults(), types)) {
    Type said = result.getType();
    if (!isDynamic(type) || said == type)
      continue;
    result.setType(type);
    auto cast = tensor::CastOp::create(b, op->getLoc(), said, result);
    result.replaceAllUsesExcept(cast, cast);
  }
}

void guardDialect(Operation *op) {
  if (!isa_and_nonnull<ArrayDialect>(op->getDialect()) ||
      (llvm::none_of(op->getOperandTypes(), isDynamic) && llvm::none_of(op->getResultTypes(), isDynamic)))
    return;
  keepName(op);
  DialectGuards(op).emit();
  castResults(op);
}

} // namespace mlir::array
