// Index arithmetic and loops on sizes of matmuls.
#ifndef ARRAY_LIB_ANALYSIS_MATMULBUILDER_H
#define ARRAY_LIB_ANALYSIS_MATMULBUILDER_H

#include "BoundedSize.h"
#include "Caches.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::array {

/// Short names for the index arithmetic and the loops that the functions and their callers emit.
struct MatmulBuilder {
  explicit MatmulBuilder(ImplicitLocOpBuilder &b) : b(b) {}

  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }
  Value index(const BoundedSize &size) {
    if (size.isStatic())
      return index(size.factor());
    Value product = size.symbols().front();
    for (Value symbol : size.symbols().drop_front())
      product = arith::MulIOp::create(b, product, symbol);
    return size.factor() == 1 ? product : mul(product, size.factor());
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value add(Value x, int64_t y) { return y == 0 ? x : add(x, index(y)); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, x, y); }
  Value sub(Value x, int64_t y) { return y == 0 ? x : sub(x, index(y)); }
  Value mul(Value x, int64_t y) { return arith::MulIOp::create(b, x, index(y)); }
  Value mul(Value x, const BoundedSize &y) { return arith::MulIOp::create(b, x, index(y)); }
  Value min(Value x, Value y) { return arith::MinSIOp::create(b, x, y); }
  /// x / y, rounded up, of numbers that are not negative.
  Value ceilDiv(Value x, int64_t y) { return arith::DivUIOp::create(b, add(x, y - 1), index(y)); }
  /// The number of elements of `bytes` bytes from an address to the next start of a page (0 if the address is one).
  Value toPage(Value address, int64_t bytes) {
    Value rest = arith::AndIOp::create(b, sub(index(0), address), index(kPageBytes - 1));
    return arith::DivUIOp::create(b, rest, index(bytes));
  }
  /// x + position * stride.
  Value advance(Value x, Value position, const BoundedSize &stride) {
    return stride.isStatic(0) ? x : add(x, mul(position, stride));
  }

  /// A loop over [begin, end) whose body is built by `body(induction variable)`.
  scf::ForOp loop(Value begin, Value end, const BoundedSize &step, llvm::function_ref<void(Value)> body) {
    auto loop = scf::ForOp::create(b, begin, end, index(step));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
    return loop;
  }

  ImplicitLocOpBuilder &b;
};

} // namespace mlir::array

#endif // ARRAY_LIB_ANALYSIS_MATMULBUILDER_H
