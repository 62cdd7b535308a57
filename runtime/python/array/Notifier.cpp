// _runtime.Notifier, for `await` in an event loop.
#include "array/Notifier.h"

#include "array/Pending.h"
#include "runtime/Notifier.h"
#include "support/Wait.h"

#include <nanobind/nanobind.h>

namespace nb = nanobind;
using namespace pcrt;
using namespace pcrt::python;

namespace {
struct PyNotifier {
  RefPtr<Notifier> notifier;
};
} // namespace

static void make(PyNotifier *self) {
  Result<RefPtr<Notifier>> made = Notifier::create();
  if (!made.isOk()) {
    raise(made.status(), "await");
    throw nb::python_error();
  }
  new (self) PyNotifier{made.take()};
}

static bool watch(PyNotifier &self, nb::handle array, uint64_t key) {
  if (!isArray(array.ptr()))
    throw nb::type_error("watch: not an Array");
  if (!ensureElements(asArray(array.ptr())))
    throw nb::python_error();
  Token *token = asArray(array.ptr())->buffer->token();
  return token && self.notifier->watch(*token, key);
}

static nb::list take(PyNotifier &self) {
  nb::list keys;
  for (uint64_t key : self.notifier->take())
    keys.append(key);
  return keys;
}

void pcrt::python::addNotifierType(PyObject *module) {
  auto scope = nb::borrow<nb::module_>(module);
  nb::class_<PyNotifier>(scope, "Notifier")
      .def("__init__", make)
      .def("fileno", [](const PyNotifier &self) { return self.notifier->descriptor(); })
      .def("watch", watch, nb::arg("array"), nb::arg("key"))
      .def("take", take);
}
