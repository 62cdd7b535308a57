// Reductions over windows, and the choice of one element of each window, one dimension after the other. The order and
// the arithmetic are those of runtime/lib/cpu/Window.cpp. A step maps the `length` elements in the middle of [outer,
// length, inner] to `windows` windows. The scatter of chosen elements takes the same steps in reverse. There each
// element looks for the windows that chose it, so the result does not depend on the order in which threads run.
#include "Device.h"
#include "Elements.h"
#include "cpu/WindowOperations.h"

using namespace pcrt::window;

namespace device {

/// The parameters of a step that all entries have after their buffers.
#define DEVICE_STEP_PARAMETERS                                                                                         \
  int64_t length, int64_t windows, int64_t inner, int64_t count, int64_t size, int64_t stride, int64_t low,            \
      int64_t baseDilation, int64_t dilation
#define DEVICE_STEP                                                                                                    \
  device::Step {                                                                                                       \
    length, windows, inner, count, { size, stride, low, baseDilation, dilation }                                       \
  }

struct Step {
  int64_t length, windows, inner, count;
  WindowDim dim;
};

/// The place of this thread among the results of a step, with `middle` results in a line.
struct Place {
  int64_t number, outer, middle, lane;

  DEVICE_INLINE Place(int64_t middles, int64_t inner)
      : number(threadOfGrid()), outer(number / inner / middles), middle(number / inner % middles),
        lane(number % inner) {}
};

template <typename Operation, typename From, typename To>
DEVICE_INLINE void reduce(const From *from, To *to, const Step &step) {
  Place place(step.windows, step.inner);
  if (place.number >= step.count)
    return;
  typename Operation::Value value = Operation::neutral;
  for (int64_t k = 0; k < step.dim.size; ++k)
    if (int64_t i = step.dim.source(place.middle, k, step.length); i >= 0)
      value = Operation::combine(value, static_cast<typename Operation::Value>(
                                            from[(place.outer * step.length + i) * step.inner + place.lane]));
  to[place.number] = static_cast<To>(value);
}

/// The extremum of each window and the position of its element; -1 if the window has no element. `exists` is negative
/// for absent elements, and unused in the first step.
template <typename T, bool isMax>
DEVICE_INLINE void choose(const T *from, const int32_t *exists, T *to, int32_t *choices, int64_t isFirst,
                          const Step &step) {
  Place place(step.windows, step.inner);
  if (place.number >= step.count)
    return;
  int32_t choice = -1;
  pcrt::Compared<T> best{};
  T value(0);
  for (int64_t k = 0; k < step.dim.size; ++k) {
    int64_t i = step.dim.source(place.middle, k, step.length);
    int64_t at = (place.outer * step.length + i) * step.inner + place.lane;
    if (i < 0 || (!isFirst && exists[at] < 0))
      continue;
    auto next = static_cast<pcrt::Compared<T>>(from[at]);
    if (choice < 0 || pcrt::isBetter<isMax>(next, best)) {
      best = next;
      value = from[at];
      choice = static_cast<int32_t>(i);
    }
  }
  to[place.number] = value;
  choices[place.number] = choice;
}

/// The chosen elements of another operand.
template <typename T> DEVICE_INLINE void pick(const T *from, const int32_t *choices, T *to, const Step &step) {
  Place place(step.windows, step.inner);
  if (place.number >= step.count)
    return;
  int32_t choice = choices[place.number];
  to[place.number] = choice < 0 ? T(0) : from[(place.outer * step.length + choice) * step.inner + place.lane];
}

/// For each element, the sum over the windows that chose it. The count is that of the elements.
template <typename Sum, typename From, typename To>
DEVICE_INLINE void spread(const From *from, const int32_t *choices, To *to, const Step &step) {
  Place place(step.length, step.inner);
  if (place.number >= step.count)
    return;
  Sum sum(0);
  for (int64_t k = 0; k < step.dim.size; ++k) {
    int64_t start = place.middle * step.dim.baseDilation + step.dim.low - k * step.dim.dilation;
    int64_t window = start / step.dim.stride;
    if (start < 0 || start % step.dim.stride != 0 || window >= step.windows)
      continue;
    int64_t at = (place.outer * step.windows + window) * step.inner + place.lane;
    if (choices[at] == place.middle)
      sum += static_cast<Sum>(from[at]);
  }
  to[place.number] = static_cast<To>(sum);
}

} // namespace device

// From elements (e) or accumulator values (v) to elements or values.
#define DEVICE_REDUCE(operation, name, From, To, kinds, Operation)                                                     \
  extern "C" void window_##operation##_##name##_##kinds(const From *from, To *to, DEVICE_STEP_PARAMETERS) {            \
    device::reduce<Operation>(from, to, DEVICE_STEP);                                                                  \
  }
#define DEVICE_REDUCTIONS(operation, name, T, Operation)                                                               \
  DEVICE_REDUCE(operation, name, T, T, ee, Operation)                                                                  \
  DEVICE_REDUCE(operation, name, T, Operation::Value, ev, Operation)                                                   \
  DEVICE_REDUCE(operation, name, Operation::Value, Operation::Value, vv, Operation)                                    \
  DEVICE_REDUCE(operation, name, Operation::Value, T, ve, Operation)
#define DEVICE_SPREAD(name, From, To, kinds, T)                                                                        \
  extern "C" void window_spread_##name##_##kinds(const From *from, const int32_t *choices, To *to,                     \
                                                 DEVICE_STEP_PARAMETERS) {                                             \
    device::spread<pcrt::Accumulator<T>>(from, choices, to, DEVICE_STEP);                                              \
  }
#define DEVICE_CHOICE(operation, isMax, name, T)                                                                       \
  extern "C" void window_choose_##operation##_##name(const T *from, const int32_t *exists, T *to, int32_t *choices,    \
                                                     int64_t isFirst, DEVICE_STEP_PARAMETERS) {                        \
    device::choose<T, isMax>(from, exists, to, choices, isFirst, DEVICE_STEP);                                         \
  }
#define DEVICE_WINDOWS(name, T)                                                                                        \
  DEVICE_REDUCTIONS(sum, name, T, Sum<T>)                                                                              \
  DEVICE_REDUCTIONS(product, name, T, Product<T>)                                                                      \
  DEVICE_REDUCTIONS(max, name, T, Max<T>)                                                                              \
  DEVICE_REDUCTIONS(min, name, T, Min<T>)                                                                              \
  DEVICE_CHOICE(max, true, name, T)                                                                                    \
  DEVICE_CHOICE(min, false, name, T)                                                                                   \
  extern "C" void window_pick_##name(const T *from, const int32_t *choices, T *to, DEVICE_STEP_PARAMETERS) {           \
    device::pick(from, choices, to, DEVICE_STEP);                                                                      \
  }                                                                                                                    \
  DEVICE_SPREAD(name, T, T, ee, T)                                                                                     \
  DEVICE_SPREAD(name, T, pcrt::Accumulator<T>, ev, T)                                                                  \
  DEVICE_SPREAD(name, pcrt::Accumulator<T>, pcrt::Accumulator<T>, vv, T)                                               \
  DEVICE_SPREAD(name, pcrt::Accumulator<T>, T, ve, T)
DEVICE_REALS(DEVICE_WINDOWS)
