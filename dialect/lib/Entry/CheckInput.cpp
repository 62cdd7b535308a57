// array-check-input: checks a module from a file before it runs. Conditions on run-time values become calls of the
// runtime's `check` (Guards.h). array-guard-sizes adds further checks after sizes are resolved.
#include "Analysis/IndexRanges.h"
#include "Guards.h"
#include "array/Analysis/SymbolicSizes.h"
#include "array/Entry/Entry.h"
#include "array/Entry/Passes.h"
#include "array/IR/Plan.h"
#include "array/IR/Precision.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringSwitch.h"

namespace mlir::array {

#define GEN_PASS_DEF_CHECKINPUT
#include "array/Entry/Passes.h.inc"

namespace {

//===--- Allowed operations ---------------------------------------------------------------------------------------===//

/// Dialects whose operations do not access memory by address.
bool isTaken(StringRef dialect) {
  return llvm::is_contained({"builtin", "func", "array", "arith", "math", "complex", "tensor", "linalg", "scf", "cf"},
                            dialect);
}

/// Routines that check all their operands before they use them.
bool checksItsOperands(RuntimeCallOp call) {
  ArrayRef<int64_t> given = call.getParams();
  if (call.getName() == "check")
    return isCheck(given);
  size_t params = llvm::StringSwitch<size_t>(call.getName())
                      .Cases({"sort", "cumulative"}, 3)
                      .Case("special", 1)
                      .Case("fft", 2)
                      .Default(0);
  return params != 0 && given.size() == params && !call.getIns().empty() && !call.getOuts().empty();
}

/// Whether passes of the compiler, or of MLIR, trust an attribute.
bool isOfPasses(StringRef attribute) {
  return llvm::any_of(ArrayRef<StringRef>{"array.", "llvm.", "bufferization.", "__inplace"},
                      [&](StringRef prefix) { return attribute.starts_with(prefix); });
}

LogicalResult checkOperation(Operation *op) {
  if (!isTaken(op->getName().getDialectNamespace()))
    return op->emitOpError("can't be in a module from a file: its memory accesses can't be checked; "
                           "use operations on tensors (array, linalg, tensor, arith, math, scf)");
  if (isa<UnrealizedConversionCastOp>(op))
    return op->emitOpError("can't be in a module from a file: it converts between types without a check");
  if (isa<ArenaOp, SpendOp>(op))
    return op->emitOpError("is made only by passes of the compiler, and can't be in a module from a file");
  if (auto call = dyn_cast<RuntimeCallOp>(op); call && !checksItsOperands(call))
    return op->emitOpError("calls \"")
           << call.getName() << "\" with " << call.getParams().size()
           << " params, which can't be checked in a module from a file: use the operation of the array dialect";
  if (isa<tensor::GatherOp, tensor::ScatterOp, tensor::ReshapeOp, tensor::ParallelInsertSliceOp>(op))
    return op->emitOpError("can't be checked in a module from a file: use the array dialect");
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    std::optional<int64_t> index = dim.getConstantIndex();
    auto type = dyn_cast<RankedTensorType>(dim.getSource().getType());
    if (!index || !type || *index < 0 || *index >= type.getRank())
      return op->emitOpError("reads the size of a dimension that does not exist, or is not a constant");
  }
  auto isPlain = [](Type type) {
    return !isa<BaseMemRefType, UnrankedTensorType, VectorType>(type) &&
           !isa<BaseMemRefType, VectorType>(getElementTypeOrSelf(type));
  };
  for (Type type :
       llvm::concat<const Type>(SmallVector<Type>(op->getOperandTypes()), SmallVector<Type>(op->getResultTypes())))
    if (!isPlain(type))
      return op->emitOpError("has the type ")
             << type << ", expected ranked tensors and numbers in a module from a file";
    else if (auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type)); integer && integer.getWidth() > 64)
      return op->emitOpError("has the type ") << type << ", expected integers of at most 64 bits";
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    if (isOfPasses(attribute.getName()) &&
        !llvm::is_contained({StringRef(kDimsAttr), StringRef(kSymbolsAttr), StringRef(kRequiresAttr),
                             StringRef(kPlanAttr), StringRef(kPrecisionAttr), StringRef(kDonatedAttr),
                             StringRef(kControlFlowAttr), StringRef(kCheckedAttr), StringRef(kStandsForAttr)},
                            attribute.getName().strref()))
      return op->emitOpError("has the attribute ") << attribute.getName() << ", which only passes of the compiler make";
  return success();
}

/// Checks the declared bounds of symbols, because code relies on them.
LogicalResult checkSymbols(func::FuncOp function) {
  auto all = function->getAttr(kSymbolsAttr);
  auto symbols = dyn_cast_or_null<ArrayAttr>(all);
  unsigned number = 0, given = 0;
  // A symbol that follows from those before it. Its definition gives its bounds.
  auto isDerived = [&](DictionaryAttr entry) {
    std::optional<DerivedSymbol> derived = derivedSymbol(function, number);
    auto isOfEarlier = [&](AffineExpr expression) {
      bool isOf = true;
      expression.walk([&](AffineExpr part) {
        auto symbol = dyn_cast<AffineSymbolExpr>(part);
        auto binary = dyn_cast<AffineBinaryOpExpr>(part);
        bool divides = binary && part.getKind() != AffineExprKind::Add && part.getKind() != AffineExprKind::Mul;
        auto divisor = divides ? dyn_cast<AffineConstantExpr>(binary.getRHS()) : AffineConstantExpr();
        isOf &= !isa<AffineDimExpr>(part) && (!symbol || symbol.getPosition() < number) &&
                (!divides || (divisor && divisor.getValue() > 0));
      });
      return isOf;
    };
    return derived && entry.size() == 1 && isOfEarlier(derived->lhs) && isOfEarlier(derived->rhs) &&
           (derived->isMaximum || SymbolicSizes(function).factsOf(derived->rhs).min >= 1);
  };
  auto isGood = [&](Attribute attribute) {
    auto facts = dyn_cast<DictionaryAttr>(attribute);
    if (facts && derivedSymbol(function, number))
      return isDerived(facts) && ++number;
    if (given++ < number++) // after one that follows from others
      return false;
    bool areNumbers = facts && llvm::all_of(facts, [](NamedAttribute fact) {
                        auto number = dyn_cast<IntegerAttr>(fact.getValue());
                        if (fact.getName() == "name")
                          return isa<StringAttr>(fact.getValue());
                        return number && number.getType().isSignlessInteger(64) && number.getInt() >= 0;
                      });
    if (!areNumbers)
      return false;
    auto factor = facts.getAs<IntegerAttr>("multiple_of"), least = facts.getAs<IntegerAttr>("min"),
         most = facts.getAs<IntegerAttr>("max");
    return (!factor || factor.getInt() > 0) && (!most || most.getInt() >= (least ? least.getInt() : 0));
  };
  if (all && (!symbols || symbols.size() > 1024 || !llvm::all_of(symbols, isGood)))
    return function.emitOpError()
           << kSymbolsAttr << " is " << all
           << ", expected a dictionary of i64 for each symbol: 0 <= min <= max, 0 < multiple_of; then of those that "
           << "follow from others: a maximum or a quotient, a map from symbols before it to two "
           << "sizes, of which a divisor is at least 1";
  return success();
}

LogicalResult checkArguments(func::FuncOp function) {
  if (failed(checkSymbols(function)))
    return failure();
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    for (NamedAttribute attribute : mlir::function_interface_impl::getArgAttrs(function, index))
      if (isOfPasses(attribute.getName()) && attribute.getName() != kDimsAttr)
        return function.emitOpError("argument #")
               << index << " has the attribute " << attribute.getName() << ", which only passes of the compiler make";
  return success();
}

/// The sizes of all `?` of the arguments, as expressions of the symbols; none if the module does not give them.
std::optional<SmallVector<AffineExpr>> unknownSizes(func::FuncOp main) {
  SmallVector<AffineExpr> found;
  for (BlockArgument argument : main.getArguments())
    if (auto type = dyn_cast<RankedTensorType>(argument.getType()); type && !type.hasStaticShape()) {
      auto dims = main.getArgAttrOfType<AffineMapAttr>(argument.getArgNumber(), kDimsAttr);
      if (!dims || dims.getValue().getNumResults() != type.getRank())
        return std::nullopt;
      for (auto [dim, size] : llvm::enumerate(dims.getValue().getResults()))
        if (type.isDynamicDim(dim))
          found.push_back(size);
    }
  return found;
}

/// Checks the conditions of @main on the sizes of its arguments, unless they follow from the bounds of the symbols.
LogicalResult guardRequirements(func::FuncOp main) {
  auto given = main->getAttr(kRequiresAttr);
  auto all = dyn_cast_or_null<ArrayAttr>(given);
  std::optional<SmallVector<AffineExpr>> unknown = unknownSizes(main);
  if (!given)
    return success();
  auto refuse = [&] {
    return main.emitOpError(kRequiresAttr) << " is " << given << ", expected dictionaries of `condition` (equal, "
                                           << "at_least), `sizes`, a map from the `?` of the arguments, and `message`";
  };
  if (!all || !unknown)
    return refuse();
  SymbolicSizes sizes(main);
  for (Attribute one : all) {
    auto requirement = dyn_cast<DictionaryAttr>(one);
    auto condition = requirement ? requirement.getAs<StringAttr>("condition") : StringAttr();
    auto message = requirement ? requirement.getAs<StringAttr>("message") : StringAttr();
    auto map = requirement ? requirement.getAs<AffineMapAttr>("sizes") : AffineMapAttr();
    if (!condition || !message || !map || !llvm::is_contained({"equal", "at_least"}, condition.getValue()) ||
        map.getValue().getNumDims() != unknown->size() || map.getValue().getNumSymbols() != 0 ||
        map.getValue().getNumResults() < 2)
      return refuse();
    SmallVector<AffineExpr> sides;
    for (AffineExpr side : map.getValue().getResults().take_front(2))
      sides.push_back(simplifyAffineExpr(side.replaceDims(*unknown), /*numDims=*/0, countSymbols(main)));
    bool isEqual = condition.getValue() == "equal";
    SizeFacts difference = sizes.factsOf(simplifyAffineExpr(sides[0] - sides[1], 0, countSymbols(main)));
    if (difference.min >= 0 && (!isEqual || difference.max <= 0))
      continue;
    OpFoldResult left = sizes.valueOf(sides[0]), right = sizes.valueOf(sides[1]);
    OpBuilder b(main.getContext());
    b.setInsertionPointAfter(sizes.end());
    emitGuard(
        b, main,
        {isEqual ? PCRT_CHECK_EQUAL : PCRT_CHECK_AT_MOST, -1, 0, {isEqual ? left : right, isEqual ? right : left}});
    // The numbers of the message as expressions: the check adds the sizes.
    std::string text = "shape_assertion: " + message.str();
    for (auto [index, value] : llvm::enumerate(map.getValue().getResults().drop_front(2))) {
      std::string place = "{" + std::to_string(index) + "}";
      for (size_t at = text.find(place); at != std::string::npos; at = text.find(place))
        text.replace(at, place.size(), textOf(value.replaceDims(*unknown)));
    }
    sizes.end()->getNextNode()->setAttr(kStandsForAttr, b.getStringAttr(text));
  }
  return success();
}

//===--- Maps ----------------------------------------------------------------------------------------------------===//

/// MLIR's verifier checks only the first and the last index. For a remainder, these are not the minimum and the
/// maximum. array-guard-sizes handles dynamic sizes.
LogicalResult checkMaps(linalg::LinalgOp op) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  if (llvm::any_of(extents, ShapedType::isDynamic) || llvm::is_contained(extents, 0))
    return success();
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type || !type.hasStaticShape())
      continue;
    for (auto [dim, expression] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
      std::optional<Range> range = rangeOf(expression, extents);
      if (!range || range->low < 0 || range->high >= type.getDimSize(dim))
        return op->emitOpError("reads dimension ")
               << dim << " of operand #" << operand.getOperandNumber() << ", " << type << ", by " << textOf(expression)
               << ", which is not known to be within it";
    }
  }
  return success();
}

/// Whether the operation is in the body of an operation on tensors, which cannot end the run.
bool isInBody(Operation *op) { return op->getParentOfType<linalg::LinalgOp>() != nullptr; }

//===--- Guards ---------------------------------------------------------------------------------------------------===//

OpFoldResult sizeOf(OpBuilder &b, Operation *op, Value tensor, int64_t dim) {
  return tensor::getMixedSize(b, op->getLoc(), tensor, dim);
}

LogicalResult guardIndices(Operation *op, Value tensor, int64_t operand, ValueRange indices) {
  auto type = cast<RankedTensorType>(tensor.getType());
  OpBuilder b(op);
  for (auto [dim, index] : llvm::enumerate(indices))
    if (!isWithin(index, type, dim))
      emitGuard(b, op, {PCRT_CHECK_INDEX, operand, int64_t(dim), {index, sizeOf(b, op, tensor, dim)}});
  return success();
}

LogicalResult guardSlice(OffsetSizeAndStrideOpInterface op, Value whole, int64_t operand) {
  OpBuilder b(op);
  auto offsets = op.getMixedOffsets(), sizes = op.getMixedSizes(), strides = op.getMixedStrides();
  for (int64_t dim = 0; dim < int64_t(offsets.size()); ++dim)
    emitGuard(b, op,
              {PCRT_CHECK_SLICE, operand, dim, {offsets[dim], sizes[dim], strides[dim], sizeOf(b, op, whole, dim)}});
  return success();
}

/// Division of integers by 0 ends the process. If the divisor is 0, another number replaces it.
void defineDivision(Operation *op) {
  Value divided = op->getOperand(0), divisor = op->getOperand(1);
  Type type = divisor.getType();
  std::optional<int64_t> known = getConstantIntValue(divisor);
  if (!type.isIntOrIndex() || (known && *known != 0 && *known != -1))
    return;
  bool isSigned = isa<arith::DivSIOp, arith::RemSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp>(op);
  bool isRemainder = isa<arith::RemSIOp, arith::RemUIOp>(op);
  OpBuilder b(op);
  Location loc = op->getLoc();
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  auto constant = [&](const APInt &value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
  };
  auto isEqual = [&](Value value, const APInt &to) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, value, constant(to));
  };
  Value isZero = isEqual(divisor, APInt::getZero(width)), isBad = isZero;
  if (isSigned) {
    Value wraps = arith::AndIOp::create(b, loc, isEqual(divided, APInt::getSignedMinValue(width)),
                                        isEqual(divisor, APInt::getAllOnes(width)));
    isBad = arith::OrIOp::create(b, loc, isZero, wraps);
  }
  op->setOperand(1, arith::SelectOp::create(b, loc, isBad, constant(APInt(width, 1)), divisor));
  b.setInsertionPointAfter(op);
  Value otherwise = isRemainder ? divided : constant(APInt::getAllOnes(width));
  auto result = arith::SelectOp::create(b, loc, isZero, otherwise, op->getResult(0));
  op->getResult(0).replaceAllUsesExcept(result, result);
}

bool isDivision(Operation *op) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::FloorDivSIOp, arith::CeilDivSIOp,
             arith::CeilDivUIOp>(op);
}

//===--- The pass -------------------------------------------------------------------------------------------------===//

struct CheckInput : impl::CheckInputBase<CheckInput> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([&](Operation *op) -> WalkResult {
      if (failed(checkOperation(op)))
        return WalkResult::interrupt();
      auto function = dyn_cast<func::FuncOp>(op);
      return function && failed(checkArguments(function)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted() || failed(generalizeBodies(getOperation())))
      return signalPassFailure();
    SmallVector<Operation *> found;
    getOperation()->walk([&](Operation *op) { found.push_back(op); });
    for (Operation *op : found)
      if (failed(guard(op)))
        return signalPassFailure();
    if (auto main = getOperation().lookupSymbol<func::FuncOp>("main"); main && !main.isExternal())
      if (failed(guardRequirements(main)))
        return signalPassFailure();
    getOperation()->setAttr(kCheckedAttr, UnitAttr::get(&getContext()));
  }

  static LogicalResult guard(Operation *op) {
    if (auto linalg = dyn_cast<linalg::LinalgOp>(op))
      return failed(checkMaps(linalg)) ? failure() : guardBody(linalg);
    if (isDivision(op))
      defineDivision(op);
    if (isInBody(op)) // guardBody handles these
      return success();
    if (auto extract = dyn_cast<tensor::ExtractOp>(op))
      return guardIndices(op, extract.getTensor(), 0, extract.getIndices());
    if (auto insert = dyn_cast<tensor::InsertOp>(op))
      return guardIndices(op, insert.getDest(), 1, insert.getIndices());
    if (auto extract = dyn_cast<tensor::ExtractSliceOp>(op))
      return guardSlice(extract, extract.getSource(), 0);
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      return guardSlice(insert, insert.getDest(), 1);
    if (auto loop = dyn_cast<scf::ForOp>(op))
      guardStep(loop);
    guardDialect(op);
    return success();
  }
};

} // namespace
} // namespace mlir::array
