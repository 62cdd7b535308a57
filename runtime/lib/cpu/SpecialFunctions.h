// The special functions of PCRT_SPECIAL_FUNCTIONS as functions of doubles, one declaration for each row of the list.
// None throws: as in SciPy, poles give an infinity or nan, and arguments outside a domain give nan. Internal extended
// precision (long double) keeps the rounding errors of sums and powers out of the result.
#ifndef PYCOMPILER_RUNTIME_LIB_CPU_SPECIALFUNCTIONS_H
#define PYCOMPILER_RUNTIME_LIB_CPU_SPECIALFUNCTIONS_H

#include "runtime/Abi.h"

#include <limits>

namespace pcrt::special {

#define PCRT_DOUBLES_1 double
#define PCRT_DOUBLES_2 double, double
#define PCRT_DOUBLES_3 double, double, double
#define PCRT_DOUBLES_4 double, double, double, double
#define PCRT_DECLARE(name, code, inputs) double name(PCRT_DOUBLES_##inputs);
PCRT_SPECIAL_FUNCTIONS(PCRT_DECLARE)
#undef PCRT_DECLARE
#undef PCRT_DOUBLES_1
#undef PCRT_DOUBLES_2
#undef PCRT_DOUBLES_3
#undef PCRT_DOUBLES_4

/// f32 has versions of its own where doubles suffice for it: extended precision takes several times as long.
float hyp1f1(float a, float b, float x);
float hyp1f1_grad_a(float a, float b, float x);
float hyp1f1_grad_b(float a, float b, float x);

using Extended = long double;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double undefined = std::numeric_limits<double>::quiet_NaN();
constexpr Extended pi = 3.14159265358979323846264338327950288L;
constexpr Extended sqrtPi = 1.77245385090551602729816748334114518L;
constexpr Extended sqrt2 = 1.41421356237309504880168872420969808L;
constexpr Extended eulerGamma = 0.577215664901532860606512090082402431L;

} // namespace pcrt::special

#endif // PYCOMPILER_RUNTIME_LIB_CPU_SPECIALFUNCTIONS_H
