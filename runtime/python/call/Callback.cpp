// Calls from compiled code to Python, and waiting for them and for launches with effects.
#include "call/Callback.h"

#include "array/Array.h"
#include "call/ForeignFunctions.h"
#include "runtime/Callbacks.h"
#include "runtime/Devices.h"
#include "runtime/EffectfulLaunch.h"
#include "runtime/Profile.h"
#include "support/Exception.h"
#include "support/ForkGate.h"
#include "support/Gil.h"
#include "support/Wait.h"

using namespace pcrt;
using namespace pcrt::python;

//===-- Callbacks
//----------------------------------------------------------------------------------------------------===//

namespace {
class PythonCallback final : public HostCallback {
public:
  /// Takes over references.
  PythonCallback(PyRef function, PyRef inAvals, PyRef outAvals, bool detached, bool attended, std::string name)
      : HostCallback(detached ? Kind::Detached : Kind::Waited, attended), function(function.take()),
        inAvals(inAvals.take()), outAvals(outAvals.take()), name(std::move(name)) {}

  ~PythonCallback() override {
    giveUp(function);
    giveUp(inAvals);
    giveUp(outAvals);
  }

  Status invoke(const RunContext *, const PcrtTensor *inputs, int32_t inputCount, const PcrtTensor *outputs,
                int32_t outputCount) override {
    // A thread that requests the GIL of an ending interpreter would never return.
    if (isFinalizing())
      return Status(Code::CallbackFailed, "the program has ended");
    WithGil gil;
    ProfileScope scope(ProfileKind::Callback, name);
    if (PyTuple_GET_SIZE(inAvals) == inputCount && PyTuple_GET_SIZE(outAvals) == outputCount) {
      if (call(inputs, outputs))
        return Status::ok();
    } else {
      PyErr_SetString(PyExc_SystemError, "a callback was compiled for another number of arrays");
    }
    return statusOfException();
  }

  int visit(visitproc visit, void *arg) const {
    Py_VISIT(function);
    return 0;
  }

private:
  bool call(const PcrtTensor *inputs, const PcrtTensor *outputs) const {
    Py_ssize_t count = PyTuple_GET_SIZE(inAvals);
    PyRef args = PyRef::steal(PyTuple_New(count));
    if (!args)
      return false;
    for (Py_ssize_t i = 0; i < count; ++i) {
      auto *aval = reinterpret_cast<AvalObject *>(PyTuple_GET_ITEM(inAvals, i));
      RefPtr<Buffer> buffer = allocateBuffer(Devices::cpu(), aval, "an argument of a callback");
      if (!buffer)
        return false;
      std::memcpy(buffer->data(), inputs[i].data, buffer->size());
      PyObject *array = newArray(aval, std::move(buffer));
      if (!array)
        return false;
      PyTuple_SET_ITEM(args.get(), i, array);
    }
    PyRef given = PyRef::steal(PyObject_Call(function, args.get(), nullptr));
    PyRef results =
        given ? PyRef::steal(PySequence_Fast(given.get(), "a callback must give a sequence of results")) : PyRef();
    if (!results)
      return false;
    if (PySequence_Fast_GET_SIZE(results.get()) != PyTuple_GET_SIZE(outAvals)) {
      PyErr_SetString(PyExc_ValueError, "a callback gave another number of results than it declared");
      return false;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(outAvals); ++i)
      if (!copyResult(PySequence_Fast_GET_ITEM(results.get(), i),
                      reinterpret_cast<AvalObject *>(PyTuple_GET_ITEM(outAvals, i)), outputs[i]))
        return false;
    return true;
  }

  static bool copyResult(PyObject *result, const AvalObject *aval, const PcrtTensor &output) {
    Py_buffer view;
    if (PyObject_GetBuffer(result, &view, PyBUF_SIMPLE) != 0)
      return false;
    bool fits = view.len == aval->nbytes;
    if (fits)
      std::memcpy(output.data, view.buf, view.len);
    else
      PyErr_SetString(PyExc_ValueError, "a callback gave a result of another size than it declared");
    PyBuffer_Release(&view);
    return fits;
  }

  PyObject *const function, *const inAvals, *const outAvals;
  const std::string name;
};

bool areAvals(PyObject *avals) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(avals); ++i) {
    PyObject *aval = PyTuple_GET_ITEM(avals, i);
    if (!isAval(aval) || !reinterpret_cast<AvalObject *>(aval)->isConcrete())
      return false;
  }
  return true;
}
} // namespace

bool pcrt::python::callsPython(PyObject *entries) {
  PyRef list = PyRef::steal(PySequence_Fast(entries, "callbacks must be a sequence"));
  for (Py_ssize_t i = 0; list && i < PySequence_Fast_GET_SIZE(list.get()); ++i) {
    PyObject *entry = PySequence_Fast_GET_ITEM(list.get(), i);
    if (!PyTuple_Check(entry) || PyTuple_GET_SIZE(entry) == 0 ||
        !PyCapsule_IsValid(PyTuple_GET_ITEM(entry, 0), foreignCapsule))
      return true;
  }
  PyErr_Clear();
  return false;
}

bool pcrt::python::readCallbacks(Executable &executable, PyObject *entries, int effects) {
  PyRef list = PyRef::steal(PySequence_Fast(entries, "callbacks must be a sequence"));
  if (!list)
    return false;
  std::vector<RefPtr<HostCallback>> table;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.get()); ++i) {
    PyObject *entry = PySequence_Fast_GET_ITEM(list.get(), i);
    PyObject *function, *inAvals, *outAvals;
    int detached, attended;
    const char *name;
    if (!PyTuple_Check(entry) || !PyArg_ParseTuple(entry, "OO!O!pps:callbacks", &function, &PyTuple_Type, &inAvals,
                                                   &PyTuple_Type, &outAvals, &detached, &attended, &name)) {
      if (!PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "an entry of callbacks is not a tuple");
      return false;
    }
    if (PyCapsule_IsValid(function, foreignCapsule)) {
      auto *call = static_cast<HostCallback *>(PyCapsule_GetPointer(function, foreignCapsule));
      table.push_back(RefPtr<HostCallback>(call));
      continue;
    }
    if (!PyCallable_Check(function) || !areAvals(inAvals) || !areAvals(outAvals)) {
      PyErr_SetString(PyExc_TypeError,
                      "an entry of callbacks must be (function, in_avals, out_avals, detached, attended, name)");
      return false;
    }
    table.push_back(RefPtr<HostCallback>::adopt(new PythonCallback(
        PyRef::borrow(function), PyRef::borrow(inAvals), PyRef::borrow(outAvals), detached != 0, attended != 0, name)));
  }
  executable.setCallbacks(std::move(table), static_cast<Executable::Effects>(effects));
  return true;
}

int pcrt::python::visitCallbacks(const Executable &executable, visitproc visit, void *arg) {
  // An execution in flight holds them, too, but the garbage collector does not see it.
  if (executable.references() != 1)
    return 0;
  // Only calls of C functions are direct, and the binding makes every other callback.
  for (int64_t slot = 0; HostCallback *callback = executable.callback(slot); ++slot) {
    if (callback->kind == HostCallback::Kind::Direct || callback->references() != 1)
      continue;
    if (int stopped = static_cast<PythonCallback *>(callback)->visit(visit, arg))
      return stopped;
  }
  return 0;
}

//===-- Waiting for effects
//----------------------------------------------------------------------------------------===//

/// Waits for launches with effects and for callbacks; false with an exception set.
static bool waitForEffects() {
  WithoutGil released;
  return EffectfulLaunch::waitForAll(interrupted) && callbacks::drain(interrupted);
}

/// The first failure that was not reported.
static RefPtr<Error> firstFailure() {
  for (auto take : {callbacks::takeFailure, EffectfulLaunch::takeFailure, EffectfulLaunch::takeUntold})
    if (RefPtr<Error> failure = take())
      return failure;
  return nullptr;
}

static PyObject *effectsBarrier(PyObject *, PyObject *) {
  if (callbacks::isRunning()) {
    PyErr_SetString(PyExc_RuntimeError,
                    "effects_barrier: called by a callback, which is one of the effects that it would wait for. What "
                    "to do: call it where the compiled function is called");
    return nullptr;
  }
  if (!waitForEffects())
    return nullptr;
  if (RefPtr<Error> failure = firstFailure()) {
    raise(*failure);
    return nullptr;
  }
  Py_RETURN_NONE;
}

/// pthread_atfork's handler runs with the GIL, which callbacks need, so this function waits before it.
static PyObject *beforeFork(PyObject *, PyObject *) {
  forkgate::close();
  if (!callbacks::isRunning()) {
    WithoutGil released;
    do {
      Devices::synchronize();
      callbacks::drain();
    } while (callbacks::pending() != 0);
  }
  Py_RETURN_NONE;
}

static PyObject *afterForkInParent(PyObject *, PyObject *) {
  forkgate::openInParent();
  Py_RETURN_NONE;
}

static PyObject *afterForkInChild(PyObject *, PyObject *) {
  forkgate::openInChild();
  Py_RETURN_NONE;
}

bool pcrt::python::finishEffects() {
  {
    WithoutGil released;
    bool launched = true;
    while (launched) {
      if (!Devices::synchronize(interrupted) || !callbacks::drain(interrupted))
        return false;
      launched = false;
      for (Device *device : Devices::all())
        launched |= device->stream().callsInFlight() != 0;
    }
  }
  callbacks::takeFailure(); // it was logged
  if (RefPtr<Error> failure = firstFailure()) {
    raise(*failure);
    PyErr_WriteUnraisable(nullptr);
  }
  return true;
}

static PyMethodDef functions[] = {
    {"effects_barrier", effectsBarrier, METH_NOARGS,
     "Wait for launches with effects and for callbacks; raise a failure that no read has reported."},
    {"_before_fork", beforeFork, METH_NOARGS, "Wait for all work that must not be in flight when the process forks."},
    {"_after_fork_in_parent", afterForkInParent, METH_NOARGS, "Let launches continue."},
    {"_after_fork_in_child", afterForkInChild, METH_NOARGS, "Let launches continue."},
    {}};

bool pcrt::python::addCallbackFunctions(PyObject *module) {
  if (PyModule_AddFunctions(module, functions) != 0)
    return false;
  PyRef os = PyRef::steal(PyImport_ImportModule("os"));
  PyRef reg = os ? PyRef::steal(PyObject_GetAttrString(os.get(), "register_at_fork")) : PyRef();
  PyRef none = PyRef::steal(PyTuple_New(0)), keywords = PyRef::steal(PyDict_New());
  if (!reg || !none || !keywords)
    return false;
  const char *const hooks[][2] = {{"before", "_before_fork"},
                                  {"after_in_parent", "_after_fork_in_parent"},
                                  {"after_in_child", "_after_fork_in_child"}};
  for (auto [when, name] : hooks) {
    PyRef function = PyRef::steal(PyObject_GetAttrString(module, name));
    if (!function || PyDict_SetItemString(keywords.get(), when, function.get()) != 0)
      return false;
  }
  return bool(PyRef::steal(PyObject_Call(reg.get(), none.get(), keywords.get())));
}
