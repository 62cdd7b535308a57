// What the system has left, asked before the pool of buffers takes more of it.
#ifndef PYCOMPILER_RUNTIME_LIB_MEMORYPRESSURE_H
#define PYCOMPILER_RUNTIME_LIB_MEMORYPRESSURE_H

#include <atomic>
#include <cstdint>

namespace pcrt {

/// Bytes that the machine, and the cgroup, let a process have.
uint64_t systemMemoryLimit();

/// Bytes that the machine, and the cgroup, can still give without swapping or killing.
uint64_t availableMemory();

/// Whether taking `bytes` more would leave the system short. Asking costs some microseconds, so it is asked once for
/// each 64 MiB that are taken.
bool isMemoryShort(uint64_t bytes);

/// What isMemoryShort asks; a test says that memory is short.
extern std::atomic<uint64_t (*)()> memorySource;

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_LIB_MEMORYPRESSURE_H
