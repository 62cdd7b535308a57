// The library routine of the special functions: one loop over the elements, with the function for the code. f32 is
// computed in f64, and rounded once.
#include "Rows.h"
#include "SpecialFunctions.h"
#include "runtime/DType.h"
#include "support/LibraryCalls.h"

#include <utility>

using namespace pcrt;

namespace {

/// A function of floats is chosen among the overloads: most have one for f64 alone.
template <typename Float, typename Function, size_t... I>
void apply(Function function, const PcrtTensor *inputs, const PcrtTensor &output, int64_t count,
           std::index_sequence<I...>) {
  auto *y = static_cast<Float *>(output.data);
  for (int64_t i = 0; i < count; ++i)
    y[i] = static_cast<Float>(function(static_cast<const Float *>(inputs[I].data)[i]...));
}

int32_t inputsOf(int64_t code) {
  switch (code) {
#define PCRT_CASE(name, code, inputs)                                                                                  \
  case code:                                                                                                           \
    return inputs;
    PCRT_SPECIAL_FUNCTIONS(PCRT_CASE)
#undef PCRT_CASE
  default:
    return -1;
  }
}

template <typename Float>
void applyCode(int64_t code, const PcrtTensor *inputs, const PcrtTensor &output, int64_t count) {
  switch (code) {
#define PCRT_CASE(name, code, arity)                                                                                   \
  case code:                                                                                                           \
    return apply<Float>([](auto... x) { return special::name(x...); }, inputs, output, count,                          \
                        std::make_index_sequence<arity>());
    PCRT_SPECIAL_FUNCTIONS(PCRT_CASE)
#undef PCRT_CASE
  default:
    return;
  }
}

bool valid(const PcrtTensor *inputs, int32_t inputCount, const PcrtTensor *outputs, int32_t outputCount,
           const int64_t *params) {
  if (outputCount != 1 || inputCount != inputsOf(params[0]))
    return false;
  const PcrtTensor &output = outputs[0];
  if (output.dtype != PCRT_DTYPE_Float32 && output.dtype != PCRT_DTYPE_Float64)
    return false;
  for (int32_t i = 0; i < inputCount; ++i) {
    if (inputs[i].dtype != output.dtype || inputs[i].rank != output.rank)
      return false;
    for (int32_t d = 0; d < output.rank; ++d)
      if (inputs[i].dims[d] != output.dims[d])
        return false;
  }
  return true;
}

} // namespace

static int32_t specialWhole(const PcrtFrame *, const PcrtTensor *inputs, int32_t inputCount, const PcrtTensor *outputs,
                            int32_t outputCount, const int64_t *params) {
  if (!valid(inputs, inputCount, outputs, outputCount, params))
    return PCRT_INVALID_ARGUMENT;
  int64_t count = 1;
  for (int32_t d = 0; d < outputs[0].rank; ++d)
    count *= outputs[0].dims[d];
  if (outputs[0].dtype == PCRT_DTYPE_Float32)
    applyCode<float>(params[0], inputs, outputs[0], count);
  else
    applyCode<double>(params[0], inputs, outputs[0], count);
  return PCRT_OK;
}

int32_t library::special(const PcrtFrame *frame, const PcrtTensor *inputs, int32_t inputCount,
                         const PcrtTensor *outputs, int32_t outputCount, const int64_t *params) {
  return overRows(specialWhole, true, 50, frame, inputs, inputCount, outputs, outputCount, params);
}
