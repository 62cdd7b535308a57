// array-expand-math: every operation of the math dialect that LLVM would turn into calls of the C library becomes
// arithmetic or calls that can be resolved. It comes after the loops are built (operations stand on scalars and 1-D
// vectors) and before structured control flow is lowered. The table says which operation goes which way; formulas are
// in ExpandMathExponential.cpp, ExpandMathLogarithm.cpp and ExpandMathTrigonometric.cpp.
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
  StringRef library;                    ///< The C function, for f64 and where there is no formula.
  Term (*unary)(Term) = nullptr;        ///< The formula for f32.
  Term (*binary)(Term, Term) = nullptr; ///< The same, of two operands.
  double validTo = 0.0;                 ///< Beyond this magnitude the library is called; 0: valid everywhere.
};

/// rsqrt has no function in the C library; its formula is right for f64 as well.
constexpr StringRef noLibrary = "";

const Rule rules[] = {
    {"math.exp", "exp", expandExp},
    {"math.exp2", "exp2", expandExp2},
    {"math.expm1", "expm1", expandExpm1},
    {"math.log", "log", expandLog},
    {"math.log1p", "log1p", expandLog1p},
    {"math.tanh", "tanh", expandTanh},
    {"math.erf", "erf", expandErf},
    {"math.rsqrt", noLibrary, expandRsqrt},
    {"math.cbrt", "cbrt", expandCbrt},
    {"math.sin", "sin", expandSin, nullptr, maxQuadrantArgument},
    {"math.cos", "cos", expandCos, nullptr, maxQuadrantArgument},
    {"math.tan", "tan", expandTan, nullptr, maxQuadrantArgument},
    {"math.powf", "pow", nullptr, expandPow},
    {"math.atan2", "atan2", nullptr, expandAtan2},
    {"math.log2", "log2"},
    {"math.log10", "log10"},
    {"math.erfc", "erfc"},
    {"math.sinh", "sinh"},
    {"math.cosh", "cosh"},
    {"math.asin", "asin"},
    {"math.acos", "acos"},
    {"math.atan", "atan"},
    {"math.asinh", "asinh"},
    {"math.acosh", "acosh"},
    {"math.atanh", "atanh"},
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
    bool hasFormula = (rule.unary || rule.binary) && (element.isF32() || rule.library == noLibrary);
    if (!hasFormula)
      return callMathLibrary(b, module, rule.library, operands);
    Term x{&b, operands[0]};
    if (rule.binary)
      return rule.binary(x, x.of(operands[1])).value;
    return rule.validTo == 0.0 ? rule.unary(x).value : expandWithin(x);
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
    Term isBeyond = abs(x) > rule.validTo;
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
