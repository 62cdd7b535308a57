// Loads executables, and calls them without a CompiledCall.
#include "call/ExecutableType.h"

#include "array/Pending.h"
#include "call/Callback.h"
#include "call/Execute.h"
#include "call/Kernels.h"
#include "runtime/KernelImage.h"
#include "support/OrThrow.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace pcrt;
using namespace pcrt::python;

LoadedExecutable *pcrt::python::loadedExecutable(PyObject *object) {
  LoadedExecutable *loaded = nullptr;
  if (!nb::try_cast(nb::handle(object), loaded) || !loaded)
    PyErr_Format(PyExc_TypeError, "%R is not an Executable", Py_TYPE(object));
  return loaded;
}

static LoadedExecutable loadExecutable(nb::bytes object, const std::string &entry, uint64_t arenaBytes,
                                       const std::string &name, double costNs, bool mayBlock, double speculativeNs,
                                       const std::vector<std::pair<std::string, std::string>> &sites,
                                       nb::sequence callbacks, int effects, nb::bytes image,
                                       const std::vector<std::string> &kernels) {
  std::string_view bytes(object.c_str(), object.size());
  // Calls of Python may block.
  mayBlock |= callsPython(callbacks.ptr());
  Result<RefPtr<Executable>> loaded = Executable::load(bytes, entry, arenaBytes, name, costNs, mayBlock, speculativeNs);
  if (!loaded.isOk()) {
    raise(loaded.status(), "");
    throw nb::python_error();
  }
  std::vector<CallSite> table;
  for (const auto &[primitive, place] : sites)
    table.push_back({primitive, place});
  loaded.value()->setCallSites(std::move(table));
  if (!kernels.empty())
    loaded.value()->setImage(
        RefPtr<KernelImage>::adopt(new KernelImage(std::string(image.c_str(), image.size()), kernels)));
  orThrow(readCallbacks(*loaded.value(), callbacks.ptr(), effects));
  return {loaded.take()};
}

/// Binds to sizes of the program's symbols, in the order of their numbers. The callbacks are for these sizes.
static LoadedExecutable bindExecutable(LoadedExecutable &self, std::vector<int64_t> sizes, nb::handle costNs,
                                       nb::sequence callbacks) {
  Executable &program = *self.executable;
  double cost = costNs.is_none() ? program.estimatedNs() : nb::cast<double>(costNs);
  Result<RefPtr<Executable>> bound = program.bind(std::move(sizes), cost, callsPython(callbacks.ptr()));
  if (!bound.isOk()) {
    raise(bound.status(), "");
    throw nb::python_error();
  }
  orThrow(readCallbacks(*bound.value(), callbacks.ptr(), static_cast<int>(program.effects())));
  return {bound.take()};
}

/// An Executable of a kernel that the build compiled, or None. An operand is (argument, whether it is a scalar, dtype).
static nb::object builtExecutable(const std::string &op, nb::handle dtype, nb::sequence operands, int64_t count,
                                  const std::string &name) {
  DType wanted;
  orThrow(dtypeCode(dtype.ptr(), wanted));
  RefPtr<BlockKernel> kernel = builtKernel(op, wanted);
  std::vector<BlockOperand> made;
  for (nb::handle operand : nb::tuple(operands)) {
    auto [argument, isScalar, given] = nb::cast<std::tuple<unsigned, bool, nb::object>>(operand);
    DType code;
    orThrow(dtypeCode(given.ptr(), code));
    if (!kernel || !kernel->takes(code) || made.size() == BlockKernel::mostOperands)
      return nb::none();
    made.push_back({argument, isScalar, code});
  }
  if (!kernel)
    return nb::none();
  auto executable = RefPtr<Executable>::adopt(new Executable(std::move(kernel), std::move(made), count, name));
  return nb::cast(LoadedExecutable{std::move(executable)});
}

static int traverseExecutable(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self))
    return 0;
  return visitCallbacks(*nb::inst_ptr<LoadedExecutable>(self)->executable, visit, arg);
}

static PyType_Slot executableSlots[] = {{Py_tp_traverse, reinterpret_cast<void *>(traverseExecutable)}, {}};

static nb::list executeOn(LoadedExecutable &self, nb::sequence args, nb::sequence outAvals) {
  SmallVector<Buffer *, 32> buffers;
  SmallVector<AvalObject *, 32> avals;
  nb::tuple argTuple(args), avalTuple(outAvals); // keep the objects alive
  for (nb::handle arg : argTuple) {
    if (!isArray(arg.ptr()))
      throw nb::type_error("execute: an argument is not an Array");
    orThrow(ensureElements(asArray(arg.ptr())));
    buffers.push(asArray(arg.ptr())->buffer);
  }
  for (nb::handle aval : avalTuple) {
    if (!isAval(aval.ptr()) || !reinterpret_cast<AvalObject *>(aval.ptr())->isConcrete())
      throw nb::type_error("execute: out_avals must be concrete ShapedArrays");
    avals.push(reinterpret_cast<AvalObject *>(aval.ptr()));
  }
  std::vector<PyObject *> results(avals.size());
  Device &device = buffers.size() ? *buffers[0]->device() : defaultDevice();
  orThrow(
      execute(device, *self.executable, buffers.data(), buffers.size(), avals.data(), avals.size(), results.data()));
  nb::list list;
  for (PyObject *result : results)
    list.append(nb::steal(result));
  return list;
}

void pcrt::python::addExecutableType(PyObject *module) {
  auto scope = nb::borrow<nb::module_>(module);
  nb::class_<LoadedExecutable>(scope, "Executable", nb::type_slots(executableSlots))
      .def_static("load", loadExecutable, nb::arg("object"), nb::arg("entry"), nb::arg("arena_bytes"), nb::arg("name"),
                  nb::arg("cost_ns") = 0.0, nb::arg("may_block") = false,
                  nb::arg("speculative_ns") = Executable::noSpeculation, nb::arg("call_sites") = nb::list(),
                  nb::arg("callbacks") = nb::tuple(), nb::arg("effects") = 0, nb::arg("image") = nb::bytes("", 0),
                  nb::arg("kernels") = nb::list())
      .def_static("built", builtExecutable, nb::arg("op"), nb::arg("dtype"), nb::arg("operands"), nb::arg("count"),
                  nb::arg("name"))
      .def("bind", bindExecutable, nb::arg("sizes"), nb::arg("cost_ns") = nb::none(),
           nb::arg("callbacks") = nb::tuple())
      .def_prop_ro("is_unbound", [](const LoadedExecutable &self) { return self.executable->isUnbound(); })
      .def_prop_ro("sizes",
                   [](const LoadedExecutable &self) { return nb::tuple(nb::cast(self.executable->boundSizes())); })
      .def("execute", executeOn, nb::arg("args"), nb::arg("out_avals"))
      .def_prop_ro("name", [](const LoadedExecutable &self) { return self.executable->name(); })
      .def_prop_ro("arena_bytes", [](const LoadedExecutable &self) { return self.executable->arenaBytes(); })
      .def_prop_ro("code_bytes", [](const LoadedExecutable &self) { return self.executable->codeBytes(); });
}
