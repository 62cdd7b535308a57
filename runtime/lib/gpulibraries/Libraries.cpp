// Finds and loads the libraries, and converts their errors to statuses.
#include "gpulibraries/Libraries.h"

#include <atomic>
#include <cstdlib>
#include <dlfcn.h>
#include <mutex>

using namespace pcrt;
using namespace pcrt::cuda;

static std::atomic<const CublasLt *> cublasLt{nullptr};
const CublasLt *CublasLt::loaded() { return cublasLt.load(std::memory_order_acquire); }
static std::atomic<const Cufft *> cufft{nullptr};
const Cufft *Cufft::loaded() { return cufft.load(std::memory_order_acquire); }
static std::atomic<const Cusolver *> cusolver{nullptr};
const Cusolver *Cusolver::loaded() { return cusolver.load(std::memory_order_acquire); }
static std::atomic<const Nccl *> nccl{nullptr};
const Nccl *Nccl::loaded() { return nccl.load(std::memory_order_acquire); }

//===-- Finding
//-----------------------------------------------------------------------------------------------------===//

/// Fills a table from an open library, for ever; returns the name of the first missing function.
template <typename Library> static const char *keep(std::atomic<const Library *> &slot, void *handle) {
  auto made = std::make_unique<Library>();
  if (const char *missing = made->find(handle))
    return missing;
  slot.store(made.release(), std::memory_order_release);
  return nullptr;
}

namespace {
struct Row {
  const char *name, *title;
  /// The environment variable.
  const char *variable;
  /// The package on PyPI.
  const char *package;
  /// By version, the newest first: the interfaces in use are the same.
  std::vector<const char *> files;
  bool (*isLoaded)();
  const char *(*keep)(void *handle);
};
} // namespace

static const std::vector<Row> &rows() {
  static const auto *const all = new std::vector<Row>{
      {"cublaslt",
       "cuBLASLt",
       "PYCOMPILER_CUBLASLT",
       "nvidia-cublas-cu12",
       {"libcublasLt.so.13", "libcublasLt.so.12"},
       [] { return CublasLt::loaded() != nullptr; },
       [](void *handle) { return keep(cublasLt, handle); }},
      {"cufft",
       "cuFFT",
       "PYCOMPILER_CUFFT",
       "nvidia-cufft-cu12",
       {"libcufft.so.12", "libcufft.so.11"},
       [] { return Cufft::loaded() != nullptr; },
       [](void *handle) { return keep(cufft, handle); }},
      {"cusolver",
       "cuSOLVER",
       "PYCOMPILER_CUSOLVER",
       "nvidia-cusolver-cu12",
       {"libcusolver.so.12", "libcusolver.so.11"},
       [] { return Cusolver::loaded() != nullptr; },
       [](void *handle) { return keep(cusolver, handle); }},
      {"nccl",
       "NCCL",
       "PYCOMPILER_NCCL",
       "nvidia-nccl-cu12",
       {"libnccl.so.2"},
       [] { return Nccl::loaded() != nullptr; },
       [](void *handle) { return keep(nccl, handle); }},
  };
  return *all;
}

static const Row *findRow(const std::string &name) {
  for (const Row &row : rows())
    if (name == row.name)
      return &row;
  return nullptr;
}

std::vector<std::string> pcrt::gpuLibraryNames() {
  std::vector<std::string> names;
  for (const Row &row : rows())
    names.emplace_back(row.name);
  return names;
}

/// The candidates, in the order of the search.
static std::vector<std::string> candidates(const Row &row, const std::vector<std::string> &folders, bool searches) {
  const char *named = std::getenv(row.variable);
  if (named && *named)
    return {named};
  std::vector<std::string> found;
  if (!searches)
    return found;
  for (const std::string &folder : folders)
    for (const char *file : row.files)
      found.push_back(folder + "/" + file);
  found.insert(found.end(), row.files.begin(), row.files.end());
  return found;
}

static Status refuse(const Row &row, const std::string &why) {
  return Status(Code::LibraryFailed, std::string(row.title) + " can't be used: " + why);
}

Status pcrt::loadGpuLibrary(const std::string &name, const std::vector<std::string> &folders, bool searches) {
  const Row *row = findRow(name);
  if (!row)
    return Status(Code::InvalidArgument, "there is no library '" + name + "'");
  static std::mutex lock;
  std::lock_guard<std::mutex> guard(lock);
  if (row->isLoaded())
    return Status::ok();
  std::string tried, reason;
  for (const std::string &file : candidates(*row, folders, searches)) {
    tried += (tried.empty() ? "" : ", ") + file;
    // Lazy binding: the library has thousands of functions. It is never unloaded, like the driver.
    void *handle = dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (!handle) {
      const char *why = dlerror();
      reason = why ? why : "no reason was given";
      continue;
    }
    if (const char *missing = row->keep(handle))
      return refuse(*row, file + " has no function " + missing);
    return Status::ok();
  }
  if (tried.empty())
    return refuse(*row, std::string("the emulated GPU supports only the library that ") + row->variable + " names");
  return refuse(*row, "looked for " + tried + " (the last one: " + reason + "); install " + row->package +
                          ", or name the file by " + row->variable);
}

Status cuda::notLoaded(const std::string &name) {
  return Status(Code::LibraryFailed, "the program was compiled for " + std::string(findRow(name)->title) +
                                         ", which is not loaded in this process: compile it here, or set "
                                         "PYCOMPILER_GPU_LIBRARIES");
}

//===-- Tables and errors
//-------------------------------------------------------------------------------------------===//

template <typename Function> static bool findFunction(void *handle, const char *symbol, Function &function) {
  function = reinterpret_cast<Function>(dlsym(handle, symbol));
  return function != nullptr;
}

const char *CublasLt::find(void *handle) {
#define PCRT_LIBRARY(result, name, parameters)                                                                         \
  if (!findFunction(handle, #name, name))                                                                              \
    return #name;
#include "gpulibraries/CublasLtFunctions.def"
  return nullptr;
}

const char *Cufft::find(void *handle) {
#define PCRT_LIBRARY(result, name, parameters)                                                                         \
  if (!findFunction(handle, #name, name))                                                                              \
    return #name;
#include "gpulibraries/CufftFunctions.def"
  return nullptr;
}

const char *Cusolver::find(void *handle) {
#define PCRT_LIBRARY(result, name, parameters)                                                                         \
  if (!findFunction(handle, #name, name))                                                                              \
    return #name;
#include "gpulibraries/CusolverFunctions.def"
  return nullptr;
}

const char *Nccl::find(void *handle) {
#define PCRT_LIBRARY(result, name, parameters)                                                                         \
  if (!findFunction(handle, #name, name))                                                                              \
    return #name;
#include "gpulibraries/NcclFunctions.def"
  return nullptr;
}

Status CublasLt::check(cublasStatus_t result, const char *call) const {
  if (result == CUBLAS_STATUS_SUCCESS)
    return Status::ok();
  return Status(result == CUBLAS_STATUS_ALLOC_FAILED ? Code::OutOfMemory : Code::LibraryFailed,
                std::string(call) + " failed: " + cublasLtGetStatusString(result) + " (" +
                    cublasLtGetStatusName(result) + ", " + std::to_string(result) + ")");
}

/// For a library without texts for its statuses: the names of its documentation.
static Status failureOf(const char *call, const char *name, int code, bool isMemory) {
  return Status(isMemory ? Code::OutOfMemory : Code::LibraryFailed,
                std::string(call) + " failed (" + (name ? std::string(name) + ", " : "") + std::to_string(code) + ")");
}

Status Cufft::check(cufftResult result, const char *call) const {
  if (result == CUFFT_SUCCESS)
    return Status::ok();
  static constexpr struct {
    cufftResult code;
    const char *name;
  } names[] = {
#define PCRT_NAMED(code) {code, #code}
      PCRT_NAMED(CUFFT_INVALID_PLAN), PCRT_NAMED(CUFFT_ALLOC_FAILED),   PCRT_NAMED(CUFFT_INVALID_VALUE),
      PCRT_NAMED(CUFFT_EXEC_FAILED),  PCRT_NAMED(CUFFT_INTERNAL_ERROR), PCRT_NAMED(CUFFT_SETUP_FAILED),
      PCRT_NAMED(CUFFT_INVALID_SIZE),
  };
  const char *found = nullptr;
  for (const auto &[code, name] : names)
    if (code == result)
      found = name;
  return failureOf(call, found, result, result == CUFFT_ALLOC_FAILED);
}

Status Cusolver::check(cusolverStatus_t result, const char *call) const {
  if (result == CUSOLVER_STATUS_SUCCESS)
    return Status::ok();
  static constexpr struct {
    cusolverStatus_t code;
    const char *name;
  } names[] = {
      PCRT_NAMED(CUSOLVER_STATUS_NOT_INITIALIZED),  PCRT_NAMED(CUSOLVER_STATUS_ALLOC_FAILED),
      PCRT_NAMED(CUSOLVER_STATUS_INVALID_VALUE),    PCRT_NAMED(CUSOLVER_STATUS_ARCH_MISMATCH),
      PCRT_NAMED(CUSOLVER_STATUS_EXECUTION_FAILED), PCRT_NAMED(CUSOLVER_STATUS_INTERNAL_ERROR),
      PCRT_NAMED(CUSOLVER_STATUS_NOT_SUPPORTED),
#undef PCRT_NAMED
  };
  const char *found = nullptr;
  for (const auto &[code, name] : names)
    if (code == result)
      found = name;
  return failureOf(call, found, result, result == CUSOLVER_STATUS_ALLOC_FAILED);
}

Status Nccl::check(ncclResult_t result, const char *call) const {
  if (result == ncclSuccess || result == ncclInProgress)
    return Status::ok();
  const char *last = ncclGetLastError(nullptr);
  return Status(Code::LibraryFailed, std::string(call) + " failed: " + ncclGetErrorString(result) + " (" +
                                         std::to_string(result) + (last && *last ? std::string("; ") + last : "") +
                                         ")");
}
