// Loops, branches, calls of functions, barriers, tokens, and Shardy's operations for one device. Regions are moved into
// ops of the array dialect and converted there.
#include "Rules.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::array::stablehlo {
namespace {

/// `array.<name>` with the regions of the operation, converted.
LogicalResult replaceWithRegions(Source &source, StringRef name, ValueRange operands, ArrayRef<unsigned> regions) {
  OperationState state(source.loc(), ("array." + name).str(), operands, source.op->getResultTypes(), {});
  for (unsigned region : regions)
    state.addRegion()->takeBody(source.op->getRegion(region));
  Operation *made = source.builder.create(state);
  for (Region &region : made->getRegions())
    if (failed(convertBlock(region.front())))
      return failure();
  return source.replace(made->getResults());
}

LogicalResult convertWhile(Source &source) {
  return replaceWithRegions(source, "while", source.op->getOperands(), {0, 1});
}

/// A case with one branch is replaced by the operations of the branch.
LogicalResult convertOnlyBranch(Source &source) {
  Block &branch = source.op->getRegion(0).front();
  Operation *end = &branch.back();
  SmallVector<Operation *> moved;
  for (Operation &op : llvm::make_range(branch.begin(), end->getIterator()))
    moved.push_back(&op);
  for (Operation *op : moved) {
    op->moveBefore(source.op);
    if (failed(convertOperation(op)))
      return failure();
  }
  if (end->getNumOperands() != source.op->getNumResults())
    return source.error() << "expected that its branch returns " << source.op->getNumResults() << " values";
  return source.replace(end->getOperands());
}

LogicalResult convertCase(Source &source) {
  if (source.op->getNumRegions() == 1)
    return convertOnlyBranch(source);
  return replaceWithRegions(source, "cond", {source.operand(0)},
                            llvm::to_vector(llvm::seq(source.op->getNumRegions())));
}

/// Branch 0 is the false branch.
LogicalResult convertIf(Source &source) {
  if (!isa<RankedTensorType>(source.operand(0).getType()))
    return source.error() << "expected a tensor that chooses, but got " << source.operand(0).getType();
  Value index = source.convert(source.operand(0), source.builder.getI32Type());
  return index ? replaceWithRegions(source, "cond", {index}, {1, 0}) : failure();
}

LogicalResult convertReturn(Source &source) {
  Operation *parent = source.op->getParentOp();
  if (!isa<WhileOp, CondOp>(parent))
    return source.error() << "expected inside of a loop or a branch, but it stands in " << parent->getName();
  source.builder.create(OperationState(source.loc(), "array.yield", source.op->getOperands(), {}, {}));
  source.op->erase();
  return success();
}

LogicalResult replaceByCall(Source &source, FlatSymbolRefAttr callee) {
  auto call = CallOp::create(source.builder, source.loc(), source.op->getResultTypes(), callee,
                             source.op->getOperands(), ArrayAttr(), ArrayAttr());
  return source.replace(call.getResults());
}

LogicalResult convertCall(Source &source) {
  return replaceByCall(source, cast<func::CallOp>(source.op).getCalleeAttr());
}

/// A composite is replaced by its decomposition.
LogicalResult convertComposite(Source &source) {
  auto callee = dyn_cast_or_null<FlatSymbolRefAttr>(source.attribute({"decomposition"}));
  if (!callee)
    return source.error() << "expected the attribute 'decomposition', a function";
  return replaceByCall(source, callee);
}

LogicalResult convertBarrier(Source &source) {
  return source.replace(source.makeAll("optimization_barrier", source.op->getResultTypes(), source.op->getOperands()));
}

LogicalResult convertToken(Source &source) {
  StringRef name = source.op->getNumOperands() == 0 ? "create_token" : "after_all";
  return source.replace(source.make(name, TokenType::get(source.op->getContext()), source.op->getOperands()));
}

LogicalResult convertMesh(Source &source) {
  int64_t devices = source.integer({"devices"}, 1);
  if (devices != 1)
    return source.error() << "a program for " << devices << " devices; one for a single device is taken";
  source.op->erase();
  return success();
}

LogicalResult convertNothing(Source &source) { return source.replace(source.op->getOperands()); }

} // namespace

void addControlFlowRules(Rules &rules) {
  auto anything = [&](StringRef name, ConvertRule convert, ParseRule parse, unsigned least, unsigned most,
                      unsigned regions = 0) {
    rules[name] = {std::move(convert), parse, least, most, regions, /*isElementwise=*/false, /*takesAnything=*/true};
  };
  anything("stablehlo.while", convertWhile, parseWhile, 0, ~0u, 2);
  anything("stablehlo.case", convertCase, parseClauses, 1, 1, 1);
  anything("stablehlo.if", convertIf, parseClauses, 1, 1, 2);
  anything("stablehlo.return", convertReturn, parseTypedOperands, 0, ~0u);
  anything("func.call", convertCall, parseClauses, 0, ~0u);
  anything("stablehlo.composite", convertComposite, parseComposite, 0, ~0u);
  anything("stablehlo.optimization_barrier", convertBarrier, parseTypedOperands, 0, ~0u);
  anything("stablehlo.create_token", convertToken, parseTypedOperands, 0, 0);
  anything("stablehlo.after_all", convertToken, parseClauses, 0, ~0u);
  anything("sdy.mesh", convertMesh, parseMesh, 0, 0);
  anything("sdy.sharding_constraint", convertNothing, parseShardingConstraint, 1, 1);
}

} // namespace mlir::array::stablehlo
