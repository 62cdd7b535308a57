// Index arithmetic on addresses (AddressLayout.h).
#include "AddressLayout.h"
#include "Caches.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::array {

Value elementsToHalfPage(OpBuilder &b, Location loc, Value own, Value other, int64_t bytes) {
  auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); };
  Value apart = arith::AddIOp::create(b, loc, other, constant(kPageBytes / 2));
  Value distance = arith::SubIOp::create(b, loc, apart, own);
  distance = arith::AndIOp::create(b, loc, distance, constant(kPageBytes - kLineBytes));
  return arith::DivUIOp::create(b, loc, distance, constant(bytes));
}

} // namespace mlir::array
