// The special functions: each op becomes a call of the runtime's routine `special` with the code of its name. f16 and
// bf16 are computed in f32, then rounded.
#include "Lowering.h"
#include "runtime/Abi.h"

using namespace mlir;
using namespace mlir::array;

namespace {

struct SpecialRow {
  StringRef op;
  int64_t code;
};

constexpr SpecialRow rows[] = {
#define PCRT_ROW(name, code, inputs) {"array." #name, code},
    PCRT_SPECIAL_FUNCTIONS(PCRT_ROW)
#undef PCRT_ROW
};

class SpecialLowering : public ConversionPattern {
public:
  SpecialLowering(const TypeConverter &converter, MLIRContext *context, const SpecialRow &row)
      : ConversionPattern(converter, row.op, /*benefit=*/1, context), code(row.code) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op->getLoc();
    auto result = cast<RankedTensorType>(op->getResult(0).getType());
    Type element = result.getElementType(), computed = accumulatorType(element);
    SmallVector<OpFoldResult> sizes = sizesLike(rewriter, loc, result, operands.back());
    SmallVector<Value> inputs;
    for (Value operand : operands)
      inputs.push_back(converted(rewriter, loc, operand, computed, sizes));
    Value init = tensor::EmptyOp::create(rewriter, loc, sizes, computed);
    SmallVector<Attribute> elements(inputs.size() + 1, TypeAttr::get(computed));
    auto call = RuntimeCallOp::create(rewriter, loc, init.getType(), "special", ArrayRef<int64_t>(code),
                                      rewriter.getArrayAttr(elements), inputs, init);
    replaceTyped(rewriter, op, converted(rewriter, loc, call.getResult(0), element, sizes));
    return success();
  }

private:
  static Value converted(OpBuilder &b, Location loc, Value value, Type element, ArrayRef<OpFoldResult> sizes) {
    if (getElementTypeOrSelf(value.getType()) == element)
      return value;
    return parallelGeneric(b, loc, element, sizes, value, b.getMultiDimIdentityMap(sizes.size()),
                           [&](ImplicitLocOpBuilder &inner, ValueRange stored) -> Value {
                             if (isHalf(element))
                               return arith::TruncFOp::create(inner, element, stored[0]);
                             return arith::ExtFOp::create(inner, element, stored[0]);
                           });
  }

  int64_t code;
};

} // namespace

void array::populateSpecial(const TypeConverter &converter, RewritePatternSet &patterns) {
  for (const SpecialRow &row : rows)
    patterns.add<SpecialLowering>(converter, patterns.getContext(), row);
}
