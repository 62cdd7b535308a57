// The module _runtime: the raw types, and through nanobind what is not on the hot path (executables, devices,
// statistics).
#include "ArrayFunction.h"
#include "Call.h"
#include "Callback.h"
#include "Context.h"
#include "ForkGate.h"
#include "JitFunction.h"
#include "Kernels.h"
#include "Notifier.h"
#include "Operators.h"
#include "Placement.h"
#include "Profiling.h"
#include "Sharded.h"
#include "Spmd.h"
#include "Subscript.h"
#include "Unsized.h"
#include "runtime/GpuLibraries.h"
#include "runtime/Lapack.h"

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

/// Lets an exception that the raw code set continue.
template <typename T> static T orThrow(T value) {
  if (!value)
    throw nb::python_error();
  return value;
}

static LoadedExecutable loadExecutable(nb::bytes object, const std::string &entry, uint64_t arenaBytes,
                                       const std::string &name, double costNs, bool mayBlock, double attemptNs,
                                       const std::vector<std::pair<std::string, std::string>> &sites,
                                       nb::sequence callbacks, int effects, nb::bytes image,
                                       const std::vector<std::string> &kernels) {
  std::string_view bytes(object.c_str(), object.size());
  // Who calls Python may wait for it.
  mayBlock |= nb::len(callbacks) != 0;
  Result<RefPtr<Executable>> loaded = Executable::load(bytes, entry, arenaBytes, name, costNs, mayBlock, attemptNs);
  if (!loaded.isOk()) {
    raise(loaded.status(), "");
    throw nb::python_error();
  }
  std::vector<Site> table;
  for (const auto &[primitive, place] : sites)
    table.push_back({primitive, place});
  loaded.value()->setSites(std::move(table));
  if (!kernels.empty())
    loaded.value()->setImage(
        RefPtr<KernelImage>::adopt(new KernelImage(std::string(image.c_str(), image.size()), kernels)));
  orThrow(readCallbacks(*loaded.value(), callbacks.ptr(), effects));
  return {loaded.take()};
}

/// For sizes of the program's symbols, in the order of their numbers. Callbacks are those of these sizes.
static LoadedExecutable bindExecutable(LoadedExecutable &self, std::vector<int64_t> sizes, nb::handle costNs,
                                       nb::sequence callbacks) {
  Executable &program = *self.executable;
  double cost = costNs.is_none() ? program.estimatedNs() : nb::cast<double>(costNs);
  Result<RefPtr<Executable>> bound = program.bind(std::move(sizes), cost, nb::len(callbacks) != 0);
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
  nb::tuple argTuple(args), avalTuple(outAvals); // keep the objects
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

/// The elements of `array` under another aval.
static nb::object sharedArray(nb::handle array, AvalObject *aval) {
  ArrayObject *source = asArray(array.ptr());
  orThrow(ensureElements(source));
  return nb::steal(orThrow(newArray(aval, RefPtr<Buffer>(source->buffer), source->committed)));
}

static ArrayObject *requireArray(nb::handle object) {
  if (!isArray(object.ptr()))
    throw nb::type_error("not an Array");
  orThrow(ensureSize(asArray(object.ptr())));
  return asArray(object.ptr());
}

static AvalObject *requireAval(nb::handle object) {
  if (!isAval(object.ptr()))
    throw nb::type_error("not a ShapedArray");
  return reinterpret_cast<AvalObject *>(object.ptr());
}

static nb::object withWeakType(nb::handle array, bool weakType) {
  AvalObject *aval = requireArray(array)->aval;
  nb::object changed =
      nb::steal(orThrow(reinterpret_cast<PyObject *>(internAval(aval->dims, aval->rank(), aval->code, weakType))));
  return sharedArray(array, requireAval(changed));
}

static nb::object reshaped(nb::handle array, nb::handle newAval) {
  AvalObject *before = requireArray(array)->aval, *aval = requireAval(newAval);
  if (aval->size != before->size || aval->code != before->code)
    throw nb::value_error("reshaped: another size or dtype");
  return sharedArray(array, aval);
}

static void synchronize() {
  bool done;
  {
    WithoutGil released;
    done = Device::synchronizeAll(interrupted);
  }
  orThrow(done);
}

/// At exit. Ctrl-C ends the wait: then what still runs ends with the process.
static void shutdown() {
  forkgate::Ending ending;
  orThrow(finishEffects());
  WithoutGil released;
  Device::shutdownAll();
}

static void addArrayFunctions(nb::module_ &module) {
  module.def(
      "register_dtype",
      [](nb::handle dtype, int code, const std::string &name) {
        orThrow(registerDType(dtype.ptr(), code, name.c_str()));
      },
      nb::arg("np_dtype"), nb::arg("code"), nb::arg("name"));
  module.def("dtype_codes", [] {
    nb::dict codes;
    for (int i = 0; i < dtypeCount; ++i)
      codes[dtypeNames[i]] = i;
    return codes;
  });
  module.def(
      "array_from_numpy",
      [](nb::handle array, nb::handle aval) {
        orThrow(allowTransfer(Transfer::HostToDevice, aval.ptr(), defaultDevice()));
        return nb::steal(orThrow(arrayFromNumpy(array.ptr(), requireAval(aval))));
      },
      nb::arg("array"), nb::arg("aval"));
  module.def(
      "array_of_bytes",
      [](nb::handle bytes, nb::handle aval, Device &device) {
        return nb::steal(orThrow(arrayOfBytes(bytes.ptr(), requireAval(aval), device)));
      },
      nb::arg("bytes"), nb::arg("aval"), nb::arg("device"));
  module.def("with_weak_type", withWeakType, nb::arg("array"), nb::arg("weak_type"));
  module.def("reshaped", reshaped, nb::arg("array"), nb::arg("aval"));
  module.def("worth_viewing", Buffer::isWorthViewing, nb::arg("part_bytes"), nb::arg("whole_bytes"));
  module.def("live_arrays", liveArrayCount);
  module.def("list_arrays", [] { return nb::steal(orThrow(listArrays())); });
  module.def(
      "set_error_type",
      [](nb::handle type) {
        if (!type.is_none() && !PyExceptionClass_Check(type.ptr()))
          throw nb::type_error("set_error_type: not a class of exceptions");
        return nb::steal(setErrorType(type.ptr()));
      },
      nb::arg("cls").none());
}

static void addLapackFunctions(nb::module_ &module) {
  module.def("lapack_names", [] {
    nb::list list;
    for (std::string_view name : lapack::names())
      list.append(nb::str(name.data(), name.size()));
    return list;
  });
  module.def(
      "fill_lapack",
      [](nb::sequence addresses, uintptr_t getThreads, uintptr_t setThreads) {
        std::vector<void *> entries;
        for (nb::handle address : nb::tuple(addresses))
          entries.push_back(reinterpret_cast<void *>(nb::cast<uintptr_t>(address)));
        lapack::setThreads({reinterpret_cast<int (*)()>(getThreads), reinterpret_cast<void (*)(int)>(setThreads)});
        lapack::fill(entries);
      },
      nb::arg("addresses"), nb::arg("get_threads") = 0, nb::arg("set_threads") = 0);
}

/// Named as other systems name them; bytes are those of blocks.
static nb::dict deviceMemory(Device &device) {
  MemoryStatistics now = device.memory().statistics();
  nb::dict result;
  result["num_allocs"] = now.allocations;
  result["bytes_in_use"] = now.liveBytes;
  result["peak_bytes_in_use"] = now.peakBytes;
  result["largest_alloc_size"] = now.largestBytes;
  result["bytes_limit"] = device.memory().limit();
  result["pool_bytes"] = now.liveBytes + now.cachedBytes;
  result["num_buffers"] = now.liveBuffers;
  return result;
}

static nb::bytes assembleOn(Device &device, nb::bytes image) {
  std::string text(image.c_str(), image.size());
  Result<std::string> code = [&] {
    WithoutGil released;
    return device.assemble(text);
  }();
  if (!code.isOk()) {
    raise(code.status(), "");
    throw nb::python_error();
  }
  return nb::bytes(code.value().data(), code.value().size());
}

/// Of each device; 0: what the machine, the cgroup, or the GPU has.
static void setMemoryLimit(uint64_t bytes) {
  for (Device *device : Device::all())
    device->memory().setLimit(bytes ? bytes : device->memory().defaultLimit());
}

static std::string deviceName(const Device &device) {
  std::string family = device.name().substr(0, device.name().find(':'));
  family[0] = static_cast<char>(family[0] - 'a' + 'A');
  return family + "Device(id=" + std::to_string(device.id()) + ")";
}

static void addDeviceFunctions(nb::module_ &module) {
  nb::class_<Device>(module, "Device")
      .def_prop_ro("platform", &Device::platform)
      .def_prop_ro("id", &Device::id)
      .def_prop_ro("device_kind", &Device::kind)
      .def_prop_ro("compute_capability", &Device::computeCapability)
      .def_prop_ro("assembler", &Device::assembler)
      .def("assemble", assembleOn, nb::arg("image"))
      .def_prop_ro("stream_handle",
                   [](const Device &device) { return reinterpret_cast<uintptr_t>(device.streamHandle()); })
      // Counted within the process, of which there is one.
      .def_prop_ro("local_hardware_id", &Device::id)
      .def_prop_ro("process_index", [](const Device &) { return 0; })
      .def("memory_stats", deviceMemory)
      .def("reset_peak_memory", [](Device &device) { device.memory().resetPeak(); })
      .def("__str__", &Device::name)
      .def("__repr__", deviceName);
  // One object for each, so that `is` compares them.
  static const std::vector<PyObject *> objects = [] {
    std::vector<PyObject *> made;
    for (Device *device : Device::all())
      made.push_back(nb::cast(device, nb::rv_policy::reference).release().ptr());
    setDeviceObjects(made);
    return made;
  }();
  module.def("devices", [] {
    nb::list list;
    for (PyObject *device : objects)
      list.append(nb::handle(device));
    return list;
  });
  // Why there is no GPU; None if there is one.
  module.def("gpu_failure", []() -> nb::object {
    const Status &status = Device::gpuStatus();
    return status.isOk() ? nb::none() : nb::object(nb::str(status.message().c_str()));
  });
  module.def("gpu_library_names", gpuLibraryNames);
  // Why a library of the GPU's maker can't be used; None when it is loaded.
  module.def(
      "load_gpu_library",
      [](const std::string &name, const std::vector<std::string> &folders, bool searches) -> nb::object {
        Status status;
        {
          WithoutGil released;
          status = loadGpuLibrary(name, folders, searches);
        }
        return status.isOk() ? nb::none() : nb::object(nb::str(status.message().c_str()));
      },
      nb::arg("name"), nb::arg("folders"), nb::arg("searches"));
  module.def("device_count", [] { return objects.size(); });
  module.def("thread_count", [] { return Device::cpu().threads().size(); });
  module.def("synchronize", synchronize);
  nb::object namedTuple = nb::module_::import_("collections").attr("namedtuple");
  static PyObject *const statisticsType =
      namedTuple("MemoryStats", "live_bytes peak_bytes cached_bytes live_buffers").release().ptr();
  module.attr("MemoryStats") = nb::handle(statisticsType);
  // Of a device; without one, of the default one.
  module.def(
      "memory_stats",
      [](Device *device) {
        MemoryStatistics now = (device ? *device : defaultDevice()).memory().statistics();
        return nb::handle(statisticsType)(now.liveBytes, now.peakBytes, now.cachedBytes, now.liveBuffers);
      },
      nb::arg("device") = nb::none());
  module.def(
      "reset_peak_memory", [](Device *device) { (device ? *device : defaultDevice()).memory().resetPeak(); },
      nb::arg("device") = nb::none());
  module.def("set_memory_limit", setMemoryLimit, nb::arg("bytes"));
  module.def("release_cached_memory", [] {
    for (Device *device : Device::all())
      device->memory().trim();
  });
}

NB_MODULE(_runtime, module) {
  // The raw types live as long as the process, and Array refers to the device's.
  nb::set_leak_warnings(false);
  PyObject *raw = module.ptr();
  orThrow(addAvalType(raw) && addArrayType(raw) && addShareFunctions(raw) && addDlpackFunctions(raw) &&
          addTreeType(raw) && addCompiledCallType(raw) && addDonationFunctions(raw) && addContextFunctions(raw) &&
          addPlacementFunctions(raw) && addLeafFunctions(raw) && addOperatorFunctions(raw) && addJitFunctionType(raw) &&
          addArrayFunctionType(raw) && addSubscriptFunctions(raw) && addReadyFunctions(raw) &&
          addShardedFunctions(raw) && addUnsizedFunctions(raw) && addFilledFunctions(raw) && addCallbackFunctions(raw));
  nb::class_<LoadedExecutable>(module, "Executable", nb::type_slots(executableSlots))
      .def_static("load", loadExecutable, nb::arg("object"), nb::arg("entry"), nb::arg("arena_bytes"), nb::arg("name"),
                  nb::arg("cost_ns") = 0.0, nb::arg("may_block") = false,
                  nb::arg("attempt_ns") = Executable::noAttempts, nb::arg("sites") = nb::list(),
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
  module.attr("llvm_version") = PCRT_LLVM_VERSION;
  addArrayFunctions(module);
  addDeviceFunctions(module);
  addLapackFunctions(module);
  addNotifierType(module.ptr());
  addProfileFunctions(module.ptr());
  addSpmdFunctions(module);
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(shutdown));
}
