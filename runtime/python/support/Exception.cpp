// Keeps a Python exception for reads of the failed results.
#include "support/Exception.h"

#include "support/Gil.h"

using namespace pcrt;
using namespace pcrt::python;

namespace {
/// Takes the GIL to release it: the last reference to an error may be in a thread that runs no Python.
class CarriedException final : public Payload {
public:
  explicit CarriedException(PyRef exception) : exception(std::move(exception)) {}
  ~CarriedException() override {
    PyObject *object = exception.take();
    // An ending process frees nothing.
    if (isFinalizing())
      return;
    WithGil gil;
    Py_DECREF(object);
  }

  PyRef exception;
};
} // namespace

static std::string textOf(PyObject *object) {
  PyRef text = PyRef::steal(PyObject_Str(object));
  const char *bytes = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  std::string result = bytes ? bytes : "";
  PyErr_Clear();
  return result;
}

Status pcrt::python::statusOfException(CallSite site) {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  PyRef ownType = PyRef::steal(type), ownTraceback = PyRef::steal(traceback), exception = PyRef::steal(value);
  if (!exception)
    return Status(Code::CallbackFailed, "a callback failed without an exception", std::move(site));
  if (traceback)
    PyException_SetTraceback(value, traceback);
  std::string text = textOf(value);
  std::string message = Py_TYPE(value)->tp_name + (text.empty() ? "" : ": " + text);
  return Status(Code::CallbackFailed, std::move(message), std::move(site),
                RefPtr<Payload>::adopt(new CarriedException(std::move(exception))));
}

/// A new exception of the same class, arguments and attributes; null with one set. The class's __init__ is not called:
/// its parameters are unknown, and its effects are in the attributes.
static PyRef copyOf(PyObject *exception) {
  PyTypeObject *type = Py_TYPE(exception), *base = type;
  while (base->tp_flags & Py_TPFLAGS_HEAPTYPE)
    base = base->tp_base;
  PyRef args = PyRef::steal(PyObject_GetAttrString(exception, "args"));
  if (!args || !PyTuple_Check(args.get()))
    return nullptr;
  PyRef made = PyRef::steal(type->tp_new(type, args.get(), nullptr));
  if (!made || base->tp_init(made.get(), args.get(), nullptr) < 0)
    return nullptr;
  PyRef from = PyRef::steal(PyObject_GetAttrString(exception, "__dict__"));
  PyRef to = from ? PyRef::steal(PyObject_GetAttrString(made.get(), "__dict__")) : PyRef();
  if (!to || PyDict_Update(to.get(), from.get()) < 0)
    return nullptr;
  PyException_SetCause(made.get(), PyException_GetCause(exception));
  PyException_SetContext(made.get(), PyException_GetContext(exception));
  PyRef suppress = PyRef::steal(PyObject_GetAttrString(exception, "__suppress_context__"));
  if (!suppress || PyObject_SetAttrString(made.get(), "__suppress_context__", suppress.get()) < 0)
    return nullptr;
  return made;
}

/// Appends a note with the place to those of the exception.
static void addNote(PyObject *exception, const Error &error) {
  std::string note = "in " + (error.site.primitive.empty() ? std::string("a callback") : error.site.primitive);
  if (!error.executable.empty() && error.executable != error.site.primitive)
    note += " of " + error.executable;
  if (std::string places = error.places(); !places.empty())
    note += " (" + places + ")";
  // A new list: the copy shares that of the original.
  PyRef before = PyRef::steal(PyObject_GetAttrString(exception, "__notes__"));
  PyErr_Clear();
  PyRef notes = before ? PyRef::steal(PySequence_List(before.get())) : PyRef::steal(PyList_New(0));
  PyRef text = PyRef::steal(PyUnicode_FromStringAndSize(note.data(), static_cast<Py_ssize_t>(note.size())));
  if (notes && text && PyList_Append(notes.get(), text.get()) == 0)
    PyObject_SetAttrString(exception, "__notes__", notes.get());
  PyErr_Clear();
}

bool pcrt::python::raiseCarried(const Error &error) {
  if (!error.payload || error.payload->peerFailure())
    return false;
  // The binding makes every other payload.
  PyObject *original = static_cast<CarriedException *>(error.payload.get())->exception.get();
  // Each read raises a copy. An exception keeps the frames that it passes, and through them the arrays that hold the
  // error, in a cycle that the garbage collector does not see. Concurrent reads would also share its traceback.
  PyRef raised = copyOf(original);
  if (!raised) {
    PyErr_Clear();
    raised = PyRef::borrow(original);
  } else {
    addNote(raised.get(), error);
  }
  PyRef traceback = PyRef::steal(PyException_GetTraceback(original));
  PyErr_Restore(Py_NewRef(reinterpret_cast<PyObject *>(Py_TYPE(raised.get()))), Py_NewRef(raised.get()),
                traceback.take());
  return true;
}
