// The library routine of cumsum, cumprod, cummax, cummin and cumlogsumexp: running results along one dimension. Each
// line is computed from its first element to its last, so the results depend on the elements alone. If the dimension is
// not the innermost, adjacent lines are computed together.
#include "CumulativeOperations.h"
#include "Rows.h"
#include "runtime/Accumulations.h"
#include "support/LibraryCalls.h"

#include <algorithm>

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

  void run() const {
    if (length == 0)
      return;
    for (int64_t i = 0; i < outer; ++i) {
      int64_t start = i * length * inner + first;
      if (inner == 1)
        runOne(start);
      for (int64_t lane = 0; inner > 1 && lane < inner; lane += width)
        runMany(start + lane, std::min(width, inner - lane));
    }
  }

private:
  using Running = typename Operation::Running;
  static constexpr int64_t width = 64;

  void runOne(int64_t at) const {
    auto running = static_cast<Running>(source[at]);
    target[at] = source[at];
    for (int64_t i = 1; i < length; ++i) {
      at += step;
      running = Operation::next(running, source[at]);
      target[at] = static_cast<T>(running);
    }
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

} // namespace

static int32_t cumulativeWhole(const PcrtFrame *, const PcrtTensor *inputs, int32_t inputCount,
                               const PcrtTensor *outputs, int32_t outputCount, const int64_t *params) {
  if (inputCount != 1 || outputCount != 1 || inputs[0].dtype != outputs[0].dtype || params[1] < 0 ||
      params[1] >= inputs[0].rank || !sameDims(inputs[0], outputs[0]))
    return PCRT_INVALID_ARGUMENT;
  bool isKnown = true;
  auto run = [&](auto element) {
    using T = decltype(element);
    auto lines = [&](auto operation) {
      Lines<T, decltype(operation)>(inputs[0], outputs[0], params[1], params[2] != 0).run();
    };
    switch (static_cast<Accumulation>(params[0])) {
#define PCRT_ROW(Name, name)                                                                                           \
  case Accumulation::Name:                                                                                             \
    return lines(cumulative::Name<T>());
      PCRT_ACCUMULATIONS(PCRT_ROW)
#undef PCRT_ROW
    default:
      isKnown = false;
    }
  };
  auto runComplex = [&](auto element) {
    using T = decltype(element);
    if (auto accumulation = static_cast<Accumulation>(params[0]); accumulation == Accumulation::Sum)
      Lines<T, Sum<T>>(inputs[0], outputs[0], params[1], params[2] != 0).run();
    else if (accumulation == Accumulation::Product)
      Lines<T, Product<T>>(inputs[0], outputs[0], params[1], params[2] != 0).run();
    else
      isKnown = false;
  };
  if (inputs[0].dtype == PCRT_DTYPE_Complex64)
    runComplex(std::complex<float>());
  else if (inputs[0].dtype == PCRT_DTYPE_Complex128)
    runComplex(std::complex<double>());
  else
    isKnown &= withElement(inputs[0].dtype, run);
  return isKnown ? PCRT_OK : PCRT_INVALID_ARGUMENT;
}

int32_t library::cumulative(const PcrtFrame *frame, const PcrtTensor *inputs, int32_t inputCount,
                            const PcrtTensor *outputs, int32_t outputCount, const int64_t *params) {
  return overRows(cumulativeWhole, params[1] != 0, 1, frame, inputs, inputCount, outputs, outputCount, params);
}
