// Operands that compiled code accepts directly from the interpreter: arrays of dtypes with common rules, and Python
// numbers that every such dtype accepts. After Array; used by Operators, Subscript and ArrayFunction.
#ifndef PYCOMPILER_RUNTIME_PYTHON_PLAIN_H
#define PYCOMPILER_RUNTIME_PYTHON_PLAIN_H

#include "array/Array.h"

namespace pcrt::python {

/// Keys and the small types have rules of their own.
inline bool isPlainArray(PyObject *object) {
  return isArray(object) && asArray(object)->aval->code <= DType::Complex128;
}

/// Whether a dtype accepts every int of 32 bits; for a number that does not fit, the general function raises the error.
inline bool takesInts(DType dtype) {
  switch (dtype) {
  case DType::Int32:
  case DType::Int64:
  case DType::Float32:
  case DType::Float64:
  case DType::Complex64:
  case DType::Complex128:
    return true;
  default:
    return false;
  }
}

/// Whether it is an int of 32 bits, exactly.
inline bool isShortInt(PyObject *number) {
  if (!PyLong_CheckExact(number))
    return false;
  int overflow;
  long value = PyLong_AsLongAndOverflow(number, &overflow);
  return !overflow && value == static_cast<int32_t>(value);
}

/// Whether a Python number can be combined with arrays; `withInts`: all of them except bools accept ints.
inline bool isPlainNumber(PyObject *number, bool withInts) {
  return PyFloat_CheckExact(number) || PyBool_Check(number) || (withInts && isShortInt(number));
}

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_PLAIN_H
