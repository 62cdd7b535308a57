// array-expand-math: every operation of the math dialect that LLVM would turn into calls of the C library becomes
// arithmetic, or a call that can be resolved. It runs after the loops are built (operations are on scalars and 1-D
// vectors), and before structured control flow is lowered. The table maps operations to formulas. The formulas are in
// ExpandMathExponential.cpp, -Logarithm, -Power, -Error, -Trigonometric, -Angle, -Remainder and -Extrema,
// one for f32 and f64.
//
// A formula that occurs often in a module is compiled once: the operations call a function on registers
// (MathFunctions).
#include "ExpandMathLibrary.h"
#include "ExpandMathTerm.h"
#include "array/Cpu/Passes.h"
#include "array/Entry/Entry.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

namespace mlir::array {

#define GEN_PASS_DEF_EXPANDMATH
#include "array/Cpu/Passes.h.inc"

namespace {

/// A function of one operand or of two.
struct Formula {
  Term (*unary)(Term) = nullptr;
  Term (*binary)(Term, Term) = nullptr;
  Formula() = default;
  Formula(Term (*unary)(Term)) : unary(unary) {}
  Formula(Term (*binary)(Term, Term)) : binary(binary) {}

  explicit operator bool() const { return unary || binary; }
  Term operator()(ImplicitLocOpBuilder &b, ValueRange operands) const {
    Term x{&b, operands[0]};
    return unary ? unary(x) : binary(x, x.of(operands[1]));
  }
};

/// The expansion of one operation.
struct Rule {
  StringRef operation;
  Formula formula;
  Formula isBeyond = {};  ///< Whether operands are beyond the formula's range; none: it is valid everywhere.
  StringRef library = ""; ///< The C function that is called for them.
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
    {"math.powf", expandPow},
    {"math.sin", expandSin, isBeyondQuadrants, "sin"},
    {"math.cos", expandCos, isBeyondQuadrants, "cos"},
    {"math.tan", expandTan, isBeyondQuadrants, "tan"},
    {"math.asin", expandAsin},
    {"math.acos", expandAcos},
    {"math.atan", expandAtan},
    {"math.atan2", expandAtan2},
    {"arith.remf", expandRemainder, isBeyondQuotients, "fmod"},
};

const Rule extrema[] = {
    {"arith.minimumf", expandMinimum},
    {"arith.maximumf", expandMaximum},
};

const Rule *findRule(Operation *op, ArrayRef<Rule> rules) {
  const Rule *rule =
      llvm::find_if(rules, [&](const Rule &rule) { return rule.operation == op->getName().getStringRef(); });
  return rule == rules.end() ? nullptr : rule;
}

/// Minima and maxima that LLVM makes one instruction: without nan, or of a constant.
bool isPlainExtremum(Operation *op) {
  auto flags = dyn_cast<arith::ArithFastMathInterface>(op);
  return (flags && bitEnumContainsAny(flags.getFastMathFlagsAttr().getValue(), arith::FastMathFlags::nnan)) ||
         llvm::any_of(op->getOperands(), [](Value operand) { return matchPattern(operand, m_Constant()); });
}

/// Any lane of a vector of booleans, or the boolean itself.
Value anyOf(Term condition) {
  if (!isa<VectorType>(condition.type()))
    return condition.value;
  return vector::ReductionOp::create(*condition.b, vector::CombiningKind::OR, condition.value);
}

class MathFunctions;

/// Expands one operation: inline, or as a call of one of `functions`.
class Expander {
public:
  Expander(ImplicitLocOpBuilder &b, ModuleOp module, const Rule &rule, MathFunctions *functions = nullptr)
      : b(b), module(module), rule(rule), functions(functions) {}

  Value expand(ValueRange operands) {
    Type type = operands.front().getType(), element = getElementTypeOrSelf(type);
    if (element.isF16() || element.isBF16())
      return expandNarrow(operands);
    if (functions)
      return callFunction(operands);
    return rule.isBeyond ? expandWithin(operands) : rule.formula(b, operands).value;
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

  Value callFunction(ValueRange operands);

  /// The formula. If an operand is out of its range, which is rare, the library corrects the result.
  Value expandWithin(ValueRange operands) {
    Term result = rule.formula(b, operands), isBeyond = rule.isBeyond(b, operands);
    auto choice = scf::IfOp::create(b, TypeRange{result.type()}, anyOf(isBeyond), /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(choice.thenBlock());
    Value exact = callMathLibrary(b, module, rule.library, operands);
    scf::YieldOp::create(b, select(isBeyond, result.of(exact), result).value);
    b.setInsertionPointToStart(choice.elseBlock());
    scf::YieldOp::create(b, result.value);
    return choice.getResult(0);
  }

  ImplicitLocOpBuilder &b;
  ModuleOp module;
  const Rule &rule;
  MathFunctions *functions;
};

/// A rule and its format of computation: the key of a function of the module.
using Format = std::pair<const Rule *, Type>;

Format formatOf(Operation *op, const Rule *rule) {
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  return {rule, element.isF64() ? element : Float32Type::get(op->getContext())};
}

/// The functions of a module that compute one formula each. @math_sin_64xf32 takes and returns four registers, the
/// limit of the calling convention, @math_sin_16xf32 one, and @math_sin_f32 a scalar.
class MathFunctions {
public:
  MathFunctions(ModuleOp module, unsigned vectorBits) : module(module), vectorBits(vectorBits) {}

  Value call(ImplicitLocOpBuilder &b, const Rule &rule, ValueRange operands) {
    auto vector = dyn_cast<VectorType>(operands.front().getType());
    if (!vector)
      return func::CallOp::create(b, get(rule, operands.front().getType(), operands.size()), operands).getResult(0);
    int64_t count = vector.getNumElements(), lanes = vectorBits / vector.getElementTypeBitWidth();
    if (count == 4 * lanes)
      lanes = count;
    func::FuncOp function = get(rule, VectorType::get({lanes}, vector.getElementType()), operands.size());
    return inParts(b, operands, lanes,
                   [&](ValueRange part) { return func::CallOp::create(b, function, part).getResult(0); });
  }

private:
  func::FuncOp get(const Rule &rule, Type type, unsigned operands) {
    auto vector = dyn_cast<VectorType>(type);
    std::string name = ("math_" + rule.operation.substr(rule.operation.find('.') + 1) + "_").str();
    if (vector)
      name += std::to_string(vector.getNumElements()) + "x";
    name += getElementTypeOrSelf(type).isF64() ? "f64" : "f32";
    if (auto function = module.lookupSymbol<func::FuncOp>(name))
      return function;
    auto b = ImplicitLocOpBuilder::atBlockEnd(module.getLoc(), module.getBody());
    auto function = func::FuncOp::create(b, name, b.getFunctionType(SmallVector<Type>(operands, type), type));
    function.setPrivate();
    function->setAttr(kUnitAttr, b.getUnitAttr());
    function->setAttr("llvm.linkage", LLVM::LinkageAttr::get(b.getContext(), LLVM::Linkage::Internal));
    b.setInsertionPointToStart(function.addEntryBlock());
    Value result = Expander(b, module, rule).expand(function.getArguments());
    func::ReturnOp::create(b, result);
    return function;
  }

  ModuleOp module;
  unsigned vectorBits;
};

Value Expander::callFunction(ValueRange operands) { return functions->call(b, rule, operands); }

/// A formula that occurs more often than this in a module becomes a function. Inline code is a little faster, because
/// no registers are saved for a call; but the code generator takes milliseconds for each.
constexpr unsigned inlineLimit = 8;

struct ExpandMath : impl::ExpandMathBase<ExpandMath> {
  using ExpandMathBase::ExpandMathBase;

  void runOnOperation() override {
    SmallVector<std::pair<Operation *, const Rule *>> work;
    DenseMap<Format, unsigned> counts;
    WalkResult result = getOperation().walk([&](Operation *op) {
      const Rule *rule = findRule(op, rules);
      if (const Rule *ofExtremum = hasExtrema ? nullptr : findRule(op, extrema); ofExtremum && !isPlainExtremum(op))
        rule = ofExtremum;
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
      ++counts[formatOf(op, rule)];
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    MathFunctions functions(getOperation(), vectorBits);
    for (auto [op, rule] : work) {
      ImplicitLocOpBuilder b(op->getLoc(), op);
      bool isCalled = counts[formatOf(op, rule)] > inlineLimit;
      Expander expander(b, getOperation(), *rule, isCalled ? &functions : nullptr);
      op->getResult(0).replaceAllUsesWith(expander.expand(op->getOperands()));
      op->erase();
    }
    getOperation().walk([&](LLVM::CallIntrinsicOp op) { expandRegisterForm(op, vectorBits); });
    // AVX-512 scales in one instruction.
    if (vectorBits < 512)
      getOperation().walk(expandScale);
  }
};

} // namespace
} // namespace mlir::array
