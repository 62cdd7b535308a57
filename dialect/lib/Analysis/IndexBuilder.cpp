// Sizes and strides as products, and arithmetic on indices (IterationSpace.h).
#include "AddressLayout.h"
#include "Caches.h"
#include "IterationSpace.h"
#include "ParallelLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::array::loops {

static int64_t multiplySaturated(int64_t x, int64_t y) {
  int64_t product;
  return __builtin_mul_overflow(x, y, &product) ? std::numeric_limits<int64_t>::max() : product;
}

SymbolicSize SymbolicSize::of(OpFoldResult size) {
  if (std::optional<int64_t> constant = getConstantIntValue(size))
    return *constant;
  auto value = cast<Value>(size);
  if (auto mul = value.getDefiningOp<arith::MulIOp>())
    return of(mul.getLhs()) * of(mul.getRhs());
  return SymbolicSize(1, value);
}

SymbolicSize SymbolicSize::operator*(const SymbolicSize &other) const {
  SymbolicSize product(factor * other.factor);
  if (product.factor == 0)
    return product;
  product.symbols = symbols;
  product.symbols.append(other.symbols.begin(), other.symbols.end());
  return product;
}

bool SymbolicSize::operator==(const SymbolicSize &other) const {
  return factor == other.factor && symbols.size() == other.symbols.size() &&
         std::is_permutation(symbols.begin(), symbols.end(), other.symbols.begin());
}

bool SymbolicSize::exceeds(const SymbolicSize &other) const {
  if (symbols.size() != other.symbols.size())
    return symbols.size() > other.symbols.size();
  return std::abs(factor) > std::abs(other.factor);
}

std::optional<SymbolicSize> SymbolicSize::dividedBy(const SymbolicSize &other) const {
  if (other.isZero() || factor % other.factor != 0)
    return std::nullopt;
  SymbolicSize quotient(factor / other.factor);
  quotient.symbols = symbols;
  for (Value symbol : other.symbols) {
    auto *found = llvm::find(quotient.symbols, symbol);
    if (found == quotient.symbols.end())
      return std::nullopt;
    quotient.symbols.erase(found);
  }
  return quotient;
}

bool SymbolicSize::covers(const SymbolicSize &other) const {
  SymbolicSize mine = *this, others = other;
  for (Value symbol : symbols) {
    auto *found = llvm::find(others.symbols, symbol);
    if (found == others.symbols.end())
      continue;
    others.symbols.erase(found);
    mine.symbols.erase(llvm::find(mine.symbols, symbol));
  }
  if (mine.factor < 0 || others.factor < 0)
    return false;
  int64_t least = mine.factor;
  for (Value symbol : mine.symbols)
    least = multiplySaturated(least, std::max<int64_t>(factsOf(OpFoldResult(symbol)).min, 1));
  return least >= others.facts().max;
}

SizeFacts SymbolicSize::facts() const {
  SizeFacts facts{factor, factor, std::max<int64_t>(std::abs(factor), 1), factor};
  for (Value symbol : symbols) {
    SizeFacts next = factsOf(OpFoldResult(symbol));
    facts = {multiplySaturated(facts.min, next.min), multiplySaturated(facts.max, next.max),
             multiplySaturated(facts.multipleOf, next.multipleOf), multiplySaturated(facts.expected, next.expected)};
  }
  return facts;
}

Value IndexBuilder::constant(OpBuilder &b, TypedAttr attr) {
  Value &value = constants[attr];
  if (!value) {
    OpBuilder atEntry = OpBuilder::atBlockBegin(&entry);
    value = arith::ConstantOp::create(atEntry, b.getUnknownLoc(), attr);
  }
  return value;
}

Value IndexBuilder::ramp(OpBuilder &b, Type element, int64_t lanes, int64_t step) {
  SmallVector<Attribute> values;
  for (int64_t lane = 0; lane < lanes; ++lane)
    values.push_back(b.getIntegerAttr(element, lane * step));
  return constant(b, DenseElementsAttr::get(VectorType::get({lanes}, element), values));
}

Value IndexBuilder::firstLanes(OpBuilder &b, int64_t lanes, int64_t count) {
  SmallVector<bool> values(lanes, false);
  std::fill_n(values.begin(), count, true);
  return constant(b, DenseElementsAttr::get(VectorType::get({lanes}, b.getI1Type()), values));
}

Value IndexBuilder::firstLanes(OpBuilder &b, Location loc, int64_t lanes, Value count) {
  Type element = b.getI32Type();
  Value narrow = arith::IndexCastOp::create(b, loc, element, count);
  Value bound = vector::BroadcastOp::create(b, loc, VectorType::get({lanes}, element), narrow);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, ramp(b, element, lanes, 1), bound);
}

Value IndexBuilder::scratch(OpBuilder &b, MemRefType type, unsigned number, bool shared) {
  constexpr int64_t cacheLine = 64;
  Value &buffer = buffers[{type.getAsOpaquePointer(), number, shared}];
  if (!buffer) {
    OpBuilder atEntry = OpBuilder::atBlockBegin(&entry);
    auto alloca = memref::AllocaOp::create(atEntry, b.getUnknownLoc(), type, b.getI64IntegerAttr(cacheLine));
    if (!shared)
      alloca->setAttr(kPrivateAttr, b.getUnitAttr());
    buffer = alloca;
  }
  return buffer;
}

std::pair<Value, Value> IndexBuilder::scratchApartFrom(OpBuilder &b, Location loc, Value other, int64_t elements,
                                                       Type element, unsigned number, bool shared) {
  int64_t bytes = bytesOf(element);
  Value buffer = scratch(b, MemRefType::get({elements + kPageBytes / bytes}, element), number, shared);
  auto address = [&](Value memref) { return memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memref); };
  return {buffer, elementsToHalfPage(b, loc, address(buffer), address(other), bytes)};
}

Value IndexBuilder::get(OpBuilder &b, Location loc, const SymbolicSize &extent) {
  if (extent.isStatic())
    return index(b, extent.factor);
  Value product = extent.symbols.front();
  for (Value symbol : llvm::drop_begin(extent.symbols))
    product = mul(b, loc, product, symbol);
  return extent.factor == 1 ? product : mul(b, loc, product, index(b, extent.factor));
}

Value IndexBuilder::once(OpBuilder &b, Location loc, StringRef name, ValueRange operands,
                         function_ref<Value(OpBuilder &b)> make) {
  if (llvm::any_of(operands, [&](Value operand) { return operand.getParentBlock() != &entry; }))
    return make(b);
  std::vector<const void *> key;
  for (Value operand : operands)
    key.push_back(operand.getAsOpaquePointer());
  Value &value = values[{name.str(), std::move(key)}];
  if (value)
    return value;
  // After insertions, a comparison of places numbers the whole block anew. So this builder's constants move to the
  // front instead. Others stay: a caller's builder may stand at them.
  Operation *last = nullptr, *front = nullptr;
  for (Value operand : operands) {
    Operation *op = operand.getDefiningOp();
    auto constant = dyn_cast_if_present<arith::ConstantOp>(op);
    if (constant && constants.lookup(constant.getValue()) == operand) {
      op->remove();
      entry.push_front(op);
      front = front ? front : op;
    } else if (op && (!last || last->isBeforeInBlock(op))) {
      last = op;
    }
  }
  OpBuilder early = OpBuilder::atBlockBegin(&entry);
  if (last || front)
    early.setInsertionPointAfter(last ? last : front);
  return value = make(early);
}

Value IndexBuilder::mul(OpBuilder &b, Location loc, Value lhs, Value rhs) {
  std::optional<int64_t> l = getConstantIntValue(lhs), r = getConstantIntValue(rhs);
  if (l && r)
    return index(b, *l * *r);
  if (r == 1 || l == 0)
    return lhs;
  if (l == 1 || r == 0)
    return rhs;
  return once(b, loc, "mul", {lhs, rhs},
              [&](OpBuilder &at) { return arith::MulIOp::create(at, loc, lhs, rhs).getResult(); });
}

Value IndexBuilder::add(OpBuilder &b, Location loc, Value lhs, Value rhs) {
  std::optional<int64_t> l = getConstantIntValue(lhs), r = getConstantIntValue(rhs);
  if (l && r)
    return index(b, *l + *r);
  if (r == 0)
    return lhs;
  if (l == 0)
    return rhs;
  return once(b, loc, "add", {lhs, rhs},
              [&](OpBuilder &at) { return arith::AddIOp::create(at, loc, lhs, rhs).getResult(); });
}

Value IndexBuilder::sub(OpBuilder &b, Location loc, Value lhs, Value rhs) {
  std::optional<int64_t> l = getConstantIntValue(lhs), r = getConstantIntValue(rhs);
  if (l && r)
    return index(b, *l - *r);
  if (r == 0)
    return lhs;
  return once(b, loc, "sub", {lhs, rhs},
              [&](OpBuilder &at) { return arith::SubIOp::create(at, loc, lhs, rhs).getResult(); });
}

Value IndexBuilder::remainder(OpBuilder &b, Location loc, Value lhs, int64_t rhs) {
  if (std::optional<int64_t> l = getConstantIntValue(lhs))
    return index(b, *l % rhs);
  Value divisor = index(b, rhs);
  return once(b, loc, "rem", {lhs, divisor},
              [&](OpBuilder &at) { return arith::RemUIOp::create(at, loc, lhs, divisor).getResult(); });
}

Value IndexBuilder::minimum(OpBuilder &b, Location loc, Value lhs, Value rhs) {
  std::optional<int64_t> l = getConstantIntValue(lhs), r = getConstantIntValue(rhs);
  if (l && r)
    return index(b, std::min(*l, *r));
  return once(b, loc, "min", {lhs, rhs},
              [&](OpBuilder &at) { return arith::MinUIOp::create(at, loc, lhs, rhs).getResult(); });
}

Value IndexBuilder::maximum(OpBuilder &b, Location loc, Value lhs, Value rhs) {
  std::optional<int64_t> l = getConstantIntValue(lhs), r = getConstantIntValue(rhs);
  if (l && r)
    return index(b, std::max(*l, *r));
  return once(b, loc, "max", {lhs, rhs},
              [&](OpBuilder &at) { return arith::MaxUIOp::create(at, loc, lhs, rhs).getResult(); });
}

Value IndexBuilder::ceilDiv(OpBuilder &b, Location loc, Value lhs, Value rhs) {
  std::optional<int64_t> r = getConstantIntValue(rhs);
  if (r == 1)
    return lhs;
  if (!r)
    rhs = maximum(b, loc, rhs, index(b, 1));
  if (std::optional<int64_t> l = getConstantIntValue(lhs); l && r)
    return index(b, llvm::divideCeil(*l, *r));
  Value sum = add(b, loc, lhs, sub(b, loc, rhs, index(b, 1)));
  return once(b, loc, "div", {sum, rhs},
              [&](OpBuilder &at) { return arith::DivUIOp::create(at, loc, sum, rhs).getResult(); });
}

Value IndexBuilder::ifLess(OpBuilder &b, Location loc, Value lhs, Value rhs, Value less, Value other) {
  return once(b, loc, "less", {lhs, rhs, less, other}, [&](OpBuilder &at) {
    Value isLess = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::ult, lhs, rhs);
    return arith::SelectOp::create(at, loc, isLess, less, other).getResult();
  });
}

Value IndexBuilder::advance(OpBuilder &b, Location loc, Value base, Value value, const SymbolicSize &extent) {
  return extent.isZero() ? base : add(b, loc, base, mul(b, loc, value, get(b, loc, extent)));
}

SymbolicSize IndexBuilder::sum(OpBuilder &b, Location loc, const SymbolicSize &lhs, const SymbolicSize &rhs) {
  if (lhs.isZero())
    return rhs;
  if (rhs.isZero())
    return lhs;
  SymbolicSize same = rhs;
  same.factor = lhs.factor;
  if (lhs == same) {
    same.factor += rhs.factor;
    if (same.factor == 0)
      same.symbols.clear();
    return same;
  }
  return SymbolicSize(1, add(b, loc, get(b, loc, lhs), get(b, loc, rhs)));
}

} // namespace mlir::array::loops
