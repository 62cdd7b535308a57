// Queries the system's remaining memory before the buffer pool takes more of it.
#ifndef PYCOMPILER_RUNTIME_LIB_MEMORYPRESSURE_H
#define PYCOMPILER_RUNTIME_LIB_MEMORYPRESSURE_H

#include <atomic>
#include <cstdint>

namespace pcrt {

/// The bytes that the machine, and the cgroup, allow a process.
uint64_t systemMemoryLimit();

/// Bytes that the machine, and the cgroup, can still give without swapping or killing.
uint64_t availableMemory();

/// Whether taking `bytes` more would leave the system short. A query costs some microseconds, so there is one for each
/// 64 MiB.
bool isMemoryShort(uint64_t bytes);

/// The source of isMemoryShort; tests replace it to simulate a shortage.
extern std::atomic<uint64_t (*)()> memorySource;

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_LIB_MEMORYPRESSURE_H
