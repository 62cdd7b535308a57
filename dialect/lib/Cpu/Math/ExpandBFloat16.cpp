// array-expand-bfloat16: arithmetic on bf16 becomes arithmetic on f32, and conversions become integer arithmetic: LLVM
// would call a function of the C runtime for each element. Masked loads and stores, shuffles and selects move integers,
// because LLVM moves bf16 one lane at a time. Runs after array-expand-math, which also rounds.
#include "array/Cpu/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::array {

#define GEN_PASS_DEF_EXPANDBFLOAT16
#include "array/Cpu/Passes.h.inc"

namespace {

bool isBFloat16(Type type) { return getElementTypeOrSelf(type).isBF16(); }

/// The type of a scalar or vector with another element type.
Type withElement(Type type, Type element) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.clone(element) : element;
}

/// Whether an op computes with its bf16 operands; others move them, or are conversions.
bool isArithmetic(Operation *op) {
  if (!llvm::all_of(op->getOperandTypes(), isBFloat16))
    return false;
  return isa<arith::CmpFOp, arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::RemFOp,
             arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp>(op) ||
         isa<math::MathDialect>(op->getDialect());
}

void computeInF32(Operation *op) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  Type type = op->getResult(0).getType(), wide = withElement(op->getOperand(0).getType(), b.getF32Type());
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(arith::ExtFOp::create(b, wide, operand));
  Operation *computed = op->clone();
  b.insert(computed);
  computed->setOperands(operands);
  Value result = computed->getResult(0);
  if (isBFloat16(type)) {
    result.setType(wide);
    result = arith::TruncFOp::create(b, type, result);
  }
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
}

/// To the nearest, ties to even: adds half of the last kept bit, less one ulp of f32 if the last bit is even. A nan
/// stays a nan: its upper half, quiet.
void roundWithIntegers(arith::TruncFOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Type bits = withElement(op.getType(), b.getI32Type()), half = withElement(op.getType(), b.getI16Type());
  auto number = [&](int32_t value) -> Value {
    TypedAttr attribute = b.getI32IntegerAttr(value);
    if (auto vector = dyn_cast<VectorType>(bits))
      attribute = DenseElementsAttr::get(vector, b.getI32IntegerAttr(value));
    return arith::ConstantOp::create(b, attribute);
  };
  Value x = arith::BitcastOp::create(b, bits, op.getIn());
  Value upper = arith::ShRUIOp::create(b, x, number(16));
  Value isOdd = arith::AndIOp::create(b, upper, number(1));
  Value sum = arith::AddIOp::create(b, arith::AddIOp::create(b, x, number(0x7fff)), isOdd);
  Value rounded = arith::ShRUIOp::create(b, sum, number(16));
  Value quiet = arith::OrIOp::create(b, upper, number(0x40));
  Value isNan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, op.getIn(), op.getIn());
  Value chosen = arith::SelectOp::create(b, isNan, quiet, rounded);
  Value narrow = arith::TruncIOp::create(b, half, chosen);
  op.replaceAllUsesWith(arith::BitcastOp::create(b, op.getType(), narrow).getResult());
  op.erase();
}

/// The bits are the upper half. LLVM would recognize an extension and compare bf16 lane by lane.
void extendWithIntegers(arith::ExtFOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Type half = withElement(op.getType(), b.getI16Type()), bits = withElement(op.getType(), b.getI32Type());
  TypedAttr places = b.getI32IntegerAttr(16);
  if (auto vector = dyn_cast<VectorType>(bits))
    places = DenseElementsAttr::get(vector, b.getI32IntegerAttr(16));
  Value wide = arith::ExtUIOp::create(b, bits, arith::BitcastOp::create(b, half, op.getIn()));
  wide = arith::ShLIOp::create(b, wide, arith::ConstantOp::create(b, places));
  op.replaceAllUsesWith(arith::BitcastOp::create(b, op.getType(), wide).getResult());
  op.erase();
}

/// The buffer with integer elements: in LLVM's dialect both have the same type.
Value ofIntegers(ImplicitLocOpBuilder &b, TypedValue<MemRefType> buffer) {
  MemRefType type = MemRefType::Builder(buffer.getType()).setElementType(b.getI16Type());
  return UnrealizedConversionCastOp::create(b, type, buffer).getResult(0);
}

void loadIntegers(vector::MaskedLoadOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto type = cast<VectorType>(op.getType().clone(b.getI16Type()));
  Value otherwise = arith::BitcastOp::create(b, type, op.getPassThru());
  Value loaded =
      vector::MaskedLoadOp::create(b, type, ofIntegers(b, op.getBase()), op.getIndices(), op.getMask(), otherwise);
  op.replaceAllUsesWith(arith::BitcastOp::create(b, op.getType(), loaded).getResult());
  op.erase();
}

void storeIntegers(vector::MaskedStoreOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value stored = arith::BitcastOp::create(b, op.getVectorType().clone(b.getI16Type()), op.getValueToStore());
  vector::MaskedStoreOp::create(b, ofIntegers(b, op.getBase()), op.getIndices(), op.getMask(), stored);
  op.erase();
}

/// An op that moves lanes of its last operands, bf16, to its result.
void moveIntegers(Operation *op, unsigned firstMoved) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  auto asIntegers = [&](Value value) { return withElement(value.getType(), b.getI16Type()); };
  Value result = op->getResult(0);
  Type type = result.getType();
  for (OpOperand &operand : op->getOpOperands().drop_front(firstMoved))
    operand.set(arith::BitcastOp::create(b, asIntegers(operand.get()), operand.get()));
  result.setType(asIntegers(result));
  b.setInsertionPointAfter(op);
  auto moved = arith::BitcastOp::create(b, type, result);
  result.replaceAllUsesExcept(moved, moved);
}

struct ExpandBFloat16 : impl::ExpandBFloat16Base<ExpandBFloat16> {
  void runOnOperation() override {
    SmallVector<Operation *> arithmetic;
    getOperation().walk([&](Operation *op) {
      if (op->getNumResults() == 1 && op->getNumOperands() > 0 && isArithmetic(op))
        arithmetic.push_back(op);
    });
    for (Operation *op : arithmetic)
      computeInF32(op);
    SmallVector<arith::ExtFOp> extensions;
    getOperation().walk([&](arith::ExtFOp op) {
      if (isBFloat16(op.getIn().getType()) && getElementTypeOrSelf(op.getType()).isF32())
        extensions.push_back(op);
    });
    for (arith::ExtFOp op : extensions)
      extendWithIntegers(op);
    SmallVector<arith::TruncFOp> roundings;
    getOperation().walk([&](arith::TruncFOp op) {
      if (isBFloat16(op.getType()) && getElementTypeOrSelf(op.getIn()).isF32())
        roundings.push_back(op);
    });
    for (arith::TruncFOp op : roundings)
      roundWithIntegers(op);
    getOperation().walk([](Operation *op) {
      if (auto load = dyn_cast<vector::MaskedLoadOp>(op); load && isBFloat16(load.getType()))
        loadIntegers(load);
      else if (auto store = dyn_cast<vector::MaskedStoreOp>(op); store && isBFloat16(store.getValueToStore().getType()))
        storeIntegers(store);
      else if (auto shuffle = dyn_cast<vector::ShuffleOp>(op); shuffle && isBFloat16(shuffle.getType()))
        moveIntegers(op, /*firstMoved=*/0);
      else if (auto choice = dyn_cast<arith::SelectOp>(op);
               choice && isa<VectorType>(choice.getType()) && isBFloat16(choice.getType()))
        moveIntegers(op, /*firstMoved=*/1);
    });
  }
};

} // namespace
} // namespace mlir::array
