// An exported function's library, apart from its code: pointers, the workspace, threads, child processes, messages.
// Linked only with the archive that such libraries are linked with.
#include "runtime/Exported.h"
#include "Check.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

static constexpr int64_t count = 4096;

/// One iteration of the entry's loop: an element, its index and the first constant are added.
static int32_t addPiece(const PcrtFrame *frame, const void *captured, int64_t low, int64_t high) {
  auto *bias = static_cast<const float *>(captured);
  auto *x = static_cast<const float *>(frame->args[0]);
  auto *sums = static_cast<float *>(frame->results[0]);
  for (int64_t i = low; i < high; ++i)
    sums[i] = x[count - 1 - i] + static_cast<float>(i) + *bias;
  return PCRT_OK;
}

/// An entry: results are x reversed, plus the index and a constant; and x sorted.
static int32_t entry(const PcrtFrame *frame) {
  CHECK(reinterpret_cast<uintptr_t>(frame->arena) % PCRT_ALIGNMENT == 0);
  CHECK(frame->table->abiVersion == PCRT_ABI_VERSION && frame->budget == PCRT_UNLIMITED);
  for (int i = 0; i < 2; ++i)
    CHECK(reinterpret_cast<uintptr_t>(frame->results[i]) % PCRT_ALIGNMENT == 0);
  std::memset(frame->arena, 1, 100);
  int32_t status = frame->table->parallel_for(frame, addPiece, frame->args[1], count, 64);
  if (status != PCRT_OK)
    return status;
  const int64_t dims[] = {count}, params[] = {0, 1, 1};
  PcrtTensor input = {const_cast<void *>(frame->args[0]), dims, 1, PCRT_DTYPE_Float32};
  PcrtTensor output = {frame->results[1], dims, 1, PCRT_DTYPE_Float32};
  return frame->table->sort(frame, &input, 1, &output, 1, params);
}

static int32_t failingEntry(const PcrtFrame *) { return 2 << PCRT_STATUS_BITS | PCRT_LIBRARY_FAILED; }

static const float bias = 0.5;
static const void *const consts[] = {&bias};
static const int64_t bytes = count * static_cast<int64_t>(sizeof(float));
static const int64_t argBytes[] = {bytes}, resultBytes[] = {bytes, bytes};
static const char *const sites[] = {"sort at a.py:1", "cholesky at a.py:2"};
static const PcrtExported function = {entry, 1, 1, 2, argBytes, resultBytes, consts, 100, 0, 2, sites, nullptr};

/// Memory that starts `offset` bytes after a multiple of the alignment.
struct Memory {
  explicit Memory(size_t offset = 0)
      : whole(static_cast<char *>(std::aligned_alloc(PCRT_ALIGNMENT, 2 * PCRT_ALIGNMENT + bytes))),
        data(reinterpret_cast<float *>(whole + offset)) {}
  ~Memory() { std::free(whole); }
  Memory(const Memory &) = delete;
  char *whole;
  float *data;
};

static void fill(float *x) {
  for (int64_t i = 0; i < count; ++i)
    x[i] = static_cast<float>((i * 37) % count);
}

/// Whether the results fit the numbers of `fill`.
static bool areRight(const float *sums, const float *sorted) {
  std::vector<float> x(count);
  fill(x.data());
  for (int64_t i = 0; i < count; ++i)
    if (sums[i] != x[static_cast<size_t>(count - 1 - i)] + static_cast<float>(i) + bias ||
        sorted[i] != static_cast<float>(i))
      return false;
  return true;
}

static bool callIsRight(size_t offset, void *workspace) {
  Memory x(4), sums(offset), sorted(offset);
  fill(x.data);
  const void *const args[] = {x.data};
  void *const results[] = {sums.data, sorted.data};
  return pcrtCallExported(&function, args, results, workspace) == PCRT_OK && areRight(sums.data, sorted.data);
}

static void resultsLieAnywhere() {
  for (size_t offset : {0, 4, 60})
    CHECK(callIsRight(offset, nullptr));
  // In the memory of the argument, completely and partly.
  Memory x, sorted, wide;
  fill(x.data);
  const void *const args[] = {x.data};
  void *const same[] = {x.data, sorted.data};
  CHECK(pcrtCallExported(&function, args, same, nullptr) == PCRT_OK && areRight(x.data, sorted.data));
  float *later = wide.data + PCRT_ALIGNMENT / sizeof(float);
  fill(wide.data);
  const void *const first[] = {wide.data};
  void *const shifted[] = {later, sorted.data};
  CHECK(pcrtCallExported(&function, first, shifted, nullptr) == PCRT_OK && areRight(later, sorted.data));
}

static void workspaceOfTheCaller() {
  size_t size = 2 * PCRT_ALIGNMENT + 2 * bytes;
  auto *workspace = static_cast<char *>(std::aligned_alloc(PCRT_ALIGNMENT, size));
  for (size_t offset : {0, 4})
    CHECK(callIsRight(offset, workspace));
  Memory x, sums, sorted;
  const void *const args[] = {x.data};
  void *const results[] = {sums.data, sorted.data};
  CHECK(pcrtCallExported(&function, args, results, workspace + 8) == PCRT_EXPORTED_BAD_POINTER);
  std::free(workspace);
}

static void badPointers() {
  Memory x, sums;
  const void *const args[] = {x.data}, *const noArgs[] = {nullptr};
  void *const results[] = {sums.data, nullptr}, *const both[] = {sums.data, x.data};
  CHECK(pcrtCallExported(&function, args, results, nullptr) == PCRT_EXPORTED_BAD_POINTER);
  CHECK(pcrtCallExported(&function, noArgs, both, nullptr) == PCRT_EXPORTED_BAD_POINTER);
}

static void failuresAreTold() {
  PcrtExported failing = function;
  failing.entry = failingEntry;
  Memory x, sums(4), sorted;
  fill(sums.data);
  const void *const args[] = {x.data};
  void *const results[] = {sums.data, sorted.data};
  int32_t status = pcrtCallExported(&failing, args, results, nullptr);
  CHECK(status % 256 == PCRT_LIBRARY_FAILED);
  CHECK(std::strcmp(pcrtExportedMessage(status), "a library routine failed") == 0);
  CHECK(std::strcmp(pcrtExportedPlace(&failing, status), "cholesky at a.py:2") == 0);
  CHECK(std::strcmp(pcrtExportedPlace(&failing, PCRT_LIBRARY_FAILED), "") == 0);
  // Without results the memory does not change.
  CHECK(sums.data[1] == 37);
}

static void threadsAndChildren() {
  CHECK(pcrtExportedSetThreads(0) == PCRT_EXPORTED_BAD_THREADS);
  CHECK(pcrtExportedSetThreads(3) == PCRT_OK);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int call = 0; call < 50; ++call)
        wrong += !callIsRight(call % 2 ? 4 : 0, nullptr);
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(wrong == 0);
  CHECK(pcrtExportedSetThreads(2) == PCRT_EXPORTED_BAD_THREADS);
  // The runtime of TSan does not follow threads through fork; qemu 7.2 fails in one of ten such forks by an assertion
  // of its own.
#if !defined(__SANITIZE_THREAD__) && !defined(IN_EMULATOR)
  pid_t child = fork();
  if (child == 0)
    _exit(callIsRight(0, nullptr) ? 0 : 1);
  int status = 1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
#endif
}

static void lapackIsMissing() {
  setenv("PYCOMPILER_LAPACK", "/nowhere/liblapack.so", 1);
  PcrtExported needy = function;
  needy.needsLapack = 1;
  Memory x, sums, sorted;
  const void *const args[] = {x.data};
  void *const results[] = {sums.data, sorted.data};
  int32_t status = pcrtCallExported(&needy, args, results, nullptr);
  CHECK(status == PCRT_EXPORTED_NO_LAPACK);
  CHECK(std::strstr(pcrtExportedMessage(status), "/nowhere/liblapack.so"));
}

/// Every status has a message of its own, and one that no call returns has one, too.
static void everyStatusHasAMessage() {
  const int32_t statuses[] = {PCRT_OK,
                              PCRT_INVALID_ARGUMENT,
                              PCRT_OUT_OF_MEMORY,
                              PCRT_LIBRARY_FAILED,
                              PCRT_EXPORTED_BAD_POINTER,
                              PCRT_EXPORTED_NO_LAPACK,
                              PCRT_EXPORTED_BAD_THREADS,
                              PCRT_EXPORTED_BAD_SIZE,
                              -1000};
  std::set<std::string> messages;
  for (int32_t status : statuses)
    messages.insert(pcrtExportedMessage(status));
  CHECK(messages.size() == std::size(statuses));
  CHECK(std::strcmp(pcrtExportedMessage(PCRT_OK), "no error") == 0);
  CHECK(std::strcmp(pcrtExportedMessage(-1000), "an unknown error") == 0);
  // The number of a place does not change the message.
  CHECK(std::strcmp(pcrtExportedMessage(3 << PCRT_STATUS_BITS | PCRT_OUT_OF_MEMORY), "out of memory") == 0);
}

static void aWorkspaceBeyondMemory() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) // their allocators end the process
  PcrtExported greedy = function;
  greedy.arenaBytes = int64_t(1) << 60;
  Memory x, sums, sorted;
  const void *const args[] = {x.data};
  void *const results[] = {sums.data, sorted.data};
  CHECK(pcrtCallExported(&greedy, args, results, nullptr) == PCRT_OUT_OF_MEMORY);
#endif
}

static int32_t refusedStatus = 0;

/// Calls that need a device, a mesh or a host function: programs that are exported have none.
static int32_t refusedEntry(const PcrtFrame *frame) {
  const PcrtTable &table = *frame->table;
  int64_t value = 0;
  for (int32_t status : {table.launch(frame, 0, nullptr, nullptr), table.read(frame, &value, &value, sizeof(value)),
                         table.collective(frame, nullptr, 0, nullptr, 0, nullptr),
                         table.host_call(frame, nullptr, 0, nullptr, 0, nullptr),
                         table.collective_start(frame, nullptr, 0, nullptr, 0, nullptr),
                         table.collective_wait(frame, nullptr, 0, nullptr, 0, nullptr),
                         table.product(frame, nullptr, 0, nullptr, 0, nullptr)})
    refusedStatus += status == PCRT_INVALID_ARGUMENT;
  return PCRT_INVALID_ARGUMENT;
}

static void devicesAndMeshesAreRefused() {
  PcrtExported refused = {refusedEntry, 0, 0, 0, nullptr, nullptr, nullptr, 0, 0, 0, nullptr, nullptr};
  CHECK(pcrtCallExported(&refused, nullptr, nullptr, nullptr) == PCRT_INVALID_ARGUMENT);
  CHECK(refusedStatus == 7);
}

static int32_t sizedEntry(const PcrtFrame *frame) {
  for (int64_t i = 0; i < frame->sizes[0]; ++i)
    static_cast<float *>(frame->results[0])[i] = 2 * static_cast<const float *>(frame->args[0])[i];
  return PCRT_OK;
}

static void sizesOfACall() {
  for (int64_t n : {int64_t(0), int64_t(3), int64_t(17)}) {
    const int64_t bytesOfArray[] = {n * 4}, sizes[] = {n};
    const PcrtExported sized = {sizedEntry, 1, 0, 1, bytesOfArray, bytesOfArray, nullptr, 0, 0, 0, nullptr, sizes};
    // Of exactly these sizes, so that the sanitizer detects accesses beyond them.
    std::vector<float> x(n, 1.5f), y(n);
    const void *const args[] = {x.data()};
    void *const results[] = {y.data()};
    CHECK(pcrtCallExported(&sized, args, results, nullptr) == PCRT_OK);
    CHECK(y == std::vector<float>(n, 3));
  }
}

int main() {
  // First, because the number of threads must be set before there are any.
  RUN(threadsAndChildren);
  RUN(resultsLieAnywhere);
  RUN(workspaceOfTheCaller);
  RUN(badPointers);
  RUN(failuresAreTold);
  RUN(sizesOfACall);
  RUN(aWorkspaceBeyondMemory);
  RUN(devicesAndMeshesAreRefused);
  RUN(everyStatusHasAMessage);
  RUN(lapackIsMissing);
  return test::failures();
}
