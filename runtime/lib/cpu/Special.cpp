// The library routine of the special functions: one loop over the elements, with the function for the code. f32 is
// computed in f64 and rounded once.
#include "Rows.h"
#include "SpecialFunctions.h"
#include "runtime/DType.h"
#include "support/LibraryCalls.h"

using namespace pcrt;

namespace {

using One = double (*)(double);
using Two = double (*)(double, double);
using Three = double (*)(double, double, double);
using Four = double (*)(double, double, double, double);

template <typename Float> void apply(One function, const PcrtTensor *inputs, const PcrtTensor &output, int64_t count) {
  const auto *x = static_cast<const Float *>(inputs[0].data);
  auto *y = static_cast<Float *>(output.data);
  for (int64_t i = 0; i < count; ++i)
    y[i] = static_cast<Float>(function(x[i]));
}

template <typename Float> void apply(Two function, const PcrtTensor *inputs, const PcrtTensor &output, int64_t count) {
  const auto *a = static_cast<const Float *>(inputs[0].data), *b = static_cast<const Float *>(inputs[1].data);
  auto *y = static_cast<Float *>(output.data);
  for (int64_t i = 0; i < count; ++i)
    y[i] = static_cast<Float>(function(a[i], b[i]));
}

template <typename Float>
void apply(Three function, const PcrtTensor *inputs, const PcrtTensor &output, int64_t count) {
  const auto *a = static_cast<const Float *>(inputs[0].data), *b = static_cast<const Float *>(inputs[1].data),
             *c = static_cast<const Float *>(inputs[2].data);
  auto *y = static_cast<Float *>(output.data);
  for (int64_t i = 0; i < count; ++i)
    y[i] = static_cast<Float>(function(a[i], b[i], c[i]));
}

template <typename Float> void apply(Four function, const PcrtTensor *inputs, const PcrtTensor &output, int64_t count) {
  const auto *a = static_cast<const Float *>(inputs[0].data), *b = static_cast<const Float *>(inputs[1].data),
             *c = static_cast<const Float *>(inputs[2].data), *d = static_cast<const Float *>(inputs[3].data);
  auto *y = static_cast<Float *>(output.data);
  for (int64_t i = 0; i < count; ++i)
    y[i] = static_cast<Float>(function(a[i], b[i], c[i], d[i]));
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
    return apply<Float>(special::name, inputs, output, count);
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
