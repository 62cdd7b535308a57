// See runtime/Exported.h. The library routines are those of every run. Devices are absent: a pool of the library's own
// shares loops, and there are no kernels, callbacks or collectives.
#include "runtime/Exported.h"

#include "cpu/Check.h"
#include "runtime/Lapack.h"
#include "runtime/ParallelFor.h"
#include "runtime/ThreadPool.h"
#include "support/LibraryCalls.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <string>

using namespace pcrt;

//===-- Threads
//----------------------------------------------------------------------------------------------------===//

static std::mutex poolLock;
static std::atomic<ThreadPool *> thePool{nullptr};
static unsigned wantedThreads = 0;

static void makePool() {
  // It is never destroyed: a library stays loaded, and threads of the program may be in it while others exit.
  thePool.store(new ThreadPool(wantedThreads ? wantedThreads : ThreadPool::defaultSize()), std::memory_order_release);
}

static ThreadPool &pool() {
  if (ThreadPool *made = thePool.load(std::memory_order_acquire))
    return *made;
  std::lock_guard<std::mutex> guard(poolLock);
  if (!thePool.load(std::memory_order_relaxed)) {
    makePool();
    pthread_atfork([] { pool().beforeFork(); }, [] { pool().afterForkInParent(); }, [] { pool().afterForkInChild(); });
  }
  return *thePool.load(std::memory_order_relaxed);
}

int32_t pcrtExportedSetThreads(int32_t count) {
  std::lock_guard<std::mutex> guard(poolLock);
  if (count < 1 || thePool.load(std::memory_order_relaxed))
    return PCRT_EXPORTED_BAD_THREADS;
  wantedThreads = static_cast<unsigned>(count);
  return PCRT_OK;
}

//===-- The table
//--------------------------------------------------------------------------------------------------===//

int32_t library::parallelFor(const PcrtFrame *frame, PcrtLoopBody body, const void *captured, int64_t count,
                             int64_t grain) {
  return pcrt::parallelFor(pool(), frame, body, captured, count, grain);
}
int64_t library::threadsOf(const PcrtFrame *) { return threadsOfLoops(pool()); }

// The compiler refuses to export programs with these.
int32_t library::launch(const PcrtFrame *, int32_t, const PcrtLaunchShape *, void *const *) {
  return PCRT_INVALID_ARGUMENT;
}
int32_t library::read(const PcrtFrame *, const void *, void *, int64_t) { return PCRT_INVALID_ARGUMENT; }
#define PCRT_REFUSED(name)                                                                                             \
  int32_t library::name(const PcrtFrame *, const PcrtTensor *, int32_t, const PcrtTensor *, int32_t,                   \
                        const int64_t *) {                                                                             \
    return PCRT_INVALID_ARGUMENT;                                                                                      \
  }
PCRT_REFUSED(collective)
PCRT_REFUSED(collective_start)
PCRT_REFUSED(collective_wait)
PCRT_REFUSED(host_call)
PCRT_REFUSED(product)

// No run context takes the text.
int32_t library::check(const PcrtFrame *, const PcrtTensor *, int32_t, const PcrtTensor *, int32_t,
                       const int64_t *params) {
  return objectionOf(params).empty() ? PCRT_OK : PCRT_INVALID_ARGUMENT;
}

static const PcrtTable table = {PCRT_ABI_VERSION, library::parallelFor, library::launch, library::read,
#define PCRT_SLOT(name) library::name,
                                PCRT_LIBRARY_CALLS(PCRT_SLOT)
#undef PCRT_SLOT
};

static std::mutex lapackLock;
/// The message of a failed search for LAPACK; never freed, because callers may keep it.
static std::atomic<const std::string *> lapackFailure{nullptr};

static bool findLapack() {
  std::lock_guard<std::mutex> guard(lapackLock);
  if (lapack::isFilled())
    return true;
  Status found = lapack::fillFromSystem();
  if (!found.isOk() && !lapackFailure.load(std::memory_order_relaxed))
    lapackFailure.store(new std::string(found.message()), std::memory_order_release);
  return found.isOk();
}

//===-- The call
//---------------------------------------------------------------------------------------------------===//

static int64_t roundedUp(int64_t bytes) { return (bytes + PCRT_ALIGNMENT - 1) / PCRT_ALIGNMENT * PCRT_ALIGNMENT; }

static bool isAligned(const void *pointer) { return reinterpret_cast<uintptr_t>(pointer) % PCRT_ALIGNMENT == 0; }

static bool overlap(const void *one, int64_t oneBytes, const void *other, int64_t otherBytes) {
  auto *a = static_cast<const char *>(one), *b = static_cast<const char *>(other);
  return a < b + otherBytes && b < a + oneBytes;
}

namespace {
/// A call, and its workspace if the call allocated it.
struct Call {
  const PcrtExported &function;
  const void *const *args;
  void *const *results;
  void *owned = nullptr;

  ~Call() { std::free(owned); }
  int32_t run(void *workspace) const;
  bool hasAllPointers() const;
  /// Whether the entry may write directly to the caller's result.
  bool isInPlace(int64_t number) const;
  int64_t bytesNeeded() const;
};
} // namespace

bool Call::hasAllPointers() const {
  for (int64_t i = 0; i < function.argCount; ++i)
    if (!args[i] && function.argBytes[i] > 0)
      return false;
  for (int64_t i = 0; i < function.resultCount; ++i)
    if (!results[i] && function.resultBytes[i] > 0)
      return false;
  return true;
}

bool Call::isInPlace(int64_t number) const {
  if (!isAligned(results[number]))
    return false;
  for (int64_t i = 0; i < function.argCount; ++i)
    if (overlap(results[number], function.resultBytes[number], args[i], function.argBytes[i]))
      return false;
  return true;
}

int64_t Call::bytesNeeded() const {
  int64_t bytes = roundedUp(function.arenaBytes);
  for (int64_t i = 0; i < function.resultCount; ++i)
    bytes += isInPlace(i) ? 0 : roundedUp(function.resultBytes[i]);
  return bytes;
}

int32_t Call::run(void *workspace) const {
  // A few bytes for any sizes: their number is that of a signature's arrays.
  auto **pointers = static_cast<void **>(std::malloc(
      sizeof(void *) * static_cast<size_t>(function.argCount + function.constCount + function.resultCount)));
  if (!pointers)
    return PCRT_OUT_OF_MEMORY;
  auto **inputs = const_cast<const void **>(pointers);
  std::copy_n(args, function.argCount, inputs);
  std::copy_n(function.consts, function.constCount, inputs + function.argCount);
  void **outputs = pointers + function.argCount + function.constCount;
  char *free = static_cast<char *>(workspace) + roundedUp(function.arenaBytes);
  for (int64_t i = 0; i < function.resultCount; ++i) {
    outputs[i] = isInPlace(i) ? results[i] : free;
    free += outputs[i] == results[i] ? 0 : roundedUp(function.resultBytes[i]);
  }
  PcrtFrame frame = {
      inputs, outputs, workspace, &table, /*context=*/nullptr, PCRT_UNLIMITED, function.sizes, threadsOfLoops(pool())};
  int32_t status = function.entry(&frame);
  for (int64_t i = 0; i < function.resultCount && status == PCRT_OK; ++i)
    if (outputs[i] != results[i] && function.resultBytes[i] > 0)
      std::memcpy(results[i], outputs[i], static_cast<size_t>(function.resultBytes[i]));
  std::free(pointers);
  return status;
}

int32_t pcrtCallExported(const PcrtExported *function, const void *const *args, void *const *results, void *workspace) {
  Call call{*function, args, results};
  if (!call.hasAllPointers() || !isAligned(workspace))
    return PCRT_EXPORTED_BAD_POINTER;
  if (function->needsLapack && !findLapack())
    return PCRT_EXPORTED_NO_LAPACK;
  if (!workspace) {
    int64_t bytes = call.bytesNeeded();
    // An entry without temporaries also gets a valid pointer.
    workspace = call.owned =
        std::aligned_alloc(PCRT_ALIGNMENT, static_cast<size_t>(std::max<int64_t>(bytes, PCRT_ALIGNMENT)));
    if (!workspace)
      return PCRT_OUT_OF_MEMORY;
  }
  return call.run(workspace);
}

//===-- Messages
//---------------------------------------------------------------------------------------------------===//

const char *pcrtExportedMessage(int32_t status) {
  switch (status < 0 ? status : status % (1 << PCRT_STATUS_BITS)) {
  case PCRT_OK:
    return "no error";
  case PCRT_INVALID_ARGUMENT:
    return "a library routine refused its arguments";
  case PCRT_OUT_OF_MEMORY:
    return "out of memory";
  case PCRT_LIBRARY_FAILED:
    return "a library routine failed";
  case PCRT_EXPORTED_BAD_POINTER:
    return "an argument, a result or the workspace is a null pointer, or the workspace is not aligned to 64 bytes";
  case PCRT_EXPORTED_NO_LAPACK: {
    const std::string *said = lapackFailure.load(std::memory_order_acquire);
    return said ? said->c_str() : "the system's LAPACK was not found";
  }
  case PCRT_EXPORTED_BAD_THREADS:
    return "the number of threads must be 1 or more, and set before the first call";
  case PCRT_EXPORTED_BAD_SIZE:
    return "a size is outside of its bounds, not the required multiple, or too large";
  default:
    return "an unknown error";
  }
}

const char *pcrtExportedPlace(const PcrtExported *function, int32_t status) {
  int32_t number = status < 0 ? 0 : status >> PCRT_STATUS_BITS;
  return number >= 1 && number <= function->siteCount ? function->sites[number - 1] : "";
}
