// The library routine of cumsum, cumprod, cummax, cummin and cumlogsumexp: running results along one dimension. One
// result waits for the one before it, so several lines are computed in turns. If the dimension is not the innermost,
// these are adjacent lines. A long line is divided into parts, each of which starts from the result of all before it.
// The parts depend only on the length, so the results do not depend on the threads.
#include "CumulativeOperations.h"
#include "Rows.h"
#include "runtime/Accumulations.h"
#include "support/LibraryCalls.h"

#include <algorithm>
#include <new>
#include <type_traits>
#include <vector>

using namespace pcrt;
using namespace pcrt::cumulative;

namespace {

/// All lines along the middle one of the dimensions [outer, length, inner].
template <typename T, typename Operation> class Lines {
public:
  Lines(const PcrtTensor &input, const PcrtTensor &output, int64_t axis, bool reverse)
      : source(static_cast<const T *>(input.data)), target(static_cast<T *>(output.data)), length(input.dims[axis]) {
    for (int64_t i = 0; i < axis; ++i)
      outer *= input.dims[i];
    for (int64_t i = axis + 1; i < input.rank; ++i)
      inner *= input.dims[i];
    step = reverse ? -inner : inner;
    first = reverse ? (length - 1) * inner : 0;
  }

  int32_t run(const PcrtFrame *frame) const {
    if (length == 0 || outer == 0 || inner == 0)
      return PCRT_OK;
    if (inner > 1)
      return runAdjacent(frame);
    // Parts cost a second pass. They are for threads that have no lines to share.
    if constexpr (Operation::isCheap)
      if (length >= 2 * block && outer < 2 * chains && outer * length >= leastShared)
        return runParts(frame);
    return runLines(frame);
  }

private:
  using Running = typename Operation::Running;
  /// Adjacent lines that are computed together.
  static constexpr int64_t width = 64;
  /// Lines, or parts of a line, that are computed in turns.
  static constexpr int64_t chains = 8;
  /// The elements of a part, and of the parts that are computed in turns.
  static constexpr int64_t part = 512, block = chains * part;
  static constexpr int64_t leastShared = int64_t(1) << 16;

  int64_t startOf(int64_t line) const { return line * length + first; }

  /// Begins with the first element itself, or continues from the result before it.
  Running begin(int64_t at, const Running *before) const {
    return before ? Operation::next(*before, source[at]) : static_cast<Running>(source[at]);
  }

  /// `count` (at most `chains`) runs of `steps` elements, which begin at `starts`; each continues from its `before`.
  [[gnu::noinline]] void inTurns(const int64_t *starts, int64_t count, int64_t steps,
                                 const Running *const *before) const {
    Running running[chains];
    for (int64_t c = 0; c < count; ++c) {
      running[c] = begin(starts[c], before[c]);
      target[starts[c]] = before[c] ? static_cast<T>(running[c]) : source[starts[c]];
    }
    int64_t c = 0;
    for (; c + 8 <= count; c += 8)
      goOn<8>(starts + c, steps, running + c);
    for (; c + 4 <= count; c += 4)
      goOn<4>(starts + c, steps, running + c);
    for (; c < count; ++c)
      goOnAlone(starts[c], steps, running[c]);
  }

  template <int64_t together> void goOn(const int64_t *starts, int64_t steps, const Running *first) const {
    Running running[together];
    std::copy_n(first, together, running);
    for (int64_t i = 1; i < steps; ++i)
      for (int64_t c = 0; c < together; ++c) {
        int64_t at = starts[c] + i * step;
        running[c] = Operation::next(running[c], source[at]);
        target[at] = static_cast<T>(running[c]);
      }
  }

  void goOnAlone(int64_t at, int64_t steps, Running running) const {
    for (int64_t i = 1; i < steps; ++i) {
      at += step;
      running = Operation::next(running, source[at]);
      target[at] = static_cast<T>(running);
    }
  }

  int32_t runLines(const PcrtFrame *frame) const {
    double ns = static_cast<double>(chains * length);
    return library::overPieces(frame, (outer + chains - 1) / chains, ns, [&](int64_t piece) {
      int64_t starts[chains] = {}, low = piece * chains, count = std::min(chains, outer - low);
      const Running *before[chains] = {};
      for (int64_t c = 0; c < count; ++c)
        starts[c] = startOf(low + c);
      inTurns(starts, count, length, before);
    });
  }

  /// The combination of a part. Its elements are in vectors: a chain of them would take as long as the results.
  [[gnu::noinline]] Running totalOf(int64_t start) const {
    constexpr int64_t lanes = 8;
    static_assert(part % lanes == 0);
    const T *from = source + (step > 0 ? start : start - (part - 1));
    Running totals[lanes];
    for (int64_t lane = 0; lane < lanes; ++lane)
      totals[lane] = static_cast<Running>(from[lane]);
    for (int64_t i = lanes; i < part; i += lanes)
      for (int64_t lane = 0; lane < lanes; ++lane)
        totals[lane] = Operation::next(totals[lane], from[i + lane]);
    for (int64_t half = lanes / 2; half > 0; half /= 2)
      for (int64_t lane = 0; lane < half; ++lane)
        totals[lane] = Operation::combine(totals[lane], totals[lane + half]);
    return totals[0];
  }

  /// The parts of all lines: their totals, the results before each of them, then their results.
  int32_t runParts(const PcrtFrame *frame) const {
    int64_t blocks = (length + block - 1) / block, parts = (length + part - 1) / part;
    std::vector<Running> totals(outer * parts);
    // No part waits for the last one.
    int32_t status = library::overPieces(frame, outer * blocks, block * .25, [&](int64_t piece) {
      int64_t line = piece / blocks, low = piece % blocks * chains, end = std::min(low + chains, parts - 1);
      for (int64_t at = low; at < end; ++at)
        totals[line * parts + at] = totalOf(startOf(line) + at * part * step);
    });
    if (status != PCRT_OK)
      return status;
    for (int64_t line = 0; line < outer; ++line)
      for (Running *total = totals.data() + line * parts, *end = total + parts; ++total < end;)
        *total = Operation::combine(total[-1], *total);
    return library::overPieces(frame, outer * blocks, block, [&](int64_t piece) {
      int64_t line = piece / blocks, low = piece % blocks * chains, count = std::min(chains, parts - low);
      const Running *ofLine = totals.data() + line * parts;
      int64_t starts[chains] = {};
      const Running *before[chains] = {};
      for (int64_t c = 0; c < count; ++c) {
        starts[c] = startOf(line) + (low + c) * part * step;
        before[c] = low + c > 0 ? ofLine + low + c - 1 : nullptr;
      }
      // The last part of a line may be shorter.
      int64_t whole = (low + count) * part > length ? count - 1 : count;
      inTurns(starts, whole, part, before);
      if (whole < count)
        inTurns(starts + whole, 1, length - (parts - 1) * part, before + whole);
    });
  }

  int32_t runAdjacent(const PcrtFrame *frame) const {
    int64_t groups = (inner + width - 1) / width;
    double ns = static_cast<double>(length * std::min(width, inner)) * (Operation::isCheap ? .2 : 10);
    return library::overPieces(frame, outer * groups, ns, [&](int64_t piece) {
      int64_t lane = piece % groups * width;
      runMany(piece / groups * length * inner + first + lane, std::min(width, inner - lane));
    });
  }

  void runMany(int64_t at, int64_t lanes) const {
    Running running[width];
    for (int64_t lane = 0; lane < lanes; ++lane) {
      running[lane] = static_cast<Running>(source[at + lane]);
      target[at + lane] = source[at + lane];
    }
    for (int64_t i = 1; i < length; ++i) {
      at += step;
      const T *__restrict from = source + at;
      T *__restrict to = target + at;
      for (int64_t lane = 0; lane < lanes; ++lane) {
        running[lane] = Operation::next(running[lane], from[lane]);
        to[lane] = static_cast<T>(running[lane]);
      }
    }
  }

  const T *source;
  T *target;
  int64_t length, outer = 1, inner = 1, step = 1, first = 0;
};

/// Sums and products of integers wrap: signed ones have the bits of the unsigned, and their code.
template <Accumulation accumulation, typename T,
          bool wraps =
              std::is_integral_v<T> && (accumulation == Accumulation::Sum || accumulation == Accumulation::Product)>
struct ElementOf {
  using Type = T;
};
template <Accumulation accumulation, typename T> struct ElementOf<accumulation, T, true> {
  using Type = std::make_unsigned_t<T>;
};

} // namespace

int32_t library::cumulative(const PcrtFrame *frame, const PcrtTensor *inputs, int32_t inputCount,
                            const PcrtTensor *outputs, int32_t outputCount, const int64_t *params) {
  if (inputCount != 1 || outputCount != 1 || inputs[0].dtype != outputs[0].dtype || params[1] < 0 ||
      params[1] >= inputs[0].rank || !sameDims(inputs[0], outputs[0]))
    return PCRT_INVALID_ARGUMENT;
  bool isKnown = true;
  int32_t status = PCRT_OK;
  auto lines = [&](auto element, auto operation) {
    using T = decltype(element);
    using Operation = decltype(operation);
    if constexpr (std::is_integral_v<T> && std::is_floating_point_v<typename Operation::Running>)
      isKnown = false;
    else
      status = Lines<T, Operation>(inputs[0], outputs[0], params[1], params[2] != 0).run(frame);
  };
  auto run = [&](auto element) {
    using T = decltype(element);
    switch (static_cast<Accumulation>(params[0])) {
#define PCRT_ROW(Name, name)                                                                                           \
  case Accumulation::Name: {                                                                                           \
    using Element = typename ElementOf<Accumulation::Name, T>::Type;                                                   \
    return lines(Element(), cumulative::Name<Element>());                                                              \
  }
      PCRT_ACCUMULATIONS(PCRT_ROW)
#undef PCRT_ROW
    default:
      isKnown = false;
    }
  };
  auto runComplex = [&](auto element) {
    using T = decltype(element);
    if (auto accumulation = static_cast<Accumulation>(params[0]); accumulation == Accumulation::Sum)
      lines(T(), Sum<T>());
    else if (accumulation == Accumulation::Product)
      lines(T(), Product<T>());
    else
      isKnown = false;
  };
  try {
    if (inputs[0].dtype == PCRT_DTYPE_Complex64)
      runComplex(std::complex<float>());
    else if (inputs[0].dtype == PCRT_DTYPE_Complex128)
      runComplex(std::complex<double>());
    else
      isKnown &= withElement(inputs[0].dtype, run);
  } catch (const std::bad_alloc &) {
    return PCRT_OUT_OF_MEMORY;
  }
  return isKnown ? status : PCRT_INVALID_ARGUMENT;
}
