// threefry2x32: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011, with 20 rounds; the
// bits are those of JAX's threefry2x32.
#include "Lowering.h"

using namespace mlir;
using namespace mlir::array;

namespace {

struct Threefry {
  ImplicitLocOpBuilder &b;
  Value x0, x1;

  Value number(int64_t value) { return intConstant(b, b.getI32Type(), value); }
  Value add(Value lhs, Value rhs) { return arith::AddIOp::create(b, lhs, rhs); }
  Value xorOf(Value lhs, Value rhs) { return arith::XOrIOp::create(b, lhs, rhs); }

  void round(int64_t rotation) {
    x0 = add(x0, x1);
    Value high = arith::ShLIOp::create(b, x1, number(rotation));
    Value low = arith::ShRUIOp::create(b, x1, number(32 - rotation));
    x1 = xorOf(arith::OrIOp::create(b, high, low), x0);
  }

  void run(Value k0, Value k1) {
    constexpr int64_t rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
    Value keys[3] = {k0, k1, xorOf(xorOf(k0, k1), number(0x1BD11BDA))};
    x0 = add(x0, keys[0]);
    x1 = add(x1, keys[1]);
    for (int64_t group = 0; group < 5; ++group) {
      for (int64_t rotation : rotations[group % 2])
        round(rotation);
      x0 = add(x0, keys[(group + 1) % 3]);
      x1 = add(add(x1, keys[(group + 2) % 3]), number(group + 1));
    }
  }
};

struct Threefry2x32Lowering : OpConversionPattern<Threefry2x32Op> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(Threefry2x32Op op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getResult(0).getType());
    auto sizes = sizesLike(rewriter, op.getLoc(), type, adaptor.getOperands()[0]);
    Value init = tensor::EmptyOp::create(rewriter, op.getLoc(), sizes, rewriter.getI32Type());
    SmallVector<AffineMap> maps(6, rewriter.getMultiDimIdentityMap(type.getRank()));
    SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
    auto generic = linalg::GenericOp::create(rewriter, op.getLoc(), TypeRange{init.getType(), init.getType()},
                                             adaptor.getOperands(), ValueRange{init, init}, maps, iterators,
                                             [](OpBuilder &nested, Location loc, ValueRange args) {
                                               ImplicitLocOpBuilder b(loc, nested);
                                               Threefry threefry{b, args[2], args[3]};
                                               threefry.run(args[0], args[1]);
                                               linalg::YieldOp::create(b, ValueRange{threefry.x0, threefry.x1});
                                             });
    replaceTyped(rewriter, op, generic.getResults());
    return success();
  }
};

} // namespace

void array::populateRandom(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<Threefry2x32Lowering>(converter, patterns.getContext());
}
