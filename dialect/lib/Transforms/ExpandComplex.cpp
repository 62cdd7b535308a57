// array-expand-complex: ops on complex numbers become ops on their parts. This file has the table of ops.
// ExpandComplexParts.cpp has the arithmetic, ExpandComplexFunctions.cpp functions of one number. Before it: simplified
// array modules. After it: convert-array-to-linalg, which only moves the bits of complex elements.
#include "ExpandComplex.h"
#include "array/Transforms/Passes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::array {

#define GEN_PASS_DEF_EXPANDCOMPLEX
#include "array/Transforms/Passes.h.inc"

namespace {

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Returns the replacements of the results of `op`, as complex values or real ones; none if it does not change. The
/// builder is positioned before it.
using Expansion = SmallVector<Value> (*)(PartBuilder &b, Operation *op);

bool isComplex(Value value) { return isa<ComplexType>(getElementTypeOrSelf(value.getType())); }

SmallVector<Value> one(Value value) { return {value}; }

/// The op on the real parts, then on the imaginary ones. Operands that are not complex are used for both.
SmallVector<Value> onParts(PartBuilder &b, Operation *op) {
  SmallVector<SmallVector<Value>, 2> results;
  for (bool isReal : {true, false}) {
    OperationState state(op->getLoc(), op->getName());
    for (Value operand : op->getOperands()) {
      if (isComplex(operand))
        operand = isReal ? b.split(operand).re : b.split(operand).im;
      state.addOperands(operand);
    }
    for (Type type : op->getResultTypes()) {
      auto tensor = cast<RankedTensorType>(type);
      state.addTypes(tensor.clone(partElement(tensor.getElementType())));
    }
    state.addAttributes(op->getAttrs());
    Operation *part = b.b.create(state);
    results.push_back(SmallVector<Value>(part->getResults()));
  }
  SmallVector<Value> joined;
  for (auto [re, im] : llvm::zip_equal(results[0], results[1]))
    joined.push_back(b.join({re, im}));
  return joined;
}

/// Numbers that are only moved stay whole, if their bits are those of an integer of the processor's.
SmallVector<Value> selected(PartBuilder &b, Operation *op) {
  auto select = cast<SelectOp>(op);
  auto isMoved = [](Value z) { return !z.getDefiningOp<ComplexOp>(); };
  bool isWide = partElement(getElementTypeOrSelf(op->getResult(0).getType())).isF64();
  return !isWide && isMoved(select.getOnTrue()) && isMoved(select.getOnFalse()) ? SmallVector<Value>() : onParts(b, op);
}

Parts operandParts(PartBuilder &b, Operation *op, unsigned index) { return b.split(op->getOperand(index)); }

SmallVector<Value> product(PartBuilder &b, Operation *op) {
  return one(b.join(b.product(operandParts(b, op, 0), operandParts(b, op, 1))));
}

SmallVector<Value> quotient(PartBuilder &b, Operation *op) {
  return one(b.joinWhole(b.quotient(operandParts(b, op, 0), operandParts(b, op, 1))));
}

SmallVector<Value> power(PartBuilder &b, Operation *op) {
  return one(b.joinWhole(complexPower(b, operandParts(b, op, 0), operandParts(b, op, 1))));
}

SmallVector<Value> realPart(PartBuilder &b, Operation *op) { return one(operandParts(b, op, 0).re); }
SmallVector<Value> imaginaryPart(PartBuilder &b, Operation *op) { return one(operandParts(b, op, 0).im); }

SmallVector<Value> magnitude(PartBuilder &b, Operation *op) { return one(b.magnitude(operandParts(b, op, 0))); }

/// z / |z|, and zero for zero; for an infinite number its direction.
SmallVector<Value> sign(PartBuilder &b, Operation *op) {
  Parts z = operandParts(b, op, 0);
  z = b.select(b.isInfinite(z), b.box(z), z);
  z = b.scaled(z, b.scaleOf(z).factor);
  Value length = b.magnitude(z), zero = b.number(length, 0);
  Value isZero = b.equal(length, zero);
  Value safe = b.select(isZero, b.number(length, 1), length);
  return one(b.join({b.select(isZero, zero, b.div(z.re, safe)), b.select(isZero, zero, b.div(z.im, safe))}));
}

SmallVector<Value> equal(PartBuilder &b, Operation *op) {
  Parts x = operandParts(b, op, 0), y = operandParts(b, op, 1);
  return one(b.both(b.equal(x.re, y.re), b.equal(x.im, y.im)));
}

SmallVector<Value> notEqual(PartBuilder &b, Operation *op) {
  Parts x = operandParts(b, op, 0), y = operandParts(b, op, 1);
  return one(b.either(b.make<NeOp>(x.re, y.re), b.make<NeOp>(x.im, y.im)));
}

/// Ordered by the real parts, then by the imaginary ones; the first operand with a nan wins.
template <typename Compare> SmallVector<Value> extremum(PartBuilder &b, Operation *op) {
  Parts x = operandParts(b, op, 0), y = operandParts(b, op, 1);
  Value beyond = b.either(b.make<Compare>(x.re, y.re), b.both(b.equal(x.re, y.re), b.make<Compare>(x.im, y.im)));
  Value xIsNan = b.either(b.isNan(x.re), b.isNan(x.im)), yIsNan = b.either(b.isNan(y.re), b.isNan(y.im));
  Value takeFirst = b.either(xIsNan, b.both(beyond, b.make<NotOp>(yIsNan)));
  return one(b.join(b.select(takeFirst, x, y)));
}

/// Between complex types each part is converted. To a bool: != 0. To a real type: the real part. From a real type: the
/// imaginary part is zero.
SmallVector<Value> convert(PartBuilder &b, Operation *op) {
  auto source = cast<RankedTensorType>(op->getOperand(0).getType()),
       target = cast<RankedTensorType>(op->getResult(0).getType());
  auto converted = [&](Value x, Type element) -> Value {
    auto type = cast<RankedTensorType>(x.getType()).clone(element);
    return b.b.createOrFold<ConvertOp>(b.loc, type, x);
  };
  Type element = target.getElementType();
  if (!isa<ComplexType>(source.getElementType())) {
    Value re = converted(op->getOperand(0), partElement(element));
    return one(b.join({re, b.number(re, 0)}));
  }
  Parts z = operandParts(b, op, 0);
  if (isa<ComplexType>(element))
    return one(b.join({converted(z.re, partElement(element)), converted(z.im, partElement(element))}));
  if (element.isSignlessInteger(1))
    return one(b.either(converted(z.re, element), converted(z.im, element)));
  return one(converted(z.re, element));
}

/// Real products: (a + bi)(c + di) = (ac - bd) + (ad + bc)i.
SmallVector<Value> contraction(PartBuilder &b, Operation *op) {
  auto dot = cast<DotGeneralOp>(op);
  Parts x = operandParts(b, op, 0), y = operandParts(b, op, 1);
  RankedTensorType result = dot.getType();
  auto part = result.clone(partElement(result.getElementType()));
  auto of = [&](Value lhs, Value rhs) -> Value {
    return DotGeneralOp::create(b.b, b.loc, part, lhs, rhs, dot.getLhsContracting(), dot.getRhsContracting(),
                                dot.getLhsBatch(), dot.getRhsBatch());
  };
  return one(b.join({b.sub(of(x.re, y.re), of(x.im, y.im)), b.add(of(x.re, y.im), of(x.im, y.re))}));
}

/// The same for any op of two complex operands and one result that is linear in each.
SmallVector<Value> bilinear(PartBuilder &b, Operation *op) {
  Parts x = operandParts(b, op, 0), y = operandParts(b, op, 1);
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  auto part = result.clone(partElement(result.getElementType()));
  auto of = [&](Value lhs, Value rhs) -> Value {
    OperationState state(b.loc, op->getName());
    state.addOperands({lhs, rhs});
    state.addTypes(part);
    state.addAttributes(op->getAttrs());
    return b.b.create(state)->getResult(0);
  };
  return one(b.join({b.sub(of(x.re, y.re), of(x.im, y.im)), b.add(of(x.re, y.im), of(x.im, y.re))}));
}

/// A complex key is two keys: the real part, then the imaginary one.
SmallVector<Value> sort(PartBuilder &b, Operation *op) {
  auto sort = cast<SortOp>(op);
  SmallVector<Value> inputs;
  SmallVector<bool> isSplit;
  uint64_t keys = 0;
  for (auto [index, input] : llvm::enumerate(sort.getInputs())) {
    bool isKey = index < sort.getNumKeys();
    isSplit.push_back(isKey && isComplex(input));
    if (isSplit.back()) {
      Parts z = b.split(input);
      inputs.append({z.re, z.im});
    } else {
      inputs.push_back(input);
    }
    keys += isKey ? 1 + isSplit.back() : 0;
  }
  SmallVector<Type> types(ValueRange(inputs).getTypes());
  auto sorted = SortOp::create(b.b, b.loc, types, inputs, sort.getDimension(), keys, sort.getIsStable());
  SmallVector<Value> results;
  unsigned next = 0;
  for (bool split : isSplit) {
    if (split)
      results.push_back(b.join({sorted.getResult(next), sorted.getResult(next + 1)}));
    else
      results.push_back(sorted.getResult(next));
    next += 1 + split;
  }
  return results;
}

/// The sizes of these dimensions that are not constants.
SmallVector<Value> dynamicSizes(PartBuilder &b, Value tensor, ArrayRef<int64_t> dims) {
  SmallVector<Value> sizes;
  for (int64_t dim : dims)
    if (cast<RankedTensorType>(tensor.getType()).isDynamicDim(dim))
      sizes.push_back(tensor::DimOp::create(b.b, b.loc, tensor, dim));
  return sizes;
}

/// The product along dimensions whose sizes are not all constant: one row after the other.
SmallVector<Value> scannedProduct(PartBuilder &b, ReduceProdOp reduce) {
  Parts whole = operandParts(b, reduce, 0);
  auto type = cast<RankedTensorType>(whole.re.getType());
  SmallVector<int64_t> axes(reduce.getAxes()), kept, shape{1};
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!llvm::is_contained(axes, dim))
      kept.push_back(dim);
  Value count; // number of rows, if it is not a constant
  for (int64_t axis : axes) {
    bool isCounted = ShapedType::isDynamic(shape[0]) || type.isDynamicDim(axis);
    if (isCounted) {
      Value before = count ? count : arith::ConstantIndexOp::create(b.b, b.loc, shape[0]).getResult();
      Value size = b.b.createOrFold<tensor::DimOp>(b.loc, whole.re, axis);
      count = arith::MulIOp::create(b.b, b.loc, before, size);
    }
    shape[0] = isCounted ? ShapedType::kDynamic : shape[0] * type.getDimSize(axis);
  }
  SmallVector<int64_t> order(axes);
  for (int64_t dim : kept) {
    order.push_back(dim);
    shape.push_back(type.getDimSize(dim));
  }
  SmallVector<Value> lengths, sizes = dynamicSizes(b, whole.re, kept);
  if (count)
    lengths.push_back(count);
  SmallVector<Value> rowSizes(lengths);
  llvm::append_range(rowSizes, sizes);
  auto rows = [&](Value x) -> Value {
    Value moved = TransposeOp::create(b.b, b.loc, x, order);
    return ReshapeOp::create(b.b, b.loc, type.clone(shape), moved, rowSizes);
  };
  auto row = type.clone(ArrayRef(shape).drop_front());
  auto filled = [&](double value) -> Value {
    auto scalarType = RankedTensorType::get({}, type.getElementType());
    Value scalar = ConstantOp::create(
        b.b, b.loc, DenseElementsAttr::get(scalarType, b.b.getFloatAttr(type.getElementType(), value)));
    return BroadcastInDimOp::create(b.b, b.loc, row, scalar, ArrayRef<int64_t>(), sizes);
  };
  SmallVector<Value> inits{filled(1), filled(0)}, xs{rows(whole.re), rows(whole.im)};
  auto scan = ScanOp::create(b.b, b.loc, TypeRange{row, row}, inits, xs, shape[0], /*reverse=*/false, lengths,
                             /*output_dims=*/ValueRange());
  Block *body = b.b.createBlock(&scan.getBody(), {}, SmallVector<Type>(4, row), SmallVector<Location>(4, b.loc));
  Parts next = b.product({body->getArgument(0), body->getArgument(1)}, {body->getArgument(2), body->getArgument(3)});
  YieldOp::create(b.b, b.loc, ValueRange{next.re, next.im});
  b.b.setInsertionPointAfter(scan);
  return one(b.join({scan.getResult(0), scan.getResult(1)}));
}

/// The product along dimensions as a tree of products of halves.
SmallVector<Value> reducedProduct(PartBuilder &b, Operation *op) {
  auto reduce = cast<ReduceProdOp>(op);
  RankedTensorType type = reduce.getOperand().getType(), result = reduce.getType();
  if (!type.hasStaticShape())
    return scannedProduct(b, reduce);
  ArrayRef<int64_t> axes = reduce.getAxes();
  SmallVector<int64_t> order(axes);
  SmallVector<int64_t> sizes{1};
  for (int64_t axis : axes)
    sizes[0] *= type.getDimSize(axis);
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (llvm::is_contained(axes, dim))
      continue;
    order.push_back(dim);
    sizes.push_back(type.getDimSize(dim));
  }
  Type part = partElement(type.getElementType());
  auto toFront = [&](Value x) -> Value {
    Value moved = TransposeOp::create(b.b, b.loc, x, order);
    return ReshapeOp::create(b.b, b.loc, RankedTensorType::get(sizes, part), moved, ValueRange());
  };
  auto rows = [&](Parts z, int64_t from, int64_t to) -> Parts {
    SmallVector<int64_t> start(sizes.size(), 0), limit(sizes), stride(sizes.size(), 1);
    start[0] = from;
    limit[0] = to;
    return {SliceOp::create(b.b, b.loc, z.re, start, limit, stride, ValueRange()),
            SliceOp::create(b.b, b.loc, z.im, start, limit, stride, ValueRange())};
  };
  Parts whole = operandParts(b, op, 0);
  Parts z{toFront(whole.re), toFront(whole.im)};
  std::optional<Parts> odd;
  while (sizes[0] > 1) {
    int64_t half = sizes[0] / 2;
    if (sizes[0] % 2) {
      Parts last = rows(z, sizes[0] - 1, sizes[0]);
      odd = odd ? b.product(*odd, last) : last;
    }
    z = b.product(rows(z, 0, half), rows(z, half, 2 * half));
    sizes[0] = half;
  }
  if (odd)
    z = b.product(z, *odd);
  auto shaped = [&](Value x) -> Value { return ReshapeOp::create(b.b, b.loc, result.clone(part), x, ValueRange()); };
  if (sizes[0] == 0) {
    Value like = ConstantOp::create(b.b, b.loc, DenseElementsAttr::get(result.clone(part), b.b.getFloatAttr(part, 1)));
    return one(b.join({like, b.number(like, 0)}));
  }
  return one(b.join({shaped(z.re), shaped(z.im)}));
}

/// The extremum of the real parts, and of the imaginary parts among equal ones; nan if there is one.
template <typename Reduce, int sign> SmallVector<Value> reducedExtremum(PartBuilder &b, Operation *op) {
  auto reduce = cast<Reduce>(op);
  ArrayRef<int64_t> axes = reduce.getAxes();
  Parts z = operandParts(b, op, 0);
  auto type = cast<RankedTensorType>(z.re.getType());
  SmallVector<int64_t> kept;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!llvm::is_contained(axes, dim))
      kept.push_back(dim);
  Value re = Reduce::create(b.b, b.loc, z.re, axes);
  SmallVector<Value> sizes = dynamicSizes(b, z.re, llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())));
  Value beside = BroadcastInDimOp::create(b.b, b.loc, type, re, kept, sizes);
  double beyond = -sign * std::numeric_limits<double>::infinity();
  Value im = Reduce::create(b.b, b.loc, b.select(b.equal(z.re, beside), z.im, b.number(z.im, beyond)), axes);
  Value anyNan = ReduceOrOp::create(b.b, b.loc, b.either(b.isNan(z.re), b.isNan(z.im)), axes);
  Value nan = b.number(re, std::numeric_limits<double>::quiet_NaN());
  return one(b.join(b.select(anyNan, Parts{nan, nan}, Parts{re, im})));
}

/// The expansion of an op. Ops that are in no table only move elements, and do not change.
struct Row {
  StringRef op;
  Expansion expansion;
};

const Row rows[] = {
    {RealOp::getOperationName(), realPart},
    {ImagOp::getOperationName(), imaginaryPart},
    {AddOp::getOperationName(), onParts},
    {SubOp::getOperationName(), onParts},
    {NegOp::getOperationName(), onParts},
    {SelectOp::getOperationName(), selected},
    {ReduceSumOp::getOperationName(), onParts},
    {ScatterOp::getOperationName(), onParts},
    {ReduceProdOp::getOperationName(), reducedProduct},
    {ReduceMaxOp::getOperationName(), reducedExtremum<ReduceMaxOp, 1>},
    {ReduceMinOp::getOperationName(), reducedExtremum<ReduceMinOp, -1>},
    {MulOp::getOperationName(), product},
    {DivOp::getOperationName(), quotient},
    {PowOp::getOperationName(), power},
    {AbsOp::getOperationName(), magnitude},
    {SignOp::getOperationName(), sign},
    {EqOp::getOperationName(), equal},
    {NeOp::getOperationName(), notEqual},
    {MaxOp::getOperationName(), extremum<GtOp>},
    {MinOp::getOperationName(), extremum<LtOp>},
    {ConvertOp::getOperationName(), convert},
    {DotGeneralOp::getOperationName(), contraction},
    {SortOp::getOperationName(), sort},
    {ReduceWindowSumOp::getOperationName(), onParts},
    {ConvGeneralDilatedOp::getOperationName(), bilinear},
};

struct ExpandComplex : impl::ExpandComplexBase<ExpandComplex> {
  LogicalResult initialize(MLIRContext *) override {
    for (const Row &row : rows)
      expansions[row.op] = row.expansion;
    for (const PartRow &row : complexFunctions())
      functions[row.op] = row;
    return success();
  }

  void runOnOperation() override {
    SmallVector<Operation *> found;
    getOperation()->walk([&](Operation *op) {
      bool isOnComplex = llvm::any_of(op->getOperands(), isComplex) || llvm::any_of(op->getResults(), isComplex);
      if (isOnComplex && isa_and_present<ArrayDialect>(op->getDialect()))
        found.push_back(op);
    });
    if (found.empty())
      return;
    OpBuilder builder(&getContext());
    PartBuilder::Known known;
    SmallVector<Operation *> expanded;
    for (Operation *op : found)
      if (expand(op, builder, known))
        expanded.push_back(op);
    // Erase only now: the addresses of the values in `known` must not be reused earlier.
    for (Operation *op : llvm::reverse(expanded))
      op->erase();
    // Ops that were read only through their parts have no uses now. Other passes erase ops that contain expanded ones.
    llvm::SmallPtrSet<Operation *, 16> erased(llvm::from_range, expanded);
    for (Operation *op : llvm::reverse(found))
      if (!erased.contains(op) && op->getNumRegions() == 0 && isOpTriviallyDead(op))
        op->erase();
    SmallVector<Operation *> joins;
    getOperation()->walk([&](Operation *op) {
      if (isa<ComplexOp, RealOp, ImagOp>(op))
        joins.push_back(op);
    });
    for (Operation *op : llvm::reverse(joins))
      if (isOpTriviallyDead(op))
        op->erase();
  }

  /// Whether the op was expanded; it then has no uses.
  bool expand(Operation *op, OpBuilder &builder, PartBuilder::Known &known) {
    StringRef name = op->getName().getStringRef();
    auto expansion = expansions.find(name);
    auto function = functions.find(name);
    if (expansion == expansions.end() && function == functions.end())
      return false; // it moves elements
    if (auto scatter = dyn_cast<ScatterOp>(op); scatter && scatter.getKind() != "add")
      return false; // `set` only moves elements, and the others need both parts of an element at once
    builder.setInsertionPoint(op);
    PartBuilder b(builder, op->getLoc(), known);
    SmallVector<Value> values;
    if (expansion != expansions.end()) {
      values = expansion->second(b, op);
    } else {
      Parts parts = function->second.function(b, b.split(op->getOperand(0)));
      values.push_back(function->second.isWhole ? b.joinWhole(parts) : b.join(parts));
    }
    if (values.empty()) // it moves elements
      return false;
    op->replaceAllUsesWith(values);
    return true;
  }

  llvm::StringMap<Expansion> expansions;
  llvm::StringMap<PartRow> functions;
};

} // namespace
} // namespace mlir::array
