// Owned references to Python objects, and a small vector, for the hot path.
#ifndef PYCOMPILER_RUNTIME_PYTHON_PYREF_H
#define PYCOMPILER_RUNTIME_PYTHON_PYREF_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

namespace pcrt::python {

/// One owned reference, or null (with a Python exception set, if a function returns it).
class PyRef {
public:
  PyRef() = default;
  PyRef(std::nullptr_t) {}
  PyRef(const PyRef &other) : object(Py_XNewRef(other.object)) {}
  PyRef(PyRef &&other) noexcept : object(std::exchange(other.object, nullptr)) {}
  PyRef &operator=(PyRef other) noexcept {
    std::swap(object, other.object);
    return *this;
  }
  ~PyRef() { Py_XDECREF(object); }
  /// Takes over a new reference.
  static PyRef steal(PyObject *object) {
    PyRef reference;
    reference.object = object;
    return reference;
  }
  static PyRef borrow(PyObject *object) { return steal(Py_XNewRef(object)); }

  PyObject *get() const { return object; }
  PyObject *take() { return std::exchange(object, nullptr); }
  explicit operator bool() const { return object != nullptr; }

private:
  PyObject *object = nullptr;
};

/// A vector whose first N elements need no allocation.
template <typename T, size_t N> class SmallVector {
  static_assert(std::is_trivially_copyable_v<T>);

public:
  SmallVector() = default;
  SmallVector(const SmallVector &) = delete;
  SmallVector &operator=(const SmallVector &) = delete;

  void push(T value) {
    if (count == capacity)
      grow();
    elements[count++] = value;
  }
  T *data() { return elements; }
  const T *data() const { return elements; }
  size_t size() const { return count; }
  T &operator[](size_t index) { return elements[index]; }
  const T &operator[](size_t index) const { return elements[index]; }
  T *begin() { return elements; }
  T *end() { return elements + count; }

private:
  void grow() {
    std::unique_ptr<T[]> larger(new T[2 * capacity]);
    std::memcpy(larger.get(), elements, count * sizeof(T));
    heap = std::move(larger);
    elements = heap.get();
    capacity *= 2;
  }

  T local[N];
  std::unique_ptr<T[]> heap;
  T *elements = local;
  size_t count = 0, capacity = N;
};

/// Makes a heap type of `spec` and adds it to the module under its short name; null with an exception set.
PyTypeObject *addType(PyObject *module, PyType_Spec &spec);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_PYREF_H
