// The conditions of the routine `check` of the call frame's table (PcrtCheck, Abi.h): for the runtime, which tests them
// in every run, and for the compiler, which tests them if all sizes are known.
#ifndef PYCOMPILER_RUNTIME_SIZECHECKS_H
#define PYCOMPILER_RUNTIME_SIZECHECKS_H

#include "runtime/Abi.h"

#include <cstdint>

namespace pcrt::sizechecks {

/// The product, unless a factor is negative or it exceeds 64 bits. A zero does not hide overflow of the other factors:
/// code also iterates over arrays without elements.
inline bool multiplied(const int64_t *sizes, int64_t rank, int64_t factor, int64_t &product) {
  product = factor;
  bool isEmpty = false;
  for (int64_t i = 0; i < rank; ++i) {
    if (sizes[i] < 0)
      return false;
    isEmpty |= sizes[i] == 0;
    if (sizes[i] != 0 && __builtin_mul_overflow(product, sizes[i], &product))
      return false;
  }
  if (isEmpty)
    product = 0;
  return true;
}

/// An empty slice is always inside.
inline bool slices(int64_t offset, int64_t count, int64_t stride, int64_t size) {
  int64_t last;
  return count == 0 ||
         (count > 0 && offset >= 0 && offset < size && !__builtin_mul_overflow(count - 1, stride, &last) &&
          !__builtin_add_overflow(last, offset, &last) && last >= 0 && last < size);
}

inline bool areOfSameCount(const int64_t *sizes, const int64_t *others) {
  int64_t product, other;
  return multiplied(sizes + 1, sizes[0], 1, product) && multiplied(others + 1, others[0], 1, other) && product == other;
}

/// Whether a check holds; `p` are the params after the operand's number and the dimension.
inline bool holds(int64_t kind, const int64_t *p) {
  int64_t product;
  switch (kind) {
  case PCRT_CHECK_EQUAL:
    return p[0] == p[1];
  case PCRT_CHECK_AT_MOST:
    return p[0] >= 0 && p[0] <= p[1];
  case PCRT_CHECK_INDEX:
    return p[0] >= 0 && p[0] < p[1];
  case PCRT_CHECK_SLICE:
    return slices(p[0], p[1], p[2], p[3]);
  case PCRT_CHECK_SHAPE:
    return multiplied(p + 2, p[1], p[0], product);
  case PCRT_CHECK_COUNT:
    return multiplied(p + 2, p[1], 1, product) && product == p[0];
  case PCRT_CHECK_STEP:
    return p[0] > 0;
  case PCRT_CHECK_RESHAPE:
    return areOfSameCount(p, p + 1 + p[0]);
  default:
    return false;
  }
}

} // namespace pcrt::sizechecks

#endif
