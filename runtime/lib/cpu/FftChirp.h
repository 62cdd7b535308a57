// Transforms of lines whose length has a large prime factor, by the chirp transform (Bluestein, IEEE Trans. Audio
// Electroacoust. 18, 1970): a convolution of a length with small factors. Here the length is a product of two, and the
// transforms of the convolution are those of a matrix (FftMatrix.h). pocketfft's own chirp transform is one scalar line
// of more than twice the length.
#ifndef PYCOMPILER_RUNTIME_LIB_CPU_FFTCHIRP_H
#define PYCOMPILER_RUNTIME_LIB_CPU_FFTCHIRP_H

#include "FftMatrix.h"

#include <cmath>
#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace pcrt {

template <typename T> class ChirpTransform {
  using Complex = std::complex<T>;
  using Numbers = std::vector<Complex>;

public:
  /// Whether a complex line of this length takes less time than by pocketfft. Shorter ones are left to its vectors of
  /// several lines.
  static bool pays(size_t length) {
    using pocketfft::detail::util;
    if (length < 2048)
      return false;
    size_t greatest = util::largest_prime_factor(length);
    return greatest * greatest > length &&
           util::cost_guess(length) > 3 * util::cost_guess(util::good_size_cmplx(2 * length - 1));
  }

  explicit ChirpTransform(size_t length) : length(length), matrix(matrixOf(length)) {
    using pocketfft::detail::sincos_2pibyn;
    const size_t size = matrix.rows * matrix.columns;
    chirp.resize(length);
    sincos_2pibyn<T> halves(2 * length);
    for (size_t k = 0; k < length; ++k) {
      auto root = halves[size_t(uint64_t(k) * k % (2 * length))];
      chirp[k] = {root.r, -root.i};
    }
    spectrum.resize(size);
    Complex *kernel = spectrum.data();
    for (size_t k = 0; k < length; ++k)
      kernel[k] = kernel[(size - k) % size] = std::conj(chirp[k]) / T(size);
    matrix.alongColumns(nullptr, kernel, kernel, true);
    for (size_t row = 0; row < matrix.rows; row += matrix.block) {
      matrix.multiply(kernel, row, matrix.twiddles, false);
      matrix.alongRows(kernel, row, true);
    }
  }

  /// The sums of read(j) exp(-2 pi i j k / length), given to write(k, sum); with `inverse`, exp(2 pi i ...).
  template <typename Read, typename Write>
  void run(const PcrtFrame *frame, bool inverse, const Read &read, const Write &write) const {
    auto turned = [inverse](Complex z) { return inverse ? std::conj(z) : z; };
    Numbers numbers(matrix.rows * matrix.columns);
    Complex *line = numbers.data();
    library::overBlocks(frame, length, matrix.span, matrix.nsOfBlock, [&](size_t low, size_t high) {
      for (size_t k = low; k < high; ++k)
        line[k] = matrix.product(turned(read(k)), chirp[k]);
    });
    matrix.alongColumns(frame, line, line, true);
    library::overBlocks(frame, matrix.rows, matrix.block, matrix.nsOfBlock, [&](size_t row, size_t) {
      matrix.multiply(line, row, matrix.twiddles, false);
      matrix.alongRows(line, row, true);
      matrix.multiply(line, row, spectrum, false);
      matrix.alongRows(line, row, false);
      matrix.multiply(line, row, matrix.twiddles, true);
    });
    matrix.alongColumns(frame, line, line, false);
    library::overBlocks(frame, length, matrix.span, matrix.nsOfBlock, [&](size_t low, size_t high) {
      for (size_t k = low; k < high; ++k)
        write(k, turned(matrix.product(line[k], chirp[k])));
    });
  }

  /// The same of and to adjacent numbers.
  void run(const PcrtFrame *frame, bool inverse, const Complex *in, Complex *out, T scale) const {
    run(frame, inverse, [=](size_t k) { return in[k]; }, [=](size_t k, Complex sum) { out[k] = sum * scale; });
  }

  const size_t length;

private:
  static LineMatrix<T> matrixOf(size_t length) {
    using pocketfft::detail::util;
    size_t least = 2 * length - 1;
    size_t rows = util::good_size_cmplx(size_t(std::sqrt(double(least))));
    return {rows, util::good_size_cmplx((least + rows - 1) / rows)};
  }

  LineMatrix<T> matrix;
  Numbers chirp;    ///< exp(-pi i k^2 / length)
  Numbers spectrum; ///< of the conjugate chirp, with its frequency row + rows column at (row, column)
};

/// Real lines of odd length without a gap between them.
template <typename T>
void chirpFromOdd(const PcrtFrame *frame, const ChirpTransform<T> &plan, size_t length, const T *in,
                  std::complex<T> *out, T scale) {
  using Complex = std::complex<T>;
  size_t half = length / 2;
  plan.run(
      frame, false, [=](size_t k) { return Complex(in[k]); },
      [=](size_t k, Complex sum) {
        if (k <= half)
          out[k] = sum * scale;
      });
}

template <typename T>
void chirpToOdd(const PcrtFrame *frame, const ChirpTransform<T> &plan, size_t length, const std::complex<T> *in, T *out,
                T scale) {
  using Complex = std::complex<T>;
  size_t half = length / 2;
  plan.run(
      frame, true,
      // The imaginary part of the first frequency has no meaning.
      [=](size_t k) { return k == 0      ? Complex(in[0].real())
                             : k <= half ? in[k]
                                         : std::conj(in[length - k]); },
      [=](size_t k, Complex sum) { out[k] = sum.real() * scale; });
}

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_LIB_CPU_FFTCHIRP_H
