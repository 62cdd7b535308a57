// The emulated driver: modules, and the assembly of their code. A cubin is the given object after a mark.
#include "Calls.h"
#include "Module.h"

#include <cstring>

using namespace emulator;

static constexpr char cubinMark[] = "emulated cubin: ";
static constexpr size_t markBytes = sizeof(cubinMark) - 1;

/// The object of an image, which may be a cubin.
static const void *codeOf(const void *image) {
  bool isCubin = std::strncmp(static_cast<const char *>(image), cubinMark, markBytes) == 0;
  return static_cast<const char *>(image) + (isCubin ? markBytes : 0);
}

static std::string contentsOf(const void *object) {
  return std::string(static_cast<const char *>(object), CUmod_st::sizeOf(object));
}

/// Copies the log of the last refused module to the caller's buffers.
static void fillLog(const std::string &log, unsigned optionCount, const CUjit_option *options, void *const *values) {
  char *buffer = nullptr;
  size_t bytes = 0;
  for (unsigned i = 0; i < optionCount; ++i) {
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
      buffer = static_cast<char *>(values[i]);
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
      bytes = reinterpret_cast<size_t>(values[i]);
  }
  if (!buffer || bytes == 0)
    return;
  size_t length = std::min(log.size(), bytes - 1);
  std::memcpy(buffer, log.data(), length);
  buffer[length] = '\0';
}

struct CUlinkState_st {
  /// The destination of the log; the caller keeps it until the end.
  std::vector<CUjit_option> options;
  std::vector<void *> values;
  std::string cubin;
};

extern "C" {
CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned optionCount, CUjit_option *options,
                            void **values) {
  PCRT_ENTER(cuModuleLoadDataEx);
  if (!module || !image)
    return CUDA_ERROR_INVALID_VALUE;
  auto made = std::make_unique<CUmod_st>(currentContext, contentsOf(codeOf(image)));
  std::string log;
  CUresult result = made->check(log);
  fillLog(log, optionCount, options, values);
  if (result == CUDA_SUCCESS)
    *module = made.release();
  return result;
}

CUresult cuModuleUnload(CUmodule module) {
  PCRT_ENTER(cuModuleUnload);
  if (!module)
    return CUDA_ERROR_INVALID_HANDLE;
  delete module;
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  PCRT_ENTER(cuModuleGetFunction);
  if (!module || !name)
    return CUDA_ERROR_INVALID_VALUE;
  std::string log;
  return module->find(name, *function, log);
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *pointer, size_t *bytes, CUmodule module, const char *name) {
  PCRT_ENTER(cuModuleGetGlobal);
  if (!module || !name)
    return CUDA_ERROR_INVALID_VALUE;
  size_t found = module->sizeOfVariable(name);
  if (found == 0)
    return CUDA_ERROR_NOT_FOUND;
  if (pointer) // kernels reach their variables themselves
    *pointer = 0;
  if (bytes)
    *bytes = found;
  return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
  PCRT_ENTER(cuFuncGetAttribute);
  if (!function)
    return CUDA_ERROR_INVALID_HANDLE;
  if (attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
    *value = 1024;
  else if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    *value = function->maxSharedBytes;
  else
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  PCRT_ENTER(cuFuncSetAttribute);
  if (!function)
    return CUDA_ERROR_INVALID_HANDLE;
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 || value > 227 << 10)
    return CUDA_ERROR_INVALID_VALUE;
  function->maxSharedBytes = value;
  return CUDA_SUCCESS;
}

CUresult cuLinkCreate_v2(unsigned optionCount, CUjit_option *options, void **values, CUlinkState *state) {
  PCRT_ENTER(cuLinkCreate);
  if (!state)
    return CUDA_ERROR_INVALID_VALUE;
  *state = new CUlinkState_st;
  (*state)->options.assign(options, options + optionCount);
  (*state)->values.assign(values, values + optionCount);
  return CUDA_SUCCESS;
}

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t, const char *, unsigned,
                          CUjit_option *, void **) {
  PCRT_ENTER(cuLinkAddData);
  if (!state || !data || type != CU_JIT_INPUT_PTX)
    return CUDA_ERROR_INVALID_VALUE;
  CUmod_st given(currentContext, contentsOf(data));
  std::string log;
  CUresult result = given.check(log);
  fillLog(log, static_cast<unsigned>(state->options.size()), state->options.data(), state->values.data());
  if (result == CUDA_SUCCESS)
    state->cubin = cubinMark + contentsOf(data);
  return result;
}

CUresult cuLinkComplete(CUlinkState state, void **cubin, size_t *bytes) {
  PCRT_ENTER(cuLinkComplete);
  if (!state || !cubin || !bytes || state->cubin.empty())
    return CUDA_ERROR_INVALID_VALUE;
  *cubin = state->cubin.data();
  *bytes = state->cubin.size();
  return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState state) {
  PCRT_ENTER(cuLinkDestroy);
  if (!state)
    return CUDA_ERROR_INVALID_HANDLE;
  delete state;
  return CUDA_SUCCESS;
}
}
