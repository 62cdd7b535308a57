// Releases and acquires the GIL.
#include "support/Gil.h"

#include <cxxabi.h>
#include <mutex>
#include <unistd.h>
#include <vector>

using namespace pcrt::python;

/// Calls a function that acquires the GIL. If Python ends the thread instead, a foreign exception passes through here,
/// which is caught, and the thread sleeps.
template <typename Take> static void takeGil(Take take) {
  try {
    take();
  } catch (abi::__forced_unwind &) {
    while (true)
      pause();
  }
}

/// The thread state that WithoutGil put aside.
static thread_local PyThreadState *savedState = nullptr;

WithoutGil::WithoutGil() { savedState = PyEval_SaveThread(); }

WithoutGil::~WithoutGil() {
  takeGil([] { PyEval_RestoreThread(savedState); });
}

bool pcrt::python::interrupted() {
  takeGil([] { PyEval_RestoreThread(savedState); });
  bool raised = PyErr_CheckSignals() != 0;
  savedState = PyEval_SaveThread();
  return raised;
}

WithGil::WithGil() {
  takeGil([this] { state = PyGILState_Ensure(); });
}

/// References that the main thread releases when it runs Python.
static std::mutex givenUpMutex;
static std::vector<PyObject *> givenUp;
static bool isScheduled = false;

static int releaseGivenUp(void *) {
  std::vector<PyObject *> objects;
  {
    std::lock_guard<std::mutex> lock(givenUpMutex);
    objects.swap(givenUp);
    isScheduled = false;
  }
  for (PyObject *object : objects)
    Py_DECREF(object);
  return 0;
}

void pcrt::python::giveUp(PyObject *object) {
  if (isFinalizing())
    return;
  if (PyGILState_Check()) {
    Py_DECREF(object);
    return;
  }
  std::lock_guard<std::mutex> lock(givenUpMutex);
  givenUp.push_back(object);
  // If Python's list of calls is full, the next reference tries again.
  if (!isScheduled)
    isScheduled = Py_AddPendingCall(releaseGivenUp, nullptr) == 0;
}

bool pcrt::python::isFinalizing() {
#if PY_VERSION_HEX >= 0x030D0000
  return !Py_IsInitialized() || Py_IsFinalizing();
#else
  return !Py_IsInitialized() || _Py_IsFinalizing();
#endif
}
