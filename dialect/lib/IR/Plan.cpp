// The verification of plans (Plan.h). The verifiers of the ops that have plans call it, and so do the passes on the
// linalg ops that follow, because a linalg op has a different verifier.
#include "array/IR/Plan.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"

namespace mlir::array {

namespace {

struct NumberKey {
  StringLiteral name;
  int64_t least, most;
};

/// The limits. Larger numbers would only need memory.
constexpr NumberKey numbers[] = {{"columns", 16, 1 << 16},   {"depth", 16, 1 << 16}, {"rows", 1, 1 << 16},
                                 {"slab", 1 << 10, 1 << 26}, {"tile_rows", 1, 16},   {"tile_vectors", 1, 4}};

/// The number of vectors is limited by the registers of the widest machine, minus those for factors.
constexpr int64_t mostAccumulators = 30;

struct WordKey {
  StringLiteral name;
  ArrayRef<StringLiteral> words;
};

constexpr StringLiteral strategies[] = {"dot2", "loops", "stream", "tiles"},
                        packings[] = {"copied", "in-place", "once"};
const WordKey words[] = {{"packing", packings}, {"strategy", strategies}};

LogicalResult verifyEntry(Operation *op, NamedAttribute entry) {
  StringRef name = entry.getName();
  for (const NumberKey &key : numbers) {
    if (name != key.name)
      continue;
    auto number = dyn_cast<IntegerAttr>(entry.getValue());
    if (number && number.getType().isSignlessInteger(64) && number.getInt() >= key.least && number.getInt() <= key.most)
      return success();
    return op->emitOpError("array.plan: '")
           << name << "' must be an i64 from " << key.least << " to " << key.most << ", got " << entry.getValue();
  }
  for (const WordKey &key : words) {
    if (name != key.name)
      continue;
    auto word = dyn_cast<StringAttr>(entry.getValue());
    if (word && llvm::is_contained(key.words, word.getValue()))
      return success();
    InFlightDiagnostic error = op->emitOpError("array.plan: '") << name << "' must be ";
    llvm::interleave(key.words, [&](StringRef allowed) { error << '"' << allowed << '"'; }, [&] { error << " or "; });
    return error << ", got " << entry.getValue();
  }
  InFlightDiagnostic error = op->emitOpError("array.plan: there is no '") << name << "'; a plan has ";
  SmallVector<StringRef> known;
  for (const NumberKey &key : numbers)
    known.push_back(key.name);
  for (const WordKey &key : words)
    known.push_back(key.name);
  llvm::interleaveComma(known, error);
  return error;
}

} // namespace

LogicalResult verifyPlan(Operation *op) {
  Attribute attribute = op->getDiscardableAttr(kPlanAttr);
  if (!attribute)
    return success();
  auto plan = dyn_cast<DictionaryAttr>(attribute);
  if (!plan)
    return op->emitOpError("array.plan must be a dictionary, got ") << attribute;
  for (NamedAttribute entry : plan)
    if (failed(verifyEntry(op, entry)))
      return failure();
  int64_t accumulators = planned(op, "tile_rows", 1) * planned(op, "tile_vectors", 1);
  if (accumulators > mostAccumulators)
    return op->emitOpError("array.plan: a tile of ")
           << accumulators << " vectors has no place in registers; 'tile_rows' times 'tile_vectors' is at most "
           << mostAccumulators;
  return success();
}

template <typename Kind> static Kind find(Operation *op, StringRef key) {
  auto plan = op->getAttrOfType<DictionaryAttr>(kPlanAttr);
  return plan ? plan.getAs<Kind>(key) : Kind();
}

int64_t planned(Operation *op, StringRef key, int64_t otherwise) {
  auto number = find<IntegerAttr>(op, key);
  return number ? number.getInt() : otherwise;
}

StringRef planned(Operation *op, StringRef key, StringRef otherwise) {
  auto word = find<StringAttr>(op, key);
  return word ? word.getValue() : otherwise;
}

void handOnPlan(Operation *from, Operation *to) {
  if (Attribute plan = from->getDiscardableAttr(kPlanAttr))
    to->setDiscardableAttr(kPlanAttr, plan);
}

} // namespace mlir::array
