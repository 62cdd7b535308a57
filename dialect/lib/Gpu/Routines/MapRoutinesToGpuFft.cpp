// The routine `fft` as launches (dialect/device/Fft.cpp): each of the trailing dimensions in passes over all elements.
// A real transform is a complex one, half of which is kept, or is completed first. If a library computes it, its calls
// replace the passes.
#include "LibraryRoutines.h"
#include "array/Gpu/Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::array {

namespace {

constexpr int64_t kThreads = 256;

enum FftType : int64_t { Fft, Ifft, Rfft, Irfft };

/// The factors of a length, large powers of two first: few passes, each of which reads `factor` elements for one.
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
        complex(launcher.element(type == Irfft ? 0 : 1)), name(elementName(complex)),
        isByLibrary(RuntimeCallOp(launcher.call)->hasAttr(kLibraryAttr)) {}

  /// The bytes of each of the two buffers between which passes alternate: all numbers are complex, and none are
  /// omitted.
  int64_t placeBytes() const { return real.getNumElements() * elementBytes(complex); }

  LogicalResult map() {
    int64_t last = real.getRank() - 1, n = real.getDimSize(last), half = n / 2 + 1;
    SmallVector<int64_t> shape(real.getShape());
    current = launcher.input(0);
    // The number of remaining passes; the last one writes the result.
    left = passesOf(shape);
    bool isInverse = type == Ifft || type == Irfft;
    if (type == Rfft && isByLibrary) {
      // It takes real numbers.
      shape[last] = half;
      callAlong(AxisSizes(real.getShape(), last), /*isInverse=*/false, launcher.element(0));
    } else if (type == Rfft) {
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
      passes += isByLibrary ? 1 : factorsOf(size).size();
    return passes;
  }

  /// The destination of the next pass.
  Value next() {
    if (--left == 0)
      return launcher.output(0);
    std::swap(place, otherPlace);
    if (!place)
      place = isByLibrary ? typedPlace() : launcher.scratch(placeBytes());
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

  /// The library's operands hold numbers, not bytes.
  Value typedPlace() {
    Type stored = (type == Irfft ? launcher.inputType(0) : launcher.outputType(0)).getElementType();
    return memref::AllocOp::create(launcher.builder(), MemRefType::get({real.getNumElements()}, stored),
                                   launcher.builder().getI64IntegerAttr(64));
  }

  void callAlong(AxisSizes sizes, bool isInverse, Type from) {
    Value to = next();
    callLibrary(launcher, "fft", {isInverse, sizes.outer, sizes.length, sizes.inner}, current, to, {from, complex});
    if (isInverse)
      divide(to, sizes.length);
    current = to;
  }

  /// Scales the unnormalized results of the library.
  void divide(Value numbers, int64_t length) {
    ImplicitLocOpBuilder &b = launcher.builder();
    unsigned rank = cast<MemRefType>(numbers.getType()).getRank();
    AffineMap map = b.getMultiDimIdentityMap(rank);
    SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
    linalg::GenericOp::create(
        b, numbers, numbers, {map, map}, loops, [&](OpBuilder &inner, Location loc, ValueRange in) {
          // Bits; the low half is the real part.
          ImplicitLocOpBuilder body(loc, inner);
          auto part = cast<FloatType>(partElement(complex));
          Type whole = in[0].getType(), half = body.getIntegerType(part.getWidth());
          Value width = arith::ConstantIntOp::create(body, whole, part.getWidth());
          Value factor = arith::ConstantOp::create(body, body.getFloatAttr(part, 1.0 / static_cast<double>(length)));
          auto divided = [&](Value bits) -> Value {
            Value number = arith::BitcastOp::create(body, part, arith::TruncIOp::create(body, half, bits));
            number = arith::BitcastOp::create(body, half, arith::MulFOp::create(body, number, factor));
            return arith::ExtUIOp::create(body, whole, number);
          };
          Value re = divided(in[0]), im = divided(arith::ShRUIOp::create(body, in[0], width));
          im = arith::ShLIOp::create(body, im, width);
          linalg::YieldOp::create(body, arith::OrIOp::create(body, re, im).getResult());
        });
  }

  void transform(ArrayRef<int64_t> shape, int64_t axis, bool isInverse) {
    AxisSizes sizes(shape, axis);
    if (isByLibrary)
      return callAlong(sizes, isInverse, complex);
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
  MemRefType real; ///< The operand or result that has all elements.
  Type complex;    ///< The element type of the transform; buffers hold its bits.
  std::string name;
  bool isByLibrary;
  Value current, place, otherPlace;
  int64_t left = 0;
};

/// An empty array has an empty transform, except for the one frequency of zero samples.
bool isEmpty(RoutineLauncher &launcher) {
  return launcher.inputType(0).getNumElements() == 0 || launcher.outputType(0).getNumElements() == 0;
}

} // namespace

LogicalResult mapFft(RoutineLauncher &launcher) {
  if (!isEmpty(launcher))
    return Transform(launcher).map();
  int64_t count = launcher.outputType(0).getNumElements();
  launcher.launch("fft_clear_" + elementName(launcher.element(1)), blocksFor(count, kThreads), kThreads,
                  {launcher.output(0), launcher.number(count)});
  return success();
}

ArrayRef<Routine> fftRoutines() {
  static constexpr Routine rows[] = {
      {"fft", mapFft},
  };
  return rows;
}

} // namespace mlir::array
