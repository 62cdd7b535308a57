// Collectives: inference.
#include "Inference.h"

#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::array;

/// C1, and the number of members of a group; 0 if C1 does not hold.
static int64_t membersOf(std::optional<Location> location, StringRef op, DenseIntElementsAttr groups) {
  auto type = cast<ShapedType>(groups.getType());
  llvm::SmallSet<int64_t, 16> known;
  bool areDistinct = llvm::all_of(groups.getValues<int64_t>(),
                                  [&](int64_t member) { return member >= 0 && known.insert(member).second; });
  if (type.getRank() == 2 && type.getNumElements() > 0 && areDistinct)
    return type.getDimSize(1);
  (void)fail(location, op, "groups are ", groups, ", expected rows of at least one participant, each once (C1)");
  return 0;
}

/// C2 of the reductions.
static LogicalResult checkKind(std::optional<Location> location, StringRef op, StringRef kind, Type operand) {
  Type element = getElementTypeOrSelf(operand);
  bool isBool = element.isSignlessInteger(1), isComplex = isa<ComplexType>(element);
  unsigned width = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  bool isInteger = isa<IntegerType>(element) && width >= 8, isFloat = isa<FloatType>(element) && width >= 16;
  bool fits = llvm::StringSwitch<bool>(kind)
                  .Cases({"sum", "prod"}, isInteger || isFloat || isComplex)
                  .Cases({"max", "min"}, isBool || isInteger || isFloat)
                  .Cases({"and", "or"}, isBool || isInteger)
                  .Default(false);
  if (fits)
    return success();
  return fail(location, op, "kind is \"", kind, "\" of ", operand,
              ", expected sum or prod of numbers, max or min of bools or real numbers, and or or of bools or integers "
              "(C2)");
}

static bool isDimension(int64_t dimension, RankedTensorType type) {
  return dimension >= 0 && dimension < type.getRank();
}

static int64_t scaled(int64_t size, int64_t factor) { return ShapedType::isDynamic(size) ? size : size * factor; }

/// The shape with one dimension divided among the members; none if that is impossible.
static std::optional<SmallVector<int64_t>> divided(ArrayRef<int64_t> shape, int64_t dimension, int64_t members) {
  auto result = llvm::to_vector(shape);
  if (ShapedType::isDynamic(result[dimension]))
    return result;
  if (result[dimension] % members != 0)
    return std::nullopt;
  result[dimension] /= members;
  return result;
}

LogicalResult ParticipantOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor,
                                              SmallVectorImpl<Type> &inferred) {
  inferred.push_back(RankedTensorType::get({}, IntegerType::get(context, 32)));
  return success();
}

LogicalResult AllReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                            SmallVectorImpl<Type> &inferred) {
  Type operand = adaptor.getOperand().getType();
  if (!membersOf(location, getOperationName(), adaptor.getGroups()) ||
      failed(checkKind(location, getOperationName(), adaptor.getKind(), operand)))
    return failure();
  inferred.push_back(operand);
  return success();
}

LogicalResult AllGatherOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                            SmallVectorImpl<Type> &inferred) {
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  int64_t members = membersOf(location, getOperationName(), adaptor.getGroups()), dimension = adaptor.getDimension();
  if (!members)
    return failure();
  if (!isDimension(dimension, operand))
    return fail(location, getOperationName(), "dimension is ", dimension, ", expected a dimension of ", operand,
                " (C2)");
  auto shape = llvm::to_vector(operand.getShape());
  shape[dimension] = scaled(shape[dimension], members);
  inferred.push_back(operand.clone(shape));
  return success();
}

LogicalResult ReduceScatterOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                                SmallVectorImpl<Type> &inferred) {
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  int64_t members = membersOf(location, getOperationName(), adaptor.getGroups()), dimension = adaptor.getDimension();
  if (!members || failed(checkKind(location, getOperationName(), adaptor.getKind(), operand)))
    return failure();
  if (!isDimension(dimension, operand))
    return fail(location, getOperationName(), "dimension is ", dimension, ", expected a dimension of ", operand,
                " (C3)");
  std::optional<SmallVector<int64_t>> shape = divided(operand.getShape(), dimension, members);
  if (!shape)
    return fail(location, getOperationName(), "dimension ", dimension, " of ", operand, " can't be divided among ",
                members, " members (C4)");
  inferred.push_back(operand.clone(*shape));
  return success();
}

LogicalResult AllToAllOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                           SmallVectorImpl<Type> &inferred) {
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  int64_t members = membersOf(location, getOperationName(), adaptor.getGroups());
  int64_t split = adaptor.getSplitAxis(), concat = adaptor.getConcatAxis();
  if (!members)
    return failure();
  if (!isDimension(split, operand) || !isDimension(concat, operand))
    return fail(location, getOperationName(), "split_axis is ", split, ", concat_axis is ", concat,
                ", expected dimensions of ", operand, " (C2)");
  std::optional<SmallVector<int64_t>> shape = divided(operand.getShape(), split, members);
  if (!shape)
    return fail(location, getOperationName(), "dimension ", split, " of ", operand, " can't be divided among ", members,
                " members (C3)");
  (*shape)[concat] = scaled((*shape)[concat], members);
  inferred.push_back(operand.clone(*shape));
  return success();
}

LogicalResult CollectivePermuteOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                                    SmallVectorImpl<Type> &inferred) {
  int64_t members = membersOf(location, getOperationName(), adaptor.getGroups());
  if (!members)
    return failure();
  ArrayRef<int64_t> pairs = adaptor.getPairs();
  if (pairs.size() % 2 != 0 || llvm::any_of(pairs, [&](int64_t place) { return place < 0 || place >= members; }))
    return fail(location, getOperationName(), "pairs are ", listed(pairs), ", expected pairs of places below ", members,
                " (C2)");
  llvm::SmallSet<int64_t, 16> receivers;
  for (size_t i = 1; i < pairs.size(); i += 2)
    if (!receivers.insert(pairs[i]).second)
      return fail(location, getOperationName(), "pairs are ", listed(pairs), ", in which ", pairs[i],
                  " receives twice (C3)");
  inferred.push_back(adaptor.getOperand().getType());
  return success();
}
