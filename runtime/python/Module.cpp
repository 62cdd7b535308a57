// The module _runtime: the raw types, and through nanobind everything that is not on the hot path (executables,
// devices, statistics).
#include "array/CallbackWait.h"
#include "array/DevicePlacement.h"
#include "array/Elements.h"
#include "array/Leaf.h"
#include "array/Notifier.h"
#include "array/Parts.h"
#include "array/Pending.h"
#include "array/Put.h"
#include "array/Sharded.h"
#include "array/Share.h"
#include "array/TransferGuard.h"
#include "call/ArrayFunction.h"
#include "call/ArrayType.h"
#include "call/Call.h"
#include "call/Callback.h"
#include "call/DonationReport.h"
#include "call/ExecutableType.h"
#include "call/ForeignFunctions.h"
#include "call/JitFunction.h"
#include "call/Operators.h"
#include "call/ProcessFunctions.h"
#include "call/Spmd.h"
#include "call/Subscript.h"
#include "call/TensorCall.h"
#include "pjrt/Compiler.h"
#include "runtime/BufferPool.h"
#include "runtime/Devices.h"
#include "runtime/GpuLibraries.h"
#include "runtime/Lapack.h"
#include "runtime/ThreadPool.h"
#include "support/Context.h"
#include "support/ForkGate.h"
#include "support/Gil.h"
#include "support/OrThrow.h"
#include "support/Profiling.h"
#include "support/Wait.h"
#include "types/Tree.h"

#include <algorithm>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace pcrt;
using namespace pcrt::python;

/// An array with the elements of `array` and another aval.
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
  nb::object changed = nb::steal(orThrow(
      reinterpret_cast<PyObject *>(internAval(aval->dims, aval->rank(), aval->code, weakType, aval->sharding))));
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
    done = Devices::synchronize(interrupted);
  }
  orThrow(done);
}

/// At exit. Ctrl-C ends the wait: then work that still runs ends with the process.
static void shutdown() {
  forkgate::Ending ending;
  orThrow(finishEffects());
  WithoutGil released;
  Devices::shutdown();
}

static void addArrayFunctions(nb::module_ &module) {
  module.def(
      "set_type_shardings",
      [](nb::handle intern, nb::handle standard) { orThrow(setTypeShardings(intern.ptr(), standard.ptr())); },
      nb::arg("intern"), nb::arg("standard"));
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

/// With the names of other systems; bytes are those of blocks. The error for facts that only the process of a device
/// has.
static Device &localDevice(DeviceInfo &device) {
  if (auto *local = dynamic_cast<Device *>(&device))
    return *local;
  nb::raise_type_error("%s belongs to process %u: its memory is not here", device.name().c_str(), device.process());
}

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

/// The limit of each device; 0: the limit of the machine, the cgroup, or the GPU.
static void setMemoryLimit(uint64_t bytes) {
  for (Device *device : Devices::all())
    device->memory().setLimit(bytes ? bytes : device->memory().defaultLimit());
}

static std::string deviceName(const DeviceInfo &device) {
  std::string family = device.name().substr(0, device.name().find(':'));
  family[0] = static_cast<char>(family[0] - 'a' + 'A');
  return family + "Device(id=" + std::to_string(device.id()) + ")";
}

/// Gives each device its one object, so that `is` compares them.
static void nameDevices() {
  std::vector<PyObject *> objects;
  // A device that has an object gets the same one. A reference stays, so that it always does.
  for (Device *device : Devices::all())
    objects.push_back(nb::cast(device, nb::rv_policy::reference).release().ptr());
  setDeviceObjects(std::move(objects));
}

/// Gives the devices of all processes their positions: `ids` are those of this process's devices. `others` are the
/// devices of the other processes: the process, id, number in the process, platform, name's family, hardware,
/// capability of each.
static void placeDevices(
    unsigned process, const std::vector<int> &ids,
    const std::vector<std::tuple<unsigned, int, int, std::string, std::string, std::string, std::string>> &others) {
  const std::vector<Device *> &own = Devices::all();
  if (ids.size() != own.size())
    throw nb::value_error("place_devices: as many ids as devices are needed");
  std::vector<std::pair<unsigned, PyObject *>> all;
  for (size_t i = 0; i < own.size(); ++i) {
    own[i]->setPlace(process, ids[i]);
    all.emplace_back(process, deviceObject(*own[i]));
  }
  for (const auto &[owner, id, localId, platform, family, hardware, capability] : others) {
    // Like all devices, it lives forever.
    auto *device = new RemoteDevice(localId, platform, family, hardware, capability);
    device->setPlace(owner, id);
    all.emplace_back(owner, nb::cast(device, nb::rv_policy::reference).release().ptr());
  }
  std::stable_sort(all.begin(), all.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
  std::vector<PyObject *> objects;
  for (const auto &[owner, object] : all)
    objects.push_back(object);
  setAllDeviceObjects(std::move(objects));
}

static void addDeviceFunctions(nb::module_ &module) {
  nb::class_<DeviceInfo>(module, "Device")
      .def_prop_ro("platform", &DeviceInfo::platform)
      .def_prop_ro("id", &DeviceInfo::id)
      .def_prop_ro("device_kind", &DeviceInfo::kind)
      .def_prop_ro("compute_capability", &DeviceInfo::computeCapability)
      .def_prop_ro("local_hardware_id", &DeviceInfo::localId)
      .def_prop_ro("process_index", &DeviceInfo::process)
      .def("memory_stats", [](DeviceInfo &device) { return deviceMemory(localDevice(device)); })
      .def("reset_peak_memory", [](DeviceInfo &device) { localDevice(device).memory().resetPeak(); })
      .def("__str__", &DeviceInfo::name)
      .def("__repr__", deviceName);
  nb::class_<Device, DeviceInfo>(module, "LocalDevice")
      .def_prop_ro("assembler", &Device::assembler)
      .def("assemble", assembleOn, nb::arg("image"))
      .def_prop_ro("stream_handle",
                   [](const Device &device) { return reinterpret_cast<uintptr_t>(device.streamHandle()); });
  nb::class_<RemoteDevice, DeviceInfo>(module, "RemoteDevice");
  nameDevices();
  module.def("devices", [] {
    nb::list list;
    for (PyObject *device : allDeviceObjects())
      list.append(nb::handle(device));
    return list;
  });
  module.def("local_devices", [] {
    nb::list list;
    for (Device *device : Devices::all())
      list.append(nb::handle(deviceObject(*device)));
    return list;
  });
  // The uuid of each GPU that the driver shows to this process.
  module.def("visible_gpus", [] {
    Result<std::vector<std::string>> found = Devices::visibleGpus();
    if (!found.isOk())
      nb::raise("%s", found.status().message().c_str());
    return found.take();
  });
  module.def(
      "keep_gpus",
      [](const std::vector<int> &numbers) {
        Devices::keepGpus(numbers);
        nameDevices();
      },
      nb::arg("numbers"));
  module.def("place_devices", placeDevices, nb::arg("process"), nb::arg("ids"), nb::arg("others"));
  module.def("add_cpu_devices", [](int count) {
    Devices::addCpus(count);
    nameDevices();
  });
  // The reason why there is no GPU; None if there is one.
  module.def("gpu_failure", []() -> nb::object {
    const Status &status = Devices::gpuStatus();
    return status.isOk() ? nb::none() : nb::object(nb::str(status.message().c_str()));
  });
  module.def("gpu_library_names", gpuLibraryNames);
  // The reason why a GPU library cannot be used; None if it is loaded.
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
  module.def("device_count", [] { return Devices::all().size(); });
  module.def("thread_count", [] { return Devices::cpu().threads().size(); });
  module.def("synchronize", synchronize);
  nb::object namedTuple = nb::module_::import_("collections").attr("namedtuple");
  static PyObject *const statisticsType =
      namedTuple("MemoryStats", "live_bytes peak_bytes cached_bytes live_buffers").release().ptr();
  module.attr("MemoryStats") = nb::handle(statisticsType);
  // For a device; by default, the default device.
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
  module.def("set_wait_for_callbacks", setWaitForCallbacks, nb::arg("waits"));
  module.def("release_cached_memory", [] {
    for (Device *device : Devices::all())
      device->memory().trim();
  });
}

NB_MODULE(_runtime, module) {
  // The raw types live as long as the process, and Array refers to the type of devices.
  nb::set_leak_warnings(false);
  PyObject *raw = module.ptr();
  orThrow(addAvalType(raw) && addArrayType(raw) && addShareFunctions(raw) && addDlpackFunctions(raw) &&
          addTreeType(raw) && addCompiledCallType(raw) && addDonationFunctions(raw) && addContextFunctions(raw) &&
          addDevicePlacementFunctions(raw) && addTransferGuardFunctions(raw) && addPutFunctions(raw) &&
          addLeafFunctions(raw) && addOperatorFunctions(raw) && addJitFunctionType(raw) && addArrayFunctionType(raw) &&
          addSubscriptFunctions(raw) && addReadyFunctions(raw) && addShardedFunctions(raw) &&
          addPendingFunctions(raw) && addFilledFunctions(raw) && addCallbackFunctions(raw));
  addExecutableType(raw);
  addForeignFunctions(raw);
  addTensorCallType(raw);
  module.attr("llvm_version") = PCRT_LLVM_VERSION;
  addArrayFunctions(module);
  addDeviceFunctions(module);
  addLapackFunctions(module);
  addNotifierType(module.ptr());
  addProfileFunctions(module.ptr());
  addSpmdFunctions(module);
  addPjrtFunctions(module);
  addProcessFunctions(module);
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(shutdown));
}
