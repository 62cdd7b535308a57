// Decides which ndarrays may be borrowed, and releases them from threads that run no Python.
#include "array/Borrow.h"

#include "array/DevicePlacement.h"
#include "types/Ndarray.h"

using namespace pcrt;
using namespace pcrt::python;

/// A smaller copy costs less than the check.
static constexpr Py_ssize_t smallestBorrow = 64 << 10;

//===-- Whether nothing else refers to it
//---------------------------------------------------------------------------===//

namespace {
/// The members of an ndarray in its ABI (NumPy 1 and 2).
struct NdarrayObject {
  PyObject_HEAD char *data;
  int rank;
  Py_ssize_t *dims, *strides;
  PyObject *base, *descr;
  int flags;
  PyObject *weakReferences;
};
constexpr int contiguousFlag = 1, ownsDataFlag = 4, alignedFlag = 0x100;
} // namespace

static const NdarrayObject &fieldsOf(PyObject *ndarray) { return *reinterpret_cast<NdarrayObject *>(ndarray); }

/// Checks a known ndarray. With an unknown layout nothing is borrowed.
static bool layoutIsKnown() {
  PyRef numpy = PyRef::steal(PyImport_ImportModule("numpy"));
  PyRef sample = numpy ? PyRef::steal(PyObject_CallMethod(numpy.get(), "zeros", "((ii))", 2, 3)) : PyRef();
  PyRef dtype = sample ? PyRef::steal(PyObject_GetAttrString(sample.get(), "dtype")) : PyRef();
  Py_buffer view;
  if (!dtype || Py_TYPE(sample.get())->tp_basicsize < static_cast<Py_ssize_t>(sizeof(NdarrayObject)) ||
      PyObject_GetBuffer(sample.get(), &view, PyBUF_SIMPLE) < 0) {
    PyErr_Clear();
    return false;
  }
  void *data = view.buf;
  PyBuffer_Release(&view);
  const NdarrayObject &fields = fieldsOf(sample.get());
  constexpr int expected = contiguousFlag | ownsDataFlag | alignedFlag;
  bool known = fields.data == data && fields.rank == 2 && fields.dims[0] == 2 && fields.dims[1] == 3 && !fields.base &&
               fields.descr == dtype.get() && (fields.flags & expected) == expected && !fields.weakReferences;
  PyRef weak = known ? PyRef::steal(PyWeakref_NewRef(sample.get(), nullptr)) : PyRef();
  PyErr_Clear();
  return weak && fields.weakReferences;
}

bool pcrt::python::areTemporaries(PyObject *const *values, size_t flags) {
  if (!(flags & PY_VECTORCALL_ARGUMENTS_OFFSET))
    return false;
#if PY_VERSION_HEX >= 0x030e0000
  return true; // checked for each object
#else
  // Only the interpreter has its arguments there, and it holds a reference of its own to each.
  PyThreadState *thread = PyThreadState_Get();
  return thread->datastack_chunk && values >= &thread->datastack_chunk->data[0] && values < thread->datastack_top;
#endif
}

bool pcrt::python::isSoleNdarray(PyObject *object) {
  if (Py_TYPE(object) != ndarrayType())
    return false;
#if PY_VERSION_HEX >= 0x030e0000
  if (!PyUnstable_Object_IsUniqueReferencedTemporary(object))
    return false;
#else
  if (Py_REFCNT(object) != 1)
    return false;
#endif
  static const bool known = layoutIsKnown();
  if (!known)
    return false;
  const NdarrayObject &fields = fieldsOf(object);
  constexpr int wanted = contiguousFlag | ownsDataFlag | alignedFlag;
  if ((fields.flags & wanted) != wanted || fields.base || fields.weakReferences)
    return false;
  Py_ssize_t elements = 1;
  for (int i = 0; i < fields.rank; ++i)
    elements *= fields.dims[i];
  Py_ssize_t itemBytes = fields.rank > 0 ? fields.strides[fields.rank - 1] : 0;
  return elements * itemBytes >= smallestBorrow;
}

//===-- Letting go
//--------------------------------------------------------------------------------------------------===//

namespace {
struct Dropped {
  PyObject *object;
  Dropped *next;
};
} // namespace

/// Objects that a thread without the GIL has released. It does not acquire the GIL: the thread that holds it may wait
/// for this one (for example around fork).
static std::atomic<Dropped *> dropped{nullptr};
static std::atomic<bool> isScheduled{false};

static int letGo(void *) {
  isScheduled = false;
  Dropped *next = dropped.exchange(nullptr);
  while (Dropped *entry = next) {
    next = entry->next;
    Py_DECREF(entry->object);
    delete entry;
  }
  return 0;
}

static void release(void *owner) {
  auto *object = static_cast<PyObject *>(owner);
  if (!Py_IsInitialized())
    return;
  if (PyGILState_Check()) {
    Py_DECREF(object);
    return;
  }
  auto *entry = new Dropped{object, dropped.load()};
  while (!dropped.compare_exchange_weak(entry->next, entry))
    ;
  // If the queue is full, the next borrow does it.
  if (!isScheduled.exchange(true) && Py_AddPendingCall(letGo, nullptr) < 0)
    isScheduled = false;
}

PyObject *pcrt::python::arrayOverNumpy(PyObject *ndarray, AvalObject *aval) {
  if (dropped.load(std::memory_order_relaxed))
    letGo(nullptr);
  RefPtr<Buffer> buffer = Buffer::wrap(&defaultDevice(), fieldsOf(ndarray).data, static_cast<size_t>(aval->nbytes),
                                       release, Py_NewRef(ndarray));
  return newArray(aval, std::move(buffer));
}

bool pcrt::python::isBorrowed(const Buffer &buffer) { return buffer.isReleasedBy(release); }
