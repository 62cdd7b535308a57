// array-scalarize-carries: loops that carry arrays of a few elements carry the elements, in registers. Systems of
// differential equations are such loops: their state has two or three numbers. In memory, a state that is written
// element by element is read as a vector at once, which waits until the writes have left the processor. Runs after
// array-fuse-elementwise; array-in-place-carries does the same for arrays without dimensions.
#include "array/Bufferize/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::array {

#define GEN_PASS_DEF_SCALARIZECARRIES
#include "array/Bufferize/Passes.h.inc"

namespace {

/// The elements of an array that is carried in registers.
constexpr int64_t maxElements = 4;
/// The iterations of one op: the product of a small matrix with a vector has some.
constexpr int64_t maxIterations = 16;
/// The scalar operations of a body, and the functions among them. Functions are long, and vectors compute several at
/// once.
constexpr int64_t maxOperations = 512, maxFunctions = 24;

RankedTensorType tensorOf(Type type, int64_t least) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  bool isSmall = tensor && tensor.hasStaticShape() && tensor.getRank() >= least && tensor.getNumElements() > 0 &&
                 tensor.getNumElements() <= maxElements && tensor.getElementType().isIntOrIndexOrFloat();
  return isSmall ? tensor : RankedTensorType();
}

/// An array with dimensions.
bool isSmall(Type type) { return bool(tensorOf(type, 1)); }
/// Also one without dimensions.
bool hasFewElements(Type type) { return bool(tensorOf(type, 0)); }

/// The number of an element in row-major order.
int64_t placeOf(ArrayRef<int64_t> indices, ArrayRef<int64_t> shape) {
  int64_t place = 0;
  for (auto [index, size] : llvm::zip_equal(indices, shape))
    place = place * size + index;
  return place;
}

SmallVector<int64_t> indicesOf(int64_t place, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> indices(shape.size());
  for (size_t dim = shape.size(); dim-- > 0; place /= shape[dim])
    indices[dim] = place % shape[dim];
  return indices;
}

bool isStatic(OffsetSizeAndStrideOpInterface op) {
  auto isKnown = [](ArrayRef<int64_t> values) { return llvm::none_of(values, ShapedType::isDynamic); };
  return isKnown(op.getStaticOffsets()) && isKnown(op.getStaticSizes()) && isKnown(op.getStaticStrides());
}

/// Whether an op computes a few elements by a few iterations: elementwise, or a reduction of so few.
bool hasFewIterations(linalg::GenericOp op) {
  return op.hasPureTensorSemantics() && op.getNumResults() == 1 && hasFewElements(op.getResult(0).getType()) &&
         llvm::none_of(op.getStaticLoopRanges(), ShapedType::isDynamic) &&
         ShapedType::getNumElements(op.getStaticLoopRanges()) <= maxIterations &&
         llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) { return map.getNumSymbols() == 0; }) &&
         llvm::all_of(op.getBody()->without_terminator(), [](Operation &inner) {
           return inner.getNumRegions() == 0 && isPure(&inner) && !isa<tensor::ExtractOp>(inner);
         });
}

/// Whether an op on arrays of a few elements has a scalar form here.
bool hasScalarForm(Operation *op) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return hasFewIterations(generic);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return !isSmall(slice.getSourceType()) || isStatic(slice);
  if (auto slice = dyn_cast<tensor::InsertSliceOp>(op))
    return !isSmall(slice.getType()) || (isStatic(slice) && hasFewElements(slice.getSourceType()));
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return llvm::all_of(extract.getIndices(), [](Value index) { return bool(getConstantIntValue(index)); });
  return isa<linalg::FillOp, tensor::EmptyOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::FromElementsOp>(
      op);
}

bool isWorthScalars(LoopLikeOpInterface loop) {
  if (llvm::none_of(loop.getInits().getTypes(), isSmall))
    return false;
  int64_t operations = 0, functions = 0;
  for (Region *region : llvm::make_pointer_range(loop->getRegions()))
    for (Operation &op : region->front().without_terminator()) {
      bool isInside = op.walk([&](Operation *inner) {
                          bool readsSmall = inner != &op && llvm::any_of(inner->getOperandTypes(), isSmall);
                          return readsSmall ? WalkResult::interrupt() : WalkResult::advance();
                        }).wasInterrupted();
      bool touchesSmall = llvm::any_of(op.getOperandTypes(), isSmall) || llvm::any_of(op.getResultTypes(), isSmall);
      if (isInside || (touchesSmall && !hasScalarForm(&op)))
        return false;
      auto generic = dyn_cast<linalg::GenericOp>(op);
      if (!generic || !touchesSmall)
        continue;
      int64_t iterations = ShapedType::getNumElements(generic.getStaticLoopRanges());
      for (Operation &inner : *generic.getBody()) {
        operations += iterations;
        if (isa<math::MathDialect>(inner.getDialect()) && !isa<math::AbsFOp, math::SqrtOp>(inner))
          functions += iterations;
      }
    }
  return operations <= maxOperations && functions <= maxFunctions;
}

/// Writes a loop again, with the elements of its small arrays in their place.
class Scalarizer {
public:
  explicit Scalarizer(LoopLikeOpInterface loop) : loop(loop), b(loop) {}

  void run() {
    SmallVector<Value> inits = listed(loop.getInits());
    if (auto counting = dyn_cast<scf::ForOp>(*loop)) {
      auto plain = scf::ForOp::create(b, loop.getLoc(), counting.getLowerBound(), counting.getUpperBound(),
                                      counting.getStep(), inits);
      made = plain;
      mapping.map(counting.getInductionVar(), plain.getInductionVar());
      bind(counting.getRegionIterArgs(), ValueRange(plain.getRegionIterArgs()));
      if (!plain.getBody()->empty())
        plain.getBody()->getTerminator()->erase();
      convert(*counting.getBody(), *plain.getBody());
      scf::YieldOp::create(b, loop.getLoc(), listed(counting.getYieldedValues()));
    } else {
      auto conditional = cast<scf::WhileOp>(*loop);
      made = scf::WhileOp::create(b, loop.getLoc(), flattened(conditional.getResultTypes()), inits);
      for (auto [from, to] : llvm::zip_equal(loop->getRegions(), made->getRegions())) {
        SmallVector<Type> types = flattened(from.getArgumentTypes());
        Block *block = b.createBlock(&to, {}, types, SmallVector<Location>(types.size(), loop.getLoc()));
        bind(from.getArguments(), block->getArguments());
        convert(from.front(), *block);
        if (auto condition = dyn_cast<scf::ConditionOp>(from.front().getTerminator()))
          scf::ConditionOp::create(b, loop.getLoc(), whole(condition.getCondition()), listed(condition.getArgs()));
        else
          scf::YieldOp::create(b, loop.getLoc(), listed(from.front().getTerminator()->getOperands()));
      }
    }
    made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    b.setInsertionPointAfter(made);
    bind(loop->getResults(), made->getResults());
    for (Value result : loop->getResults())
      result.replaceAllUsesWith(whole(result));
    loop->erase();
  }

private:
  /// Gives carried values, in order, their elements, or themselves.
  void bind(ValueRange before, ValueRange after) {
    size_t next = 0;
    for (Value value : before) {
      RankedTensorType small = tensorOf(value.getType(), 1);
      if (!small) {
        mapping.map(value, after[next++]);
        continue;
      }
      elements[value] = llvm::to_vector(after.slice(next, small.getNumElements()));
      next += small.getNumElements();
    }
  }

  SmallVector<Value> listed(ValueRange values) {
    SmallVector<Value> found;
    for (Value value : values) {
      if (isSmall(value.getType()))
        found.append(elementsOf(value));
      else
        found.push_back(whole(value));
    }
    return found;
  }

  static SmallVector<Type> flattened(TypeRange types) {
    SmallVector<Type> found;
    for (Type type : types) {
      RankedTensorType small = tensorOf(type, 1);
      found.append(small ? small.getNumElements() : 1, small ? small.getElementType() : type);
    }
    return found;
  }

  void convert(Block &from, Block &to) {
    b.setInsertionPointToEnd(&to);
    for (Operation &op : from.without_terminator())
      convert(&op);
  }

  Value index(int64_t number) { return arith::ConstantIndexOp::create(b, loop.getLoc(), number); }

  /// An element; of an array from before the loop, it is read there.
  Value elementAt(Value tensor, ArrayRef<int64_t> indices) {
    OpBuilder::InsertionGuard guard(b);
    if (made != nullptr && loop.isDefinedOutsideOfLoop(tensor))
      b.setInsertionPoint(made);
    return tensor::ExtractOp::create(b, loop.getLoc(), whole(tensor),
                                     llvm::map_to_vector(indices, [&](int64_t i) { return index(i); }));
  }

  /// The elements of an array of a few, in row-major order.
  SmallVector<Value> elementsOf(Value value) {
    if (auto found = elements.find(value); found != elements.end())
      return found->second;
    auto type = cast<RankedTensorType>(value.getType());
    auto fill = value.getDefiningOp<linalg::FillOp>();
    SmallVector<Value> found;
    for (int64_t place = 0; place < type.getNumElements(); ++place)
      found.push_back(fill && loop.isDefinedOutsideOfLoop(value) ? fill.getInputs()[0]
                                                                 : elementAt(value, indicesOf(place, type.getShape())));
    elements[value] = found;
    return found;
  }

  /// The value in the new loop, as an array.
  Value whole(Value value) {
    if (auto found = elements.find(value);
        found != elements.end() && !mapping.contains(value) &&
        !(loop.isDefinedOutsideOfLoop(value) && value.getDefiningOp() != loop.getOperation()))
      mapping.map(value, tensor::FromElementsOp::create(b, loop.getLoc(), value.getType(), found->second).getResult());
    return mapping.lookupOrDefault(value);
  }

  void convert(Operation *op) {
    if (op->getNumResults() == 1 && hasFewElements(op->getResult(0).getType()) && isKnown(op)) {
      elements[op->getResult(0)] = scalarForm(op);
      return;
    }
    if (auto extract = dyn_cast<tensor::ExtractOp>(op); extract && elements.contains(extract.getTensor())) {
      SmallVector<int64_t> indices =
          llvm::map_to_vector(extract.getIndices(), [](Value index) { return *getConstantIntValue(index); });
      mapping.map(extract.getResult(),
                  elements[extract.getTensor()][placeOf(indices, extract.getTensor().getType().getShape())]);
      return;
    }
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        whole(operand);
    });
    b.clone(*op, mapping);
  }

  /// Whether the elements of a result are made from those of the operands.
  bool isKnown(Operation *op) {
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
      return hasFewElements(slice.getSourceType()) && isStatic(slice);
    if (auto slice = dyn_cast<tensor::InsertSliceOp>(op))
      return isStatic(slice) && hasFewElements(slice.getSourceType());
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      return hasFewIterations(generic);
    return isa<linalg::FillOp, tensor::EmptyOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::FromElementsOp>(
        op);
  }

  SmallVector<Value> scalarForm(Operation *op) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
      return elementsOf(op->getOperand(0));
    if (auto made = dyn_cast<tensor::FromElementsOp>(op))
      return llvm::map_to_vector(made.getElements(), [&](Value element) { return mapping.lookupOrDefault(element); });
    if (auto fill = dyn_cast<linalg::FillOp>(op))
      return SmallVector<Value>(type.getNumElements(), mapping.lookupOrDefault(fill.getInputs()[0]));
    if (isa<tensor::EmptyOp>(op)) {
      // No program reads these elements.
      Value zero = arith::ConstantOp::create(b, op->getLoc(), b.getZeroAttr(type.getElementType()));
      return SmallVector<Value>(type.getNumElements(), zero);
    }
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      SmallVector<Value> source = elementsOf(slice.getSource()), found;
      forEachOf(slice, [&](ArrayRef<int64_t> indices, int64_t) {
        found.push_back(source[placeOf(indices, slice.getSourceType().getShape())]);
      });
      return found;
    }
    if (auto slice = dyn_cast<tensor::InsertSliceOp>(op)) {
      SmallVector<Value> source = elementsOf(slice.getSource()), found = elementsOf(slice.getDest());
      forEachOf(slice, [&](ArrayRef<int64_t> indices, int64_t place) {
        found[placeOf(indices, type.getShape())] = source[place];
      });
      return found;
    }
    return scalarForm(cast<linalg::GenericOp>(op), type);
  }

  /// The places of a slice in the larger array, in the order of the smaller one.
  void forEachOf(OffsetSizeAndStrideOpInterface slice, function_ref<void(ArrayRef<int64_t>, int64_t)> visit) {
    ArrayRef<int64_t> sizes = slice.getStaticSizes();
    for (int64_t place = 0, count = ShapedType::getNumElements(sizes); place < count; ++place) {
      SmallVector<int64_t> indices = indicesOf(place, sizes);
      for (auto [index, offset, stride] : llvm::zip_equal(indices, slice.getStaticOffsets(), slice.getStaticStrides()))
        index = offset + index * stride;
      visit(indices, place);
    }
  }

  SmallVector<Value> scalarForm(linalg::GenericOp op, RankedTensorType type) {
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    OpOperand *init = op.getDpsInitOperand(0);
    BlockArgument before = op.getMatchingBlockArgument(init);
    SmallVector<Value> found(type.getNumElements());
    if (!before.use_empty())
      found = elementsOf(init->get());
    for (int64_t iteration = 0, count = ShapedType::getNumElements(ranges); iteration < count; ++iteration) {
      SmallVector<int64_t> loops = indicesOf(iteration, ranges);
      Value &result = found[placeOf(op.getMatchingIndexingMap(init).compose(loops), type.getShape())];
      IRMapping inner(mapping);
      if (!before.use_empty())
        inner.map(before, result);
      for (OpOperand *operand : op.getDpsInputOperands()) {
        Value value = operand->get();
        BlockArgument argument = op.getMatchingBlockArgument(operand);
        if (!isa<RankedTensorType>(value.getType())) {
          inner.map(argument, mapping.lookupOrDefault(value));
          continue;
        }
        SmallVector<int64_t> indices = op.getMatchingIndexingMap(operand).compose(loops);
        if (auto small = tensorOf(value.getType(), 0))
          inner.map(argument, elementsOf(value)[placeOf(indices, small.getShape())]);
        else
          inner.map(argument, elementAt(value, indices));
      }
      for (Operation &scalar : op.getBody()->without_terminator()) {
        if (auto number = dyn_cast<linalg::IndexOp>(scalar))
          inner.map(number.getResult(), index(loops[number.getDim()]));
        else
          b.clone(scalar, inner);
      }
      result = inner.lookupOrDefault(op.getBody()->getTerminator()->getOperand(0));
    }
    return found;
  }

  LoopLikeOpInterface loop;
  Operation *made = nullptr;
  OpBuilder b;
  IRMapping mapping;                                  // other values
  llvm::DenseMap<Value, SmallVector<Value>> elements; // by the value in the old loop, or before it
};

struct ScalarizeCarries : impl::ScalarizeCarriesBase<ScalarizeCarries> {
  void runOnOperation() override {
    SmallVector<LoopLikeOpInterface> loops; // inner ones first
    getOperation().walk([&](LoopLikeOpInterface loop) {
      if (isa<scf::ForOp, scf::WhileOp>(*loop))
        loops.push_back(loop);
    });
    for (LoopLikeOpInterface loop : loops)
      if (isWorthScalars(loop))
        Scalarizer(loop).run();
  }
};

} // namespace
} // namespace mlir::array
