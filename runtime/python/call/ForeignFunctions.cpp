// Makes calls of C functions: of handlers of XLA's FFI, and of plain ones. Addresses are numbers, 0 for none.
#include "call/ForeignFunctions.h"

#include "runtime/ForeignCall.h"
#include "runtime/PlainCall.h"
#include "support/Gil.h"
#include "support/OrThrow.h"
#include "support/Wait.h"
#include "types/Aval.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace pcrt;
using namespace pcrt::python;

static void *pointerTo(uintptr_t address) { return reinterpret_cast<void *>(address); }

static void check(const Status &status) {
  if (status.isOk())
    return;
  raise(status, "");
  throw nb::python_error();
}

static nb::capsule capsuleOf(Result<RefPtr<HostCallback>> made) {
  check(made.status());
  return nb::capsule(made.take().take(), foreignCapsule,
                     [](void *call) noexcept { static_cast<HostCallback *>(call)->release(); });
}

static ForeignAttribute attributeOf(nb::handle given);

static std::vector<ForeignAttribute> attributesOf(nb::handle given) {
  std::vector<ForeignAttribute> made;
  for (nb::handle attribute : given)
    made.push_back(attributeOf(attribute));
  return made;
}

/// Of (name, dtype, bytes, whether it is an array), (name, bytes) and (name, tuple of attributes).
static ForeignAttribute attributeOf(nb::handle given) {
  auto tuple = nb::cast<nb::tuple>(given);
  ForeignAttribute made;
  made.name = nb::cast<std::string>(tuple[0]);
  if (tuple.size() == 2 && nb::isinstance<nb::tuple>(tuple[1])) {
    made.kind = ForeignAttribute::Kind::Dictionary;
    made.members = attributesOf(tuple[1]);
    return made;
  }
  auto bytes = nb::cast<nb::bytes>(tuple[tuple.size() == 2 ? 1 : 2]);
  made.bytes = std::string(bytes.c_str(), bytes.size());
  made.kind = ForeignAttribute::Kind::String;
  if (tuple.size() != 2) {
    made.kind = nb::cast<bool>(tuple[3]) ? ForeignAttribute::Kind::Array : ForeignAttribute::Kind::Scalar;
    nb::object dtype = tuple[1];
    orThrow(dtypeCode(dtype.ptr(), made.dtype));
  }
  return made;
}

static nb::capsule makeForeignCall(std::string name, const std::vector<uintptr_t> &handlers, nb::tuple attributes,
                                   std::vector<ForeignOrder> inputs, std::vector<ForeignOrder> outputs,
                                   std::vector<ForeignAlias> aliases) {
  if (handlers.size() != 4)
    throw nb::value_error("foreign_call: expected the handlers of four stages");
  ForeignTarget target{pointerTo(handlers[0]), pointerTo(handlers[1]), pointerTo(handlers[2]), pointerTo(handlers[3])};
  std::vector<ForeignAttribute> given = attributesOf(attributes);
  Result<RefPtr<HostCallback>> made = Status(Code::Unknown, "");
  {
    WithoutGil released;
    made = foreignCall(std::move(name), target, std::move(given), std::move(inputs), std::move(outputs),
                       std::move(aliases));
  }
  return capsuleOf(std::move(made));
}

/// A parameter is (kind, operand, dimension, constant).
static nb::capsule makePlainCall(std::string name, uintptr_t function,
                                 const std::vector<std::tuple<int32_t, int32_t, int32_t, int64_t>> &parameters,
                                 int32_t returns, std::vector<std::pair<int, int>> aliases) {
  std::vector<ForeignParameter> made;
  for (auto [kind, operand, dimension, constant] : parameters)
    made.push_back({static_cast<ForeignParameter::Kind>(kind), operand, dimension, constant});
  return capsuleOf(plainForeignCall(std::move(name), pointerTo(function), std::move(made),
                                    static_cast<ForeignReturn>(returns), std::move(aliases)));
}

void pcrt::python::addForeignFunctions(PyObject *raw) {
  auto module = nb::borrow<nb::module_>(raw);
  module.def("foreign_call", makeForeignCall, nb::arg("name"), nb::arg("handlers"), nb::arg("attributes"),
             nb::arg("inputs"), nb::arg("outputs"), nb::arg("aliases"));
  module.def("plain_foreign_call", makePlainCall, nb::arg("name"), nb::arg("function"), nb::arg("parameters"),
             nb::arg("returns"), nb::arg("aliases"));
  module.def(
      "check_foreign_handler", [](uintptr_t handler) { check(checkForeignHandler(pointerTo(handler))); },
      nb::arg("handler"));
  module.def(
      "register_foreign_type",
      [](const std::string &name, uintptr_t id, uintptr_t info) {
        check(registerForeignType(name, pointerTo(id), pointerTo(info)));
      },
      nb::arg("name"), nb::arg("type_id"), nb::arg("type_info"));
  module.attr("most_foreign_integers") = mostForeignIntegers;
  module.attr("most_foreign_floats") = mostForeignFloats;
}
