// What device code knows of the thread that runs it. array-link-device-library makes operations of the GPU dialect of
// these functions; a function that calls one, or has one inlined, is an entry: it becomes part of the kernel that calls
// it. Helpers of an entry that call them are therefore always inlined (DEVICE_INLINE).
//
// An entry is `extern "C"`, returns nothing, and is given pointers to the elements of whole buffers, then numbers
// (int64_t), then its shared memory, if it asks for any (dialect/lib/Gpu/MapRoutinesToGpu*.cpp say what of each).
#ifndef DEVICE_DEVICE_H
#define DEVICE_DEVICE_H

#include <cstdint>

#define DEVICE_INLINE inline __attribute__((always_inline))

extern "C" {
/// The number of this thread in its block, and of the block in the grid; how many there are.
int32_t device_thread();
int32_t device_block();
int32_t device_threads();
int32_t device_blocks();
/// Waits for all threads of the block. What they have written is seen by all then. It must not be moved or repeated.
void device_barrier() __attribute__((convergent));
}

namespace device {

/// The number of this thread in the grid.
DEVICE_INLINE int64_t threadOfGrid() { return int64_t(device_block()) * device_threads() + device_thread(); }
DEVICE_INLINE int64_t threadsOfGrid() { return int64_t(device_blocks()) * device_threads(); }

} // namespace device

#endif // DEVICE_DEVICE_H
