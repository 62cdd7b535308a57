/* The contract between kernels that were compiled for the host and the emulated CUDA driver of the tests, which runs
   them: each thread of a block calls the kernel once, and meets the others in `barrier` and `shuffle`. Plain C. */
#ifndef PYCOMPILER_TESTS_EMULATOR_EMULATEDKERNEL_H
#define PYCOMPILER_TESTS_EMULATOR_EMULATEDKERNEL_H

#include <stdint.h>

typedef struct EmulatedThread EmulatedThread;

enum { EmulatedShuffleXor = 0, EmulatedShuffleUp = 1, EmulatedShuffleDown = 2, EmulatedShuffleIdx = 3 };

/* What a thread knows of itself. The offsets are fixed: generated code reads the fields by them. */
struct EmulatedThread {
  uint32_t threadId[3], blockId[3], blockDim[3], gridDim[3]; /* x, y, z; bytes 0 to 47 */
  /* Byte 48: the block's shared memory, the kernel's own and what the launch asked for, aligned to 128 bytes; null for
     no bytes.
     What it holds when the block starts is undefined (all ones, so that a read before a write shows). */
  void *shared;
  /* Byte 56: every thread of the block that has not returned comes here; what they wrote before is seen after. `site`
     is the number of this barrier in the kernel: the threads of a warp must be at the same one, as for bar.sync. */
  void (*barrier)(const EmulatedThread *, int32_t site);
  /* Byte 64: exchange among the 32 threads of a warp, of which the first `width` (a power of two up to 32) take part;
     threads are counted x first. Gives the 32 bits of the lane that `mode` and `offset` name. `*valid` becomes 1 if
     that lane is below `width`, else 0 and the result is the own value. A lane that is not there (the block is smaller,
     or the thread has returned) is valid and gives 0x7fc0dead, as its value is undefined. */
  uint32_t (*shuffle)(const EmulatedThread *, int32_t mode, uint32_t value, uint32_t offset, uint32_t width,
                      uint8_t *valid);
};

/* `params` as cuLaunchKernel's kernelParams: one pointer to the value of each argument.
   A module's image is a relocatable ELF object with a global function for each kernel. Global constants may say more:
   - `<kernel>_params`, an array of bytes with the size of each argument (1 to 16): the values are copied when the
   kernel is launched, as CUDA does it, and the launch returns at once. Without it the launch returns when the kernel
   has run.
   - `<kernel>_shared`, of 64 bits: the bytes of shared memory that the kernel has whatever the launch asks for; what it
     asks for comes behind them. */
typedef void (*EmulatedKernel)(const EmulatedThread *thread, void *const *params);

#endif /* PYCOMPILER_TESTS_EMULATOR_EMULATEDKERNEL_H */
