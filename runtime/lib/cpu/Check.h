// What the library routine `check` says: what compiled code asks of sizes and indices that it can't know before it
// runs. Modules that were read from files have such calls (array-check-input, array-guard-sizes of the dialect).
#ifndef PYCOMPILER_RUNTIME_LIB_CPU_CHECK_H
#define PYCOMPILER_RUNTIME_LIB_CPU_CHECK_H

#include <cstdint>
#include <string>

namespace pcrt {

/// What is wrong by the params of a call of `check`; empty where nothing is.
std::string objectionOf(const int64_t *params);

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_LIB_CPU_CHECK_H
