// The library routine `check`: conditions on sizes and indices that are known only at run time. Modules from files have
// such calls (array-check-input, array-guard-sizes of the dialect).
#ifndef PYCOMPILER_RUNTIME_LIB_CPU_CHECK_H
#define PYCOMPILER_RUNTIME_LIB_CPU_CHECK_H

#include <cstdint>
#include <string>

namespace pcrt {

/// The error text for the params of a call of `check`; empty if the condition holds.
std::string objectionOf(const int64_t *params);

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_LIB_CPU_CHECK_H
