// Helpers of rules for sizes that are not known: the notes of the reader, and sizes as values. See Rules.h.
#include "Rules.h"
#include "Sizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::array::stablehlo {

/// The maximum number of symbols of a program (array-check-input).
static constexpr unsigned kMostSymbols = 1024;

/// The expressions of a note; none if the value is not known.
static std::optional<SmallVector<AffineExpr>> noted(Operation *op, StringRef attribute, unsigned index) {
  auto all = op->getAttrOfType<ArrayAttr>(attribute);
  auto map = all && index < all.size() ? dyn_cast<AffineMapAttr>(all[index]) : AffineMapAttr();
  return map ? std::optional(SmallVector<AffineExpr>(map.getValue().getResults())) : std::nullopt;
}

void noteResultSizes(Operation *op, ArrayRef<AffineExpr> sizes) {
  Attribute map = AffineMapAttr::get(AffineMap::get(/*dimCount=*/0, kMostSymbols, sizes, op->getContext()));
  op->setAttr(kResultSizesAttr, ArrayAttr::get(op->getContext(), SmallVector<Attribute>(op->getNumResults(), map)));
}

Extents Source::extents(unsigned result) const {
  return {resultType(result).getShape(), noted(op, kResultSizesAttr, result).value_or(SmallVector<AffineExpr>())};
}

Extents Source::operandExtents(unsigned operand) const {
  return {type(operand).getShape(), noted(op, kOperandSizesAttr, operand).value_or(SmallVector<AffineExpr>())};
}

std::optional<Extents> Source::extentsLike(RankedTensorType type) const {
  if (type.hasStaticShape())
    return std::nullopt;
  for (bool isExact : {true, false})
    for (unsigned index = 0; index < op->getNumResults(); ++index)
      if (auto result = dyn_cast<RankedTensorType>(op->getResult(index).getType());
          result && (isExact ? result == type : result.getShape() == type.getShape()))
        return extents(index);
  return std::nullopt;
}

bool Source::hasElements(unsigned operand) const { return noted(op, kElementsAttr, operand).has_value(); }

SmallVector<AffineExpr> Source::elements(unsigned operand) {
  if (auto found = noted(op, kElementsAttr, operand))
    return *found;
  error() << "the sizes in operand #" << operand << " can't be followed: expected that they follow from the sizes of "
          << "the arguments by sums, products, quotients by numbers, and comparisons that bounds decide";
  return {};
}

SmallVector<int64_t> Source::numbers(unsigned operand) {
  SmallVector<int64_t> found;
  for (AffineExpr element : elements(operand))
    if (auto number = dyn_cast<AffineConstantExpr>(element))
      found.push_back(number.getValue());
    else
      error() << "expected numbers in operand #" << operand << ", but it has sizes that each call decides";
  return found;
}

Value Source::index(AffineExpr expression) {
  if (auto number = dyn_cast<AffineConstantExpr>(expression))
    return arith::ConstantIndexOp::create(builder, loc(), number.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expression))
    return SymbolOp::create(builder, loc(), symbol.getPosition());
  auto binary = cast<AffineBinaryOpExpr>(expression);
  Value lhs = index(binary.getLHS()), rhs = index(binary.getRHS());
  switch (expression.getKind()) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(builder, loc(), lhs, rhs);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(builder, loc(), lhs, rhs);
  case AffineExprKind::FloorDiv:
    return arith::FloorDivSIOp::create(builder, loc(), lhs, rhs);
  default: { // a remainder of sizes
    Value quotient = arith::FloorDivSIOp::create(builder, loc(), lhs, rhs);
    return arith::SubIOp::create(builder, loc(), lhs, arith::MulIOp::create(builder, loc(), quotient, rhs));
  }
  }
}

SmallVector<int64_t> Source::split(ArrayRef<AffineExpr> expressions, SmallVectorImpl<Value> &sizes) {
  return llvm::map_to_vector(expressions, [&](AffineExpr expression) {
    if (auto number = dyn_cast<AffineConstantExpr>(expression))
      return number.getValue();
    sizes.push_back(index(expression));
    return ShapedType::kDynamic;
  });
}

SmallVector<Value> Source::unknownSizes(const Extents &extents) {
  SmallVector<Value> found;
  for (auto [dim, size] : llvm::enumerate(extents.shape))
    if (ShapedType::isDynamic(size)) {
      AffineExpr expression = dim < extents.sizes.size() ? extents.sizes[dim] : AffineExpr();
      if (!expression) {
        error() << "a size of its result does not follow from the sizes of the arguments by " << kSizeOperations;
        return {};
      }
      found.push_back(index(expression));
    }
  return found;
}

SmallVector<AffineExpr> Source::sizesOf(const Extents &extents) {
  SmallVector<AffineExpr> found;
  for (auto [dim, size] : llvm::enumerate(extents.shape)) {
    found.push_back(!ShapedType::isDynamic(size) ? getAffineConstantExpr(size, op->getContext())
                    : dim < extents.sizes.size() ? extents.sizes[dim]
                                                 : AffineExpr());
    if (!found.back()) {
      error() << "a size of its operand does not follow from the sizes of the arguments by " << kSizeOperations;
      return {};
    }
  }
  return found;
}

Value Source::makeShaped(StringRef name, Type element, const Extents &extents, ValueRange operands,
                         ArrayRef<NamedAttribute> attributes) {
  SmallVector<Value> all(operands);
  llvm::append_range(all, unknownSizes(extents));
  return make(name, RankedTensorType::get(extents.shape, element), all, attributes);
}

} // namespace mlir::array::stablehlo
