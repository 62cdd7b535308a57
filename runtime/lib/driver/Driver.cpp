// Loads the CUDA driver, and converts its errors to statuses.
#include "driver/Driver.h"

#include <cstdlib>
#include <dlfcn.h>

using namespace pcrt;
using namespace pcrt::cuda;

/// Maximum bytes of the driver compiler's log for a module.
static constexpr size_t logBytes = 16384;

static std::string versionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

static Status noDriver(const std::string &why) { return Status(Code::LibraryFailed, why); }

static std::string libraryFromEnvironment() {
  const char *text = std::getenv("PYCOMPILER_CUDA_DRIVER");
  return text && *text ? text : "libcuda.so.1";
}

//===-- Loading
//-----------------------------------------------------------------------------------------------------===//

template <typename Function> static bool find(void *handle, const char *symbol, Function &function) {
  function = reinterpret_cast<Function>(dlsym(handle, symbol));
  return function != nullptr;
}

const char *Driver::findFunctions(void *handle) {
#define PCRT_CUDA(name, symbol, parameters)                                                                            \
  if (!find(handle, #symbol, name))                                                                                    \
    return #symbol;
#include "driver/Functions.def"
  return nullptr;
}

Result<std::unique_ptr<const Driver>> Driver::load(const std::string &library) {
  void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *why = dlerror();
    return noDriver("no CUDA driver: cannot load " + library + (why ? std::string(" (") + why + ")" : "") +
                    "; a GPU needs NVIDIA's driver, of CUDA " + versionText(oldestVersion) + " or newer");
  }
  std::unique_ptr<Driver> driver(new Driver());
  driver->libraryName = library;
  // Check the version first: it explains more than the functions that an old driver lacks.
  int found = 0;
  if (find(handle, "cuDriverGetVersion", driver->cuDriverGetVersion) &&
      driver->cuDriverGetVersion(&found) == CUDA_SUCCESS && found < oldestVersion)
    return noDriver("the CUDA driver is too old: " + library + " supports CUDA " + versionText(found) + ", and " +
                    versionText(oldestVersion) + " or newer is needed (driver 525 or newer)");
  driver->versionNumber = found;
  if (const char *missing = driver->findFunctions(handle))
    return noDriver("the CUDA driver is incomplete: " + library + " has no function " + missing);
  CUresult started = driver->cuInit(0);
  if (started == CUDA_SUCCESS)
    started = driver->cuDeviceGetCount(&driver->devices);
  if (started == CUDA_ERROR_NO_DEVICE || (started == CUDA_SUCCESS && driver->devices == 0))
    return noDriver("no CUDA device: " + library + " (CUDA " + versionText(found) +
                    ") finds no GPU; CUDA_VISIBLE_DEVICES may hide all GPUs");
  if (Status status = driver->check(started, "cuInit"); !status.isOk())
    return status;
  return std::unique_ptr<const Driver>(std::move(driver));
}

Result<const Driver *> Driver::get() {
  static auto *const found = new Result<std::unique_ptr<const Driver>>(load(libraryFromEnvironment()));
  if (!found->isOk())
    return Status(found->status().code(), found->status().message());
  return found->value().get();
}

//===-- Errors
//------------------------------------------------------------------------------------------------------===//

bool Driver::isSticky(CUresult result) {
  switch (result) {
  case CUDA_ERROR_ECC_UNCORRECTABLE:
  case CUDA_ERROR_ILLEGAL_ADDRESS:
  case CUDA_ERROR_LAUNCH_TIMEOUT:
  case CUDA_ERROR_ASSERT:
  case CUDA_ERROR_HARDWARE_STACK_ERROR:
  case CUDA_ERROR_ILLEGAL_INSTRUCTION:
  case CUDA_ERROR_MISALIGNED_ADDRESS:
  case CUDA_ERROR_INVALID_ADDRESS_SPACE:
  case CUDA_ERROR_INVALID_PC:
  case CUDA_ERROR_LAUNCH_FAILED:
    return true;
  default:
    return false;
  }
}

Status Driver::check(CUresult result, const char *call) const {
  if (result == CUDA_SUCCESS)
    return Status::ok();
  const char *name = nullptr, *text = nullptr;
  if (cuGetErrorName(result, &name) != CUDA_SUCCESS || !name)
    name = "an error that the driver does not name";
  if (cuGetErrorString(result, &text) != CUDA_SUCCESS || !text)
    text = "no description";
  std::string message = std::string(call) + " failed: " + text + " (" + name + ", " + std::to_string(result) + ")";
  if (isSticky(result))
    message += "; a kernel failed before this call or in it, and the device stays unusable in this process";
  return Status(result == CUDA_ERROR_OUT_OF_MEMORY ? Code::OutOfMemory : Code::LibraryFailed, std::move(message));
}

//===-- Devices and modules
//-----------------------------------------------------------------------------------------===//

Result<DeviceProperties> Driver::properties(CUdevice device) const {
  DeviceProperties result;
  char name[256] = "";
  if (Status status = check(cuDeviceGetName(name, sizeof(name), device), "cuDeviceGetName"); !status.isOk())
    return status;
  result.name = name;
  char bus[32] = "";
  if (Status status = check(cuDeviceGetPCIBusId(bus, sizeof(bus), device), "cuDeviceGetPCIBusId"); !status.isOk())
    return status;
  result.bus = bus;
  size_t bytes = 0;
  if (Status status = check(cuDeviceTotalMem(&bytes, device), "cuDeviceTotalMem"); !status.isOk())
    return status;
  result.totalBytes = bytes;
  struct {
    CUdevice_attribute attribute;
    int *value;
  } const wanted[] = {
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &result.major},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &result.minor},
      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &result.multiprocessors},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, &result.sharedBytes},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &result.maxSharedBytes},
  };
  for (const auto &[attribute, value] : wanted)
    if (Status status = check(cuDeviceGetAttribute(value, attribute, device), "cuDeviceGetAttribute"); !status.isOk())
      return status;
  return result;
}

Result<std::string> Driver::uuid(CUdevice device) const {
  CUuuid uuid = {};
  if (Status status = check(cuDeviceGetUuid(&uuid, device), "cuDeviceGetUuid"); !status.isOk())
    return status;
  std::string digits;
  for (char byte : uuid.bytes)
    for (int half : {static_cast<unsigned char>(byte) >> 4, byte & 15})
      digits += "0123456789abcdef"[half];
  return digits;
}

namespace {
/// The driver compiler's errors for a module.
struct ErrorLog {
  std::string text = std::string(logBytes, '\0');
  CUjit_option options[2] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  // The size is passed as the value itself, not as a pointer to it.
  void *values[2] = {text.data(), reinterpret_cast<void *>(logBytes)};

  Status addedTo(const Status &status) {
    text.back() = '\0';
    text.resize(std::char_traits<char>::length(text.c_str()));
    while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
      text.pop_back();
    return Status(status.code(), status.message() + (text.empty() ? "" : ": " + text));
  }
};
} // namespace

Result<CUmodule> Driver::loadModule(const void *image) const {
  ErrorLog log;
  CUmodule module = nullptr;
  Status status = check(cuModuleLoadDataEx(&module, image, 2, log.options, log.values), "cuModuleLoadDataEx");
  if (status.isOk())
    return module;
  return log.addedTo(status);
}

Result<std::string> Driver::assemble(const std::string &ptx) const {
  ErrorLog log; // in use until the state is destroyed
  CUlinkState state = nullptr;
  if (Status status = check(cuLinkCreate(2, log.options, log.values, &state), "cuLinkCreate"); !status.isOk())
    return status;
  void *code = nullptr;
  size_t bytes = 0;
  // Includes the terminating 0.
  Status status = check(cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char *>(ptx.c_str()), ptx.size() + 1,
                                      "kernels", 0, nullptr, nullptr),
                        "cuLinkAddData");
  if (status.isOk())
    status = check(cuLinkComplete(state, &code, &bytes), "cuLinkComplete");
  // The code is the state's.
  std::string result(status.isOk() ? std::string(static_cast<const char *>(code), bytes) : "");
  cuLinkDestroy(state);
  if (status.isOk())
    return result;
  return log.addedTo(status);
}
