// Loads and stores of elements that are a few elements apart (LoopBody.h): whole registers, and shuffles between them
// and the vector. No access lies outside of the first and the last element.
#include "LoopBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace mlir::array::loops {

/// The number of live lanes, which come first, if known.
std::optional<int64_t> BodyCloner::liveLanes() const {
  if (!mask)
    return lanes;
  DenseElementsAttr constant;
  if (!matchPattern(mask, m_Constant(&constant)))
    return std::nullopt;
  auto live = llvm::to_vector(constant.getValues<bool>());
  int64_t count = llvm::count(live, true);
  if (llvm::is_contained(ArrayRef(live).take_front(count), false))
    return std::nullopt;
  return count;
}

/// An index as a visible multiple of the stride plus a rest: neighbours then come from the same registers.
static std::pair<Value, int64_t> splitOffset(Value index, int64_t stride) {
  if (auto add = index.getDefiningOp<arith::AddIOp>()) {
    for (unsigned i : {0, 1}) {
      std::optional<int64_t> offset = getConstantIntValue(add.getOperand(i));
      if (offset && *offset > 0 && *offset < stride)
        return {add.getOperand(1 - i), *offset};
    }
  }
  return {index, 0};
}

/// Concatenates vectors of equal length, a power of two of them.
static Value concatenate(OpBuilder &b, Location loc, ArrayRef<Value> parts) {
  if (parts.size() == 1)
    return parts.front();
  Value lower = concatenate(b, loc, parts.take_front(parts.size() / 2));
  Value upper = concatenate(b, loc, parts.drop_front(parts.size() / 2));
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, 2 * cast<VectorType>(lower.getType()).getNumElements()));
  return vector::ShuffleOp::create(b, loc, lower, upper, order);
}

static int64_t lanesOfRegister(Value flat, int64_t registerBits) {
  Type element = cast<MemRefType>(flat.getType()).getElementType();
  return registerBits / (element.isIndex() ? 64 : element.getIntOrFloatBitWidth());
}

Value BodyCloner::loadInterleaved(Location loc, Value flat, Value index, int64_t stride, int64_t live) {
  int64_t length = std::min(lanes, lanesOfRegister(flat, registerBits));
  auto type = VectorType::get({length}, cast<MemRefType>(flat.getType()).getElementType());
  auto [base, offset] = splitOffset(index, stride);
  int64_t end = offset + (live - 1) * stride + 1;
  auto loadRegister = [&, base = base](int64_t start) -> Value {
    Value at = indices.add(b, loc, base, indices.index(b, start));
    if (start + length <= end)
      return vector::LoadOp::create(b, loc, type, flat, at);
    return vector::MaskedLoadOp::create(b, loc, type, flat, at, indices.firstLanes(b, length, end - start), zero(type));
  };
  SmallVector<Value> parts;
  for (int64_t first = 0; first < lanes; first += length) {
    int64_t start = first * stride;
    int64_t registers = std::min<int64_t>(stride, llvm::divideCeil(std::max<int64_t>(end - start, 0), length));
    Value part = registers > 0 ? loadRegister(start) : zero(type);
    for (int64_t number = registers > 1; number < registers; ++number) {
      // Lane j is element `offset + j * stride` of the registers; dead lanes may be any.
      SmallVector<int64_t> order;
      for (int64_t lane = 0; lane < length; ++lane) {
        int64_t element = offset + lane * stride, source = element / length;
        if (source >= registers)
          order.push_back(0);
        else if (source > number)
          order.push_back(vector::ShuffleOp::kPoisonIndex);
        else if (number <= 1)
          order.push_back(element);
        else
          order.push_back(source == number ? length + element % length : lane);
      }
      Value next = number == 0 ? part : loadRegister(start + number * length);
      part = vector::ShuffleOp::create(b, loc, part, next, order);
    }
    parts.push_back(part);
  }
  return concatenate(b, loc, parts);
}

/// Register `number` of rows that consist of `columns`: element e is in row e / n of column e % n. It is assembled one
/// column after the other.
static Value registerOfRows(OpBuilder &b, Location loc, ArrayRef<Value> columns, int64_t number) {
  int64_t length = cast<VectorType>(columns.front().getType()).getNumElements();
  auto n = static_cast<int64_t>(columns.size());
  Value result = columns.front();
  for (int64_t column = 1; column < n; ++column) {
    SmallVector<int64_t> order;
    for (int64_t lane = 0; lane < length; ++lane) {
      int64_t element = number * length + lane, row = element / n, from = element % n;
      if (from > column)
        order.push_back(vector::ShuffleOp::kPoisonIndex);
      else if (from == column)
        order.push_back(length + row);
      else
        order.push_back(column == 1 ? row : lane);
    }
    result = vector::ShuffleOp::create(b, loc, result, columns[column], order);
  }
  return result;
}

void BodyCloner::storeColumns(Location loc, ArrayRef<Value> columns, Value flat, Value index) {
  int64_t length = std::min(lanes, lanesOfRegister(flat, registerBits));
  auto n = static_cast<int64_t>(columns.size());
  for (int64_t first = 0; first < lanes; first += length) {
    auto rows = llvm::to_vector(llvm::seq(first, first + length));
    auto parts = llvm::map_to_vector(columns, [&](Value column) -> Value {
      return length == lanes ? column : vector::ShuffleOp::create(b, loc, column, column, rows).getResult();
    });
    for (int64_t number = 0; number < n; ++number) {
      Value at = indices.add(b, loc, index, indices.index(b, first * n + number * length));
      vector::StoreOp::create(b, loc, registerOfRows(b, loc, parts, number), flat, at);
    }
  }
}

void BodyCloner::storeInterleaved(Location loc, Value value, Value flat, Value index, int64_t stride, int64_t live) {
  int64_t length = std::min(lanes, lanesOfRegister(flat, registerBits)), end = (live - 1) * stride + 1;
  for (int64_t start = 0; start < end; start += length) {
    SmallVector<int64_t> order(length, vector::ShuffleOp::kPoisonIndex);
    SmallVector<bool> isElement(length, false);
    for (int64_t lane = 0; lane < std::min(length, end - start); ++lane) {
      if ((start + lane) % stride != 0)
        continue;
      order[lane] = (start + lane) / stride;
      isElement[lane] = true;
    }
    Value spread = vector::ShuffleOp::create(b, loc, value, value, order);
    Value only = indices.constant(b, DenseElementsAttr::get(VectorType::get({length}, b.getI1Type()), isElement));
    vector::MaskedStoreOp::create(b, loc, flat, indices.add(b, loc, index, indices.index(b, start)), only, spread);
  }
}

} // namespace mlir::array::loops
