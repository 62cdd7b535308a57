// Recognises convolutions on buffers (ConvolutionForm.h): earlier writes of padding, and the roles of loops.
#include "ConvolutionForm.h"
#include "ContractionForm.h"
#include "MatmulForm.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

namespace mlir::array {

namespace {

/// The operand that is read through windows: a buffer, and the padding around its elements.
struct Padded {
  Value buffer;
  SmallVector<int64_t> sizes, strides, low, interior;
  int64_t offset = 0;

  /// `value` itself.
  static FailureOr<Padded> whole(Value value) {
    auto type = dyn_cast<MemRefType>(value.getType());
    Padded padded;
    if (!type || failed(type.getStridesAndOffset(padded.strides, padded.offset)) ||
        llvm::any_of(padded.strides, ShapedType::isDynamic))
      return failure();
    padded.buffer = value;
    padded.sizes.assign(type.getShape().begin(), type.getShape().end());
    padded.low.assign(type.getRank(), 0);
    padded.interior.assign(type.getRank(), 1);
    return padded;
  }
};

/// The view of `buffer` that an operation writes, if the operation writes the whole view and no other part of the
/// buffer.
memref::SubViewOp writtenView(Operation *op, memref::AllocOp buffer) {
  Value target;
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    target = copy.getTarget();
  else if (auto linalg = dyn_cast<linalg::LinalgOp>(op); linalg && linalg.getNumDpsInits() == 1)
    target = linalg.getDpsInits()[0];
  auto view = target ? target.getDefiningOp<memref::SubViewOp>() : memref::SubViewOp();
  return view && view.getSource() == buffer ? view : memref::SubViewOp();
}

/// Matches a buffer that is filled with zeros, then written through one view, and otherwise only read. The result is
/// the view's elements between zeros. If they are a copy of an unchanged buffer, the result is that buffer.
FailureOr<Padded> findPadding(linalg::LinalgOp op, Value operand) {
  auto alloc = operand.getDefiningOp<memref::AllocOp>();
  if (!alloc)
    return failure();
  linalg::FillOp fill;
  memref::SubViewOp view;
  for (Operation *user : alloc->getUsers()) {
    if (user->getBlock() != op->getBlock())
      return failure();
    auto found = dyn_cast<linalg::FillOp>(user);
    if (found && !fill)
      fill = found;
    else if (auto subview = dyn_cast<memref::SubViewOp>(user); subview && !view)
      view = subview;
    else if (auto linalg = dyn_cast<linalg::LinalgOp>(user);
             !linalg || found || llvm::is_contained(linalg.getDpsInits(), operand))
      return failure();
  }
  if (!fill || !view || !matchPattern(fill.getInputs()[0], m_AnyZeroFloat()) || view.getDroppedDims().any())
    return failure();
  FailureOr<Padded> padded = Padded::whole(view);
  auto areStatic = [](ArrayRef<int64_t> values) { return llvm::none_of(values, ShapedType::isDynamic); };
  if (failed(padded) || !areStatic(view.getStaticOffsets()) || !areStatic(view.getStaticStrides()))
    return failure();
  padded->low.assign(view.getStaticOffsets().begin(), view.getStaticOffsets().end());
  padded->interior.assign(view.getStaticStrides().begin(), view.getStaticStrides().end());
  // The view is written in one place, after the zeros and before the convolution.
  Operation *writer = nullptr;
  for (Operation *user : view->getUsers()) {
    if (writtenView(user, alloc) != view)
      continue;
    if (writer)
      return failure();
    writer = user;
  }
  if (!writer || writer->getBlock() != op->getBlock() || !fill->isBeforeInBlock(writer) || !writer->isBeforeInBlock(op))
    return failure();
  auto copy = dyn_cast<memref::CopyOp>(writer);
  if (!copy)
    return padded;
  FailureOr<Padded> source = Padded::whole(copy.getSource());
  if (failed(source) || llvm::none_of(source->strides, [](int64_t stride) { return stride == 1; }) ||
      mayOverlap(source->buffer, op.getDpsInits()[0]))
    return padded;
  for (Operation *between = copy->getNextNode(); between != op; between = between->getNextNode())
    if (mayWrite(between, source->buffer))
      return padded;
  source->low = padded->low;
  source->interior = padded->interior;
  return source;
}

/// The loops over a dimension, with their factors.
using Terms = SmallVector<std::pair<unsigned, int64_t>, 2>;

FailureOr<Terms> readTerms(AffineExpr expr) {
  Terms terms;
  if (auto sum = dyn_cast<AffineBinaryOpExpr>(expr); sum && sum.getKind() == AffineExprKind::Add) {
    FailureOr<Terms> left = readTerms(sum.getLHS()), right = readTerms(sum.getRHS());
    if (failed(left) || failed(right))
      return failure();
    terms = *left;
    terms.append(*right);
    return terms;
  }
  int64_t factor = 1;
  if (auto product = dyn_cast<AffineBinaryOpExpr>(expr); product && product.getKind() == AffineExprKind::Mul) {
    auto constant = dyn_cast<AffineConstantExpr>(product.getRHS());
    if (!constant || constant.getValue() < 1)
      return failure();
    factor = constant.getValue();
    expr = product.getLHS();
  }
  if (auto constant = dyn_cast<AffineConstantExpr>(expr); constant && constant.getValue() == 0)
    return terms;
  auto loop = dyn_cast<AffineDimExpr>(expr);
  if (!loop)
    return failure();
  return Terms{{loop.getPosition(), factor}};
}

/// The strides of an operand by loop; fails if its map is not a projected permutation.
FailureOr<SmallVector<int64_t>> readStrides(linalg::LinalgOp op, OpOperand &operand, int64_t &offset) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  SmallVector<int64_t> strides, result(op.getNumLoops(), 0);
  if (!type || !map.isProjectedPermutation() || failed(type.getStridesAndOffset(strides, offset)) ||
      llvm::any_of(strides, ShapedType::isDynamic))
    return failure();
  for (auto [expr, stride] : llvm::zip_equal(map.getResults(), strides))
    result[cast<AffineDimExpr>(expr).getPosition()] = stride;
  return result;
}

class Analysis {
public:
  explicit Analysis(linalg::LinalgOp op) : op(op), sizes(op.getStaticLoopRanges()) {}

  FailureOr<Convolution> run() {
    if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || !op.hasPureBufferSemantics() ||
        !isMultiplyAdd(op.getBlock()) || failed(findBatch()) || llvm::is_contained(sizes, 0))
      return failure();
    OpOperand &left = *op.getDpsInputOperand(0);
    AffineMap windows = op.getMatchingIndexingMap(&left);
    FailureOr<SmallVector<int64_t>> right = readStrides(op, *op.getDpsInputOperand(1), result.rhsOffset),
                                    written = readStrides(op, *op.getDpsInitOperand(0), result.outOffset);
    if (failed(right) || failed(written))
      return failure();
    rhs = *right;
    out = *written;
    result.rhs = op.getDpsInputs()[1];
    result.out = op.getDpsInits()[0];
    FailureOr<Padded> padded = findPadding(op, left.get());
    bool isSpread = succeeded(padded) && llvm::any_of(padded->interior, [](int64_t step) { return step > 1; });
    // Other contractions with projected permutations are matmuls.
    if (windows.isProjectedPermutation() && !isSpread)
      return failure();
    if (succeeded(padded) && succeeded(readWindows(windows, *padded)))
      return result;
    if (windows.isProjectedPermutation())
      return failure();
    padded = Padded::whole(left.get());
    if (failed(padded) || failed(readWindows(windows, *padded)))
      return failure();
    return result;
  }

private:
  /// One loop may have a symbolic size. `sizes` then holds its expected value.
  LogicalResult findBatch() {
    for (auto [loop, size] : llvm::enumerate(sizes)) {
      if (!ShapedType::isDynamic(size))
        continue;
      std::optional<BoundedSize> known = sizeOfLoop(op, loop);
      if (!known || result.batch)
        return failure();
      if (known->isStatic()) {
        size = known->factor();
        continue;
      }
      result.batch = known;
      batchLoop = loop;
      size = std::max<int64_t>(known->expected(), 2);
    }
    return success();
  }

  LogicalResult readWindows(AffineMap windows, const Padded &padded) {
    result.lhs = padded.buffer;
    result.lhsOffset = padded.offset;
    result.groups.clear();
    result.dims.clear();
    result.channels = result.columns = {};
    SmallVector<ConvolutionLoop> plain; // loops that move the operand alone, in its dimension
    SmallVector<bool> isSeen(sizes.size(), false);
    for (auto [dim, expr] : llvm::enumerate(windows.getResults())) {
      FailureOr<Terms> terms = readTerms(expr);
      if (failed(terms) || failed(readDim(*terms, padded, dim, plain, isSeen)))
        return failure();
    }
    for (auto [loop, size] : llvm::enumerate(sizes)) {
      if (size == 1 || isSeen[loop])
        continue;
      if (rhs[loop] == 0 || out[loop] == 0 || loop == batchLoop)
        return failure();
      ConvolutionLoop columns{size, 0, rhs[loop], out[loop]};
      if (columns.out == 1)
        result.columns = columns;
      else
        result.groups.push_back(columns);
    }
    if (result.columns.size == 1)
      return failure();
    return chooseChannels(plain);
  }

  LogicalResult readDim(Terms terms, const Padded &padded, unsigned dim, SmallVector<ConvolutionLoop> &plain,
                        SmallVector<bool> &isSeen) {
    llvm::erase_if(terms, [&](auto term) { return sizes[term.first] == 1; });
    WindowDim window;
    window.low = padded.low[dim];
    window.interior = padded.interior[dim];
    window.size = padded.sizes[dim];
    window.lhs = padded.strides[dim];
    int64_t reach = 1; // the elements that windows read, with the padding at the end
    for (auto [loop, factor] : terms)
      reach += (sizes[loop] - 1) * factor;
    bool isPadded =
        window.low != 0 || window.interior != 1 || (!ShapedType::isDynamic(window.size) && reach > window.size);
    if (terms.empty() && !isPadded)
      return success();
    for (auto [loop, factor] : terms) {
      if (isSeen[loop])
        return failure();
      isSeen[loop] = true;
      bool moves = out[loop] != 0, weighs = rhs[loop] != 0;
      if (terms.size() == 1 && factor == 1 && !isPadded) {
        plain.push_back({sizes[loop], window.lhs, rhs[loop], out[loop], loop == batchLoop});
        return success();
      }
      if (loop == batchLoop)
        return failure();
      if (moves == weighs || (moves ? window.positions : window.taps) != 1)
        return failure();
      if (moves) {
        window.positions = sizes[loop];
        window.step = factor;
        window.out = out[loop];
      } else {
        window.taps = sizes[loop];
        window.dilation = factor;
        window.rhs = rhs[loop];
      }
    }
    if (ShapedType::isDynamic(window.size))
      return failure();
    // Elements that no window reads are skipped.
    int64_t step = window.taps == 1 ? window.step : window.positions == 1 ? window.dilation : 1;
    if (!isPadded && step > 1) {
      window.lhs *= step;
      window.step = window.dilation = 1;
      window.size = std::max(window.positions, window.taps);
    }
    result.dims.push_back(window);
    return success();
  }

  /// Decides whether channels are terms. They are if there are more positions than taps, because then the channels make
  /// the sum long. A symbolic batch decides instead: only the dimensions that are divided into tiles may have a size
  /// that a call knows, and these are positions if channels are terms, else taps. The remaining loops become windows of
  /// one position or one tap.
  LogicalResult chooseChannels(ArrayRef<ConvolutionLoop> plain) {
    const auto *batch = llvm::find_if(plain, [](const ConvolutionLoop &loop) { return loop.isBatch; });
    // Strided windows are not those of a gradient. Between their positions, slabs of other form would have gaps.
    bool isStrided = llvm::any_of(
        result.dims, [](const WindowDim &dim) { return dim.positions > 1 && dim.taps > 1 && dim.step > 1; });
    bool hasPositions = isStrided || result.positions() >= result.taps();
    result.sumsChannels = batch == plain.end() ? hasPositions : batch->out != 0;
    int64_t batchStride = 0;
    for (const ConvolutionLoop &loop : plain) {
      bool isTerm = loop.out == 0;
      bool isWindow = !(loop.out != 0 && loop.rhs != 0) && !(loop.lhs == 1 && isTerm == result.sumsChannels);
      if (loop.isBatch && !isWindow)
        return failure();
      if (loop.isBatch)
        batchStride = loop.lhs;
      if (loop.out != 0 && loop.rhs != 0) {
        result.groups.push_back(loop);
      } else if (loop.lhs == 1 && isTerm == result.sumsChannels) {
        result.channels = loop;
      } else {
        WindowDim window;
        (isTerm ? window.taps : window.positions) = window.size = loop.size;
        window.lhs = loop.lhs;
        window.rhs = loop.rhs;
        window.out = loop.out;
        result.dims.push_back(window);
      }
    }
    bool hasMuch = llvm::any_of(result.dims, [&](const WindowDim &dim) { return dim.interior > 1; });
    if (hasMuch && !canSplit())
      return failure();
    llvm::stable_sort(result.dims, [](const WindowDim &x, const WindowDim &y) { return x.lhs > y.lhs; });
    bool isFirst = llvm::all_of(llvm::drop_begin(result.dims), [&](auto &dim) { return dim.lhs < batchStride; });
    return success(!result.batch || (!result.dims.empty() && result.dims[0].lhs == batchStride && isFirst));
  }

  /// Interior zeros are skipped by splitting the positions.
  bool canSplit() const {
    int64_t parts = 1;
    for (const WindowDim &dim : result.dims) {
      if (dim.interior > 1 && dim.step != 1)
        return false;
      parts *= dim.interior;
    }
    return result.sumsChannels && parts <= 16;
  }

  linalg::LinalgOp op;
  SmallVector<int64_t> sizes, rhs, out;
  std::optional<unsigned> batchLoop;
  Convolution result{};
};

} // namespace

int64_t Convolution::positions() const {
  int64_t count = 1;
  for (const WindowDim &dim : dims)
    count *= dim.positions;
  return count;
}

int64_t Convolution::taps() const {
  int64_t count = 1;
  for (const WindowDim &dim : dims)
    count *= dim.taps;
  return count;
}

FailureOr<Convolution> analyzeConvolution(linalg::LinalgOp op) { return Analysis(op).run(); }

std::vector<Convolution> splitInterior(const Convolution &convolution) {
  std::vector<Convolution> parts{convolution};
  for (auto [number, whole] : llvm::enumerate(convolution.dims)) {
    if (whole.interior == 1)
      continue;
    std::vector<Convolution> all = std::move(parts);
    parts.clear();
    for (const Convolution &part : all)
      for (int64_t first = 0; first < std::min(whole.interior, whole.positions); ++first) {
        Convolution split = part;
        WindowDim &dim = split.dims[number];
        dim.positions = llvm::divideCeil(whole.positions - first, whole.interior);
        split.outStart += first * whole.out;
        dim.out *= whole.interior;
        // The taps that meet elements are `every` apart. The first of them reads element (...) / interior.
        int64_t every = whole.interior / std::gcd(whole.interior, whole.dilation), tap = 0;
        auto place = [&, &whole = whole] { return first + tap * whole.dilation - whole.low; };
        while (tap < every && place() % whole.interior != 0)
          ++tap;
        dim.taps = tap >= every || tap >= whole.taps ? 0 : llvm::divideCeil(whole.taps - tap, every);
        if (dim.taps > 0) {
          split.rhsStart += tap * whole.rhs;
          dim.rhs *= every;
          dim.dilation = every * whole.dilation / whole.interior;
          dim.low = -(place() / whole.interior);
        }
        dim.interior = 1;
        parts.push_back(split);
      }
  }
  return parts;
}

} // namespace mlir::array
