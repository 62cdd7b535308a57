// What a shared library of an exported function is made of: its compiled code, described, and the one function that
// calls it. Plain C, for the source that is generated with the library (pycompiler/export/c_source.py); before it:
// Abi.h; after it: lib/exported, which stands in the place of devices, streams and executables in programs without
// Python.
#ifndef PYCOMPILER_RUNTIME_EXPORTED_H
#define PYCOMPILER_RUNTIME_EXPORTED_H

#include "runtime/Abi.h"

#ifdef __cplusplus
extern "C" {
#endif

// What a call may come to beside PcrtStatus. The codes are part of the ABI: never renumber.
enum PcrtExportedStatus {
  // An argument, a result or the workspace is a null pointer, or the workspace is not aligned to PCRT_ALIGNMENT.
  PCRT_EXPORTED_BAD_POINTER = 32,
  // The function needs LAPACK, and the system's was not found.
  PCRT_EXPORTED_NO_LAPACK = 33,
  // The number of threads was set when threads were there already, or is not positive.
  PCRT_EXPORTED_BAD_THREADS = 34,
  // A size is none that its symbol can have.
  PCRT_EXPORTED_BAD_SIZE = 35
};

typedef struct PcrtExported {
  PcrtEntry entry;
  // What the entry takes: the caller's arguments, then constants.
  int64_t argCount, constCount, resultCount;
  // Of each of the caller's arguments, and of each result.
  const int64_t *argBytes, *resultBytes;
  const void *const *consts;
  // Of the entry's temporaries.
  int64_t arenaBytes;
  int32_t needsLapack;
  // What can fail, as PCRT_STATUS_BITS says: "cholesky at model.py:12".
  int64_t siteCount;
  const char *const *sites;
  // Those of a program with symbols, for one call, as the bytes above are; null without symbols.
  const int64_t *sizes;
} PcrtExported;

// Runs it. `workspace` holds the entry's temporaries, and results that can't be computed in place: arenaBytes, rounded
// up to PCRT_ALIGNMENT, and so those of each result; it is allocated, and freed, where it is null. A result may lie
// anywhere that its element type allows, in the memory of arguments too; it is computed in place where it is aligned to
// PCRT_ALIGNMENT and touches no argument. May be called by several threads at once, with workspaces of their own.
int32_t pcrtCallExported(const PcrtExported *function, const void *const *args, void *const *results, void *workspace);

// What a status says, in a sentence, and which operation it is about, "" where that is not known. Neither is to be
// freed.
const char *pcrtExportedMessage(int32_t status);
const char *pcrtExportedPlace(const PcrtExported *function, int32_t status);

// How many threads share a loop, of the library's own pool, the calling one among them: PYCOMPILER_NUM_THREADS if this
// is not called, else as many as there are cores for the process. Before the first call.
int32_t pcrtExportedSetThreads(int32_t count);

#ifdef __cplusplus
}
#endif

#endif // PYCOMPILER_RUNTIME_EXPORTED_H
