// The routine `cumulative` as launches (dialect/device/Cumulative.cpp).
#include "RoutineLauncher.h"
#include "runtime/Accumulations.h"

#include "llvm/Support/MathExtras.h"

namespace mlir::array {

namespace {

constexpr int64_t kThreads = 256, kWarp = 32;
/// Elements of a round for each thread.
constexpr int64_t kItems = 4;
/// The maximum length of a line for one thread; or the minimum number of lines, of which so many are neighbours.
constexpr int64_t kShortLine = 64, kManyLines = 1 << 15, kNeighbours = 32;
/// About as many chunks fill a large GPU. One block scans the totals of a line, which takes 2 us for 256 chunks: with
/// chunks of one round it took half of the time of a long line.
constexpr int64_t kChunks = 4096;

/// Bytes for the numbers of the chunks; enough for all their types.
constexpr int64_t kTotalBytes = 16;

#define PCRT_ROW(Name, name) #name,
constexpr StringLiteral operations[] = {PCRT_ACCUMULATIONS(PCRT_ROW)};
#undef PCRT_ROW

struct Scan {
  int64_t lines, threads, rounds, chunks;

  explicit Scan(const AxisSizes &sizes)
      : lines(sizes.outer * sizes.inner),
        threads(std::clamp<int64_t>(llvm::PowerOf2Ceil(llvm::divideCeil(sizes.length, kItems)), kWarp, kThreads)),
        rounds(std::clamp<int64_t>(lines * sizes.length / (threads * kItems * kChunks), 1,
                                   std::max<int64_t>(1, llvm::divideCeil(sizes.length, threads * kItems)))),
        chunks(llvm::divideCeil(sizes.length, threads * kItems * rounds)),
        hasThreadForLine(sizes.length <= kShortLine || (lines >= kManyLines && sizes.inner >= kNeighbours)) {}
  bool hasThreadForLine;
};

LogicalResult mapCumulative(RoutineLauncher &launcher) {
  launchCumulative(launcher, operations[launcher.param(0)], launcher.element(0), launcher.input(0), launcher.output(0),
                   AxisSizes(launcher.inputType(0).getShape(), launcher.param(1)), launcher.param(2) != 0);
  return success();
}

} // namespace

void launchCumulative(DeviceLauncher &launcher, StringRef operation, Type element, Value source, Value target,
                      const AxisSizes &sizes, bool isReverse) {
  Scan scan(sizes);
  auto entry = [&](StringRef part) {
    return ("cumulative_" + part + "_" + operation + "_" + elementName(element)).str();
  };
  Value length = launcher.number(sizes.length), inner = launcher.number(sizes.inner),
        reverse = launcher.number(isReverse);
  if (scan.hasThreadForLine) {
    int64_t lines = sizes.length == 0 ? 0 : scan.lines;
    launcher.launch(entry("lines"), blocksFor(lines, kThreads), kThreads,
                    {source, target, length, inner, launcher.number(lines), reverse});
    return;
  }
  Value totals = launcher.scratch(scan.lines * scan.chunks * kTotalBytes), chunks = launcher.number(scan.chunks),
        rounds = launcher.number(scan.rounds), items = launcher.number(kItems);
  int64_t blocks = scan.lines * scan.chunks, shared = scan.threads * kTotalBytes;
  launcher.launch(entry("totals"), blocks, scan.threads,
                  {source, totals, length, inner, chunks, rounds, items, reverse}, shared);
  launcher.launch(entry("prefixes"), scan.lines, scan.threads, {totals, chunks}, shared);
  launcher.launch(entry("results"), blocks, scan.threads,
                  {source, target, totals, length, inner, chunks, rounds, items, reverse}, shared);
}

ArrayRef<Routine> cumulativeRoutines() {
  static constexpr Routine rows[] = {
      {"cumulative", mapCumulative},
  };
  return rows;
}

} // namespace mlir::array
