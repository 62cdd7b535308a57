// The routine `cumulative` as launches (dialect/device/Cumulative.cpp).
#include "RoutineLauncher.h"
#include "runtime/Accumulations.h"

#include "llvm/Support/MathExtras.h"

namespace mlir::array {

namespace {

constexpr int64_t kThreads = 256;
/// Elements of a chunk for each thread.
constexpr int64_t kItems = 4;
/// The maximum length of a line, and the minimum number of lines, for one thread each.
constexpr int64_t kShortLine = 64, kManyLines = 1 << 15;

/// Bytes for the numbers of the chunks; enough for all their types.
constexpr int64_t kTotalBytes = 16;

#define PCRT_ROW(Name, name) #name,
constexpr StringLiteral operations[] = {PCRT_ACCUMULATIONS(PCRT_ROW)};
#undef PCRT_ROW

struct Scan {
  AxisSizes sizes;
  int64_t lines, chunks;

  explicit Scan(RoutineLauncher &launcher)
      : sizes(launcher.inputType(0).getShape(), launcher.param(1)), lines(sizes.outer * sizes.inner),
        chunks(llvm::divideCeil(sizes.length, kThreads * kItems)) {}
  bool hasThreadForLine() const { return sizes.length <= kShortLine || lines >= kManyLines; }
};

LogicalResult mapCumulative(RoutineLauncher &launcher) {
  Scan scan(launcher);
  auto entry = [&](StringRef part) {
    return ("cumulative_" + part + "_" + operations[launcher.param(0)] + "_" + elementName(launcher.element(0))).str();
  };
  Value source = launcher.input(0), target = launcher.output(0), length = launcher.number(scan.sizes.length),
        inner = launcher.number(scan.sizes.inner), reverse = launcher.number(launcher.param(2));
  if (scan.hasThreadForLine()) {
    int64_t lines = scan.sizes.length == 0 ? 0 : scan.lines;
    launcher.launch(entry("lines"), blocksFor(lines, kThreads), kThreads,
                    {source, target, length, inner, launcher.number(lines), reverse});
    return success();
  }
  Value totals = launcher.scratch(scan.lines * scan.chunks * kTotalBytes), chunks = launcher.number(scan.chunks),
        items = launcher.number(kItems);
  int64_t blocks = scan.lines * scan.chunks, shared = kThreads * kTotalBytes;
  launcher.launch(entry("totals"), blocks, kThreads, {source, totals, length, inner, chunks, items, reverse}, shared);
  launcher.launch(entry("prefixes"), scan.lines, kThreads, {totals, chunks}, shared);
  launcher.launch(entry("results"), blocks, kThreads, {source, target, totals, length, inner, chunks, items, reverse},
                  shared);
  return success();
}

} // namespace

ArrayRef<Routine> cumulativeRoutines() {
  static constexpr Routine rows[] = {
      {"cumulative", mapCumulative},
  };
  return rows;
}

} // namespace mlir::array
