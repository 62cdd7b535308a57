// Sizes as expressions in the symbols of a call, and as values at the start of a function (SymbolicSizes.h).
#include "array/Analysis/SymbolicSizes.h"
#include "array/IR/Array.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/CheckedArithmetic.h"
#include <numeric>

namespace mlir::array {

constexpr int64_t unbounded = std::numeric_limits<int64_t>::max();

//===--- Facts ----------------------------------------------------------------------------------------------------===//

static SizeFacts unknown() { return {-unbounded, unbounded, 1, SizeFacts().expected}; }

static SizeFacts exactly(int64_t size) { return {size, size, std::max<int64_t>(std::abs(size), 1), size}; }

/// The entry of a symbol in the attribute of its function; null if there is none.
static DictionaryAttr entryOfSymbol(func::FuncOp function, uint64_t number) {
  auto all = function ? function->getAttrOfType<ArrayAttr>(kSymbolsAttr) : ArrayAttr();
  return all && number < all.size() ? dyn_cast<DictionaryAttr>(all[number]) : DictionaryAttr();
}

std::optional<DerivedSymbol> derivedSymbol(func::FuncOp function, unsigned number) {
  DictionaryAttr entry = entryOfSymbol(function, number);
  for (StringRef name : {kMaximumEntry, kQuotientEntry})
    if (auto map = entry ? entry.getAs<AffineMapAttr>(name) : AffineMapAttr();
        map && map.getValue().getNumResults() == 2)
      return DerivedSymbol{name == kMaximumEntry, map.getValue().getResult(0), map.getValue().getResult(1)};
  return std::nullopt;
}

static SizeFacts factsOfExpression(func::FuncOp function, AffineExpr expression);

static SizeFacts factsOfDerived(func::FuncOp function, const DerivedSymbol &derived) {
  SizeFacts a = factsOfExpression(function, derived.lhs), b = factsOfExpression(function, derived.rhs);
  if (derived.isMaximum)
    return {std::max(a.min, b.min), std::max(a.max, b.max), std::gcd(a.multipleOf, b.multipleOf),
            std::max(a.expected, b.expected)};
  if (a.min < 0 || b.min < 1)
    return unknown();
  return {b.max == unbounded ? 0 : a.min / b.max, a.max == unbounded ? unbounded : a.max / b.min, 1,
          a.expected / std::max<int64_t>(b.expected, 1)};
}

static SizeFacts factsOfSymbol(func::FuncOp function, uint64_t number) {
  SizeFacts facts;
  DictionaryAttr known = entryOfSymbol(function, number);
  if (!known)
    return facts;
  if (std::optional<DerivedSymbol> derived = derivedSymbol(function, number))
    return factsOfDerived(function, *derived);
  auto read = [&](StringRef name, int64_t &value) {
    if (auto given = known.getAs<IntegerAttr>(name))
      value = given.getInt();
  };
  read("min", facts.min);
  read("max", facts.max);
  read("multiple_of", facts.multipleOf);
  facts.expected = std::min(std::max(facts.expected, facts.min), facts.max);
  read("expected", facts.expected);
  return facts;
}

/// A bound of a sum or of a product; none if a bound is missing, or if it overflows, because sizes do not.
static int64_t boundOf(std::optional<int64_t> value, bool isKnown, int64_t none) {
  return isKnown ? value.value_or(none) : none;
}

static SizeFacts sumOf(const SizeFacts &a, const SizeFacts &b) {
  return {boundOf(llvm::checkedAdd(a.min, b.min), a.min != -unbounded && b.min != -unbounded, -unbounded),
          boundOf(llvm::checkedAdd(a.max, b.max), a.max != unbounded && b.max != unbounded, unbounded),
          std::gcd(a.multipleOf, b.multipleOf), a.expected + b.expected};
}

static SizeFacts productOf(const SizeFacts &a, const SizeFacts &b) {
  SizeFacts product = unknown();
  product.multipleOf = llvm::checkedMul(a.multipleOf, b.multipleOf).value_or(1);
  product.expected = a.expected * b.expected;
  if (a.min == a.max && b.min != b.max)
    return productOf(b, a);
  bool isFactor = b.min == b.max;
  if ((isFactor && b.min >= 0) || (a.min >= 0 && b.min >= 0)) {
    product.min = boundOf(llvm::checkedMul(a.min, b.min), a.min != -unbounded, -unbounded);
    product.max = boundOf(llvm::checkedMul(a.max, b.max), a.max != unbounded && b.max != unbounded, unbounded);
  } else if (isFactor) {
    product.min = boundOf(llvm::checkedMul(a.max, b.min), a.max != unbounded, -unbounded);
    product.max = boundOf(llvm::checkedMul(a.min, b.min), a.min != -unbounded, unbounded);
  }
  return product;
}

static SizeFacts quotientOf(const SizeFacts &whole, int64_t divisor) {
  return {whole.min == -unbounded ? -unbounded : llvm::divideFloorSigned(whole.min, divisor),
          whole.max == unbounded ? unbounded : llvm::divideFloorSigned(whole.max, divisor),
          whole.multipleOf % divisor == 0 ? whole.multipleOf / divisor : 1, whole.expected / divisor};
}

SizeFacts factsOf(OpFoldResult size) {
  if (std::optional<int64_t> number = getConstantIntValue(size))
    return exactly(*number);
  auto value = dyn_cast<Value>(size);
  Operation *op = value ? value.getDefiningOp() : nullptr;
  if (auto symbol = dyn_cast_or_null<SymbolOp>(op))
    return factsOfSymbol(symbol->getParentOfType<func::FuncOp>(), symbol.getNumber());
  auto operand = [&](unsigned i) { return factsOf(OpFoldResult(op->getOperand(i))); };
  if (isa_and_nonnull<arith::AddIOp>(op))
    return sumOf(operand(0), operand(1));
  if (isa_and_nonnull<arith::SubIOp>(op))
    return sumOf(operand(0), productOf(operand(1), exactly(-1)));
  if (isa_and_nonnull<arith::MulIOp>(op))
    return productOf(operand(0), operand(1));
  if (isa_and_nonnull<arith::DivSIOp>(op))
    if (std::optional<int64_t> divisor = getConstantIntValue(op->getOperand(1)); divisor && *divisor > 0)
      return quotientOf(operand(0), *divisor);
  return unknown();
}

static SizeFacts factsOfExpression(func::FuncOp function, AffineExpr expression) {
  auto factsOf = [&](AffineExpr part) { return factsOfExpression(function, part); };
  if (auto number = dyn_cast<AffineConstantExpr>(expression))
    return exactly(number.getValue());
  if (auto symbolExpr = dyn_cast<AffineSymbolExpr>(expression))
    return factsOfSymbol(function, symbolExpr.getPosition());
  auto binary = cast<AffineBinaryOpExpr>(expression);
  SizeFacts lhs = factsOf(binary.getLHS());
  auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  switch (expression.getKind()) {
  case AffineExprKind::Add:
    return sumOf(lhs, factsOf(binary.getRHS()));
  case AffineExprKind::Mul:
    return productOf(lhs, factsOf(binary.getRHS()));
  case AffineExprKind::FloorDiv:
    return divisor && divisor.getValue() > 0 ? quotientOf(lhs, divisor.getValue()) : unknown();
  case AffineExprKind::Mod: // never negative
    return divisor && divisor.getValue() > 0 ? SizeFacts{0, divisor.getValue() - 1, 1, divisor.getValue() / 2}
                                             : unknown();
  default:
    return unknown();
  }
}

SizeFacts SymbolicSizes::factsOf(AffineExpr expression) { return factsOfExpression(function, expression); }

std::optional<int64_t> expectedSize(OpFoldResult size) {
  if (std::optional<int64_t> number = getConstantIntValue(size))
    return number;
  auto value = dyn_cast_or_null<Value>(size);
  Operation *op = value ? value.getDefiningOp() : nullptr;
  bool isArithmetic = isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivSIOp, arith::DivUIOp,
                                      arith::RemSIOp, arith::CeilDivSIOp, arith::MaxSIOp, arith::MinSIOp>(op);
  bool isKnown = isa_and_nonnull<SymbolOp>(op) ||
                 (isArithmetic && llvm::all_of(op->getOperands(), [](Value v) { return expectedSize(v).has_value(); }));
  return isKnown ? std::optional(factsOf(size).expected) : std::nullopt;
}

//===--- Expressions ----------------------------------------------------------------------------------------------===//

unsigned countSymbols(func::FuncOp function) {
  unsigned count = 0;
  auto take = [&](Attribute dims) {
    if (auto map = dyn_cast_or_null<AffineMapAttr>(dims))
      count = std::max(count, map.getValue().getNumSymbols());
  };
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    take(function.getArgAttr(i, kDimsAttr));
  function.walk([&](SymbolOp symbol) { count = std::max<unsigned>(count, symbol.getNumber() + 1); });
  if (auto all = function->getAttrOfType<ArrayAttr>(kSymbolsAttr))
    count = std::max<unsigned>(count, all.size());
  return count;
}

unsigned countGivenSymbols(func::FuncOp function) {
  unsigned count = countSymbols(function);
  while (count > 0 && derivedSymbol(function, count - 1))
    --count;
  return count;
}

void declareSymbols(func::FuncOp function) {
  SmallVector<Attribute> all;
  if (auto declared = function->getAttrOfType<ArrayAttr>(kSymbolsAttr))
    all.assign(declared.begin(), declared.end());
  if (all.size() == countSymbols(function))
    return;
  Builder b(function.getContext());
  all.resize(countSymbols(function), b.getDictionaryAttr({}));
  function->setAttr(kSymbolsAttr, b.getArrayAttr(all));
}

SymbolicSizes::SymbolicSizes(func::FuncOp function) : function(function), context(function.getContext()) {
  // An earlier instance placed its operations first in the block, except for operations that passes put before
  // everything.
  for (Operation &op : function.front()) {
    bool isIndex = op.getNumResults() == 1 && op.getResult(0).getType().isIndex();
    if (auto number = dyn_cast<SymbolOp>(op))
      symbols.try_emplace(number.getNumber(), number);
    else if (!isa<arith::ArithDialect>(op.getDialect()) &&
             !isa<memref::AllocaOp, bufferization::ToTensorOp, LLVM::AllocaOp, LLVM::ConstantOp>(op))
      break;
    last = &op;
    if (isIndex)
      if (AffineExpr expression = find(op.getResult(0)))
        values.try_emplace(expression, op.getResult(0));
  }
}

Value SymbolicSizes::symbol(unsigned number) {
  Operation *&op = symbols[number];
  if (!op) {
    OpBuilder b = OpBuilder::atBlockBegin(&function.front());
    op = SymbolOp::create(b, function.getLoc(), number);
    if (!last)
      last = op;
    // The op is first, so all later operations may use it.
  }
  return op->getResult(0);
}

/// Adds up equal terms, as in `n + (n - 1) - n`.
static AffineExpr simplified(AffineExpr expression) {
  unsigned symbols = 0;
  expression.walk([&](AffineExpr part) {
    if (auto symbolExpr = dyn_cast<AffineSymbolExpr>(part))
      symbols = std::max(symbols, symbolExpr.getPosition() + 1);
  });
  return simplifyAffineExpr(expression, /*numDims=*/0, symbols);
}

AffineExpr SymbolicSizes::find(Value index) {
  if (auto known = expressions.find(index); known != expressions.end())
    return known->second;
  auto findOperand = [&](unsigned i) { return find(index.getDefiningOp()->getOperand(i)); };
  AffineExpr found;
  Operation *op = index.getDefiningOp();
  if (std::optional<int64_t> number = getConstantIntValue(index))
    found = getAffineConstantExpr(*number, context);
  else if (auto symbolOp = dyn_cast_or_null<SymbolOp>(op))
    found = getAffineSymbolExpr(symbolOp.getNumber(), context);
  else if (isa_and_nonnull<tensor::DimOp, memref::DimOp>(op)) {
    auto shaped = cast<ShapedType>(op->getOperand(0).getType());
    std::optional<int64_t> dim = getConstantIntValue(op->getOperand(1));
    if (dim && shaped.hasRank() && *dim >= 0 && *dim < shaped.getRank())
      found = expressionOf(sizeOf(op->getOperand(0), *dim));
  } else if (op && op->getNumOperands() == 2 && index.getType().isIndex()) {
    AffineExpr lhs = findOperand(0), rhs = lhs ? findOperand(1) : AffineExpr();
    auto divisor = dyn_cast_or_null<AffineConstantExpr>(rhs);
    bool mayDivide = divisor && divisor.getValue() > 0;
    if (!rhs)
      found = {};
    else if (isa<arith::MaxSIOp, arith::MinSIOp>(op)) {
      found = maximum(lhs, rhs);
      if (found && isa<arith::MinSIOp>(op))
        found = lhs + rhs - found;
    } else if (isa<arith::AddIOp>(op))
      found = lhs + rhs;
    else if (isa<arith::SubIOp>(op))
      found = lhs - rhs;
    else if (isa<arith::MulIOp>(op))
      found = lhs * rhs;
    else if (isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>(op) && mayDivide) // sizes are not negative
      found = lhs.floorDiv(divisor.getValue());
    else if (isa<arith::CeilDivSIOp, arith::CeilDivUIOp>(op) && mayDivide)
      found = (lhs + (divisor.getValue() - 1)).floorDiv(divisor.getValue());
    else if (isa<arith::RemSIOp, arith::RemUIOp>(op) && mayDivide)
      found = lhs - lhs.floorDiv(divisor.getValue()) * divisor.getValue();
    else if (isa<arith::DivSIOp, arith::DivUIOp>(op)) {
      // Factors of an earlier multiplication.
      if (auto product = dyn_cast<AffineBinaryOpExpr>(lhs); product && product.getKind() == AffineExprKind::Mul)
        found = product.getRHS() == rhs ? product.getLHS() : product.getLHS() == rhs ? product.getRHS() : AffineExpr();
      if (lhs == rhs)
        found = getAffineConstantExpr(1, context);
      if (!found)
        found = quotient(lhs, rhs);
    } else if (isa<arith::RemSIOp, arith::RemUIOp>(op)) {
      if (AffineExpr whole = quotient(lhs, rhs))
        found = lhs - whole * rhs;
    }
  }
  return expressions[index] = found ? simplified(found) : found;
}

/// A symbol of @main that follows from others. Other functions take their sizes from their callers.
AffineExpr SymbolicSizes::derive(bool isMaximum, AffineExpr lhs, AffineExpr rhs) {
  if (function.getSymName() != "main")
    return {};
  unsigned count = countSymbols(function);
  for (unsigned number = countGivenSymbols(function); number < count; ++number)
    if (std::optional<DerivedSymbol> known = derivedSymbol(function, number);
        known && known->isMaximum == isMaximum && simplified(known->lhs) == lhs && simplified(known->rhs) == rhs)
      return getAffineSymbolExpr(number, context);
  declareSymbols(function);
  Builder b(context);
  auto all = function->getAttrOfType<ArrayAttr>(kSymbolsAttr);
  SmallVector<Attribute> entries(all.begin(), all.end());
  auto both = AffineMapAttr::get(AffineMap::get(/*dimCount=*/0, count, {lhs, rhs}, context));
  entries.push_back(b.getDictionaryAttr(b.getNamedAttr(isMaximum ? kMaximumEntry : kQuotientEntry, both)));
  function->setAttr(kSymbolsAttr, b.getArrayAttr(entries));
  return getAffineSymbolExpr(count, context);
}

/// In terms of the maximum of the difference and 0, of one sign, as the programs write it.
AffineExpr SymbolicSizes::maximum(AffineExpr lhs, AffineExpr rhs) {
  AffineExpr zero = getAffineConstantExpr(0, context), difference = simplified(lhs - rhs),
             opposite = simplified(rhs - lhs);
  SizeFacts facts = factsOf(difference);
  if (facts.min >= 0)
    return lhs;
  if (facts.max <= 0)
    return rhs;
  for (unsigned number = countGivenSymbols(function); number < countSymbols(function); ++number)
    if (std::optional<DerivedSymbol> known = derivedSymbol(function, number);
        known && known->isMaximum && known->rhs == zero && simplified(known->lhs) == opposite)
      return lhs + getAffineSymbolExpr(number, context);
  AffineExpr positive = derive(/*isMaximum=*/true, difference, zero);
  return positive ? rhs + positive : AffineExpr();
}

AffineExpr SymbolicSizes::quotient(AffineExpr lhs, AffineExpr rhs) {
  bool isSize = factsOf(lhs).min >= 0 && factsOf(rhs).min >= 1;
  return isSize ? derive(/*isMaximum=*/false, lhs, rhs) : AffineExpr();
}

AffineExpr SymbolicSizes::expressionOf(OpFoldResult size) {
  if (!size)
    return {};
  if (std::optional<int64_t> number = getConstantIntValue(size))
    return getAffineConstantExpr(*number, context);
  return find(cast<Value>(size));
}

OpFoldResult SymbolicSizes::valueOf(AffineExpr expression) {
  if (auto number = dyn_cast<AffineConstantExpr>(expression))
    return Builder(context).getIndexAttr(number.getValue());
  if (Value known = values.lookup(expression))
    return known;
  Value made;
  if (auto symbolExpr = dyn_cast<AffineSymbolExpr>(expression)) {
    made = symbol(symbolExpr.getPosition());
  } else {
    auto binary = cast<AffineBinaryOpExpr>(expression);
    Location loc = function.getLoc();
    auto operand = [&](AffineExpr part) {
      OpFoldResult value = valueOf(part);
      if (auto number = dyn_cast<Attribute>(value)) {
        OpBuilder b = OpBuilder::atBlockBegin(&function.front());
        auto constant = arith::ConstantOp::create(b, loc, cast<IntegerAttr>(number));
        if (!last)
          last = constant;
        return constant.getResult();
      }
      return cast<Value>(value);
    };
    Value lhs = operand(binary.getLHS()), rhs = operand(binary.getRHS());
    OpBuilder b(context);
    b.setInsertionPointAfter(last);
    switch (expression.getKind()) {
    case AffineExprKind::Add:
      made = arith::AddIOp::create(b, loc, lhs, rhs);
      break;
    case AffineExprKind::Mul:
      made = arith::MulIOp::create(b, loc, lhs, rhs);
      break;
    case AffineExprKind::FloorDiv:
      if (factsOf(binary.getLHS()).min >= 0)
        made = arith::DivSIOp::create(b, loc, lhs, rhs);
      else
        made = arith::FloorDivSIOp::create(b, loc, lhs, rhs);
      break;
    case AffineExprKind::CeilDiv:
      made = arith::CeilDivSIOp::create(b, loc, lhs, rhs);
      break;
    case AffineExprKind::Mod:
      made = arith::RemSIOp::create(b, loc, lhs, rhs);
      break;
    default:
      llvm_unreachable("an expression of a size that is no operation");
    }
    last = made.getDefiningOp();
  }
  values.try_emplace(expression, made);
  expressions.try_emplace(made, expression);
  return made;
}

//===--- Tensors and buffers --------------------------------------------------------------------------------------===//

/// An argument of the function itself: from its attributes.
AffineExpr SymbolicSizes::findInEntry(BlockArgument argument, unsigned dim) {
  auto dims = function.getArgAttrOfType<AffineMapAttr>(argument.getArgNumber(), kDimsAttr);
  return dims && dim < dims.getValue().getNumResults() ? dims.getValue().getResult(dim) : AffineExpr();
}

OpFoldResult SymbolicSizes::sizeOf(Value shaped, unsigned dim) {
  auto type = cast<ShapedType>(shaped.getType());
  if (!type.isDynamicDim(dim))
    return Builder(context).getIndexAttr(type.getDimSize(dim));
  auto canonical = [&](OpFoldResult size) -> OpFoldResult {
    AffineExpr expression = expressionOf(size);
    return expression ? valueOf(expression) : OpFoldResult();
  };
  if (auto argument = dyn_cast<BlockArgument>(shaped)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (parent == function) {
      AffineExpr expression = findInEntry(argument, dim);
      return expression ? valueOf(expression) : OpFoldResult();
    }
    // Values that a loop carries keep their sizes.
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      return sizeOf(loop.getTiedLoopInit(argument)->get(), dim);
    if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
      if (argument.getOwner() == loop.getBeforeBody())
        return sizeOf(loop.getInits()[argument.getArgNumber()], dim);
      return sizeOf(loop.getConditionOp().getArgs()[argument.getArgNumber()], dim);
    }
    return {};
  }
  Operation *op = shaped.getDefiningOp();
  unsigned number = cast<OpResult>(shaped).getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return sizeOf(loop.getInitArgs()[number], dim);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return sizeOf(loop.getConditionOp().getArgs()[number], dim);
  if (auto choice = dyn_cast<scf::IfOp>(op)) {
    OpFoldResult size = sizeOf(choice.thenYield().getOperand(number), dim);
    return size ? size : sizeOf(choice.elseYield().getOperand(number), dim);
  }
  if (auto choice = dyn_cast<scf::IndexSwitchOp>(op)) {
    auto yieldOf = [&](Block &block) { return block.getTerminator()->getOperand(number); };
    return sizeOf(yieldOf(choice.getDefaultBlock()), dim);
  }
  if (auto region = dyn_cast<scf::ExecuteRegionOp>(op))
    return sizeOf(region.getRegion().front().getTerminator()->getOperand(number), dim);
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(op); destination && isa<RankedTensorType>(type))
    return sizeOf(destination.getTiedOpOperand(cast<OpResult>(shaped))->get(), dim);
  if (isa<tensor::CastOp, memref::CastOp, bufferization::ToTensorOp, bufferization::ToBufferOp, OptimizationBarrierOp>(
          op))
    return sizeOf(op->getOperand(op->getNumOperands() == 1 ? 0 : number), dim);
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return canonical(empty.getDynamicSize(dim));
  if (isa<memref::AllocOp, memref::AllocaOp, bufferization::AllocTensorOp>(op)) {
    unsigned position = type.getDynamicDimIndex(dim);
    ValueRange sizes = isa<memref::AllocOp>(op)    ? cast<memref::AllocOp>(op).getDynamicSizes()
                       : isa<memref::AllocaOp>(op) ? cast<memref::AllocaOp>(op).getDynamicSizes()
                                                   : cast<bufferization::AllocTensorOp>(op).getDynamicSizes();
    if (auto alloc = dyn_cast<bufferization::AllocTensorOp>(op); alloc && alloc.getCopy())
      return sizeOf(alloc.getCopy(), dim);
    return canonical(sizes[position]);
  }
  if (auto view = dyn_cast<memref::ViewOp>(op))
    return canonical(view.getSizes()[type.getDynamicDimIndex(dim)]);
  if (auto slice = dyn_cast<OffsetSizeAndStrideOpInterface>(op);
      slice && isa<tensor::ExtractSliceOp, memref::SubViewOp, memref::ReinterpretCastOp>(op)) {
    llvm::SmallBitVector dropped(slice.getMixedSizes().size());
    if (auto extract = dyn_cast<tensor::ExtractSliceOp>(op))
      dropped = extract.getDroppedDims();
    else if (auto view = dyn_cast<memref::SubViewOp>(op))
      dropped = view.getDroppedDims();
    unsigned kept = 0;
    for (auto [i, size] : llvm::enumerate(slice.getMixedSizes()))
      if (!dropped.test(i) && kept++ == dim)
        return canonical(size);
    return {};
  }
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return canonical(expand.getMixedOutputShape()[dim]);
  if (auto expand = dyn_cast<memref::ExpandShapeOp>(op))
    return canonical(expand.getMixedOutputShape()[dim]);
  auto collapsed = [&](ArrayRef<ReassociationIndices> groups) -> OpFoldResult {
    AffineExpr product = getAffineConstantExpr(1, context);
    for (int64_t source : groups[dim]) {
      AffineExpr factor = expressionOf(sizeOf(op->getOperand(0), source));
      if (!factor)
        return {};
      product = product * factor;
    }
    return valueOf(product);
  };
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return collapsed(collapse.getReassociationIndices());
  if (auto collapse = dyn_cast<memref::CollapseShapeOp>(op))
    return collapsed(collapse.getReassociationIndices());
  if (auto transpose = dyn_cast<memref::TransposeOp>(op))
    return sizeOf(transpose.getIn(), transpose.getPermutation().getDimPosition(dim));
  if (isa<tensor::InsertSliceOp>(op))
    return sizeOf(cast<tensor::InsertSliceOp>(op).getDest(), dim);
  if (isa<tensor::InsertOp>(op))
    return sizeOf(cast<tensor::InsertOp>(op).getDest(), dim);
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return sizeOf(select.getTrueValue(), dim);
  return {};
}

std::optional<SmallVector<OpFoldResult>> SymbolicSizes::sizesOf(Value shaped) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim = 0; dim < cast<ShapedType>(shaped.getType()).getRank(); ++dim) {
    sizes.push_back(sizeOf(shaped, dim));
    if (!sizes.back())
      return std::nullopt;
  }
  return sizes;
}

void SymbolicSizes::hoist() {
  SmallVector<Operation *> found;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool isIndex = op->getNumResults() == 1 && op->getResult(0).getType().isIndex();
    if (isIndex && (isa<SymbolOp, tensor::DimOp, memref::DimOp>(op) ||
                    (isa_and_nonnull<arith::ArithDialect>(op->getDialect()) && !isa<arith::ConstantOp>(op))))
      found.push_back(op);
  });
  IRRewriter rewriter(context);
  for (Operation *op : found) {
    AffineExpr expression = find(op->getResult(0));
    if (auto number = dyn_cast_or_null<AffineConstantExpr>(expression);
        number && isa<tensor::DimOp, memref::DimOp>(op)) {
      rewriter.setInsertionPoint(op);
      rewriter.replaceAllUsesWith(
          op->getResult(0), arith::ConstantIndexOp::create(rewriter, op->getLoc(), number.getValue()).getResult());
    }
    if (!expression || isa<AffineConstantExpr>(expression))
      continue; // arithmetic of constants is folded elsewhere
    OpFoldResult value = valueOf(expression);
    if (auto same = dyn_cast<Value>(value); same && same != op->getResult(0))
      rewriter.replaceAllUsesWith(op->getResult(0), same);
  }
  for (Operation *op : llvm::reverse(found))
    if (op->use_empty() && op != last && values.lookup(expressions.lookup(op->getResult(0))) != op->getResult(0)) {
      expressions.erase(op->getResult(0));
      rewriter.eraseOp(op);
    }
}

} // namespace mlir::array
