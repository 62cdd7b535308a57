// The special functions of PCRT_SPECIAL_FUNCTIONS for kernels, as special_lgamma and so on. They are the CPU's
// (runtime/lib/cpu/Special*.cpp), compiled for devices.
#include "cpu/SpecialFunctions.h"

#define DEVICE_SPECIAL_1(name)                                                                                         \
  extern "C" double special_##name(double x) { return pcrt::special::name(x); }
#define DEVICE_SPECIAL_2(name)                                                                                         \
  extern "C" double special_##name(double x, double y) { return pcrt::special::name(x, y); }
#define DEVICE_SPECIAL_3(name)                                                                                         \
  extern "C" double special_##name(double x, double y, double z) { return pcrt::special::name(x, y, z); }
#define DEVICE_SPECIAL_4(name)                                                                                         \
  extern "C" double special_##name(double x, double y, double z, double w) { return pcrt::special::name(x, y, z, w); }
#define DEVICE_SPECIAL(name, code, inputs) DEVICE_SPECIAL_##inputs(name)
PCRT_SPECIAL_FUNCTIONS(DEVICE_SPECIAL)
