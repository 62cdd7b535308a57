// The parts of an exported function's shared library: a description of its compiled code, and the one function that
// calls it. Plain C, for the source that is generated with the library (pycompiler/export/c_source.py). Before it:
// Abi.h. After it: lib/exported, which replaces devices, streams and executables in programs without Python.
#ifndef PYCOMPILER_RUNTIME_EXPORTED_H
#define PYCOMPILER_RUNTIME_EXPORTED_H

#include "runtime/Abi.h"

#ifdef __cplusplus
extern "C" {
#endif

// Statuses of a call besides PcrtStatus. The codes are part of the ABI: never renumber.
enum PcrtExportedStatus {
  // An argument, a result or the workspace is a null pointer, or the workspace is not aligned to PCRT_ALIGNMENT.
  PCRT_EXPORTED_BAD_POINTER = 32,
  // The function needs LAPACK, and the system's was not found.
  PCRT_EXPORTED_NO_LAPACK = 33,
  // The number of threads was set after threads existed, or is not positive.
  PCRT_EXPORTED_BAD_THREADS = 34,
  // A size is outside of its symbol's bounds.
  PCRT_EXPORTED_BAD_SIZE = 35
};

typedef struct PcrtExported {
  PcrtEntry entry;
  // The arguments of the entry: the caller's arguments, then constants.
  int64_t argCount, constCount, resultCount;
  // For each of the caller's arguments, and each result.
  const int64_t *argBytes, *resultBytes;
  const void *const *consts;
  // For the entry's temporaries.
  int64_t arenaBytes;
  int32_t needsLapack;
  // The call sites of PCRT_STATUS_BITS: "cholesky at model.py:12".
  int64_t siteCount;
  const char *const *sites;
  // The sizes of the symbols for one call, like the bytes above; null without symbols.
  const int64_t *sizes;
} PcrtExported;

// Runs it. `workspace` holds the entry's temporaries, and results that cannot be computed in place: arenaBytes and the
// bytes of each result, each rounded up to PCRT_ALIGNMENT. If it is null, it is allocated and freed. A result may have
// any address that its element type allows, also in the memory of arguments. It is computed in place if it is aligned
// to PCRT_ALIGNMENT and overlaps no argument. Several threads may call this at once, with separate workspaces.
int32_t pcrtCallExported(const PcrtExported *function, const void *const *args, void *const *results, void *workspace);

// The meaning of a status, in a sentence, and its operation, "" if unknown. Neither is to be freed.
const char *pcrtExportedMessage(int32_t status);
const char *pcrtExportedPlace(const PcrtExported *function, int32_t status);

// Sets the number of threads that share a loop, from the library's own pool, including the calling one. Default:
// PYCOMPILER_NUM_THREADS, else the number of cores for the process. To be called before the first call.
int32_t pcrtExportedSetThreads(int32_t count);

#ifdef __cplusplus
}
#endif

#endif // PYCOMPILER_RUNTIME_EXPORTED_H
