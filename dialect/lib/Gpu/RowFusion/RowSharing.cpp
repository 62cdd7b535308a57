// Chooses the division of rows among threads (RowSharing.h). The choice depends on sizes alone: results are the same on
// every GPU.
#include "RowSharing.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"
#include <map>

namespace mlir::array {

/// Threads that share a row, and the registers (32-bit words) of each that hold elements of it. A multiprocessor has
/// 65536 registers, which is 64 for each thread of a block of 1024. The first sufficient entry is taken; lanes of a
/// warp without a group take other rows.
namespace {
struct Sharing {
  int64_t threads, words;
};
} // namespace
static constexpr Sharing kSharings[] = {{32, 64}, {64, 48}, {128, 48}, {256, 48}, {512, 40}, {1024, 28}};
/// Threads for a row that is too long for registers, and of a block whose warps have separate rows.
static constexpr int64_t kLongThreads = 512, kWarpsThreads = 128;
/// Maximum elements that a thread holds, and maximum operations on all of them, which are unrolled.
static constexpr int64_t kMostHeld = 32, kMostOperations = 8192;
/// The approximate number of operations that a math function expands to.
static constexpr int64_t kMathOperations = 16;
static constexpr int64_t kWidestBits = 128;

static int64_t operationsOf(const RowMember &member) {
  int64_t count = 0;
  linalg::LinalgOp op = member.op;
  for (Operation &inner : op.getBlock()->without_terminator())
    count += isa<math::MathDialect>(inner.getDialect()) ? kMathOperations : 1;
  return count;
}

static int64_t wordsOf(const Access &access) {
  return access.element.isIntOrFloat() ? llvm::divideCeil(access.element.getIntOrFloatBitWidth(), 32) : 2;
}

/// The number of elements in 16 bytes of the widest type in memory; fewer if rows are not multiples of it.
static int64_t chooseLanes(const GpuRowFusion &fusion) {
  SmallVector<const Access *> accesses;
  for (const RowLoad &load : fusion.loads)
    if (fusion.isOfElements(load))
      accesses.push_back(&fusion.accessOf(load));
  for (auto [member, output] : fusion.stores)
    if (!fusion.members[member].storesRows)
      accesses.push_back(&fusion.members[member].output(output));
  llvm::erase_if(accesses, [](const Access *access) { return !hasWholeBytes(access->element); });
  int64_t bits = 8;
  for (const Access *access : accesses)
    bits = std::max<int64_t>(bits, access->element.getIntOrFloatBitWidth());
  int64_t most = kWidestBits % bits == 0 ? kWidestBits / bits : 1;
  auto fits = [&](int64_t lanes) {
    return llvm::all_of(fusion.members,
                        [&](const RowMember &member) {
                          return member.columnDims() == 0 || member.space().dims.back().size.factor % lanes == 0;
                        }) &&
           llvm::all_of(accesses, [&](const Access *access) {
             return isWide(*access, static_cast<unsigned>(access->strides.size()) - 1, lanes);
           });
  };
  if (accesses.empty())
    return 1;
  while (most > 1 && !fits(most))
    most /= 2;
  return most;
}

/// The maximum registers for an element's values: between two phases, or when all is loaded.
static int64_t countWords(const GpuRowFusion &fusion, unsigned lastPhase) {
  ArrayRef<RowMember> members = fusion.members;
  constexpr unsigned never = std::numeric_limits<unsigned>::max();
  struct Life {
    unsigned first = never, last = 0;
    int64_t words = 0;
  };
  SmallVector<Life> ofLoads(fusion.loads.size());
  std::map<std::pair<unsigned, unsigned>, Life> computed;
  for (auto [member, output] : fusion.stores)
    if (!members[member].storesRows)
      computed[{member, output}] = {lastPhase, lastPhase, wordsOf(members[member].output(output))};
  for (unsigned number = static_cast<unsigned>(members.size()); number-- > 0;) {
    const RowMember &member = members[number];
    unsigned use = member.isReduction() ? member.phase : never;
    for (unsigned output = 0; output < member.space().outputs().size() && !member.storesRows; ++output)
      if (auto life = computed.find({number, output}); life != computed.end())
        use = std::min(use, life->second.first);
    if (use == never)
      continue;
    for (const Source &source : member.sources) {
      if (source.kind == Source::Memory && fusion.isOfElements(fusion.loads[source.number])) {
        Life &life = ofLoads[source.number];
        life = {0, std::max(life.last, use), wordsOf(fusion.accessOf(fusion.loads[source.number]))};
      } else if (source.kind == Source::Computed && !members[source.number].storesRows) {
        Life &life = computed[{source.number, source.output}];
        life = {std::min(life.first, use), std::max(life.last, use),
                wordsOf(members[source.number].output(source.output))};
      }
    }
  }
  int64_t most = 0;
  for (const Life &life : ofLoads)
    most += life.words;
  most = std::max<int64_t>(most, 1);
  for (unsigned phase = 0; phase < lastPhase; ++phase) {
    int64_t words = 0;
    for (const Life &life : ofLoads)
      words += life.last > phase ? life.words : 0;
    for (const auto &[key, life] : computed)
      words += life.first <= phase && life.last > phase ? life.words : 0;
    most = std::max(most, words);
  }
  return most;
}

RowSharing::RowSharing(const GpuRowFusion &fusion)
    : lanes(chooseLanes(fusion)), groups(fusion.columns / lanes), threads(kLongThreads), operations(0), phases(0) {
  for (const RowMember &member : fusion.members) {
    phases = std::max(phases, member.readyPhase());
    operations += member.storesRows && !member.isReduction() ? 0 : operationsOf(member);
  }
  int64_t words = countWords(fusion, phases);
  for (auto [sharers, room] : kSharings) {
    int64_t elements = llvm::divideCeil(groups, sharers) * lanes;
    if (elements > kMostHeld || elements * words > room || elements * operations > kMostOperations)
      continue;
    threads = std::min<int64_t>(sharers, llvm::PowerOf2Ceil(groups));
    held = llvm::divideCeil(groups, threads);
    break;
  }
  if (threads <= kWarpSize)
    rows = std::min<int64_t>(kWarpsThreads / threads,
                             std::max<int64_t>(llvm::PowerOf2Ceil(fusion.rows), kWarpSize / threads));
}

} // namespace mlir::array
