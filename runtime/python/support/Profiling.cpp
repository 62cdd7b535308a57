// The recorder of the runtime, for `pycompiler.profiler`.
#include "support/Profiling.h"

#include "runtime/Profile.h"
#include "support/Gil.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace pcrt;

static ProfileKind kindOf(const std::string &name) {
#define PCRT_KIND(enumerator, text)                                                                                    \
  if (name == text)                                                                                                    \
    return ProfileKind::enumerator;
  PCRT_PROFILE_KINDS(PCRT_KIND)
#undef PCRT_KIND
  throw nb::value_error("record_span: unknown kind");
}

void pcrt::python::addProfileFunctions(PyObject *module) {
  auto scope = nb::borrow<nb::module_>(module);
  scope.def("start_profile", &Profile::start);
  scope.def(
      "stop_profile",
      [](const std::map<int, std::string> &threadNames) {
        std::string trace;
        {
          WithoutGil released;
          trace = Profile::stop(threadNames);
        }
        return nb::bytes(trace.data(), trace.size());
      },
      nb::arg("thread_names"));
  scope.def("is_profiling", &Profile::isOn);
  scope.def("profile_now", nowNs);
  scope.def(
      "record_span",
      [](const std::string &kind, std::string name, int64_t start, int64_t end, std::string args) {
        Profile::record(kindOf(kind), std::move(name), start, end, nullptr, 0, std::move(args));
      },
      nb::arg("kind"), nb::arg("name"), nb::arg("start"), nb::arg("end"), nb::arg("args") = "");
}
