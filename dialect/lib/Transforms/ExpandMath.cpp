// array-expand-math: every operation of the math dialect that LLVM would turn into calls of the C library becomes
// arithmetic, or a call that can be resolved. It comes after the loops are built (operations stand on scalars and 1-D
// vectors) and before structured control flow is lowered. The table says which formula stands for which operation; they
// are in ExpandMathExponential.cpp, -Logarithm, -Power, -Error, -Trigonometric and -Angle, one for f32 and f64.
#include "ExpandMathLibrary.h"
#include "ExpandMathTerm.h"
#include "array/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::array {

#define GEN_PASS_DEF_EXPANDMATH
#include "array/Transforms/Passes.h.inc"

namespace {

/// How one operation of the math dialect is expanded.
struct Rule {
  StringRef operation;
  Term (*unary)(Term) = nullptr;
  Term (*binary)(Term, Term) = nullptr; ///< The same, of two operands.
  /// The C function that is called for magnitudes beyond maxQuadrantArgument; empty: the formula is valid everywhere.
  StringRef library = "";
};

const Rule rules[] = {
    {"math.exp", expandExp},
    {"math.exp2", expandExp2},
    {"math.expm1", expandExpm1},
    {"math.sinh", expandSinh},
    {"math.cosh", expandCosh},
    {"math.tanh", expandTanh},
    {"math.log", expandLog},
    {"math.log2", expandLog2},
    {"math.log10", expandLog10},
    {"math.log1p", expandLog1p},
    {"math.asinh", expandAsinh},
    {"math.acosh", expandAcosh},
    {"math.atanh", expandAtanh},
    {"math.erf", expandErf},
    {"math.erfc", expandErfc},
    {"math.rsqrt", expandRsqrt},
    {"math.cbrt", expandCbrt},
    {"math.powf", nullptr, expandPow},
    {"math.sin", expandSin, nullptr, "sin"},
    {"math.cos", expandCos, nullptr, "cos"},
    {"math.tan", expandTan, nullptr, "tan"},
    {"math.asin", expandAsin},
    {"math.acos", expandAcos},
    {"math.atan", expandAtan},
    {"math.atan2", nullptr, expandAtan2},
};

const Rule *findRule(Operation *op) {
  const Rule *rule =
      llvm::find_if(rules, [&](const Rule &rule) { return rule.operation == op->getName().getStringRef(); });
  return rule == std::end(rules) ? nullptr : rule;
}

/// Any lane of a vector of booleans, or the boolean itself.
Value anyOf(Term condition) {
  if (!isa<VectorType>(condition.type()))
    return condition.value;
  return vector::ReductionOp::create(*condition.b, vector::CombiningKind::OR, condition.value);
}

class Expander {
public:
  Expander(ImplicitLocOpBuilder &b, ModuleOp module, const Rule &rule) : b(b), module(module), rule(rule) {}

  Value expand(ValueRange operands) {
    Type type = operands.front().getType(), element = getElementTypeOrSelf(type);
    if (element.isF16() || element.isBF16())
      return expandNarrow(operands);
    Term x{&b, operands[0]};
    if (rule.binary)
      return rule.binary(x, x.of(operands[1])).value;
    return rule.library.empty() ? rule.unary(x).value : expandWithin(x);
  }

private:
  /// Halves are computed in f32 and rounded once more.
  Value expandNarrow(ValueRange operands) {
    Term first{&b, operands[0]};
    SmallVector<Value> wide;
    for (Value operand : operands)
      wide.push_back(arith::ExtFOp::create(b, first.typeWith(b.getF32Type()), operand));
    return arith::TruncFOp::create(b, first.type(), expand(wide));
  }

  /// The formula, corrected by the library where an operand is out of its range, which is rare.
  Value expandWithin(Term x) {
    Value formula = rule.unary(x).value;
    Term isBeyond = abs(x) > x.either(maxWideQuadrantArgument, maxQuadrantArgument);
    auto choice = scf::IfOp::create(b, TypeRange{x.type()}, anyOf(isBeyond), /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(choice.thenBlock());
    Value exact = callMathLibrary(b, module, rule.library, x.value);
    scf::YieldOp::create(b, select(isBeyond, x.of(exact), x.of(formula)).value);
    b.setInsertionPointToStart(choice.elseBlock());
    scf::YieldOp::create(b, formula);
    return choice.getResult(0);
  }

  ImplicitLocOpBuilder &b;
  ModuleOp module;
  const Rule &rule;
};

struct ExpandMath : impl::ExpandMathBase<ExpandMath> {
  void runOnOperation() override {
    SmallVector<std::pair<Operation *, const Rule *>> work;
    WalkResult result = getOperation().walk([&](Operation *op) {
      const Rule *rule = findRule(op);
      if (!rule)
        return WalkResult::advance();
      Type type = op->getResult(0).getType(), element = getElementTypeOrSelf(type);
      auto vector = dyn_cast<VectorType>(type);
      bool isLowered = isa<FloatType>(type) || (vector && vector.getRank() == 1 && !vector.isScalable());
      if (!isLowered || !(element.isF16() || element.isBF16() || element.isF32() || element.isF64())) {
        op->emitError("array-expand-math: expected a scalar or a 1-D vector of f16, bf16, f32 or f64, found ") << type;
        return WalkResult::interrupt();
      }
      work.emplace_back(op, rule);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    for (auto [op, rule] : work) {
      ImplicitLocOpBuilder b(op->getLoc(), op);
      op->getResult(0).replaceAllUsesWith(Expander(b, getOperation(), *rule).expand(op->getOperands()));
      op->erase();
    }
  }
};

} // namespace
} // namespace mlir::array
