// The element types for which routines are compiled. DEVICE_REALS(X): X(name, type). The compiler builds the names of
// entries from `name` (elementName in dialect/lib/Gpu/RoutineLauncher.cpp).
#ifndef DEVICE_ELEMENTS_H
#define DEVICE_ELEMENTS_H

#include "cpu/Elements.h"

#include <complex>

#define DEVICE_FLOATS(X) X(f16, pcrt::Half) X(bf16, pcrt::BFloat) X(f32, float) X(f64, double)
#define DEVICE_INTEGERS(X)                                                                                             \
  X(i8, int8_t)                                                                                                        \
  X(i16, int16_t) X(i32, int32_t) X(i64, int64_t) X(u8, uint8_t) X(u16, uint16_t) X(u32, uint32_t) X(u64, uint64_t)
#define DEVICE_REALS(X) DEVICE_FLOATS(X) DEVICE_INTEGERS(X)
#define DEVICE_COMPLEX(X) X(c64, std::complex<float>) X(c128, std::complex<double>)

#endif // DEVICE_ELEMENTS_H
