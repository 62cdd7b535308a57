// The library routine behind array.fft, on pocketfft: any length, several axes, batched over the leading dimensions.
#include "FftChirp.h"
#include "FftPasses.h"
#include "Rows.h"
#include "support/LibraryCalls.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

using namespace pcrt;

namespace {

enum FftType : int64_t { Fft, Ifft, Rfft, Irfft };

/// Row-major strides in bytes.
std::vector<ptrdiff_t> stridesOf(const std::vector<size_t> &shape, size_t itemBytes) {
  std::vector<ptrdiff_t> strides(shape.size());
  auto stride = static_cast<ptrdiff_t>(itemBytes);
  for (size_t axis = shape.size(); axis-- > 0; stride *= static_cast<ptrdiff_t>(shape[axis]))
    strides[axis] = stride;
  return strides;
}

int64_t sizeOf(const PcrtTensor &tensor) {
  int64_t size = 1;
  for (int32_t axis = 0; axis < tensor.rank; ++axis)
    size *= tensor.dims[axis];
  return size;
}

/// Lines of the last axis by the chirp transform, if that pays for their length.
template <typename T>
bool transformByChirp(const PcrtFrame *frame, FftType type, const PcrtTensor &input, const PcrtTensor &output,
                      T scale) {
  using Complex = std::complex<T>;
  const PcrtTensor &whole = type == Irfft ? output : input;
  auto length = static_cast<size_t>(whole.dims[whole.rank - 1]);
  auto lines = static_cast<size_t>(sizeOf(whole)) / length;
  bool isHalved = (type == Rfft || type == Irfft) && length % 2 == 0;
  if (!ChirpTransform<T>::pays(isHalved ? length / 2 : length))
    return false;
  auto *in = static_cast<const Complex *>(input.data);
  auto *out = static_cast<Complex *>(output.data);
  if (type == Rfft)
    chirpFromReal(frame, length, lines, static_cast<const T *>(input.data), out, scale);
  else if (type == Irfft)
    chirpToReal(frame, length, lines, in, static_cast<T *>(output.data), scale);
  else
    chirpComplex(frame, length, lines, type == Fft, in, out, scale);
  return true;
}

/// An axis after the other, in pocketfft's order. The axis whose lines are real on one side is the last.
template <typename T>
void transform(const PcrtFrame *frame, FftType type, const PcrtTensor &input, const PcrtTensor &output,
               int64_t axisCount) {
  using Complex = std::complex<T>;
  const PcrtTensor &whole = type == Irfft ? output : input;
  // The lengths of the transform are those of the real side.
  std::vector<size_t> shape(whole.dims, whole.dims + whole.rank);
  size_t last = shape.size() - 1, first = shape.size() - static_cast<size_t>(axisCount);
  T scale = 1;
  if (type == Ifft || type == Irfft)
    for (size_t axis = first; axis <= last; ++axis)
      scale /= static_cast<T>(shape[axis]);
  if (axisCount == 1 && transformByChirp(frame, type, input, output, scale))
    return;

  std::vector<size_t> halves = shape;
  if (type == Rfft || type == Irfft)
    halves[last] = shape[last] / 2 + 1;
  auto ofReals = stridesOf(shape, sizeof(T)), ofComplex = stridesOf(halves, sizeof(Complex));
  auto complexAxes = [&](size_t end, bool forward, const Complex *from, Complex *to, T factor) {
    for (size_t axis = first; axis < end; ++axis, from = to, factor = 1) {
      fft::Lines<T> lines{halves, ofComplex, ofComplex, axis, factor};
      fft::passesFor<T>(lines.count()).complex(lines, forward, from, to);
    }
  };
  switch (type) {
  case Fft:
  case Ifft:
    complexAxes(last + 1, type == Fft, static_cast<const Complex *>(input.data), static_cast<Complex *>(output.data),
                scale);
    break;
  case Rfft: {
    auto *out = static_cast<Complex *>(output.data);
    fft::Lines<T> lines{shape, ofReals, ofComplex, last, scale};
    fft::passesFor<T>(lines.count()).fromReal(lines, static_cast<const T *>(input.data), out);
    complexAxes(last, true, out, out, 1);
    break;
  }
  case Irfft: {
    auto *in = static_cast<const Complex *>(input.data);
    std::unique_ptr<T[]> between; // of T, whose elements begin without a value
    if (axisCount > 1) {
      between.reset(new T[2 * static_cast<size_t>(sizeOf(input))]);
      auto *to = reinterpret_cast<Complex *>(between.get());
      complexAxes(last, false, in, to, 1);
      in = to;
    }
    fft::Lines<T> lines{shape, ofComplex, ofReals, last, scale};
    fft::passesFor<T>(lines.count()).toReal(lines, in, static_cast<T *>(output.data));
    break;
  }
  }
}

/// Whether the operands fit `type`; `isWide` distinguishes f64 from f32.
bool valid(FftType type, const PcrtTensor &input, const PcrtTensor &output, int64_t axisCount, bool &isWide) {
  auto isComplex = [](const PcrtTensor &t) {
    return t.dtype == PCRT_DTYPE_Complex64 || t.dtype == PCRT_DTYPE_Complex128;
  };
  auto wide = [](const PcrtTensor &t) { return t.dtype == PCRT_DTYPE_Complex128 || t.dtype == PCRT_DTYPE_Float64; };
  auto isFloat = [](const PcrtTensor &t) { return t.dtype == PCRT_DTYPE_Float32 || t.dtype == PCRT_DTYPE_Float64; };
  if (type < Fft || type > Irfft || axisCount < 1 || axisCount > input.rank || input.rank != output.rank)
    return false;
  if (!(type == Rfft ? isFloat(input) : isComplex(input)) || !(type == Irfft ? isFloat(output) : isComplex(output)) ||
      wide(input) != wide(output))
    return false;
  isWide = wide(input);
  int32_t last = input.rank - 1;
  if (!std::equal(input.dims, input.dims + last, output.dims))
    return false;
  return type == Rfft    ? output.dims[last] == input.dims[last] / 2 + 1
         : type == Irfft ? input.dims[last] == output.dims[last] / 2 + 1
                         : input.dims[last] == output.dims[last];
}

} // namespace

static int32_t fftWhole(const PcrtFrame *frame, const PcrtTensor *inputs, int32_t inputCount, const PcrtTensor *outputs,
                        int32_t outputCount, const int64_t *params) {
  bool isWide;
  if (inputCount != 1 || outputCount != 1)
    return PCRT_INVALID_ARGUMENT;
  auto type = static_cast<FftType>(params[0]);
  if (!valid(type, inputs[0], outputs[0], params[1], isWide))
    return PCRT_INVALID_ARGUMENT;
  int64_t count = sizeOf(outputs[0]);
  if (sizeOf(inputs[0]) == 0 || count == 0) {
    if (count != 0) // the one frequency of RFFT without samples
      std::memset(outputs[0].data, 0, static_cast<size_t>(count) * (isWide ? 16 : 8));
    return PCRT_OK;
  }
  try {
    if (isWide)
      transform<double>(frame, type, inputs[0], outputs[0], params[1]);
    else
      transform<float>(frame, type, inputs[0], outputs[0], params[1]);
  } catch (const std::bad_alloc &) {
    return PCRT_OUT_OF_MEMORY;
  } catch (const std::exception &) {
    return PCRT_LIBRARY_FAILED;
  }
  return PCRT_OK;
}

int32_t library::fft(const PcrtFrame *frame, const PcrtTensor *inputs, int32_t inputCount, const PcrtTensor *outputs,
                     int32_t outputCount, const int64_t *params) {
  auto together = static_cast<int64_t>(fft::mostLanes());
  return overRows(fftWhole, inputCount == 1 && params[1] < inputs[0].rank, 4, frame, inputs, inputCount, outputs,
                  outputCount, params, together);
}
