// The Padé approximants of the exponential of a matrix (Higham, SIAM J. Matrix Anal. 26, 2005), for the CPU's routine
// and for kernels.
#ifndef PYCOMPILER_RUNTIME_LIB_CPU_PADEORDERS_H
#define PYCOMPILER_RUNTIME_LIB_CPU_PADEORDERS_H

#include <type_traits>

namespace pcrt {

/// The maximum 1-norm at which the approximant of an order is as exact as the type (tables 2.3 and later).
struct PadeOrder {
  int order;
  double bound;
};
inline constexpr PadeOrder padeOrdersOfDouble[] = {{3, 1.495585217958292e-2},
                                                   {5, 2.539398330063230e-1},
                                                   {7, 9.504178996162932e-1},
                                                   {9, 2.097847961257068},
                                                   {13, 5.371920351148152}};
inline constexpr PadeOrder padeOrdersOfFloat[] = {
    {3, 4.258730016922831e-1}, {5, 1.880152677804762}, {7, 3.925724783138660}};

/// The row for a 1-norm: the first whose bound is at least the norm, else the last.
template <typename Real> PadeOrder padeOrderFor(double norm) {
  PadeOrder chosen{};
  auto choose = [&](const auto &rows) {
    for (const PadeOrder &row : rows)
      if (chosen.order == 0 || norm > chosen.bound)
        chosen = row;
  };
  if constexpr (std::is_same_v<Real, float>)
    choose(padeOrdersOfFloat);
  else
    choose(padeOrdersOfDouble);
  return chosen;
}

/// Writes the coefficients of the numerator of the [order/order] approximant, scaled to integers: order + 1 of them.
inline void writePadeCoefficients(int order, double *b) {
  b[order] = 1;
  for (int j = order; j > 0; --j)
    b[j - 1] = b[j] * (2 * order - j + 1) * j / (order - j + 1);
}

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_LIB_CPU_PADEORDERS_H
