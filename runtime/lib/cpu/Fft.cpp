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

int64_t sizeOf(const PcrtTensor &tensor) {
  int64_t size = 1;
  for (int32_t axis = 0; axis < tensor.rank; ++axis)
    size *= tensor.dims[axis];
  return size;
}

/// The lines of the last axis by a plan for their length, or for half of it if they are real and of even length. Few
/// lines are shared among threads themselves.
template <typename Plan, typename T>
void transformByPlan(const PcrtFrame *frame, FftType type, size_t length, size_t lines, const void *input, void *output,
                     T scale) {
  using Complex = std::complex<T>;
  const bool isReal = type == Rfft || type == Irfft, isHalved = isReal && length % 2 == 0;
  const size_t frequencies = isReal ? length / 2 + 1 : length;
  auto plan = keptPlan<Plan>(isHalved ? length / 2 : length);
  auto one = [&](const PcrtFrame *within, size_t line) {
    if (type == Rfft) {
      const T *in = static_cast<const T *>(input) + line * length;
      Complex *out = static_cast<Complex *>(output) + line * frequencies;
      if (isHalved)
        halvesFromReal(within, *plan, length, in, out, scale);
      else if constexpr (std::is_same_v<Plan, ChirpTransform<T>>)
        chirpFromOdd(within, *plan, length, in, out, scale);
    } else if (type == Irfft) {
      const Complex *in = static_cast<const Complex *>(input) + line * frequencies;
      T *out = static_cast<T *>(output) + line * length;
      if (isHalved)
        halvesToReal(within, *plan, length, in, out, scale);
      else if constexpr (std::is_same_v<Plan, ChirpTransform<T>>)
        chirpToOdd(within, *plan, length, in, out, scale);
    } else {
      plan->run(within, type == Ifft, static_cast<const Complex *>(input) + line * length,
                static_cast<Complex *>(output) + line * length, scale);
    }
  };
  constexpr size_t manyLines = 8;
  constexpr double nsOfNumber = 4;
  if (lines < manyLines)
    for (size_t line = 0; line < lines; ++line)
      one(frame, line);
  else
    library::overBlocks(frame, lines, 1, nsOfNumber * static_cast<double>(length),
                        [&](size_t line, size_t) { one(nullptr, line); });
}

/// Lines of the last axis as matrices or by the chirp transform, if that pays for their length.
template <typename T>
bool transformLongLines(const PcrtFrame *frame, FftType type, const PcrtTensor &input, const PcrtTensor &output,
                        T scale) {
  const PcrtTensor &whole = type == Irfft ? output : input;
  auto length = static_cast<size_t>(whole.dims[whole.rank - 1]);
  auto lines = static_cast<size_t>(sizeOf(whole)) / length;
  const bool isReal = type == Rfft || type == Irfft, isOdd = length % 2 != 0;
  const size_t planned = isReal && !isOdd ? length / 2 : length;
  if (ChirpTransform<T>::pays(planned))
    transformByPlan<ChirpTransform<T>>(frame, type, length, lines, input.data, output.data, scale);
  else if (!(isReal && isOdd) && MatrixTransform<T>::pays(planned))
    transformByPlan<MatrixTransform<T>>(frame, type, length, lines, input.data, output.data, scale);
  else
    return false;
  return true;
}

/// The axes of a stack of arrays, one after the other. The axis whose lines are real on one side is the last: the first
/// of RFFT, and of the others the one that ends.
template <typename T> class AxisPasses {
  using Complex = std::complex<T>;

public:
  /// `shape` has the lengths of the axes, of the real side. Threads share the lines of each axis if there is a frame.
  AxisPasses(const PcrtFrame *frame, FftType type, size_t arrays, std::vector<size_t> shape, T scale)
      : frame(frame), type(type), arrays(arrays), shape(std::move(shape)), scale(scale) {
    real = complex = 1;
    for (size_t length : this->shape)
      real *= length;
    complex = isHalved() ? real / this->shape.back() * (this->shape.back() / 2 + 1) : real;
  }

  void run(const void *in, void *out) const {
    size_t last = shape.size() - 1;
    switch (type) {
    case Fft:
    case Ifft:
      along(0, last + 1, static_cast<const Complex *>(in), static_cast<Complex *>(out), scale);
      break;
    case Rfft: {
      auto lines = linesOf(last, scale);
      lines.in.stack = shape[last];
      auto *to = static_cast<Complex *>(out);
      inGroups(lines,
               [&](size_t low, size_t high) { passes.fromReal(lines, static_cast<const T *>(in), to, low, high); });
      along(0, last, to, to, 1);
      break;
    }
    case Irfft: {
      auto *from = static_cast<const Complex *>(in);
      std::unique_ptr<T[]> between; // of T, whose elements begin without a value
      if (last > 0) {
        between.reset(new T[2 * arrays * complex]);
        auto *to = reinterpret_cast<Complex *>(between.get());
        along(0, last, from, to, 1);
        from = to;
      }
      auto lines = linesOf(last, scale);
      lines.out.stack = shape[last];
      inGroups(lines, [&](size_t low, size_t high) { passes.toReal(lines, from, static_cast<T *>(out), low, high); });
      break;
    }
    }
  }

  /// The bytes of one array of operands, and of results.
  size_t bytesIn() const { return type == Rfft ? real * sizeof(T) : complex * sizeof(Complex); }
  size_t bytesOut() const { return type == Irfft ? real * sizeof(T) : complex * sizeof(Complex); }

private:
  bool isHalved() const { return type == Rfft || type == Irfft; }

  /// On the complex side.
  fft::Lines<T> linesOf(size_t axis, T factor) const {
    size_t last = shape.size() - 1, half = isHalved() ? shape[last] / 2 + 1 : shape[last], inner = 1, outer = arrays;
    for (size_t i = 0; i < axis; ++i)
      outer *= shape[i];
    for (size_t i = axis + 1; i <= last; ++i)
      inner *= i == last ? half : shape[i];
    typename fft::Lines<T>::Side side = {inner, inner * (axis == last ? half : shape[axis])};
    return {shape[axis], outer, inner, side, side, factor};
  }

  void along(size_t begin, size_t end, const Complex *from, Complex *to, T factor) const {
    for (size_t axis = begin; axis < end; ++axis, from = to, factor = 1) {
      auto lines = linesOf(axis, factor);
      inGroups(lines, [&](size_t low, size_t high) {
        passes.complex(lines, type == Fft || type == Rfft, from, to, low, high);
      });
    }
  }

  template <typename Body> void inGroups(const fft::Lines<T> &lines, const Body &body) const {
    size_t groups = passes.groups(lines);
    if (!frame) {
      body(0, groups);
      return;
    }
    constexpr double nsOfElement = 8, nsOfBlock = 20000;
    auto block = std::max<size_t>(1, static_cast<size_t>(nsOfBlock / nsOfElement) / lines.length);
    library::overBlocks(frame, groups, block, nsOfElement * static_cast<double>(block * lines.length), body);
  }

  const PcrtFrame *frame;
  const FftType type;
  const size_t arrays;
  const std::vector<size_t> shape;
  const T scale;
  size_t real, complex; ///< elements of an array
  const fft::Passes<T> &passes = fft::passes<T>();
};

template <typename T>
void transform(const PcrtFrame *frame, FftType type, const PcrtTensor &input, const PcrtTensor &output,
               int64_t axisCount) {
  const PcrtTensor &whole = type == Irfft ? output : input;
  const int64_t *axes = whole.dims + (whole.rank - axisCount);
  std::vector<size_t> shape(axes, axes + axisCount);
  T scale = 1;
  if (type == Ifft || type == Irfft)
    for (size_t length : shape)
      scale /= static_cast<T>(length);
  if (axisCount == 1 && transformLongLines(frame, type, input, output, scale))
    return;
  size_t arrays = 1;
  for (const int64_t *size = whole.dims; size != axes; ++size)
    arrays *= static_cast<size_t>(*size);

  AxisPasses<T> passes(frame, type, arrays, shape, scale);
  size_t bytesIn = passes.bytesIn(), bytesOut = passes.bytesOut();
  // Arrays of several axes stay in the cache between the axes, where each thread has some of its own.
  constexpr size_t cacheBytes = 1 << 19, blockBytes = 1 << 17;
  if (axisCount == 1 || arrays < 8 || bytesIn + bytesOut > cacheBytes)
    return passes.run(input.data, output.data);
  size_t block = std::clamp<size_t>(blockBytes / (bytesIn + bytesOut), 1, arrays / 8);
  constexpr double nsOfByte = .5;
  library::overBlocks(frame, arrays, block, nsOfByte * static_cast<double>(block * bytesIn * shape.size()),
                      [&](size_t low, size_t high) {
                        AxisPasses<T> part(nullptr, type, high - low, shape, scale);
                        part.run(static_cast<const char *>(input.data) + low * bytesIn,
                                 static_cast<char *>(output.data) + low * bytesOut);
                      });
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

int32_t library::fft(const PcrtFrame *frame, const PcrtTensor *inputs, int32_t inputCount, const PcrtTensor *outputs,
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
