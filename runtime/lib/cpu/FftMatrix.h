// Long lines as matrices: a line of rows x columns numbers is transformed along the columns, multiplied by roots of
// unity, and transformed along the rows (Bailey, J. Supercomputing 4, 1990). pocketfft computes columns and rows side
// by side in vectors; a line alone it computes number by number. Threads share the blocks of columns and rows.
//
// Whether a line is a matrix follows from its length alone: a line has the same bits alone and among others.
#ifndef PYCOMPILER_RUNTIME_LIB_CPU_FFTMATRIX_H
#define PYCOMPILER_RUNTIME_LIB_CPU_FFTMATRIX_H

#include "FftPasses.h"
#include "FftPocket.h"
#include "Rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace pcrt {

/// The plan of a length, kept with the last ones.
template <typename Plan> std::shared_ptr<const Plan> keptPlan(size_t length) {
  static std::mutex mutex;
  static std::array<std::shared_ptr<const Plan>, 4> kept;
  {
    std::lock_guard<std::mutex> lock(mutex);
    for (size_t i = 0; i < kept.size(); ++i)
      if (kept[i] && kept[i]->length == length) {
        std::rotate(kept.begin(), kept.begin() + i, kept.begin() + i + 1);
        return kept[0];
      }
  }
  auto made = std::make_shared<const Plan>(length);
  std::lock_guard<std::mutex> lock(mutex);
  std::rotate(kept.begin(), kept.end() - 1, kept.end());
  return kept[0] = made;
}

/// The steps of a line that is a matrix.
template <typename T> struct LineMatrix {
  using Complex = std::complex<T>;

  /// Rows that stay in the cache between the steps, and fill vectors; elements of a block; and its time.
  static constexpr size_t block = 16, span = 8192;
  static constexpr double nsOfBlock = 20000;

  size_t rows, columns;
  std::vector<Complex> twiddles; ///< exp(-2 pi i row column / (rows columns))

  LineMatrix(size_t rows, size_t columns) : rows(rows), columns(columns), twiddles(rows * columns) {
    pocketfft::detail::sincos_2pibyn<T> roots(rows * columns);
    for (size_t row = 0; row < rows; ++row)
      for (size_t column = 0; column < columns; ++column) {
        auto root = roots[row * column];
        twiddles[row * columns + column] = {root.r, -root.i};
      }
  }

  /// The operator of complex numbers looks for infinities.
  static Complex product(Complex a, Complex b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }

  size_t rowsFrom(size_t row) const { return std::min(block, rows - row); }

  /// A block of rows, element by element.
  void multiply(Complex *line, size_t row, const std::vector<Complex> &factors, bool conjugated) const {
    for (size_t k = row * columns; k < (row + rowsFrom(row)) * columns; ++k)
      line[k] = product(line[k], conjugated ? std::conj(factors[k]) : factors[k]);
  }

  void alongColumns(const PcrtFrame *frame, const Complex *in, Complex *out, bool forward) const {
    library::overBlocks(frame, columns, std::max(block, span / rows), nsOfBlock, [&](size_t low, size_t high) {
      transform({rows, 1, high - low, {columns, 0}, {columns, 0}}, in + low, out + low, forward);
    });
  }
  /// A block of rows, in its place.
  void alongRows(Complex *line, size_t row, bool forward) const {
    Complex *at = line + row * columns;
    transform({columns, rowsFrom(row), 1, {1, columns}, {1, columns}}, at, at, forward);
  }
  /// A block of rows, which become columns of the result.
  void alongRowsTurned(const Complex *line, size_t row, Complex *out, bool forward, T scale) const {
    transform({columns, rowsFrom(row), 1, {1, columns}, {rows, 1}, scale}, line + row * columns, out + row, forward);
  }

private:
  static void transform(const fft::Lines<T> &lines, const Complex *in, Complex *out, bool forward) {
    const auto &passes = fft::passes<T>();
    passes.complex(lines, forward, in, out, 0, passes.groups(lines));
  }
};

/// The transform of lines whose length is a product of two numbers of similar size.
template <typename T> class MatrixTransform {
  using Complex = std::complex<T>;

public:
  static bool pays(size_t length) { return length >= 2048 && rowsOf(length) != 0; }

  explicit MatrixTransform(size_t length) : length(length), matrix(rowsOf(length), length / rowsOf(length)) {}

  /// The sums of in[j] exp(-2 pi i j k / length), times `scale`; with `inverse`, exp(2 pi i ...). The operand may be in
  /// the place of the result.
  void run(const PcrtFrame *frame, bool inverse, const Complex *in, Complex *out, T scale) const {
    std::unique_ptr<T[]> numbers(new T[2 * length]); // without a value
    auto *line = reinterpret_cast<Complex *>(numbers.get());
    matrix.alongColumns(frame, in, line, !inverse);
    library::overBlocks(frame, matrix.rows, matrix.block, matrix.nsOfBlock, [&](size_t row, size_t) {
      matrix.multiply(line, row, matrix.twiddles, inverse);
      matrix.alongRowsTurned(line, row, out, !inverse, scale);
    });
  }

  const size_t length;

private:
  /// The greatest divisor up to the root, if it fills vectors, and neither factor is hard.
  static size_t rowsOf(size_t length) {
    constexpr size_t least = 16, hard = 32, mostRatio = 16;
    if (pocketfft::detail::util::largest_prime_factor(length) > hard)
      return 0;
    for (auto rows = static_cast<size_t>(std::sqrt(static_cast<double>(length))); rows >= least; --rows)
      if (length % rows == 0)
        return length / rows <= mostRatio * rows ? rows : 0;
    return 0;
  }

  LineMatrix<T> matrix;
};

/// The roots exp(2 pi i k / length) up to half the length.
template <typename T> struct HalfRoots {
  explicit HalfRoots(size_t length) : length(length), roots(length / 2 + 1) {
    pocketfft::detail::sincos_2pibyn<T> all(length);
    for (size_t k = 0; k < roots.size(); ++k)
      roots[k] = {all[k].r, all[k].i};
  }

  const size_t length;
  std::vector<std::complex<T>> roots;
};

/// A real line of even length is a complex one of half the length, the even elements and i times the odd ones, which
/// the plan transforms.
template <typename T, typename Plan>
void halvesFromReal(const PcrtFrame *frame, const Plan &plan, size_t length, const T *in, std::complex<T> *out,
                    T scale) {
  using Complex = std::complex<T>;
  size_t half = length / 2;
  auto table = keptPlan<HalfRoots<T>>(length);
  const Complex *roots = table->roots.data();
  std::unique_ptr<T[]> numbers(new T[2 * (half + 1)]);
  auto *both = reinterpret_cast<Complex *>(numbers.get());
  plan.run(frame, false, reinterpret_cast<const Complex *>(in), both, T(1));
  both[half] = both[0];
  using Matrix = LineMatrix<T>;
  library::overBlocks(frame, half + 1, Matrix::span, Matrix::nsOfBlock, [&](size_t low, size_t high) {
    for (size_t k = low; k < high; ++k) {
      Complex even = both[k] + std::conj(both[half - k]), odd = both[k] - std::conj(both[half - k]), root = roots[k];
      // odd / i times the conjugate root.
      Complex turned = {odd.imag() * root.real() - odd.real() * root.imag(),
                        -odd.real() * root.real() - odd.imag() * root.imag()};
      out[k] = (even + turned) * (scale / 2);
    }
  });
}

template <typename T, typename Plan>
void halvesToReal(const PcrtFrame *frame, const Plan &plan, size_t length, const std::complex<T> *in, T *out, T scale) {
  using Complex = std::complex<T>;
  size_t half = length / 2;
  auto table = keptPlan<HalfRoots<T>>(length);
  const Complex *roots = table->roots.data();
  std::unique_ptr<T[]> numbers(new T[2 * half]);
  auto *both = reinterpret_cast<Complex *>(numbers.get());
  using Matrix = LineMatrix<T>;
  library::overBlocks(frame, half, Matrix::span, Matrix::nsOfBlock, [&](size_t first, size_t end) {
    for (size_t k = first; k < end; ++k) {
      // The imaginary parts of the first and the last frequency have no meaning.
      Complex low = k ? in[k] : Complex(in[0].real()), high = k ? std::conj(in[half - k]) : Complex(in[half].real());
      Complex even = low + high, odd = low - high, root = roots[k];
      // i times odd, times the root.
      both[k] = {even.real() - odd.real() * root.imag() - odd.imag() * root.real(),
                 even.imag() + odd.real() * root.real() - odd.imag() * root.imag()};
    }
  });
  plan.run(frame, true, both, reinterpret_cast<Complex *>(out), scale);
}

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_LIB_CPU_FFTMATRIX_H
