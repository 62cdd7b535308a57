// Storage types and the small builders that every family of the lowering uses.
#include "IndexMath.h"

using namespace mlir;
using namespace mlir::array;

bool array::isSmall(Type element) {
  return element.isIntOrFloat() && !element.isSignlessInteger(1) &&
         (element.getIntOrFloatBitWidth() < 8 || (isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8));
}

Type array::bodyType(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return IntegerType::get(element.getContext(), 2 * complex.getElementType().getIntOrFloatBitWidth());
  if (isSmall(element))
    return IntegerType::get(element.getContext(), 8);
  if (auto integer = dyn_cast<IntegerType>(element); integer && !integer.isSignless())
    return IntegerType::get(element.getContext(), integer.getWidth());
  return element;
}

Type array::storageType(Type element) {
  // A memref<?xi1> is addressed by bytes but a vector<16xi1> in memory is packed: bytes avoid the difference.
  if (element.isSignlessInteger(1))
    return IntegerType::get(element.getContext(), 8);
  return bodyType(element);
}

RankedTensorType array::storageType(RankedTensorType type) { return type.clone(storageType(type.getElementType())); }

bool array::isUnsigned(Type element) { return element.isUnsignedInteger() || element.isSignlessInteger(1); }

bool array::isHalf(Type element) { return isa<Float16Type, BFloat16Type>(element); }

Type array::accumulatorType(Type element) {
  return isHalf(element) ? Type(Float32Type::get(element.getContext())) : bodyType(element);
}

StorageTypeConverter::StorageTypeConverter() {
  addConversion([](Type type) { return type; });
  addConversion([](RankedTensorType type) { return storageType(type); });
  addConversion([](TokenType, SmallVectorImpl<Type> &) { return success(); });
}

Value array::fromStorage(ImplicitLocOpBuilder &b, Value stored, Type element) {
  return element.isSignlessInteger(1) ? arith::TruncIOp::create(b, b.getI1Type(), stored).getResult() : stored;
}

Value array::toStorage(ImplicitLocOpBuilder &b, Value computed, Type element) {
  return element.isSignlessInteger(1) ? arith::ExtUIOp::create(b, b.getI8Type(), computed).getResult() : computed;
}

Value array::constant(ImplicitLocOpBuilder &b, Type type, double value) {
  return arith::ConstantOp::create(b, b.getFloatAttr(type, value));
}

Value array::intConstant(ImplicitLocOpBuilder &b, Type type, int64_t value) {
  return arith::ConstantOp::create(b,
                                   b.getIntegerAttr(type, APInt(type.getIntOrFloatBitWidth(), value, /*isSigned=*/true,
                                                                /*implicitTrunc=*/true)));
}

arith::FastMathFlagsAttr array::contractFlags(OpBuilder &b) {
  return arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::contract);
}

arith::FastMathFlagsAttr array::reductionFlags(OpBuilder &b) {
  return arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::contract | arith::FastMathFlags::reassoc);
}

SmallVector<OpFoldResult> array::sizesLike(OpBuilder &b, Location loc, RankedTensorType result, Value like) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim = 0; dim < result.getRank(); ++dim)
    sizes.push_back(result.isDynamicDim(dim) ? tensor::getMixedSize(b, loc, like, dim)
                                             : OpFoldResult(b.getIndexAttr(result.getDimSize(dim))));
  return sizes;
}

SmallVector<OpFoldResult> array::sizesFrom(OpBuilder &b, RankedTensorType result, ValueRange dynamicSizes) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t size : result.getShape()) {
    if (!ShapedType::isDynamic(size)) {
      sizes.push_back(b.getIndexAttr(size));
      continue;
    }
    sizes.push_back(dynamicSizes.front());
    dynamicSizes = dynamicSizes.drop_front();
  }
  return sizes;
}

SmallVector<OpFoldResult> array::knownSizes(OpBuilder &b, RankedTensorType result, ArrayRef<OpFoldResult> computed) {
  SmallVector<OpFoldResult> sizes(computed);
  for (auto [size, known] : llvm::zip_equal(sizes, result.getShape()))
    if (!ShapedType::isDynamic(known))
      size = b.getIndexAttr(known);
  return sizes;
}

AffineMap array::leadingLoops(OpBuilder &b, int64_t loops, int64_t count) {
  return AffineMap::get(loops, 0, b.getMultiDimIdentityMap(loops).getResults().take_front(count), b.getContext());
}

void array::replaceTyped(ConversionPatternRewriter &rewriter, Operation *op, ValueRange values) {
  SmallVector<Value> typed;
  for (auto [value, result] : llvm::zip_equal(values, op->getResults())) {
    RankedTensorType type = storageType(cast<RankedTensorType>(result.getType()));
    typed.push_back(value.getType() == type ? value : tensor::CastOp::create(rewriter, op->getLoc(), type, value));
  }
  rewriter.replaceOp(op, typed);
}

void array::replaceByRoutine(ConversionPatternRewriter &rewriter, Operation *op, StringRef routine,
                             ArrayRef<int64_t> params, ValueRange operands, ArrayRef<SmallVector<OpFoldResult>> sizes,
                             ValueRange ofParams) {
  SmallVector<Value> inits; // destination style: each result is written over an empty tensor
  for (auto [type, resultSizes] : llvm::zip_equal(op->getResultTypes(), sizes))
    inits.push_back(
        tensor::EmptyOp::create(rewriter, op->getLoc(), resultSizes, storageType(getElementTypeOrSelf(type))));
  SmallVector<Attribute> elements;
  for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (isa<RankedTensorType>(type))
        elements.push_back(TypeAttr::get(getElementTypeOrSelf(type)));
  auto call = RuntimeCallOp::create(rewriter, op->getLoc(), ValueRange(inits).getTypes(), routine, params,
                                    rewriter.getArrayAttr(elements), operands, inits, ofParams);
  replaceTyped(rewriter, op, call.getResults());
}

Value array::parallelGeneric(OpBuilder &b, Location loc, Type stored, ArrayRef<OpFoldResult> sizes, ValueRange inputs,
                             ArrayRef<AffineMap> inputMaps, ScalarBody body) {
  Value init = tensor::EmptyOp::create(b, loc, sizes, stored);
  SmallVector<AffineMap> maps(inputMaps);
  maps.push_back(b.getMultiDimIdentityMap(sizes.size()));
  SmallVector<utils::IteratorType> iterators(sizes.size(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(b, loc, init.getType(), inputs, init, maps, iterators,
                                           [&](OpBuilder &nested, Location nestedLoc, ValueRange elements) {
                                             ImplicitLocOpBuilder inner(nestedLoc, nested);
                                             linalg::YieldOp::create(inner, body(inner, elements));
                                           });
  return generic.getResult(0);
}

Value array::filled(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> sizes, Value scalar) {
  Value empty = tensor::EmptyOp::create(b, loc, sizes, scalar.getType());
  return linalg::FillOp::create(b, loc, scalar, empty).getResult(0);
}
