// The library routines of reduce_window_* and of the derivatives of its extrema. A window is reduced one dimension
// after the other, the innermost first. This is exact for extrema, keeps the first of equal elements, and takes
// sum(sizes) instead of product(sizes) steps for each element. Padding and the gaps of dilation have no elements.
#include "WindowOperations.h"
#include "runtime/Accumulations.h"
#include "support/LibraryCalls.h"

#include <algorithm>
#include <new>
#include <vector>

using namespace pcrt;
using namespace pcrt::window;

namespace {

/// The step from `length` elements to `windows` windows in the middle of [outer, length, inner].
struct Step {
  int64_t outer = 1, length, windows, inner = 1;
  WindowDim dim;
};

/// The required steps, last dimension first. Dimensions before a step's have their original lengths, those after it
/// already their windows.
std::vector<Step> stepsOf(const PcrtTensor &operand, const int64_t *windows, const int64_t *params) {
  std::vector<Step> steps;
  int64_t inner = 1;
  for (int32_t d = operand.rank; d-- > 0;) {
    const int64_t *p = params + 5 * d;
    Step step{1, operand.dims[d], windows[d], inner, {p[0], p[1], p[2], p[3], p[4]}};
    for (int32_t i = 0; i < d; ++i)
      step.outer *= operand.dims[i];
    if (!step.dim.isTrivial() || step.length != step.windows)
      steps.push_back(step);
    inner *= windows[d];
  }
  return steps;
}

int64_t countOf(const PcrtTensor &tensor) {
  int64_t count = 1;
  for (int32_t d = 0; d < tensor.rank; ++d)
    count *= tensor.dims[d];
  return count;
}

template <typename Operation, typename Value>
void combineRow(Value *__restrict row, const Value *__restrict from, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    row[i] = Operation::combine(row[i], from[i]);
}

template <typename Operation, typename Value>
void reduceStep(const Step &step, const std::vector<Value> &from, std::vector<Value> &to) {
  to.assign(static_cast<size_t>(step.outer * step.windows * step.inner), Operation::neutral);
  const WindowDim &dim = step.dim;
  bool isContiguous = dim.stride == 1 && dim.baseDilation == 1;
  for (int64_t a = 0; a < step.outer; ++a) {
    const Value *source = from.data() + a * step.length * step.inner;
    Value *target = to.data() + a * step.windows * step.inner;
    if (isContiguous && step.inner < 16) {
      // Position k of all windows at once: a run of neighbours.
      for (int64_t k = 0; k < dim.size; ++k) {
        int64_t shift = k * dim.dilation - dim.low;
        int64_t begin = std::max<int64_t>(0, -shift), end = std::min(step.windows, step.length - shift);
        if (begin < end)
          combineRow<Operation>(target + begin * step.inner, source + (begin + shift) * step.inner,
                                (end - begin) * step.inner);
      }
      continue;
    }
    for (int64_t o = 0; o < step.windows; ++o)
      for (int64_t k = 0; k < dim.size; ++k)
        if (int64_t i = dim.source(o, k, step.length); i >= 0)
          combineRow<Operation>(target + o * step.inner, source + i * step.inner, step.inner);
  }
}

template <typename T, typename Operation>
void reduce(const PcrtTensor &operand, const PcrtTensor &result, const int64_t *params) {
  using Value = typename Operation::Value;
  const T *elements = static_cast<const T *>(operand.data);
  std::vector<Value> values(elements, elements + countOf(operand)), next;
  for (const Step &step : stepsOf(operand, result.dims, params)) {
    reduceStep<Operation>(step, values, next);
    values.swap(next);
  }
  std::transform(values.begin(), values.end(), static_cast<T *>(result.data),
                 [](Value value) { return static_cast<T>(value); });
}

/// The element of the operand that each window chooses: the first extremum, or -1 if a window has only padding.
template <typename T, bool isMax>
std::vector<int64_t> choose(const PcrtTensor &operand, const int64_t *windows, const int64_t *params) {
  using Value = Compared<T>;
  const T *elements = static_cast<const T *>(operand.data);
  std::vector<Value> values(elements, elements + countOf(operand)), nextValues;
  std::vector<int64_t> places(values.size()), nextPlaces;
  for (size_t i = 0; i < places.size(); ++i)
    places[i] = static_cast<int64_t>(i);
  for (const Step &step : stepsOf(operand, windows, params)) {
    auto count = static_cast<size_t>(step.outer * step.windows * step.inner);
    nextValues.assign(count, Value());
    nextPlaces.assign(count, -1);
    for (int64_t a = 0; a < step.outer; ++a)
      for (int64_t o = 0; o < step.windows; ++o)
        for (int64_t k = 0; k < step.dim.size; ++k) {
          int64_t i = step.dim.source(o, k, step.length);
          if (i < 0)
            continue;
          auto from = static_cast<size_t>((a * step.length + i) * step.inner);
          auto to = static_cast<size_t>((a * step.windows + o) * step.inner);
          for (int64_t j = 0; j < step.inner; ++j, ++from, ++to)
            if (places[from] >= 0 && (nextPlaces[to] < 0 || isBetter<isMax>(values[from], nextValues[to]))) {
              nextValues[to] = values[from];
              nextPlaces[to] = places[from];
            }
        }
    values.swap(nextValues);
    places.swap(nextPlaces);
  }
  return places;
}

template <typename T>
std::vector<int64_t> choose(const PcrtTensor &operand, const int64_t *windows, const int64_t *params) {
  return params[0] != 0 ? choose<T, true>(operand, windows, params + 1)
                        : choose<T, false>(operand, windows, params + 1);
}

/// Whether there is this number of operands, of one dtype and rank, and the number of windows does not overflow.
bool valid(const PcrtTensor *inputs, int32_t inputCount, const PcrtTensor *outputs, int32_t outputCount,
           int32_t expected, const int64_t *params) {
  if (inputCount != expected || outputCount != 1)
    return false;
  for (int32_t i = 0; i < inputCount; ++i)
    if (inputs[i].dtype != outputs[0].dtype || inputs[i].rank != outputs[0].rank)
      return false;
  for (int32_t d = 0; d < outputs[0].rank; ++d)
    if (const int64_t *p = params + 1 + 5 * d; p[0] < 1 || p[1] < 1 || p[3] < 1 || p[4] < 1)
      return false;
  return true;
}

} // namespace

int32_t library::reduce_window(const PcrtFrame *, const PcrtTensor *inputs, int32_t inputCount,
                               const PcrtTensor *outputs, int32_t outputCount, const int64_t *params) {
  if (!valid(inputs, inputCount, outputs, outputCount, 1, params))
    return PCRT_INVALID_ARGUMENT;
  bool isKnown = true;
  auto run = [&](auto element) {
    using T = decltype(element);
    switch (static_cast<Accumulation>(params[0])) {
#define PCRT_ROW(Name, name)                                                                                           \
  case Accumulation::Name:                                                                                             \
    return reduce<T, window::Name<T>>(inputs[0], outputs[0], params + 1);
      PCRT_WINDOW_ACCUMULATIONS(PCRT_ROW)
#undef PCRT_ROW
    default:
      isKnown = false;
    }
  };
  try {
    return withElement(inputs[0].dtype, run) && isKnown ? PCRT_OK : PCRT_INVALID_ARGUMENT;
  } catch (const std::bad_alloc &) {
    return PCRT_OUT_OF_MEMORY;
  }
}

int32_t library::select_and_gather(const PcrtFrame *, const PcrtTensor *inputs, int32_t inputCount,
                                   const PcrtTensor *outputs, int32_t outputCount, const int64_t *params) {
  if (!valid(inputs, inputCount, outputs, outputCount, 2, params) || !sameDims(inputs[0], inputs[1]))
    return PCRT_INVALID_ARGUMENT;
  auto run = [&](auto element) {
    using T = decltype(element);
    std::vector<int64_t> places = choose<T>(inputs[1], outputs[0].dims, params);
    const T *source = static_cast<const T *>(inputs[0].data);
    T *result = static_cast<T *>(outputs[0].data);
    for (size_t i = 0; i < places.size(); ++i)
      result[i] = places[i] < 0 ? T(0) : source[places[i]];
  };
  try {
    return withElement(inputs[0].dtype, run) ? PCRT_OK : PCRT_INVALID_ARGUMENT;
  } catch (const std::bad_alloc &) {
    return PCRT_OUT_OF_MEMORY;
  }
}

int32_t library::select_and_scatter(const PcrtFrame *, const PcrtTensor *inputs, int32_t inputCount,
                                    const PcrtTensor *outputs, int32_t outputCount, const int64_t *params) {
  if (!valid(inputs, inputCount, outputs, outputCount, 2, params) || !sameDims(outputs[0], inputs[1]))
    return PCRT_INVALID_ARGUMENT;
  auto run = [&](auto element) {
    using T = decltype(element);
    std::vector<int64_t> places = choose<T>(inputs[1], inputs[0].dims, params);
    const T *source = static_cast<const T *>(inputs[0].data);
    std::vector<Accumulator<T>> sums(static_cast<size_t>(countOf(inputs[1])), 0);
    for (size_t i = 0; i < places.size(); ++i)
      if (places[i] >= 0)
        sums[static_cast<size_t>(places[i])] += static_cast<Accumulator<T>>(source[i]);
    std::transform(sums.begin(), sums.end(), static_cast<T *>(outputs[0].data),
                   [](Accumulator<T> sum) { return static_cast<T>(sum); });
  };
  try {
    return withElement(inputs[0].dtype, run) ? PCRT_OK : PCRT_INVALID_ARGUMENT;
  } catch (const std::bad_alloc &) {
    return PCRT_OUT_OF_MEMORY;
  }
}
