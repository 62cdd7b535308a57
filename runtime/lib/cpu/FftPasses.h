// Transforms of the lines of one axis, by pocketfft's plans, for each instruction set. Lines are computed side by side
// in the lanes of vectors. No product is contracted with a sum: a line has the same bits in a vector and alone, and by
// each instruction set.
#ifndef PYCOMPILER_RUNTIME_LIB_CPU_FFTPASSES_H
#define PYCOMPILER_RUNTIME_LIB_CPU_FFTPASSES_H

#include <complex>
#include <cstddef>

namespace pcrt::fft {

/// Lines in stacks of equal distance. Those of a stack lie side by side; a stack of one has adjacent elements if `step`
/// is 1. All distances are in elements.
template <typename T> struct Lines {
  /// Of the real side, if there is one: its lines have a step of 1.
  size_t length;
  size_t stacks, perStack;
  struct Side {
    size_t step, stack;
  } in, out;
  T scale = 1;
};

/// They compute the groups of lines from `low` to `high`, and throw std::bad_alloc. The lines of a group share a
/// vector. A transform may have its results in the place of the operand if the distances are equal.
template <typename T> struct Passes {
  using Complex = std::complex<T>;
  size_t lanes;
  void (*complex)(const Lines<T> &, bool forward, const Complex *, Complex *, size_t low, size_t high);
  void (*fromReal)(const Lines<T> &, const T *, Complex *, size_t low, size_t high);
  void (*toReal)(const Lines<T> &, const Complex *, T *, size_t low, size_t high);

  /// A group has lines of one stack, but for stacks that are smaller than a vector.
  size_t groups(const Lines<T> &lines) const {
    auto over = [this](size_t count) { return (count + lanes - 1) / lanes; };
    return lines.perStack < lanes ? over(lines.stacks * lines.perStack) : lines.stacks * over(lines.perStack);
  }
};

struct Tables {
  Passes<float> ofFloat;
  Passes<double> ofDouble;
};
extern const Tables tablesBaseline, tablesAvx2;

/// Those of the widest vectors of this machine.
template <typename T> const Passes<T> &passes();

} // namespace pcrt::fft

#endif // PYCOMPILER_RUNTIME_LIB_CPU_FFTPASSES_H
