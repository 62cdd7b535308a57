// Waiting from Python, and turning the runtime's errors into exceptions.
#include "Array.h"

#include "Exception.h"
#include "runtime/Profile.h"

using namespace pcrt;
using namespace pcrt::python;

/// The thread state that WithoutGil put aside.
static thread_local PyThreadState *savedState = nullptr;

WithoutGil::WithoutGil() { savedState = PyEval_SaveThread(); }

WithoutGil::~WithoutGil() { PyEval_RestoreThread(savedState); }

bool pcrt::python::interrupted() {
  PyEval_RestoreThread(savedState);
  bool raised = PyErr_CheckSignals() != 0;
  savedState = PyEval_SaveThread();
  return raised;
}

static PyObject *errorType = nullptr;

PyObject *pcrt::python::setErrorType(PyObject *type) {
  PyObject *before = std::exchange(errorType, type == Py_None ? nullptr : Py_NewRef(type));
  return before ? before : Py_NewRef(Py_None);
}

static PyObject *exceptionOf(Code code) {
  if (code == Code::OutOfMemory)
    return PyExc_MemoryError;
  return errorType ? errorType : PyExc_RuntimeError;
}

void pcrt::python::raise(const Status &status, const char *where) {
  PyErr_Format(exceptionOf(status.code()), "%s%s%s", where, *where ? ": " : "", status.message().c_str());
}

void pcrt::python::raise(const Error &error) {
  if (!raiseCarried(error))
    PyErr_SetString(exceptionOf(error.code), error.text().c_str());
}

bool pcrt::python::waitFor(Buffer *buffer) {
  if (!buffer->isReady()) {
    // The array may be dropped by another thread meanwhile.
    RefPtr<Token> token(buffer->token());
    bool done;
    {
      ProfileScope scope(ProfileKind::Wait, "wait");
      WithoutGil released;
      done = token->wait(interrupted);
    }
    if (!done)
      return false;
  }
  if (Error *error = buffer->error()) {
    raise(*error);
    return false;
  }
  return true;
}
