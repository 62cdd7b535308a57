// Waits from Python, and converts the runtime's errors to exceptions.
#include "support/Wait.h"

#include "runtime/EffectfulLaunch.h"
#include "runtime/Processes.h"
#include "runtime/Profile.h"
#include "support/Exception.h"
#include "support/Gil.h"

using namespace pcrt;
using namespace pcrt::python;

static PyObject *errorType = nullptr;

PyObject *pcrt::python::setErrorType(PyObject *type) {
  PyObject *before = std::exchange(errorType, type == Py_None ? nullptr : Py_NewRef(type));
  return before ? before : Py_NewRef(Py_None);
}

static PyObject *peerErrorType = nullptr;

void pcrt::python::setPeerErrorType(PyObject *type) { Py_XSETREF(peerErrorType, Py_NewRef(type)); }

/// Raises the failure of another process; false if the payload is none.
static bool raisePeerFailure(const Payload *payload, const std::string &text) {
  const PeerFailure *peer = payload ? payload->peerFailure() : nullptr;
  if (!peer || !peerErrorType)
    return false;
  PyRef made =
      PyRef::steal(PyObject_CallFunction(peerErrorType, "sIsLss", text.c_str(), peer->rank, peer->host.c_str(),
                                         static_cast<long long>(peer->pid), peer->cause.c_str(), peer->place.c_str()));
  if (made)
    PyErr_SetObject(peerErrorType, made.get());
  return true;
}

static PyObject *exceptionOf(Code code) {
  if (code == Code::OutOfMemory)
    return PyExc_MemoryError;
  return errorType ? errorType : PyExc_RuntimeError;
}

void pcrt::python::raise(const Status &status, const char *where) {
  if (raisePeerFailure(status.payload(), (*where ? std::string(where) + ": " : std::string()) + status.message()))
    return;
  PyErr_Format(exceptionOf(status.code()), "%s%s%s", where, *where ? ": " : "", status.message().c_str());
}

void pcrt::python::raise(const Error &error) {
  EffectfulLaunch::wasTold(error);
  if (!raisePeerFailure(error.payload.get(), error.text()) && !raiseCarried(error))
    PyErr_SetString(exceptionOf(error.code), error.text().c_str());
}

bool pcrt::python::waitFor(Buffer *buffer) {
  if (!buffer->isReady()) {
    // Another thread may drop the array meanwhile.
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

//===-- A wait that NumPy began
//-------------------------------------------------------------------------------------------===//
// NumPy requests an array's buffer and, after any exception, calls __array__ next. So the exception of a signal would
// be lost, and the wait would continue.

namespace {
struct Interruption {
  PyRef exception;
  const void *array = nullptr;
  int64_t time = 0;
};
} // namespace

/// The interval between checks.
static constexpr int64_t afterwardsNs = 50'000'000;

static Interruption &lastInterruption() {
  // Never destroyed: threads end after the interpreter.
  static thread_local auto *const last = new Interruption();
  return *last;
}

void pcrt::python::keepInterruption(const void *array) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  Interruption &last = lastInterruption();
  last.exception = PyRef::borrow(value);
  last.array = array;
  last.time = nowNs();
  PyErr_Restore(type, value, traceback);
}

bool pcrt::python::raiseInterruption(const void *array) {
  Interruption &last = lastInterruption();
  if (!last.exception)
    return false;
  PyRef exception = std::move(last.exception);
  if (last.array != array || nowNs() - last.time > afterwardsNs)
    return false;
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(exception.get())), exception.get());
  return true;
}
