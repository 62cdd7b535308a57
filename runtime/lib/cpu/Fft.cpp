// The library routine behind array.fft, on pocketfft: any length, several axes, batched over the leading dimensions.
#include "Rows.h"
#include "support/LibraryCalls.h"

// No threads of its own (the pool's threads share the rows), and a cache for plans of repeated lengths.
#define POCKETFFT_NO_MULTITHREADING
#define POCKETFFT_CACHE_SIZE 16
#include "pocketfft/pocketfft_hdronly.h"

#include "FftChirp.h"

#include <algorithm>
#include <cstring>

using namespace pcrt;

namespace {

enum FftType : int64_t { Fft, Ifft, Rfft, Irfft };

pocketfft::shape_t shapeOf(const PcrtTensor &tensor) { return {tensor.dims, tensor.dims + tensor.rank}; }

/// Row-major strides in bytes.
pocketfft::stride_t stridesOf(const PcrtTensor &tensor, size_t itemBytes) {
  pocketfft::stride_t strides(static_cast<size_t>(tensor.rank));
  auto stride = static_cast<ptrdiff_t>(itemBytes);
  for (int32_t axis = tensor.rank - 1; axis >= 0; --axis) {
    strides[static_cast<size_t>(axis)] = stride;
    stride *= static_cast<ptrdiff_t>(tensor.dims[axis]);
  }
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

template <typename T>
void transform(const PcrtFrame *frame, FftType type, const PcrtTensor &input, const PcrtTensor &output,
               int64_t axisCount) {
  using Complex = std::complex<T>;
  bool isReal = type == Rfft;
  auto inStrides = stridesOf(input, isReal ? sizeof(T) : sizeof(Complex));
  auto outStrides = stridesOf(output, type == Irfft ? sizeof(T) : sizeof(Complex));
  pocketfft::shape_t axes;
  for (int32_t axis = input.rank - static_cast<int32_t>(axisCount); axis < input.rank; ++axis)
    axes.push_back(static_cast<size_t>(axis));
  // The lengths of the transform are those of the real side.
  const PcrtTensor &whole = type == Irfft ? output : input;
  T scale = 1;
  if (type == Ifft || type == Irfft)
    for (size_t axis : axes)
      scale /= static_cast<T>(whole.dims[axis]);
  if (axisCount == 1 && transformByChirp(frame, type, input, output, scale))
    return;
  switch (type) {
  case Fft:
  case Ifft:
    pocketfft::c2c(shapeOf(whole), inStrides, outStrides, axes, type == Fft, static_cast<const Complex *>(input.data),
                   static_cast<Complex *>(output.data), scale);
    break;
  case Rfft:
    pocketfft::r2c(shapeOf(whole), inStrides, outStrides, axes, true, static_cast<const T *>(input.data),
                   static_cast<Complex *>(output.data), scale);
    break;
  case Irfft:
    pocketfft::c2r(shapeOf(whole), inStrides, outStrides, axes, false, static_cast<const Complex *>(input.data),
                   static_cast<T *>(output.data), scale);
    break;
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
  // pocketfft computes lines side by side in the lanes of vectors, and what is left over one by one.
  constexpr int64_t together = pocketfft::detail::VLEN<float>::val;
  return overRows(fftWhole, inputCount == 1 && params[1] < inputs[0].rank, 4, frame, inputs, inputCount, outputs,
                  outputCount, params, together);
}
