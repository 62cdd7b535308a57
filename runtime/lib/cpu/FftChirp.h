// Transforms of lines whose length has a large prime factor, by the chirp transform (Bluestein, IEEE Trans. Audio
// Electroacoust. 18, 1970): a convolution of a length with small factors. Here the length is a product of two, and the
// transforms of the convolution are those of a matrix's columns and rows (Bailey, J. Supercomputing 4, 1990), which
// pocketfft computes side by side in vectors. Its own chirp transform is one scalar line of more than twice the length.
//
// Threads share the blocks of columns and rows. The blocks depend on the length alone.
#ifndef PYCOMPILER_RUNTIME_LIB_CPU_FFTCHIRP_H
#define PYCOMPILER_RUNTIME_LIB_CPU_FFTCHIRP_H

#include "FftPasses.h"
#include "FftPocket.h"
#include "Rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
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

  explicit ChirpTransform(size_t length) : length(length) {
    using pocketfft::detail::sincos_2pibyn, pocketfft::detail::util;
    size_t least = 2 * length - 1;
    rows = util::good_size_cmplx(size_t(std::sqrt(double(least))));
    columns = util::good_size_cmplx((least + rows - 1) / rows);
    size_t size = rows * columns;

    chirp.resize(length);
    sincos_2pibyn<T> halves(2 * length);
    for (size_t k = 0; k < length; ++k) {
      auto root = halves[size_t(uint64_t(k) * k % (2 * length))];
      chirp[k] = {root.r, -root.i};
    }
    twiddles.resize(size);
    sincos_2pibyn<T> roots(size);
    for (size_t row = 0; row < rows; ++row)
      for (size_t column = 0; column < columns; ++column) {
        auto root = roots[row * column];
        twiddles[row * columns + column] = {root.r, -root.i};
      }
    Numbers kernel(size);
    for (size_t k = 0; k < length; ++k)
      kernel[k] = kernel[(size - k) % size] = std::conj(chirp[k]) / T(size);
    alongColumns(kernel.data(), 0, columns, true);
    for (size_t row = 0; row < rows; row += block) {
      multiply(kernel, row, twiddles, false);
      alongRows(kernel, row, true);
    }
    spectrum = std::move(kernel);
  }

  /// The sums of read(j) exp(-2 pi i j k / length), given to write(k, sum); with `inverse`, exp(2 pi i ...).
  template <typename Read, typename Write>
  void run(const PcrtFrame *frame, bool inverse, const Read &read, const Write &write) const {
    auto turned = [inverse](Complex z) { return inverse ? std::conj(z) : z; };
    Numbers line(rows * columns);
    library::overBlocks(frame, length, span, nsOfBlock, [&](size_t low, size_t high) {
      for (size_t k = low; k < high; ++k)
        line[k] = product(turned(read(k)), chirp[k]);
    });
    auto columnsOf = [&](bool forward) {
      library::overBlocks(frame, columns, std::max(block, span / rows), nsOfBlock,
                          [&](size_t low, size_t high) { alongColumns(line.data(), low, high - low, forward); });
    };
    columnsOf(true);
    library::overBlocks(frame, rows, block, nsOfBlock, [&](size_t row, size_t) {
      multiply(line, row, twiddles, false);
      alongRows(line, row, true);
      multiply(line, row, spectrum, false);
      alongRows(line, row, false);
      multiply(line, row, twiddles, true);
    });
    columnsOf(false);
    library::overBlocks(frame, length, span, nsOfBlock, [&](size_t low, size_t high) {
      for (size_t k = low; k < high; ++k)
        write(k, turned(product(line[k], chirp[k])));
    });
  }

  /// The transform of a length, kept with the last ones.
  static std::shared_ptr<const ChirpTransform> of(size_t length) {
    static std::mutex mutex;
    static std::array<std::shared_ptr<const ChirpTransform>, 4> kept;
    {
      std::lock_guard<std::mutex> lock(mutex);
      for (size_t i = 0; i < kept.size(); ++i)
        if (kept[i] && kept[i]->length == length) {
          std::rotate(kept.begin(), kept.begin() + i, kept.begin() + i + 1);
          return kept[0];
        }
    }
    auto made = std::make_shared<const ChirpTransform>(length);
    std::lock_guard<std::mutex> lock(mutex);
    std::rotate(kept.begin(), kept.end() - 1, kept.end());
    return kept[0] = made;
  }

private:
  /// Rows that stay in the cache between the steps, and fill vectors; and elements of a block.
  static constexpr size_t block = 16, span = 8192;
  static constexpr double nsOfBlock = 20000;

  /// The operator of complex numbers looks for infinities.
  static Complex product(Complex a, Complex b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }

  size_t rowsFrom(size_t row) const { return std::min(block, rows - row); }

  void multiply(Numbers &line, size_t row, const Numbers &factors, bool conjugated) const {
    for (size_t k = row * columns; k < (row + rowsFrom(row)) * columns; ++k)
      line[k] = product(line[k], conjugated ? std::conj(factors[k]) : factors[k]);
  }

  void transform(Complex *data, const fft::Lines<T> &lines, bool forward) const {
    const auto &passes = fft::passes<T>();
    passes.complex(lines, forward, data, data, 0, passes.groups(lines));
  }
  void alongColumns(Complex *line, size_t first, size_t count, bool forward) const {
    transform(line + first, {rows, 1, count, {columns, 0}, {columns, 0}}, forward);
  }
  void alongRows(Numbers &line, size_t row, bool forward) const {
    transform(&line[row * columns], {columns, rowsFrom(row), 1, {1, columns}, {1, columns}}, forward);
  }

  size_t length, rows, columns;
  Numbers chirp;    ///< exp(-pi i k^2 / length)
  Numbers twiddles; ///< exp(-2 pi i row column / (rows columns))
  Numbers spectrum; ///< of the conjugate chirp, with its frequency row + rows column at (row, column)
};

/// The transforms of lines without a gap between them. `length` is the one of the real side, if there is one.
template <typename T>
void chirpComplex(const PcrtFrame *frame, size_t length, size_t lines, bool forward, const std::complex<T> *in,
                  std::complex<T> *out, T scale) {
  auto plan = ChirpTransform<T>::of(length);
  for (size_t line = 0; line < lines; ++line, in += length, out += length)
    plan->run(
        frame, !forward, [=](size_t k) { return in[k]; }, [=](size_t k, std::complex<T> sum) { out[k] = sum * scale; });
}

/// Real lines of even length are complex ones of half the length: the even elements, and i times the odd ones.
template <typename T>
void chirpFromReal(const PcrtFrame *frame, size_t length, size_t lines, const T *in, std::complex<T> *out, T scale) {
  using Complex = std::complex<T>;
  size_t half = length / 2;
  auto plan = ChirpTransform<T>::of(length % 2 ? length : half);
  pocketfft::detail::sincos_2pibyn<T> roots(length);
  std::vector<Complex> both(half + 1);
  for (size_t line = 0; line < lines; ++line, in += length, out += half + 1) {
    if (length % 2) {
      plan->run(
          frame, false, [=](size_t k) { return Complex(in[k]); },
          [=](size_t k, Complex sum) {
            if (k <= half)
              out[k] = sum * scale;
          });
      continue;
    }
    plan->run(
        frame, false, [=](size_t k) { return Complex(in[2 * k], in[2 * k + 1]); },
        [&](size_t k, Complex sum) { both[k] = sum; });
    both[half] = both[0];
    for (size_t k = 0; k <= half; ++k) {
      Complex even = both[k] + std::conj(both[half - k]), odd = both[k] - std::conj(both[half - k]);
      auto root = roots[k];
      // odd / i times the conjugate root.
      Complex turned = {odd.imag() * root.r - odd.real() * root.i, -odd.real() * root.r - odd.imag() * root.i};
      out[k] = (even + turned) * (scale / 2);
    }
  }
}

template <typename T>
void chirpToReal(const PcrtFrame *frame, size_t length, size_t lines, const std::complex<T> *in, T *out, T scale) {
  using Complex = std::complex<T>;
  size_t half = length / 2;
  auto plan = ChirpTransform<T>::of(length % 2 ? length : half);
  pocketfft::detail::sincos_2pibyn<T> roots(length);
  for (size_t line = 0; line < lines; ++line, in += half + 1, out += length) {
    if (length % 2) {
      // The imaginary part of the first frequency has no meaning.
      plan->run(
          frame, true,
          [=](size_t k) { return k == 0      ? Complex(in[0].real())
                                 : k <= half ? in[k]
                                             : std::conj(in[length - k]); },
          [=](size_t k, Complex sum) { out[k] = sum.real() * scale; });
      continue;
    }
    plan->run(
        frame, true,
        [&](size_t k) {
          // Neither have those of the first and the last one.
          Complex low = k ? in[k] : Complex(in[0].real()),
                  high = k ? std::conj(in[half - k]) : Complex(in[half].real());
          Complex even = low + high, odd = low - high;
          auto root = roots[k];
          // i times odd, times the root.
          return Complex(even.real() - odd.real() * root.i - odd.imag() * root.r,
                         even.imag() + odd.real() * root.r - odd.imag() * root.i);
        },
        [=](size_t k, Complex sum) {
          out[2 * k] = sum.real() * scale;
          out[2 * k + 1] = sum.imag() * scale;
        });
  }
}

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_LIB_CPU_FFTCHIRP_H
