// The emulated driver: its start, its devices and contexts, the names of its errors, and its controls for tests.
#include "Calls.h"
#include "EmulatorControls.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace emulator;

static constexpr size_t callCount = static_cast<size_t>(Call::count);
static std::atomic<uint64_t> calls[callCount];
static std::atomic<bool> isInitialized{false};
static std::atomic<uint64_t> allocationsLeft{UINT64_MAX};
static std::atomic<int> visibleDevices{0};
/// The numbers of the visible devices among those of the machine.
static std::vector<int> machineNumbers;
thread_local CUcontext emulator::currentContext = nullptr;

static std::mutex &stateLock() {
  static auto *const lock = new std::mutex();
  return *lock;
}

static std::string &lastFailure() {
  static auto *const text = new std::string();
  return *text;
}

/// Never destroyed: the threads of streams outlive main.
static std::deque<CUctx_st> &devices() {
  static auto *const all = new std::deque<CUctx_st>();
  return *all;
}

static std::string fromEnvironment(const char *name, const char *otherwise) {
  const char *text = std::getenv(name);
  return text && *text ? text : otherwise;
}

bool emulator::havePeers() { return fromEnvironment("PYCOMPILER_EMULATED_PEERS", "1") == "1"; }

/// CUDA_VISIBLE_DEVICES: the driver ignores what follows the first number that the machine does not have.
static std::vector<int> visibleOf(int count) {
  std::vector<int> numbers;
  const char *text = std::getenv("CUDA_VISIBLE_DEVICES");
  for (int number = 0; !text && number < count; ++number)
    numbers.push_back(number);
  for (char *end = nullptr; text && *text; text = *end == ',' ? end + 1 : end) {
    long number = std::strtol(text, &end, 10);
    if (end == text || number < 0 || number >= count)
      break;
    numbers.push_back(static_cast<int>(number));
  }
  return numbers;
}

//===-- Checks of every call
//-------------------------------------------------------------------------------------===//

CUresult emulator::begin(Call call) {
  calls[static_cast<size_t>(call)].fetch_add(1, std::memory_order_relaxed);
  if (inHostFunction)
    return CUDA_ERROR_NOT_PERMITTED;
  return isInitialized.load() ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult emulator::beginInContext(Call call) {
  if (CUresult refused = begin(call); refused != CUDA_SUCCESS)
    return refused;
  return currentContext ? currentContext->sticky.load() : CUDA_ERROR_INVALID_CONTEXT;
}

CUcontext emulator::findDevice(CUdevice number) {
  std::lock_guard<std::mutex> guard(stateLock());
  return number >= 0 && number < visibleDevices.load() ? &devices()[number] : nullptr;
}

CUstream emulator::findStream(CUstream stream) {
  {
    std::lock_guard<std::mutex> guard(currentContext->lock);
    if (!stream)
      stream = currentContext->defaultStream;
    if (stream)
      return currentContext->streams.count(stream) ? stream : nullptr;
  }
  auto *made = new CUstream_st(currentContext);
  std::lock_guard<std::mutex> guard(currentContext->lock);
  return currentContext->defaultStream = made;
}

bool emulator::failsOnPurpose(uint64_t bytes) {
  uint64_t left = allocationsLeft.load();
  do {
    if (left == UINT64_MAX)
      return false;
    if (bytes > left)
      return true;
  } while (!allocationsLeft.compare_exchange_weak(left, left - bytes));
  return false;
}

void emulator::setLastFailure(const std::string &text) {
  std::fprintf(stderr, "emulated CUDA device: %s\n", text.c_str());
  std::lock_guard<std::mutex> guard(stateLock());
  lastFailure() = text;
}

//===-- For tests
//---------------------------------------------------------------------------------------------------===//

extern "C" {
#define PCRT_EXPORTED __attribute__((visibility("default")))

PCRT_EXPORTED void emulatorFailAllocationsAfter(uint64_t bytes) { allocationsLeft.store(bytes); }

PCRT_EXPORTED uint64_t emulatorCallCount(const char *function) {
  static const char *const names[] = {
#define PCRT_CUDA(name, symbol, parameters) #name,
#include "driver/Functions.def"
  };
  for (size_t i = 0; i < callCount; ++i)
    if (std::strcmp(names[i], function) == 0)
      return calls[i].load();
  return UINT64_MAX;
}

PCRT_EXPORTED const char *emulatorLastFailure(void) {
  std::lock_guard<std::mutex> guard(stateLock());
  return lastFailure().c_str();
}

PCRT_EXPORTED void emulatorReset(void) {
  allocationsLeft.store(UINT64_MAX);
  std::lock_guard<std::mutex> guard(stateLock());
  lastFailure().clear();
  for (CUctx_st &device : devices())
    device.sticky.store(CUDA_SUCCESS);
}

//===-- Starting, errors
//--------------------------------------------------------------------------------------------===//

CUresult cuInit(unsigned flags) {
  calls[static_cast<size_t>(Call::cuInit)].fetch_add(1);
  if (flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  int count = std::atoi(fromEnvironment("PYCOMPILER_EMULATED_DEVICES", "1").c_str());
  if (count <= 0)
    return CUDA_ERROR_NO_DEVICE;
  uint64_t bytes = std::strtoull(fromEnvironment("PYCOMPILER_EMULATED_MEMORY", "4294967296").c_str(), nullptr, 10);
  std::lock_guard<std::mutex> guard(stateLock());
  machineNumbers = visibleOf(count);
  count = static_cast<int>(machineNumbers.size());
  if (count == 0)
    return CUDA_ERROR_NO_DEVICE;
  while (static_cast<int>(devices().size()) < count)
    devices().emplace_back(static_cast<int>(devices().size()), bytes);
  visibleDevices.store(count);
  isInitialized.store(true);
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version) {
  *version = std::atoi(fromEnvironment("PYCOMPILER_EMULATED_VERSION", "12080").c_str());
  return CUDA_SUCCESS;
}

static const struct {
  CUresult error;
  const char *name, *text;
} errors[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {CUDA_ERROR_NOT_PERMITTED, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
};

static CUresult describe(CUresult error, const char **result, const char *(*choose)(decltype(errors[0]))) {
  for (const auto &known : errors)
    if (known.error == error) {
      *result = choose(known);
      return CUDA_SUCCESS;
    }
  *result = nullptr;
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorName(CUresult error, const char **name) {
  return describe(error, name, [](decltype(errors[0]) known) { return known.name; });
}

CUresult cuGetErrorString(CUresult error, const char **text) {
  return describe(error, text, [](decltype(errors[0]) known) { return known.text; });
}

//===-- Devices and contexts
//----------------------------------------------------------------------------------------===//

CUresult cuDeviceGetCount(int *count) {
  if (CUresult refused = begin(Call::cuDeviceGetCount); refused != CUDA_SUCCESS)
    return refused;
  *count = visibleDevices.load();
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  if (CUresult refused = begin(Call::cuDeviceGet); refused != CUDA_SUCCESS)
    return refused;
  *device = ordinal;
  return findDevice(ordinal) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
  if (CUresult refused = begin(Call::cuDeviceGetName); refused != CUDA_SUCCESS)
    return refused;
  std::snprintf(name, static_cast<size_t>(length), "Emulated device %d", device);
  return findDevice(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

/// Devices of one number are the same one in every process.
static int machineNumberOf(CUdevice device) {
  std::lock_guard<std::mutex> guard(stateLock());
  return machineNumbers[static_cast<size_t>(device)];
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
  if (CUresult refused = begin(Call::cuDeviceGetUuid); refused != CUDA_SUCCESS)
    return refused;
  if (!findDevice(device))
    return CUDA_ERROR_INVALID_DEVICE;
  *uuid = {{'E', 'M', static_cast<char>(machineNumberOf(device))}};
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *text, int length, CUdevice device) {
  if (CUresult refused = begin(Call::cuDeviceGetPCIBusId); refused != CUDA_SUCCESS)
    return refused;
  if (!findDevice(device))
    return CUDA_ERROR_INVALID_DEVICE;
  std::snprintf(text, static_cast<size_t>(length), "0000:%02x:00.0", machineNumberOf(device));
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
  if (CUresult refused = begin(Call::cuDeviceGetAttribute); refused != CUDA_SUCCESS)
    return refused;
  if (!findDevice(device))
    return CUDA_ERROR_INVALID_DEVICE;
  std::string capability = fromEnvironment("PYCOMPILER_EMULATED_CAPABILITY", "9.0");
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    *value = 1024;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
    *value = 48 << 10;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    *value = 227 << 10;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
    *value = 228 << 10;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
    *value = 32;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    *value = 4;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
    *value = 4 << 20;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    *value = std::atoi(capability.c_str());
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: {
    size_t dot = capability.find('.');
    *value = dot == std::string::npos ? 0 : std::atoi(capability.c_str() + dot + 1);
    return CUDA_SUCCESS;
  }
  case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
    *value = fromEnvironment("PYCOMPILER_EMULATED_POOLS", "1") == "1";
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
  if (CUresult refused = begin(Call::cuDeviceTotalMem); refused != CUDA_SUCCESS)
    return refused;
  CUcontext found = findDevice(device);
  if (!found)
    return CUDA_ERROR_INVALID_DEVICE;
  *bytes = found->memory.totalBytes();
  return CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
  if (CUresult refused = begin(Call::cuDeviceCanAccessPeer); refused != CUDA_SUCCESS)
    return refused;
  if (!findDevice(device) || !findDevice(peer))
    return CUDA_ERROR_INVALID_DEVICE;
  *can = device != peer && havePeers();
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  if (CUresult refused = begin(Call::cuDevicePrimaryCtxRetain); refused != CUDA_SUCCESS)
    return refused;
  *context = findDevice(device);
  return *context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  if (CUresult refused = begin(Call::cuDevicePrimaryCtxRelease); refused != CUDA_SUCCESS)
    return refused;
  return findDevice(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  if (CUresult refused = begin(Call::cuCtxSetCurrent); refused != CUDA_SUCCESS)
    return refused;
  currentContext = context;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context) {
  if (CUresult refused = begin(Call::cuCtxGetCurrent); refused != CUDA_SUCCESS)
    return refused;
  *context = currentContext;
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void) {
  PCRT_ENTER(cuCtxSynchronize);
  std::set<CUstream> streams;
  {
    std::lock_guard<std::mutex> guard(currentContext->lock);
    streams = currentContext->streams;
  }
  for (CUstream stream : streams)
    stream->synchronize();
  currentContext->memory.synchronized();
  return currentContext->sticky.load();
}
}
