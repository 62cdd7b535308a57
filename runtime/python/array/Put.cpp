// device_put of one array.
#include "array/Put.h"

#include "array/Copies.h"
#include "array/Pending.h"
#include "array/Share.h"
#include "array/TransferGuard.h"
#include "support/CallSite.h"
#include "support/Wait.h"

using namespace pcrt;
using namespace pcrt::python;

/// put(array, device, donate, copy): the array committed to the device.
static PyObject *put(PyObject *, PyObject *args) {
  PyObject *object, *place;
  int donate, copy;
  if (!PyArg_ParseTuple(args, "O!Opp:put", arrayType, &object, &place, &donate, &copy))
    return nullptr;
  Device *device = deviceOf(place);
  ArrayObject *array = asArray(object);
  if (!device || !ensureSize(array))
    return nullptr;
  if (isDeleted(array->buffer)) {
    raise(*array->buffer->error());
    return nullptr;
  }
  bool isThere = array->buffer->device() == device;
  if (isThere && array->committed && !donate && !copy)
    return shareElements(array);
  RefPtr<Buffer> buffer = [&] {
    ExplicitTransfers scope;
    return elementsOn(*device, array);
  }();
  if (buffer && isThere && copy)
    buffer = copyTo(*device, array->aval, *buffer);
  if (!buffer)
    return nullptr;
  if (donate && !isDeleted(array->buffer)) {
    const char *line = callSite();
    deleteElements(array, std::string("this array was donated to device_put") + (line ? " at " : "") +
                              (line ? line : "") + ", which took its memory: use the result instead");
  }
  return newArray(array->aval, std::move(buffer), /*committed=*/true);
}

/// with_commitment(array, committed): the same elements, of an array that is committed or not.
static PyObject *withCommitment(PyObject *, PyObject *args) {
  PyObject *object;
  int committed;
  if (!PyArg_ParseTuple(args, "O!p:with_commitment", arrayType, &object, &committed))
    return nullptr;
  ArrayObject *array = asArray(object);
  if (!ensureSize(array))
    return nullptr;
  if (array->committed == static_cast<bool>(committed))
    return Py_NewRef(object);
  return newArray(array->aval, RefPtr<Buffer>(array->buffer), committed);
}

static PyMethodDef functions[] = {
    {"put", put, METH_VARARGS, "put(array, device, donate, copy): the array committed to the device."},
    {"with_commitment", withCommitment, METH_VARARGS, "The same elements, of an array that is committed or not."},
    {}};

bool pcrt::python::addPutFunctions(PyObject *module) { return PyModule_AddFunctions(module, functions) == 0; }
