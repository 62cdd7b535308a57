// The routine `fft` as launches (dialect/device/Fft.cpp): each of the trailing dimensions in passes over all elements.
// A transform of real numbers is one of complex ones, half of which is kept, or made up first.
#include "RoutineLauncher.h"

namespace mlir::array {

namespace {

constexpr int64_t kThreads = 256;

enum FftType : int64_t { Fft, Ifft, Rfft, Irfft };

/// The factors of a length, greatest powers of two first: few passes, each of which reads `factor` elements for one.
SmallVector<int64_t> factorsOf(int64_t n) {
  SmallVector<int64_t> factors;
  for (int64_t factor : {8, 4})
    for (; n % factor == 0; n /= factor)
      factors.push_back(factor);
  for (int64_t factor = 2; factor * factor <= n; ++factor)
    for (; n % factor == 0; n /= factor)
      factors.push_back(factor);
  if (n > 1 || factors.empty())
    factors.push_back(n);
  return factors;
}

class Transform {
public:
  explicit Transform(RoutineLauncher &launcher)
      : launcher(launcher), type(static_cast<FftType>(launcher.param(0))), axes(launcher.param(1)),
        real(type == Irfft ? launcher.outputType(0) : launcher.inputType(0)),
        name(elementName(launcher.element(type == Irfft ? 0 : 1))) {}

  /// Bytes of one of the two places that passes go to and fro between: all numbers are complex, and none are left out.
  int64_t placeBytes() const { return real.getNumElements() * elementBytes(launcher.element(type == Irfft ? 0 : 1)); }

  LogicalResult map() {
    int64_t last = real.getRank() - 1, n = real.getDimSize(last), half = n / 2 + 1;
    SmallVector<int64_t> shape(real.getShape());
    current = launcher.input(0);
    // Passes that are still to come, of which the last one writes the result.
    left = passesOf(shape);
    bool isInverse = type == Ifft || type == Irfft;
    if (type == Rfft) {
      left += 2;
      convert("from_real", {}, real.getNumElements());
      transform(shape, last, isInverse);
      shape[last] = half;
      convert("halve", {n, half}, real.getNumElements() / n * half);
    } else if (type == Irfft) {
      left += 2;
      shape[last] = half;
    } else {
      transform(shape, last, isInverse);
    }
    for (int64_t axis = last - axes + 1; axis < last; ++axis)
      transform(shape, axis, isInverse);
    if (type == Irfft) {
      shape[last] = n;
      convert("complete", {n, half}, real.getNumElements());
      transform(shape, last, isInverse);
      convert("to_real", {}, real.getNumElements());
    }
    return success();
  }

private:
  int64_t passesOf(ArrayRef<int64_t> shape) const {
    int64_t passes = 0;
    for (int64_t size : shape.take_back(axes))
      passes += factorsOf(size).size();
    return passes;
  }

  /// Where the next pass writes.
  Value next() {
    if (--left == 0)
      return launcher.output(0);
    std::swap(place, otherPlace);
    if (!place)
      place = launcher.scratch(placeBytes());
    return place;
  }

  void convert(StringRef entry, ArrayRef<int64_t> numbers, int64_t count) {
    Value to = next();
    SmallVector<Value> operands{current, to};
    for (int64_t number : numbers)
      operands.push_back(launcher.number(number));
    operands.push_back(launcher.number(count));
    launcher.launch(("fft_" + entry + "_" + name).str(), blocksFor(count, kThreads), kThreads, operands);
    current = to;
  }

  void transform(ArrayRef<int64_t> shape, int64_t axis, bool isInverse) {
    AxisSizes sizes(shape, axis);
    int64_t n = sizes.length, count = sizes.outer * n * sizes.inner, done = 1;
    for (int64_t factor : factorsOf(n)) {
      Value to = next();
      bool isLast = done * factor == n;
      launcher.launch("fft_pass_" + name, blocksFor(count, kThreads), kThreads,
                      {current, to, launcher.number(n), launcher.number(sizes.inner), launcher.number(factor),
                       launcher.number(done), launcher.number(count), launcher.number(isInverse),
                       launcher.real(isLast && isInverse ? 1.0 / static_cast<double>(n) : 1.0)});
      current = to;
      done *= factor;
    }
  }

  RoutineLauncher &launcher;
  FftType type;
  int64_t axes;
  MemRefType real; ///< Of the side that has all elements.
  std::string name;
  Value current, place, otherPlace;
  int64_t left = 0;
};

/// What has no elements has no transform, but for the one frequency that there is of no samples.
bool isEmpty(RoutineLauncher &launcher) {
  return launcher.inputType(0).getNumElements() == 0 || launcher.outputType(0).getNumElements() == 0;
}

LogicalResult mapFft(RoutineLauncher &launcher) {
  if (!isEmpty(launcher))
    return Transform(launcher).map();
  int64_t count = launcher.outputType(0).getNumElements();
  launcher.launch("fft_clear_" + elementName(launcher.element(1)), blocksFor(count, kThreads), kThreads,
                  {launcher.output(0), launcher.number(count)});
  return success();
}

} // namespace

ArrayRef<Routine> fftRoutines() {
  static constexpr Routine rows[] = {
      {"fft", mapFft},
  };
  return rows;
}

} // namespace mlir::array
