// The library routine of fft, compared with the sums that define the transforms.
#include "Check.h"
#include "Operands.h"
#include "runtime/HostLibrary.h"

#include <algorithm>
#include <cmath>

using namespace test;

enum Type : int64_t { Fft, Ifft, Rfft, Irfft };

template <typename T> using Complex = std::complex<T>;

static int32_t run(PcrtTensor input, PcrtTensor output, Type type, int64_t axes = 1) {
  return call(pcrt::libraryTable().fft, {input}, {output}, {type, axes});
}

template <typename T> static double distance(const std::vector<T> &a, const std::vector<T> &b) {
  double greatest = 0;
  for (size_t i = 0; i < a.size(); ++i)
    greatest = std::fmax(greatest, static_cast<double>(std::abs(a[i] - b[i])));
  return a.size() == b.size() ? greatest : INFINITY;
}

/// Elements without symmetry.
template <typename T> static std::vector<Complex<T>> samples(int64_t count) {
  std::vector<Complex<T>> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back({static_cast<T>(i * 7 % 11) - 4, static_cast<T>(i * 5 % 13) - 6});
  return values;
}

template <typename T> static std::vector<T> realParts(const std::vector<Complex<T>> &values) {
  std::vector<T> parts;
  for (Complex<T> value : values)
    parts.push_back(value.real());
  return parts;
}

/// The transform of the lines that are `stride` apart and n long.
template <typename T>
static std::vector<Complex<T>> defined(const std::vector<Complex<T>> &x, int64_t n, int64_t stride, bool inverse) {
  std::vector<Complex<T>> y(x.size());
  std::vector<Complex<double>> roots;
  for (int64_t j = 0; j < n; ++j)
    roots.push_back(std::polar(1.0, (inverse ? 2 : -2) * M_PI * static_cast<double>(j) / static_cast<double>(n)));
  for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i) {
    int64_t k = i / stride % n;
    Complex<double> sum = 0;
    for (int64_t j = 0; j < n; ++j)
      sum += Complex<double>(x[static_cast<size_t>(i + (j - k) * stride)]) * roots[static_cast<size_t>(j * k % n)];
    y[static_cast<size_t>(i)] = Complex<T>(inverse ? sum / static_cast<double>(n) : sum);
  }
  return y;
}

static void fourPoints() {
  Operand<Complex<double>> x({4}, {1, 2, 3, 4}), y({4}), z({4});
  CHECK(run(x, y, Fft) == PCRT_OK);
  CHECK(distance(y.values, {{10, 0}, {-2, 2}, {-2, 0}, {-2, -2}}) < 1e-15);
  CHECK(run(y, z, Ifft) == PCRT_OK);
  CHECK(distance(z.values, x.values) < 1e-15);
  Operand<float> real({4}, {1, 2, 3, 4}), back({4});
  Operand<Complex<float>> half({3});
  CHECK(run(real, half, Rfft) == PCRT_OK);
  CHECK(distance(half.values, {{10, 0}, {-2, 2}, {-2, 0}}) < 1e-6);
  CHECK(run(half, back, Irfft) == PCRT_OK);
  CHECK(distance(back.values, real.values) < 1e-6);
}

template <typename T>
static void checkLengths(std::initializer_list<int64_t> lengths, int64_t lines, double tolerance) {
  for (int64_t n : lengths) {
    Operand<Complex<T>> x({lines, n}, samples<T>(lines * n)), y(x.dims), half({lines, n / 2 + 1});
    Operand<T> real({lines, n}, realParts(x.values)), back(x.dims);
    double scale = tolerance * static_cast<double>(n);
    CHECK(run(x, y, Fft) == PCRT_OK && distance(y.values, defined(x.values, n, 1, false)) < scale);
    CHECK(run(x, y, Ifft) == PCRT_OK && distance(y.values, defined(x.values, n, 1, true)) < scale);
    CHECK(run(real, half, Rfft) == PCRT_OK);
    std::vector<Complex<T>> whole(real.values.begin(), real.values.end()), expected;
    whole = defined(whole, n, 1, false);
    for (int64_t i = 0; i < lines * n; ++i)
      if (i % n <= n / 2)
        expected.push_back(whole[static_cast<size_t>(i)]);
    CHECK(distance(half.values, expected) < scale);
    CHECK(run(half, back, Irfft) == PCRT_OK && distance(back.values, real.values) < scale);
  }
}

/// Lengths of one, powers of two, odd and prime lengths, and primes so large that they are transformed as convolutions.
static void anyLength() {
  checkLengths<float>({1, 2, 3, 5, 8, 12, 17, 45, 97, 127, 509}, 3, 1e-5);
  checkLengths<double>({1, 2, 3, 5, 8, 12, 17, 45, 97, 127, 509}, 3, 1e-13);
}

/// Long lines of a length with a great prime factor: even, odd, and twice an even one, whose real lines are halved
/// once.
static void greatPrimes() {
  checkLengths<float>({2053, 2 * 2053}, 2, 1e-6);
  checkLengths<double>({2053, 2 * 2053, 3 * 2053}, 1, 1e-14);
  // The imaginary parts of the first frequency and, if the length is even, of the last one have no meaning.
  for (int64_t n : {2053, 2 * 2053}) {
    Operand<Complex<double>> half({n / 2 + 1}, samples<double>(n / 2 + 1));
    Operand<double> with({n}), without({n});
    CHECK(run(half, with, Irfft) == PCRT_OK);
    half.values.front().imag(0);
    if (n % 2 == 0)
      half.values.back().imag(0);
    CHECK(run(half, without, Irfft) == PCRT_OK && with.values == without.values);
  }
}

/// Long lines of products of small factors, which are matrices: squares, factors that fill no whole vectors, and real
/// lines of twice such a length. A line among others has the bits of a line alone.
static void longLines() {
  checkLengths<float>({2048, 2187, 2500, 2 * 2100}, 2, 1e-6);
  checkLengths<double>({2048, 2187, 2500, 2 * 2100}, 1, 1e-14);
  for (int64_t n : {2048, 2210}) {
    Operand<Complex<float>> x({9, n}, samples<float>(9 * n)), y(x.dims), one({n}), alone({n});
    CHECK(run(x, y, Fft) == PCRT_OK);
    std::copy_n(x.values.begin() + 4 * n, n, one.values.begin());
    CHECK(run(one, alone, Fft) == PCRT_OK);
    CHECK(std::equal(alone.values.begin(), alone.values.end(), y.values.begin() + 4 * n));
    CHECK(run(x, x, Fft) == PCRT_OK && x.values == y.values); // in the place of the operand
  }
}

static void severalAxes() {
  Operand<Complex<double>> x({2, 3, 4, 5}, samples<double>(120)), y(x.dims), half({2, 3, 4, 3});
  for (bool inverse : {false, true}) {
    std::vector<Complex<double>> expected = defined(x.values, 5, 1, inverse);
    expected = defined(expected, 4, 5, inverse);
    CHECK(run(x, y, inverse ? Ifft : Fft, 2) == PCRT_OK && distance(y.values, expected) < 1e-12);
    expected = defined(expected, 3, 20, inverse);
    CHECK(run(x, y, inverse ? Ifft : Fft, 3) == PCRT_OK && distance(y.values, expected) < 1e-12);
  }
  Operand<double> real(x.dims, realParts(x.values)), back(x.dims);
  CHECK(run(real, half, Rfft, 3) == PCRT_OK && run(half, back, Irfft, 3) == PCRT_OK);
  CHECK(distance(back.values, real.values) < 1e-13);
}

/// Stacks of small arrays, which stay in the cache between their axes; columns that fill vectors and leave some over;
/// columns of which a vector has those of several arrays.
template <typename T> static void stacksAndColumns() {
  const double tolerance = sizeof(T) == 4 ? 1e-3 : 1e-11;
  for (const Dims &dims : {Dims{20, 6, 7}, Dims{3, 37, 13}, Dims{40, 9, 3}, Dims{2, 16, 64}, Dims{11, 33, 1}}) {
    int64_t count = dims[0] * dims[1] * dims[2], half = dims[2] / 2 + 1;
    Operand<Complex<T>> x(dims, samples<T>(count)), y(dims), halves({dims[0], dims[1], half});
    Operand<T> real(dims, realParts(x.values)), back(dims);
    for (bool inverse : {false, true}) {
      auto expected = defined(defined(x.values, dims[2], 1, inverse), dims[1], dims[2], inverse);
      CHECK(run(x, y, inverse ? Ifft : Fft, 2) == PCRT_OK && distance(y.values, expected) < tolerance);
    }
    CHECK(run(real, halves, Rfft, 2) == PCRT_OK && run(halves, back, Irfft, 2) == PCRT_OK);
    CHECK(distance(back.values, real.values) < tolerance);
    std::vector<Complex<T>> whole(real.values.begin(), real.values.end()), expected;
    whole = defined(defined(whole, dims[2], 1, false), dims[1], dims[2], false);
    for (int64_t i = 0; i < count; ++i)
      if (i % dims[2] < half)
        expected.push_back(whole[static_cast<size_t>(i)]);
    CHECK(distance(halves.values, expected) < tolerance);
  }
}

static void empty() {
  Operand<Complex<float>> x({0, 4}), y({0, 4}), half({0, 3}), none({3, 0}), alsoNone({3, 0});
  Operand<float> real({0, 4});
  CHECK(run(x, y, Fft) == PCRT_OK && run(x, y, Ifft, 2) == PCRT_OK);
  CHECK(run(real, half, Rfft) == PCRT_OK && run(half, real, Irfft) == PCRT_OK);
  CHECK(run(none, alsoNone, Fft) == PCRT_OK);
  // Zero samples have one frequency, an empty sum; other dimensions may be empty, too.
  Operand<float> noSamples({3, 0}), noRows({0, 0, 4});
  Operand<Complex<float>> sums({3, 1}), noSums({0, 0, 3});
  CHECK(run(noSamples, sums, Rfft) == PCRT_OK && sums.values == std::vector<Complex<float>>(3));
  CHECK(run(noRows, noSums, Rfft, 2) == PCRT_OK);
}

static void refusesNonsense() {
  Operand<Complex<float>> x({4}), y({4}), half({3}), two({2, 4}), other({3, 4}), scalar(Dims{});
  Operand<Complex<double>> wide({4}), wideHalf({3});
  Operand<float> real({4});
  auto refused = [](int32_t status) { return status == PCRT_INVALID_ARGUMENT; };
  CHECK(refused(run(x, y, Type(4))) && refused(run(x, y, Type(-1))));
  CHECK(refused(run(x, y, Fft, 0)) && refused(run(x, y, Fft, 2)) && refused(run(x, y, Fft, -1)));
  CHECK(refused(run(scalar, scalar, Fft)));
  CHECK(refused(run(x, half, Fft)) && refused(run(real, y, Rfft)) && refused(run(y, real, Irfft)));
  CHECK(refused(run(real, y, Fft)) && refused(run(x, half, Rfft)) && refused(run(half, y, Irfft)));
  CHECK(refused(run(x, wide, Fft)) && refused(run(real, wideHalf, Rfft)));
  CHECK(refused(run(two, other, Fft)) && refused(run(two, x, Fft)));
  auto routine = pcrt::libraryTable().fft;
  CHECK(refused(call(routine, {x, x}, {y}, {Fft, 1})) && refused(call(routine, {x}, {y, y}, {Fft, 1})));
}

/// The rows of a stack have the bits that each has alone: how many lines share a vector does not show.
template <typename T> static void rowsOfStacks() {
  auto same = [](const auto &stack, const auto &row, size_t from) {
    return std::equal(row.begin(), row.end(), stack.begin() + static_cast<ptrdiff_t>(from));
  };
  for (int64_t lines : {2, 3, 7, 8, 12, 37})
    for (int64_t n : {4, 15, 34, 121}) {
      auto width = static_cast<size_t>(n), half = width / 2 + 1;
      Operand<Complex<T>> x({lines, n}, samples<T>(lines * n)), y(x.dims), halves({lines, n / 2 + 1});
      Operand<T> real(x.dims, realParts(x.values)), back(x.dims);
      CHECK(run(x, y, Fft) == PCRT_OK && run(real, halves, Rfft) == PCRT_OK && run(halves, back, Irfft) == PCRT_OK);
      for (size_t i = 0; i < static_cast<size_t>(lines); ++i) {
        auto at = static_cast<ptrdiff_t>(i * width);
        Operand<Complex<T>> one({1, n}, {x.values.begin() + at, x.values.begin() + at + n}), z(one.dims);
        Operand<Complex<T>> ofOne({1, n / 2 + 1});
        Operand<T> realOne(one.dims, realParts(one.values)), backOne(one.dims);
        CHECK(run(one, z, Fft) == PCRT_OK && run(realOne, ofOne, Rfft) == PCRT_OK &&
              run(ofOne, backOne, Irfft) == PCRT_OK);
        CHECK(same(y.values, z.values, i * width) && same(halves.values, ofOne.values, i * half) &&
              same(back.values, backOne.values, i * width));
      }
    }
}

/// More lengths than the cache of plans holds: threads add plans while others remove them.
static void manyThreads() {
  constexpr int64_t count = 24;
  std::vector<std::vector<Complex<double>>> expected;
  for (int64_t n = 1; n <= count; ++n)
    expected.push_back(defined(samples<double>(2 * n), n, 1, false));
  CHECK(holdsConcurrently([&](int thread) {
    bool holds = true;
    for (int64_t i = 0; i < count; ++i) {
      int64_t n = 1 + (i + 6 * thread) % count;
      Operand<Complex<double>> x({2, n}, samples<double>(2 * n)), y(x.dims);
      holds &= run(x, y, Fft) == PCRT_OK && distance(y.values, expected[static_cast<size_t>(n - 1)]) < 1e-12;
      Operand<double> real(x.dims, realParts(x.values)), back(x.dims);
      Operand<Complex<double>> half({2, n / 2 + 1});
      holds &= run(real, half, Rfft) == PCRT_OK && run(half, back, Irfft) == PCRT_OK &&
               distance(back.values, real.values) < 1e-12;
    }
    return holds;
  }));
}

int main() {
  RUN(fourPoints);
  RUN(anyLength);
  RUN(greatPrimes);
  RUN(longLines);
  RUN(severalAxes);
  RUN(stacksAndColumns<float>);
  RUN(stacksAndColumns<double>);
  RUN(empty);
  RUN(refusesNonsense);
  RUN(rowsOfStacks<float>);
  RUN(rowsOfStacks<double>);
  RUN(manyThreads);
  return test::failures() != 0;
}
