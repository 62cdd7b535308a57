// Element types: the codes of the ABI as an enum class, their sizes and names.
#ifndef PYCOMPILER_RUNTIME_DTYPE_H
#define PYCOMPILER_RUNTIME_DTYPE_H

#include "runtime/Abi.h"

#include <cstddef>

namespace pcrt {

enum class DType : int8_t {
#define PCRT_CASE(enumerator, code, bytes, name) enumerator = code,
  PCRT_DTYPES(PCRT_CASE)
#undef PCRT_CASE
};

#define PCRT_CASE(enumerator, code, bytes, name) +1
inline constexpr int dtypeCount = 0 PCRT_DTYPES(PCRT_CASE);
#undef PCRT_CASE

inline constexpr unsigned char dtypeBytes[] = {
#define PCRT_CASE(enumerator, code, bytes, name) bytes,
    PCRT_DTYPES(PCRT_CASE)
#undef PCRT_CASE
};

inline constexpr const char *dtypeNames[] = {
#define PCRT_CASE(enumerator, code, bytes, name) name,
    PCRT_DTYPES(PCRT_CASE)
#undef PCRT_CASE
};

inline size_t byteSize(DType dtype) { return dtypeBytes[static_cast<int>(dtype)]; }
inline const char *name(DType dtype) { return dtypeNames[static_cast<int>(dtype)]; }

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_DTYPE_H
