// Arrays whose size depends on data that is still being computed: an ArrayObject with `unsized`, the Python object that
// makes the array as it is once its size is known. Until then the aval has symbols, and there is no buffer. After
// Array.
#ifndef PYCOMPILER_RUNTIME_PYTHON_UNSIZED_H
#define PYCOMPILER_RUNTIME_PYTHON_UNSIZED_H

#include "Array.h"

namespace pcrt::python {

/// Whether asking for the size would not wait; false with an exception.
bool isSizeKnown(ArrayObject *array, bool &isKnown);

/// Of an array that is deleted: what its size would have been is not asked any more.
void forgetSize(ArrayObject *array);

bool addUnsizedFunctions(PyObject *module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_UNSIZED_H
