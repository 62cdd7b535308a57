// The passes of one instruction set. Before it: pocketfft's header, in a namespace of its own, and PCRT_FFT_TABLES, the
// name of the tables.
#include "FftPasses.h"

namespace {

template <typename T>
void complexLines(const pcrt::fft::Lines<T> &lines, bool forward, const std::complex<T> *in, std::complex<T> *out) {
  pocketfft::c2c(lines.shape, lines.inStrides, lines.outStrides, {lines.axis}, forward, in, out, lines.scale);
}

template <typename T> void linesFromReal(const pcrt::fft::Lines<T> &lines, const T *in, std::complex<T> *out) {
  pocketfft::r2c(lines.shape, lines.inStrides, lines.outStrides, lines.axis, true, in, out, lines.scale);
}

template <typename T> void linesToReal(const pcrt::fft::Lines<T> &lines, const std::complex<T> *in, T *out) {
  pocketfft::c2r(lines.shape, lines.inStrides, lines.outStrides, lines.axis, false, in, out, lines.scale);
}

template <typename T>
constexpr pcrt::fft::Passes<T> passes = {pocketfft::detail::VLEN<T>::val, complexLines<T>, linesFromReal<T>,
                                         linesToReal<T>};

} // namespace

const pcrt::fft::Tables pcrt::fft::PCRT_FFT_TABLES = {passes<float>, passes<double>};
