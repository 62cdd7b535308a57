// The interface of device code to its thread. array-link-device-library replaces these functions by operations of the
// GPU dialect. A function that calls one, directly or by inlining, is an entry: it becomes part of the kernel that
// calls it. Therefore helpers of an entry that call them are always inlined (DEVICE_INLINE).
//
// An entry is `extern "C"` and returns void. Its parameters are pointers to the elements of whole buffers, then numbers
// (int64_t), then its shared memory, if it needs any (dialect/lib/Gpu/MapRoutinesToGpu*.cpp describe each).
#ifndef DEVICE_DEVICE_H
#define DEVICE_DEVICE_H

#include <cstdint>

#define DEVICE_INLINE inline __attribute__((always_inline))

extern "C" {
/// The number of this thread in its block, the number of the block in the grid, and their counts.
int32_t device_thread();
int32_t device_block();
int32_t device_threads();
int32_t device_blocks();
/// Waits for all threads of the block. Afterwards all of them see each other's writes. It must not be moved or
/// repeated.
void device_barrier() __attribute__((convergent));
}

namespace device {

/// The number of this thread in the grid.
DEVICE_INLINE int64_t threadOfGrid() { return int64_t(device_block()) * device_threads() + device_thread(); }
DEVICE_INLINE int64_t threadsOfGrid() { return int64_t(device_blocks()) * device_threads(); }

} // namespace device

#endif // DEVICE_DEVICE_H
