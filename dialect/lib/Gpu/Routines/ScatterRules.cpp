// The launches of scatters (dialect/device/Scatter.cpp), by the properties of their updates. Every rule's result is the
// same in each run.
#include "ScatterRules.h"
#include "SortWords.h"

#include "llvm/Support/MathExtras.h"

namespace mlir::array {

namespace {

constexpr int64_t kThreads = 256;
/// Updates that a thread processes sequentially in about the time of a few launches: a microsecond each.
constexpr int64_t kFewPositions = 8;
/// Bytes of shared memory in which a block counts, minimum updates for each row so that counting saves accesses to the
/// target, and updates of one of its threads.
constexpr int64_t kCountedBytes = 32 * 1024, kCountedPerRow = 8, kCountedPerThread = 16;
/// Updates that a thread sums up. Each piece leaves two updates, so a launch for pieces pays from a few times that
/// number on.
constexpr int64_t kPiece = 32;

bool isSet(const ScatterOnBuffers &scatter) { return scatter.kind == "set"; }

/// Whether the result does not depend on the order of updates.
bool isExact(const ScatterOnBuffers &scatter) {
  bool isExtremum = scatter.kind == "min" || scatter.kind == "max";
  return !isSet(scatter) && (isExtremum || isa<IntegerType>(scatter.element));
}

/// Entries that move elements are named by the elements' bytes, and computing entries by kind and type.
std::string entryName(StringRef how, const ScatterOnBuffers &scatter) {
  std::string end = isSet(scatter) ? std::to_string(elementBytes(scatter.element)) : elementName(scatter.element);
  return ("scatter_" + how + "_" + scatter.kind + "_" + end).str();
}

/// A thread for each element of the updates.
void launchElements(DeviceLauncher &launcher, StringRef how, const ScatterOnBuffers &scatter) {
  int64_t count = scatter.positions * scatter.width;
  launcher.launch(
      entryName(how, scatter), blocksFor(count, kThreads), kThreads,
      {scatter.keys, scatter.updates, scatter.target, launcher.number(scatter.width), launcher.number(count)});
}

bool isUnique(const ScatterOnBuffers &scatter) { return scatter.isUnique; }
void launchUnique(DeviceLauncher &launcher, const ScatterOnBuffers &scatter) {
  launchElements(launcher, "unique", scatter);
}

bool isCounted(const ScatterOnBuffers &scatter) {
  int64_t bytes = elementBytes(scatter.element);
  return scatter.kind == "add" && isa<IntegerType>(scatter.element) && bytes >= 4 && scatter.width == 1 &&
         scatter.rows * bytes <= kCountedBytes && scatter.positions / kCountedPerRow >= scatter.rows;
}
void launchCounts(DeviceLauncher &launcher, const ScatterOnBuffers &scatter) {
  launcher.launch("scatter_count_" + elementName(scatter.element),
                  blocksFor(scatter.positions, kThreads * kCountedPerThread), kThreads,
                  {scatter.keys, scatter.updates, scatter.target, launcher.number(scatter.rows),
                   launcher.number(scatter.positions)},
                  scatter.rows * elementBytes(scatter.element));
}

void launchAtomics(DeviceLauncher &launcher, const ScatterOnBuffers &scatter) {
  launchElements(launcher, "atomic", scatter);
}

bool isFew(const ScatterOnBuffers &scatter) { return scatter.positions <= kFewPositions; }
void launchInOrder(DeviceLauncher &launcher, const ScatterOnBuffers &scatter) {
  launcher.launch(entryName("in_order", scatter), blocksFor(scatter.width, kThreads), kThreads,
                  {scatter.keys, scatter.updates, scatter.target, launcher.number(scatter.width),
                   launcher.number(scatter.positions)});
}

void launchClaims(DeviceLauncher &launcher, const ScatterOnBuffers &scatter) {
  Value claims = launcher.scratch(scatter.rows * sizeof(int32_t)), positions = launcher.number(scatter.positions);
  for (StringRef entry : {"scatter_forget", "scatter_claim"})
    launcher.launch(entry, blocksFor(scatter.positions, kThreads), kThreads, {scatter.keys, claims, positions});
  int64_t count = scatter.positions * scatter.width;
  launcher.launch(
      "scatter_store_" + std::to_string(elementBytes(scatter.element)), blocksFor(count, kThreads), kThreads,
      {scatter.keys, claims, scatter.updates, scatter.target, launcher.number(scatter.width), launcher.number(count)});
}

bool always(const ScatterOnBuffers &) { return true; }
void launchRuns(DeviceLauncher &launcher, const ScatterOnBuffers &scatter) {
  AxisSizes line({scatter.positions}, 0);
  SortWords words(launcher, line);
  words.take(scatter.keys, launcher.builder().getI64Type(), /*isFirst=*/true, /*isDescending=*/false);
  if (!scatter.isGrouped)
    words.sort();
  int64_t valueBytes = std::max<int64_t>(elementBytes(scatter.element), sizeof(float));
  SmallVector<Value> from = {words.getKeys(), words.getPositions(), scatter.updates};
  StringRef how = "first_runs";
  for (int64_t places = scatter.positions;;) {
    int64_t pieces = llvm::divideCeil(places, kPiece), left = 2 * pieces;
    Value nextKeys = launcher.scratch(left * sizeof(int64_t));
    Value nextValues = launcher.scratch(left * scatter.width * valueBytes);
    SmallVector<Value> operands = from;
    operands.append({scatter.target, nextKeys, nextValues, launcher.number(scatter.width), launcher.number(places),
                     launcher.number(kPiece)});
    launcher.launch(entryName(how, scatter), blocksFor(pieces * scatter.width, kThreads), kThreads, operands);
    if (pieces == 1)
      return;
    from = {nextKeys, nextValues};
    how = "next_runs";
    places = left;
  }
}

} // namespace

const ScatterRule &ruleFor(const ScatterOnBuffers &scatter) {
  static constexpr ScatterRule rules[] = {
      {isUnique, launchUnique},  // stores
      {isCounted, launchCounts}, // atomics in shared memory
      {isExact, launchAtomics},  // atomics
      {isFew, launchInOrder},    // one update after the other, by a thread for each column of the window
      {isSet, launchClaims},     // the last update of a row finds its own claim
      {always, launchRuns},      // sorted, then summed up in pieces
  };
  return *llvm::find_if(rules, [&](const ScatterRule &rule) { return rule.holds(scatter); });
}

} // namespace mlir::array
