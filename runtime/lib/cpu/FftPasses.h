// Transforms of the lines of one axis, by pocketfft, for each instruction set. pocketfft computes lines side by side in
// the lanes of vectors, as many as the instruction set it is compiled for has, and the lines that are left over one by
// one. No product is contracted with a sum: a line has the same bits by each of them.
#ifndef PYCOMPILER_RUNTIME_LIB_CPU_FFTPASSES_H
#define PYCOMPILER_RUNTIME_LIB_CPU_FFTPASSES_H

#include <complex>
#include <cstddef>
#include <vector>

namespace pcrt::fft {

/// The lines of an axis. The shape is that of the real side, if there is one; strides are in bytes.
template <typename T> struct Lines {
  std::vector<size_t> shape;
  std::vector<ptrdiff_t> inStrides, outStrides;
  size_t axis;
  T scale = 1;

  size_t count() const {
    size_t lines = 1;
    for (size_t i = 0; i < shape.size(); ++i)
      lines *= i == axis ? 1 : shape[i];
    return lines;
  }
};

/// The code for one instruction set. They throw std::bad_alloc.
template <typename T> struct Passes {
  using Complex = std::complex<T>;
  size_t lanes;
  void (*complex)(const Lines<T> &, bool forward, const Complex *, Complex *);
  void (*fromReal)(const Lines<T> &, const T *, Complex *);
  void (*toReal)(const Lines<T> &, const Complex *, T *);
};

struct Tables {
  Passes<float> ofFloat;
  Passes<double> ofDouble;
};
extern const Tables tablesBaseline, tablesAvx2;

/// The lanes of the widest code that this machine runs: a multiple of those of all others.
size_t mostLanes();

/// The code that takes the least time for so many lines.
template <typename T> const Passes<T> &passesFor(size_t lines);

} // namespace pcrt::fft

#endif // PYCOMPILER_RUNTIME_LIB_CPU_FFTPASSES_H
