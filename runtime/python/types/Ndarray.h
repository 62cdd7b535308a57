// NumPy's class of arrays, and the buffer formats of element types.
#ifndef PYCOMPILER_RUNTIME_PYTHON_TYPES_NDARRAY_H
#define PYCOMPILER_RUNTIME_PYTHON_TYPES_NDARRAY_H

#include "runtime/DType.h"
#include "support/PyRef.h"

namespace pcrt::python {

/// np.ndarray, borrowed; null without NumPy.
PyTypeObject *ndarrayType();

/// The dtype of a buffer format; false if it is not supported.
bool dtypeOfFormat(const char *format, DType &dtype);
/// NumPy's format of a dtype, or null: the struct module's letter but for complex numbers. On LP64 "l" is NumPy's own
/// int64.
const char *formatOf(DType dtype);
/// Whether NumPy cannot export buffers of this dtype, one of ml_dtypes: then its bits are viewed as unsigned integers.
bool isForeign(DType dtype);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_TYPES_NDARRAY_H
