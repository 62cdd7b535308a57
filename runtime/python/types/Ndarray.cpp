// NumPy's class of arrays.
#include "types/Ndarray.h"

using namespace pcrt;
using namespace pcrt::python;

PyTypeObject *pcrt::python::ndarrayType() {
  static auto *const type = [] {
    PyRef numpy = PyRef::steal(PyImport_ImportModule("numpy"));
    PyObject *found = numpy ? PyObject_GetAttrString(numpy.get(), "ndarray") : nullptr;
    PyErr_Clear();
    return reinterpret_cast<PyTypeObject *>(found);
  }();
  return type;
}

//===-- Formats
//-----------------------------------------------------------------------------------------------------===//

bool pcrt::python::dtypeOfFormat(const char *format, DType &dtype) {
  if (!format || !format[0])
    return false;
  // Arrays that are not aligned to their element have this machine's byte order, but standard sizes.
  if (format[0] == '=') {
    const char letter = format[1] == 'l' ? 'i' : format[1] == 'L' ? 'I' : format[1];
    const char native[] = {letter, letter == 'Z' ? format[2] : '\0', '\0'};
    return letter != '=' && dtypeOfFormat(native, dtype);
  }
  if (format[0] == 'Z' && format[1] && !format[2]) {
    dtype = format[1] == 'f' ? DType::Complex64 : DType::Complex128;
    return format[1] == 'f' || format[1] == 'd';
  }
  if (format[1])
    return false;
  // In NumPy's form on LP64, where long long is as wide as long.
  static const char letters[] = "?bhilBHIL";
  if (format[0] == 'q')
    dtype = DType::Int64;
  else if (format[0] == 'Q')
    dtype = DType::UInt64;
  else if (const char *found = std::strchr(letters, format[0]))
    dtype = static_cast<DType>(found - letters);
  else if (format[0] == 'e')
    dtype = DType::Float16;
  else if (format[0] == 'f')
    dtype = DType::Float32;
  else if (format[0] == 'd')
    dtype = DType::Float64;
  else
    return false;
  return true;
}

bool pcrt::python::isForeign(DType dtype) {
  return dtype == DType::BFloat16 || static_cast<int>(dtype) > static_cast<int>(DType::Complex128);
}

const char *pcrt::python::formatOf(DType dtype) {
  static const char *const formats[] = {"?", "b", "h",     "i", "l", "B",  "H", "I",
                                        "L", "e", nullptr, "f", "d", "Zf", "Zd"};
  constexpr int count = sizeof(formats) / sizeof(formats[0]);
  static_assert(count == static_cast<int>(DType::Complex128) + 1 && sizeof(long) == 8);
  return isForeign(dtype) ? nullptr : formats[static_cast<int>(dtype)];
}
