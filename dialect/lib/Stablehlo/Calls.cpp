// custom_call: JAX's calls of LAPACK become ops of the array dialect. A few targets have no meaning on one device. The
// error names any other target.
#include "Contraction.h"
#include "LinearAlgebra.h"
#include "Sizes.h"

namespace mlir::array::stablehlo {
namespace {

/// One call: its results become `values`. A null value is a result that only LAPACK has; it must not be used.
using Values = SmallVector<Value>;

/// An entry of the call's dictionary. LAPACK's characters are numbers there.
int64_t option(Source &source, StringRef name) {
  auto options = dyn_cast_or_null<DictionaryAttr>(source.attribute({"mhlo.backend_config", "backend_config"}));
  Attribute given = options ? options.get(name) : Attribute();
  if (auto value = dyn_cast_or_null<IntegerAttr>(given); value && value.getValue().getBitWidth() <= 64)
    return value.getValue().getZExtValue();
  source.error() << "expected the option '" << name << "' of " << source.word({"call_target_name"});
  return -1;
}

/// The last result: LAPACK's status. The ops put nan into the results instead, so the status is always success.
Value noFailure(Source &source) { return source.number(source.resultType(source.op->getNumResults() - 1), 0); }

/// LAPACK counts from 1.
Value fromOne(Source &source, Value positions) {
  if (!positions)
    return {};
  auto type = cast<RankedTensorType>(positions.getType());
  return source.make("add", type, {positions, source.number(type, 1)});
}

Values convertPotrf(Source &source) {
  int64_t uplo = option(source, "uplo");
  return {choleskyFactor(source, source.operand(0), uplo == 'L'), noFailure(source)};
}

Values convertGetrf(Source &source) {
  RankedTensorType type = source.type(0), pivots = source.resultType(1);
  SmallVector<int64_t> shape(type.getShape().drop_back());
  Values made = source.makeAll("lu", {type, pivots, pivots.clone(shape)}, {source.operand(0)});
  return {made[0], fromOne(source, made[1]), noFailure(source)};
}

Values convertTrsm(Source &source) {
  int64_t transpose = option(source, "trans_x");
  return {triangularSolution(source, {option(source, "side") == 'L', option(source, "uplo") == 'L', transpose == 'T',
                                      transpose == 'C', option(source, "diag") == 'U'})};
}

/// Factors as reflectors: the array op has the same operands and results.
Values convertGeqrf(Source &source) {
  return source.makeAll("geqrf", source.op->getResultTypes(), source.op->getOperands());
}
Values convertOrgqr(Source &source) {
  return source.makeAll("householder_product", source.op->getResultTypes(), source.op->getOperands());
}

Values convertOrmqr(Source &source) {
  return source.makeAll(
      "ormqr", source.op->getResultTypes(), source.op->getOperands(),
      {source.namedFlag("left", option(source, "left")), source.namedFlag("transpose", option(source, "transpose"))});
}

Values convertGeqp3(Source &source) {
  Values made =
      source.makeAll("geqp3", {source.resultType(0), source.resultType(2), source.resultType(1)}, {source.operand(0)});
  return {made[0], fromOne(source, made[2]), made[1]};
}

/// (the matrix overwritten, values, left vectors, right vectors, info)
Values convertSvd(Source &source, bool byQr) {
  int64_t mode = option(source, "mode");
  bool hasVectors = mode != 'N';
  SmallVector<Type> types = {source.resultType(1)};
  if (hasVectors)
    types.append({source.resultType(2), source.resultType(3)});
  Values made = source.makeAll("svd", types, {source.operand(0)},
                               {source.namedFlag("full_matrices", mode == 'A'),
                                source.namedFlag("compute_vectors", hasVectors), source.namedFlag("by_qr", byQr)});
  return {Value(), made[0], hasVectors ? made[1] : Value(), hasVectors ? made[2] : Value(), noFailure(source)};
}

/// (vectors, values, info)
Values convertSyevd(Source &source) {
  bool hasVectors = option(source, "mode") == 'V';
  SmallVector<Type> types;
  if (hasVectors)
    types.push_back(source.resultType(0));
  types.push_back(source.resultType(1));
  Values made = source.makeAll(
      "eigh", types, {source.operand(0)},
      {source.namedFlag("lower", option(source, "uplo") == 'L'), source.namedFlag("compute_vectors", hasVectors)});
  return {hasVectors ? made[0] : Value(), made.back(), noFailure(source)};
}

/// (values, left vectors, right vectors, info); for a real matrix the values are two arrays, real and imaginary parts.
Values convertGeev(Source &source) {
  bool isReal = !isa<ComplexType>(source.type(0).getElementType());
  bool hasLeft = option(source, "compute_left") == 'V', hasRight = option(source, "compute_right") == 'V';
  RankedTensorType values = source.resultType(0);
  RankedTensorType whole = isReal ? values.clone(ComplexType::get(values.getElementType())) : values;
  unsigned left = isReal ? 2 : 1;
  SmallVector<Type> types = {whole};
  if (hasLeft)
    types.push_back(source.resultType(left));
  if (hasRight)
    types.push_back(source.resultType(left + 1));
  Values made =
      source.makeAll("eig", types, {source.operand(0)},
                     {source.namedFlag("compute_left", hasLeft), source.namedFlag("compute_right", hasRight)});
  Values results;
  if (isReal)
    results = {source.make("real", values, {made[0]}), source.make("imag", values, {made[0]})};
  else
    results = {made[0]};
  results.push_back(hasLeft ? made[1] : Value());
  results.push_back(hasRight ? made.back() : Value());
  results.push_back(noFailure(source));
  return results;
}

/// (form, vectors, ..., selected, info)
Values convertGees(Source &source) {
  bool hasVectors = option(source, "mode") == 'V';
  if (option(source, "sort") != 'N')
    source.error() << "a sorted Schur form has no counterpart";
  SmallVector<Type> types = {source.resultType(0)};
  if (hasVectors)
    types.push_back(source.resultType(1));
  Values results =
      source.makeAll("schur", types, {source.operand(0)}, {source.namedFlag("compute_vectors", hasVectors)});
  results.resize(source.op->getNumResults() - 1);
  results.push_back(noFailure(source));
  return results;
}

Values convertGehrd(Source &source) {
  RankedTensorType type = source.type(0);
  if (option(source, "low") != 1 || option(source, "high") != type.getDimSize(type.getRank() - 1)) {
    source.error() << "the Hessenberg form of a part of a matrix has no counterpart";
    return {};
  }
  Values made = source.makeAll("hessenberg", {source.resultType(0), source.resultType(1)}, {source.operand(0)});
  return {made[0], made[1], noFailure(source)};
}

Values convertSytrd(Source &source) {
  SmallVector<Type> types(source.op->getResultTypes());
  types.pop_back();
  Values made = source.makeAll("tridiagonal", types, {source.operand(0)},
                               {source.namedFlag("lower", option(source, "uplo") == 'L')});
  made.push_back(noFailure(source));
  return made;
}

/// (three diagonals overwritten, the solution, info)
Values convertGtsv(Source &source) {
  Value made = source.make("tridiagonal_solve", source.resultType(3), source.op->getOperands());
  return {Value(), Value(), Value(), made, noFailure(source)};
}

/// The k maximum or minimum elements, here exactly; the operands are values, positions, and their initial values.
Values convertApproxTopK(Source &source) {
  auto called = dyn_cast_or_null<ArrayAttr>(source.attribute({"called_computations"}));
  auto name = called && called.size() == 1 ? dyn_cast<FlatSymbolRefAttr>(called[0]) : FlatSymbolRefAttr();
  auto positions = source.operand(1).getDefiningOp<IotaOp>();
  int64_t axis = option(source, "reduction_dim");
  RankedTensorType type = source.resultType(0);
  bool isLeast = name && name.getValue().starts_with("top_k_lt_");
  if (!name || (!isLeast && !name.getValue().starts_with("top_k_gt_")) || !positions ||
      static_cast<int64_t>(positions.getDimension()) != axis) {
    source.error()
        << "expected that ApproxTopK takes the greatest or the least along a dimension, with their positions";
    return {};
  }
  // Without aggregate_to_topk, there are more results than k.
  int64_t k = type.isDynamicDim(axis) ? option(source, "top_k") : type.getDimSize(axis);
  auto turned = [&](Value value) { return isLeast ? source.make("neg", value.getType(), {value}) : value; };
  Values made = source.makeAll("top_k", source.op->getResultTypes(), {turned(source.operand(0))},
                               {source.namedNumber("k", k), source.namedNumber("axis", axis)});
  if (!made.empty())
    made[0] = turned(made[0]);
  return made;
}

/// The number of elements is an operand.
Values convertDynamicTopK(Source &source) {
  SmallVector<AffineExpr> count = source.elements(1);
  if (source.failed())
    return {};
  SmallVector<Value> operands = {source.operand(0)};
  int64_t k = source.split(count, operands).front();
  return source.makeAll("top_k", source.op->getResultTypes(), operands,
                        {source.namedNumber("k", k), source.namedNumber("axis", source.type(0).getRank() - 1)});
}

Values convertNothing(Source &source) { return Values(source.op->getOperands()); }

/// TPU's name of lu: pivots count from 0.
Values convertLuDecomposition(Source &source) {
  return source.makeAll("lu", source.op->getResultTypes(), {source.operand(0)});
}

struct Target {
  StringLiteral name;
  Values (*convert)(Source &);
  unsigned operands, results;
};

/// LAPACK's routines without the letter of their type; `lapack_spotrf_ffi` is potrf for f32. The number of results of
/// geev and gees depends on the type.
constexpr unsigned kAny = ~0u;
const Target kLapack[] = {
    {"potrf", convertPotrf, 1, 2},
    {"getrf", convertGetrf, 1, 3},
    {"trsm", convertTrsm, 2, 1},
    {"geqrf", convertGeqrf, 1, 2},
    {"orgqr", convertOrgqr, 2, 1},
    {"ungqr", convertOrgqr, 2, 1},
    {"ormqr", convertOrmqr, 3, 1},
    {"unmqr", convertOrmqr, 3, 1},
    {"geqp3", convertGeqp3, 2, 3},
    {"gesdd", [](Source &source) { return convertSvd(source, /*byQr=*/false); }, 1, 5},
    {"gesvd", [](Source &source) { return convertSvd(source, /*byQr=*/true); }, 1, 5},
    {"syevd", convertSyevd, 1, 3},
    {"heevd", convertSyevd, 1, 3},
    {"geev", convertGeev, 1, kAny},
    {"gees", convertGees, 1, kAny},
    {"gehrd", convertGehrd, 1, 3},
    {"sytrd", convertSytrd, 1, 5},
    {"hetrd", convertSytrd, 1, 5},
    {"gtsv", convertGtsv, 4, 5},
};

const Target kOthers[] = {
    {"ApproxTopK", convertApproxTopK, 4, 2},
    {"LuDecomposition", convertLuDecomposition, 1, 3},
    {"ProductOfElementaryHouseholderReflectors", convertOrgqr, 2, 1},
    {"Qr", convertGeqrf, 1, 2},
    {"Sharding", convertNothing, 1, 1},
    {"annotate_device_placement", convertNothing, 1, 1},
    // The order of two operations: it is the runtime's.
    {"control_dep", [](Source &) { return Values(); }, 2, 0},
    // Keeps the computation of a value that nothing else uses.
    {"dce_sink", [](Source &) { return Values(); }, 1, 0},
    {kDynamicTopK, convertDynamicTopK, 2, 2},
};

const Target *targetOf(StringRef name) {
  for (const Target &target : kOthers)
    if (name == target.name)
      return &target;
  if (!name.consume_front("lapack_") || !name.consume_back("_ffi") || name.empty() ||
      !StringRef("sdcz").contains(name[0]))
    return nullptr;
  for (const Target &target : kLapack)
    if (name.drop_front() == target.name)
      return &target;
  return nullptr;
}

/// A function of the host program, by its slot in the table of the loaded code. The package's PJRT plugin makes such
/// calls from JAX's callbacks. The first operand of an ordered callback is a token.
LogicalResult convertHostCall(Source &source) {
  bool isEffectful = source.flag({"has_side_effect"}, false);
  int64_t slot = option(source, "slot");
  if (!isEffectful && source.op->getNumResults() == 0) {
    source.op->erase();
    return success();
  }
  SmallVector<NamedAttribute> attributes = {source.namedNumber("slot", slot)};
  if (isEffectful)
    attributes.push_back(
        {StringAttr::get(source.op->getContext(), "effectful"), UnitAttr::get(source.op->getContext())});
  SmallVector<Value> made =
      source.makeAll("host_call", source.op->getResultTypes(), source.op->getOperands(), attributes);
  if (source.failed())
    return failure();
  source.op->replaceAllUsesWith(made);
  source.op->erase();
  return success();
}

LogicalResult convertCustomCall(Source &source) {
  StringRef name = source.word({"call_target_name"});
  if (source.failed())
    return failure();
  if (name == "pycompiler_python_callback")
    return convertHostCall(source);
  if (name == kDynamicReduceWindow)
    return convertDynamicReduceWindow(source);
  if (name == kShapeAssertion) { // read before
    source.op->erase();
    return success();
  }
  // The sizes of results have been read.
  SmallVector<Value> operands(source.op->getOperands());
  for (auto [result, operand] : shapeOperands(source.op))
    operands[operand] = Value();
  llvm::erase(operands, Value());
  source.op->setOperands(operands);
  const Target *target = targetOf(name);
  if (!target)
    return source.error() << "@" << name << " has no counterpart in the array dialect";
  if (source.op->getNumOperands() != target->operands ||
      (target->results == kAny ? source.op->getNumResults() < 4 : source.op->getNumResults() != target->results))
    return source.error() << "@" << name << ": expected " << target->operands << " operands and "
                          << (target->results == kAny ? "at least 4" : std::to_string(target->results)) << " results";
  if (StringRef(name).starts_with("lapack_") && source.op->getNumOperands() != 0)
    if (auto matrix = dyn_cast<RankedTensorType>(source.operand(0).getType()); matrix && matrix.getRank() == 0)
      return source.error() << "@" << name << ": expected a matrix, but got " << matrix;
  for (TypeRange types : {TypeRange(source.op->getOperandTypes()), TypeRange(source.op->getResultTypes())})
    for (Type type : types)
      if (!isa<RankedTensorType>(type))
        return source.error() << "@" << name << ": expected ranked tensors, but got " << type;
  Values values = target->convert(source);
  if (source.failed() || values.size() != source.op->getNumResults())
    return failure();
  for (auto [index, result] : llvm::enumerate(source.op->getResults())) {
    if (!values[index] && !result.use_empty())
      return source.error() << "@" << name << ": result #" << index << " is used, which has no counterpart";
    if (values[index] && values[index].getType() != result.getType())
      return source.error() << "@" << name << ": result #" << index << " is " << result.getType() << ", expected "
                            << values[index].getType();
    if (values[index])
      result.replaceAllUsesWith(values[index]);
  }
  source.op->erase();
  return success();
}

} // namespace

void addCallRules(Rules &rules) {
  rules["stablehlo.custom_call"] = {convertCustomCall,     parseCustomCall, 0, ~0u, 0, /*isElementwise=*/false,
                                    /*takesAnything=*/true};
}

} // namespace mlir::array::stablehlo
