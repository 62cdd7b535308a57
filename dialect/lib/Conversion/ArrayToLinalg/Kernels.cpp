// kernel_call -> scf.for over the grid, on tensors: an iteration takes slices of the operands, and inserts the blocks
// of the outputs. Parallel dimensions of the grid are one outer loop, which is marked; array-plan-memory gives its
// iterations memory of their own. array-in-place-carries updates the outputs in place.
#include "IndexMath.h"
#include "array/IR/Kernel.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::array;

namespace {

/// Set on the yield of a lowered body: the number of its first values that are blocks of outputs.
constexpr StringRef kOutputs = "outputs";

/// A block: a slice whose dimensions of one element may be dropped.
struct BlockPlace {
  SmallVector<OpFoldResult> offsets, sizes, strides;

  BlockPlace(OpBuilder &b, ArrayRef<Value> offsets, ArrayRef<int64_t> blockSizes)
      : offsets(offsets.begin(), offsets.end()), strides(blockSizes.size(), b.getIndexAttr(1)) {
    for (int64_t size : blockSizes)
      sizes.push_back(b.getIndexAttr(std::max<int64_t>(size, 1)));
  }
};

/// A block as a tensor. One without dimensions is an element.
Value readBlock(ImplicitLocOpBuilder &b, Value whole, RankedTensorType block, ArrayRef<Value> offsets,
                ArrayRef<int64_t> sizes) {
  if (block.getRank() == 0)
    return tensor::FromElementsOp::create(b, block, tensor::ExtractOp::create(b, whole, offsets).getResult());
  BlockPlace place(b, offsets, sizes);
  return tensor::ExtractSliceOp::create(b, block, whole, place.offsets, place.sizes, place.strides);
}

/// The tensor with a block at the place from which `readBlock` took it: from the first use of the loop's argument.
Value writeBlock(ImplicitLocOpBuilder &b, Value whole, Value block) {
  for (Operation *user : whole.getUsers()) {
    if (auto element = dyn_cast<tensor::ExtractOp>(user))
      return tensor::InsertOp::create(b, tensor::ExtractOp::create(b, block, ValueRange()).getResult(), whole,
                                      element.getIndices());
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(user))
      return tensor::InsertSliceOp::create(b, block, whole, slice.getMixedOffsets(), slice.getMixedSizes(),
                                           slice.getMixedStrides());
  }
  llvm_unreachable("a loop over a grid takes no block of an output");
}

class KernelLowering {
public:
  KernelLowering(KernelCallOp op, ArrayRef<Value> inputs, ArrayRef<Value> outputs, const TypeConverter &converter,
                 ConversionPatternRewriter &rewriter)
      : op(op), inputs(inputs), carried(outputs.begin(), outputs.end()), converter(converter), rewriter(rewriter),
        b(op.getLoc(), rewriter), indices(op.getGrid().size()) {}

  LogicalResult lower(SmallVectorImpl<Value> &results) {
    FailureOr<Block *> body = rewriter.convertRegionTypes(&op.getBody(), converter);
    if (failed(body))
      return failure();
    size_t outputs = op.getOutputs().size();
    for (int64_t number : op.getOverwritten()) {
      auto type = cast<RankedTensorType>(carried[number].getType());
      carried[number] = tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
    }
    auto scratch = (*body)->getArguments().drop_front(indices.size() + op.getNumOperands());
    openLoops(SmallVector<Type>(ValueRange(scratch).getTypes()));
    inlineRegions(*body, outputs);
    llvm::append_range(results, outer.getResults().take_front(outputs));
    return success();
  }

private:
  Value number(int64_t value) { return arith::ConstantIndexOp::create(b, value); }

  /// A loop that carries the current carried values; building continues in it.
  scf::ForOp openLoop(int64_t count) {
    auto loop = scf::ForOp::create(b, number(0), number(count), number(1), carried);
    loop->setAttr(kControlFlowAttr, b.getUnitAttr());
    if (!innermost)
      outer = loop;
    else // its results are those of the loop around it
      yieldFrom(loop);
    if (carried.empty())
      rewriter.eraseOp(loop.getBody()->getTerminator());
    innermost = loop;
    b.setInsertionPointToStart(loop.getBody());
    carried.assign(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
    return loop;
  }

  /// Ends the body of the loop around `loop`: scratch memory does not leave the loop over parallel indices.
  void yieldFrom(scf::ForOp loop) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfter(loop);
    scf::YieldOp::create(b, loop.getResults().take_front(innermost.getNumResults()));
  }

  /// One loop over all parallel indices, scratch memory in it, then a loop for each other dimension.
  void openLoops(ArrayRef<Type> scratch) {
    ArrayRef<int64_t> grid = op.getGrid();
    SmallVector<int64_t> sequential;
    int64_t count = 1;
    for (int64_t dim = 0; dim < int64_t(grid.size()); ++dim) {
      if (llvm::is_contained(op.getParallel(), dim))
        count *= grid[dim];
      else if (grid[dim] != 1)
        sequential.push_back(dim);
    }
    if (count > 1 || sequential.empty()) {
      scf::ForOp loop = openLoop(count);
      loop->setAttr(kGridAttr, b.getUnitAttr());
      Value rest = loop.getInductionVar();
      for (int64_t dim : llvm::reverse(op.getParallel())) {
        Value size = number(grid[dim]);
        indices[dim] = arith::RemUIOp::create(b, rest, size);
        rest = arith::DivUIOp::create(b, rest, size);
      }
    }
    for (Type type : scratch) {
      auto tensor = cast<RankedTensorType>(type);
      SmallVector<OpFoldResult> sizes = getAsIndexOpFoldResult(b.getContext(), tensor.getShape());
      Value zero = arith::ConstantOp::create(b, b.getZeroAttr(tensor.getElementType()));
      carried.push_back(filled(b, b.getLoc(), sizes, zero));
    }
    for (int64_t dim : sequential)
      indices[dim] = openLoop(grid[dim]).getInductionVar();
    for (Value &index : indices)
      if (!index)
        index = number(0);
  }

  /// The offsets, the blocks, and the body at the end of the innermost loop, whose yield KernelYieldLowering converts.
  void inlineRegions(Block *body, size_t outputs) {
    auto type = RankedTensorType::get({}, b.getI32Type());
    SmallVector<Value> arguments;
    for (Value index : indices) {
      Value narrow = arith::IndexCastOp::create(b, b.getI32Type(), index);
      arguments.push_back(tensor::FromElementsOp::create(b, type, narrow));
    }
    Block *maps = &op.getMaps().front(), *inside = innermost.getBody();
    Operation *found = maps->getTerminator();
    SmallVector<Value> yielded(found->getOperands());
    DenseMap<Value, Value> known;
    for (auto [argument, index] : llvm::zip_equal(maps->getArguments(), arguments))
      known[argument] = index;
    for (Value &value : yielded)
      if (Value index = known.lookup(value))
        value = index;
    rewriter.eraseOp(found);
    rewriter.inlineBlockBefore(maps, inside, inside->end(), arguments);
    b.setInsertionPointToEnd(inside);
    ArrayRef<Value> offsets = yielded;
    for (unsigned operand = 0; operand < op.getNumOperands(); ++operand) {
      Value whole = operand < inputs.size() ? inputs[operand] : carried[operand - inputs.size()];
      ArrayRef<int64_t> sizes = op.blockSizes(operand);
      SmallVector<Value> place = clamp(whole, offsets.take_front(sizes.size()), sizes);
      offsets = offsets.drop_front(sizes.size());
      arguments.push_back(readBlock(b, whole, storageType(op.blockType(operand)), place, sizes));
    }
    llvm::append_range(arguments, ArrayRef(carried).drop_front(outputs));
    Operation *yield = body->getTerminator();
    rewriter.modifyOpInPlace(yield, [&] { yield->setAttr(kOutputs, b.getI64IntegerAttr(outputs)); });
    rewriter.inlineBlockBefore(body, inside, inside->end(), arguments);
  }

  /// The nearest offsets at which a block does not leave its array.
  SmallVector<Value> clamp(Value whole, ArrayRef<Value> offsets, ArrayRef<int64_t> sizes) {
    SmallVector<Value> clamped;
    ArrayRef<int64_t> shape = cast<RankedTensorType>(whole.getType()).getShape();
    for (auto [offset, size, extent] : llvm::zip_equal(offsets, sizes, shape)) {
      int64_t last = extent - std::max<int64_t>(size, 1);
      if (last == 0) {
        clamped.push_back(number(0));
        continue;
      }
      Value element = tensor::ExtractOp::create(b, offset, ValueRange());
      Value place = arith::IndexCastOp::create(b, b.getIndexType(), element);
      place = arith::MaxSIOp::create(b, place, number(0));
      clamped.push_back(arith::MinSIOp::create(b, place, number(last)));
    }
    return clamped;
  }

  KernelCallOp op;
  ArrayRef<Value> inputs;
  SmallVector<Value> carried; ///< the outputs, then scratch memory
  const TypeConverter &converter;
  ConversionPatternRewriter &rewriter;
  ImplicitLocOpBuilder b;
  SmallVector<Value> indices;
  scf::ForOp outer, innermost;
};

struct KernelCallLowering : OpConversionPattern<KernelCallOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(KernelCallOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> inputs(adaptor.getInputs()), outputs(adaptor.getOutputs()), results;
    if (failed(KernelLowering(op, inputs, outputs, *getTypeConverter(), rewriter).lower(results)))
      return failure();
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// The end of a body in its loop.
struct KernelYieldLowering : OpConversionPattern<KernelYieldOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(KernelYieldOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
    auto outputs = op->getAttrOfType<IntegerAttr>(kOutputs);
    if (!loop || !outputs)
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> values(adaptor.getResults());
    for (auto [value, whole] :
         llvm::zip(MutableArrayRef(values).take_front(outputs.getInt()), loop.getRegionIterArgs()))
      value = writeBlock(b, whole, value);
    // A loop over parallel indices alone does not carry its scratch memory.
    values.resize(loop.getNumResults());
    rewriter.replaceOpWithNewOp<scf::YieldOp>(op, values);
    return success();
  }
};

} // namespace

void array::populateKernels(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<KernelCallLowering, KernelYieldLowering>(converter, patterns.getContext());
}
