// array-shuffle-parts: the parts of complex numbers in vectors are read and put together by shuffles of their lanes.
// A complex number is the bits of an integer of twice the width: its parts are halves of that integer. LLVM reads the
// halves of 128-bit lanes one by one, and those of 64-bit lanes by three instructions for each register. It also fails
// to select instructions if a single lane is taken from shifted bits of an f64 that was rounded to f32 (LLVM 22,
// AVX-512).
#include "array/Cpu/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::array {

#define GEN_PASS_DEF_SHUFFLEPARTS
#include "array/Cpu/Passes.h.inc"

namespace {

/// The bits of a part, if the lanes of a vector are pairs of parts.
unsigned bitsOfPart(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector || vector.getRank() != 1 || vector.isScalable() || vector.getNumElements() < 2)
    return 0;
  unsigned bits = vector.getElementType().isInteger() ? vector.getElementTypeBitWidth() : 0;
  return bits == 64 || bits == 128 ? bits / 2 : 0;
}

/// The type of the parts of all lanes, one after the other.
VectorType typeOfParts(Type type, int64_t perLane) {
  auto vector = cast<VectorType>(type);
  auto part = IntegerType::get(type.getContext(), bitsOfPart(type));
  return VectorType::get({perLane * vector.getNumElements()}, part);
}

/// Whether an operation shifts each lane by a whole part.
template <typename Shift> Value shiftedByPart(Value value) {
  auto shift = value.getDefiningOp<Shift>();
  APInt places;
  unsigned bits = bitsOfPart(value.getType());
  if (!shift || bits == 0 || !matchPattern(shift.getRhs(), m_ConstantInt(&places)) || places != bits)
    return {};
  return shift.getLhs();
}

/// The parts that an operation extends to whole lanes.
Value extendedParts(Value value) {
  auto extension = value.getDefiningOp<arith::ExtUIOp>();
  if (!extension || getElementTypeOrSelf(extension.getIn()).getIntOrFloatBitWidth() != bitsOfPart(value.getType()))
    return {};
  return extension.getIn();
}

struct Parts {
  arith::TruncIOp truncation;
  Value whole;
  bool isUpper;
};

class Shuffler {
public:
  explicit Shuffler(MLIRContext *context) : b(context) {}

  /// Replaces the truncations that read a half of each lane. The halves of integers that are no pairs are read by other
  /// means, but a program can't tell: 64-bit lanes are pairs if both halves are read.
  void readParts(MutableArrayRef<Parts> reads) {
    llvm::DenseMap<Value, unsigned> halves;
    for (const Parts &read : reads)
      halves[read.whole] |= read.isUpper ? 2 : 1;
    for (Parts &read : reads) {
      if (halves[read.whole] != 3 && bitsOfPart(read.whole.getType()) == 32)
        continue;
      Location loc = read.truncation.getLoc();
      Value &parts = known[read.whole];
      if (!parts) {
        b.setInsertionPointAfterValue(read.whole);
        parts = vector::BitCastOp::create(b, loc, typeOfParts(read.whole.getType(), 2), read.whole);
      }
      b.setInsertionPoint(read.truncation);
      SmallVector<int64_t> lanes;
      for (int64_t lane = 0, count = cast<VectorType>(read.whole.getType()).getNumElements(); lane < count; ++lane)
        lanes.push_back(2 * lane + (read.isUpper ? 1 : 0));
      Value half = vector::ShuffleOp::create(b, loc, parts, parts, lanes);
      read.truncation.replaceAllUsesWith(half);
      read.truncation.erase();
    }
  }

  /// Replaces `op`, whose lanes have these lower and upper parts; no lower part is zero.
  void join(Operation *op, Value lower, Value upper) {
    Location loc = op->getLoc();
    Type type = op->getResult(0).getType();
    b.setInsertionPoint(op);
    if (!lower)
      lower = arith::ConstantOp::create(b, loc, b.getZeroAttr(upper.getType()));
    SmallVector<int64_t> lanes;
    for (int64_t lane = 0, count = cast<VectorType>(type).getNumElements(); lane < count; ++lane)
      lanes.append({lane, count + lane});
    Value parts = vector::ShuffleOp::create(b, loc, lower, upper, lanes);
    op->getResult(0).replaceAllUsesWith(vector::BitCastOp::create(b, loc, type, parts));
    op->erase();
  }

private:
  OpBuilder b;
  llvm::DenseMap<Value, Value> known; // the parts of a vector of pairs
};

struct ShuffleParts : impl::ShufflePartsBase<ShuffleParts> {
  void runOnOperation() override {
    SmallVector<Parts> reads;
    SmallVector<arith::OrIOp> joins;
    SmallVector<arith::ShLIOp> uppers;
    getOperation().walk([&](Operation *op) {
      if (auto truncation = dyn_cast<arith::TruncIOp>(op)) {
        unsigned bits = bitsOfPart(truncation.getIn().getType());
        if (bits == 0 || getElementTypeOrSelf(truncation.getType()).getIntOrFloatBitWidth() != bits)
          return;
        Value whole = shiftedByPart<arith::ShRUIOp>(truncation.getIn());
        reads.push_back({truncation, whole ? whole : truncation.getIn(), bool(whole)});
      } else if (auto both = dyn_cast<arith::OrIOp>(op)) {
        joins.push_back(both);
      } else if (auto shift = dyn_cast<arith::ShLIOp>(op)) {
        uppers.push_back(shift);
      }
    });
    Shuffler shuffler(&getContext());
    // Before the joins, which replace the lanes that are read.
    shuffler.readParts(reads);
    for (arith::OrIOp both : joins)
      for (auto [first, second] : {std::pair(both.getLhs(), both.getRhs()), std::pair(both.getRhs(), both.getLhs())})
        if (Value shifted = shiftedByPart<arith::ShLIOp>(second), lower = extendedParts(first); shifted && lower)
          if (Value upper = extendedParts(shifted)) {
            shuffler.join(both, lower, upper);
            break;
          }
    for (arith::ShLIOp shift : uppers) {
      Value shifted = shift.use_empty() ? Value() : shiftedByPart<arith::ShLIOp>(shift);
      if (Value upper = shifted ? extendedParts(shifted) : Value())
        shuffler.join(shift, Value(), upper);
    }
  }
};

} // namespace
} // namespace mlir::array
