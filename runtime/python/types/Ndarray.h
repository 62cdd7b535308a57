// NumPy's class of arrays, and the formats in which buffers say what their elements are.
#ifndef PYCOMPILER_RUNTIME_PYTHON_TYPES_NDARRAY_H
#define PYCOMPILER_RUNTIME_PYTHON_TYPES_NDARRAY_H

#include "runtime/DType.h"
#include "support/PyRef.h"

namespace pcrt::python {

/// np.ndarray, borrowed; null when there is no NumPy.
PyTypeObject *ndarrayType();

/// The dtype that a buffer's format means; false when it is none of ours.
bool dtypeOfFormat(const char *format, DType &dtype);
/// NumPy's format of a dtype, or null: the struct module's letter but for complex numbers. On LP64 "l" is NumPy's own
/// int64.
const char *formatOf(DType dtype);
/// Whether NumPy exports no buffer of this dtype, one of ml_dtypes: then its bits are looked at as unsigned integers.
bool isForeign(DType dtype);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_TYPES_NDARRAY_H
