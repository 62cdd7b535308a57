// array-lower-transposes: blocks that array-vectorize-linalg reads across become calls of @transpose_*, a shared
// function that transposes squares in vector registers: squares of side n are read as n rows, exchanged in log2(n)
// rounds of two-operand shuffles, and written as n columns.
#include "Entry/SharedFunctions.h"
#include "LoopNest.h"
#include "TransposeFunction.h"
#include "array/Cpu/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::array {

#define GEN_PASS_DEF_LOWERTRANSPOSES
#include "array/Cpu/Passes.h.inc"

namespace {

/// The rows of the square at (row, column); rows beyond the last one repeat it.
SmallVector<Value> loadSquare(ImplicitLocOpBuilder &b, Value source, Value row, Value column, int64_t side) {
  auto type = VectorType::get({side}, cast<MemRefType>(source.getType()).getElementType());
  Value height = memref::DimOp::create(b, source, 0), width = memref::DimOp::create(b, source, 1);
  Value last = arith::SubIOp::create(b, height, arith::ConstantIndexOp::create(b, 1));
  Value count = arith::SubIOp::create(b, width, column), length = arith::ConstantIndexOp::create(b, side);
  Value isWhole = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, count, length);
  SmallVector<Value> positions;
  for (int64_t i = 0; i < side; ++i)
    positions.push_back(
        arith::MinUIOp::create(b, arith::AddIOp::create(b, row, arith::ConstantIndexOp::create(b, i)), last));
  SmallVector<Type> types(side, type);
  auto branch = scf::IfOp::create(b, types, isWhole, /*addThenBlock=*/true, /*addElseBlock=*/true);
  for (bool isMasked : {false, true}) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(isMasked ? branch.elseBlock() : branch.thenBlock());
    Value mask, zeros;
    if (isMasked) {
      mask = vector::CreateMaskOp::create(b, type.clone(b.getI1Type()), count);
      zeros = arith::ConstantOp::create(b, type, b.getZeroAttr(type));
    }
    SmallVector<Value> rows;
    for (Value position : positions) {
      SmallVector<Value> at{position, column};
      rows.push_back(isMasked ? vector::MaskedLoadOp::create(b, type, source, at, mask, zeros).getResult()
                              : vector::LoadOp::create(b, type, source, at).getResult());
    }
    scf::YieldOp::create(b, rows);
  }
  return SmallVector<Value>(branch.getResults());
}

struct LowerTransposes : impl::LowerTransposesBase<LowerTransposes> {
  void runOnOperation() override {
    getOperation().walk([&](linalg::TransposeOp op) {
      auto type = dyn_cast<MemRefType>(op.getInput().getType());
      if (!type || type != matmulMatrixType(type.getElementType(), /*unitStride=*/true) ||
          op.getInit().getType() != type)
        return;
      OpBuilder b(op);
      func::FuncOp function = getTranspose(getOperation(), type.getElementType());
      func::CallOp::create(b, op.getLoc(), function, ValueRange{op.getInput(), op.getInit()});
      op.erase();
    });
  }
};

} // namespace

void transposeSquare(OpBuilder &b, Location loc, MutableArrayRef<Value> rows) {
  int64_t side = rows.size();
  for (int64_t distance = side / 2; distance > 0; distance /= 2) {
    SmallVector<int64_t> upper, lower;
    for (int64_t lane = 0; lane < side; ++lane) {
      bool high = lane & distance;
      upper.push_back(high ? side + lane - distance : lane);
      lower.push_back(high ? side + lane : lane + distance);
    }
    for (int64_t i = 0; i < side; ++i) {
      if (i & distance)
        continue;
      Value top = rows[i], bottom = rows[i + distance];
      rows[i] = vector::ShuffleOp::create(b, loc, top, bottom, upper);
      rows[i + distance] = vector::ShuffleOp::create(b, loc, top, bottom, lower);
    }
  }
}

func::FuncOp getTranspose(ModuleOp module, Type element) {
  std::string name = "transpose_";
  llvm::raw_string_ostream(name) << element;
  if (auto function = module.lookupSymbol<func::FuncOp>(name))
    return function;
  ImplicitLocOpBuilder b(module.getLoc(), OpBuilder::atBlockEnd(module.getBody()));
  MemRefType matrix = matmulMatrixType(element, /*unitStride=*/true);
  func::FuncOp function = addSharedFunction(b, name, {matrix, matrix});
  if (function.isExternal())
    return function;
  MatmulBuilder g(b);
  Value source = function.getArgument(0), target = function.getArgument(1), zero = g.index(0);
  Value height = memref::DimOp::create(b, source, 0), width = memref::DimOp::create(b, source, 1);
  int64_t side = loops::transposeSide(element);
  g.loop(zero, height, side, [&](Value row) {
    g.loop(zero, width, side, [&](Value column) {
      SmallVector<Value> square = loadSquare(b, source, row, column, side);
      transposeSquare(b, b.getLoc(), square);
      for (auto [i, values] : llvm::enumerate(square))
        vector::StoreOp::create(b, values, target, ValueRange{g.add(column, i), row});
    });
  });
  func::ReturnOp::create(b);
  return function;
}

} // namespace mlir::array
