/* What tests ask of the emulated CUDA driver beside CUDA's own functions; found by dlsym in the same library.
   Variables of the environment, read when the driver is asked:
   - PYCOMPILER_EMULATED_DEVICES (1), of which CUDA_VISIBLE_DEVICES names those that a process sees, and
   PYCOMPILER_EMULATED_MEMORY, the bytes of each (4 GiB): by cuInit
   - PYCOMPILER_EMULATED_VERSION (12080)
   - PYCOMPILER_EMULATED_CAPABILITY ("9.0"), and PYCOMPILER_EMULATED_POOLS: whether there are memory pools (1)
   - PYCOMPILER_EMULATED_PEERS: whether devices reach each other's memory (1) */
#ifndef PYCOMPILER_TESTS_EMULATOR_EMULATORCONTROLS_H
#define PYCOMPILER_TESTS_EMULATOR_EMULATORCONTROLS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* After so many further bytes every allocation fails, of a device or of page-locked memory; UINT64_MAX: none does. */
void emulatorFailAllocationsAfter(uint64_t bytes);
/* How often a function of the driver was called ("cuLaunchKernel"); UINT64_MAX for a name that it does not have. */
uint64_t emulatorCallCount(const char *function);
/* Why the last kernel that failed did so, in words; "" if none has. Valid until the next one fails. */
const char *emulatorLastFailure(void);
/* Devices that a kernel has broken work again, and no allocation fails on purpose. Nothing may be in flight. */
void emulatorReset(void);

/* For the emulated libraries (libraries/): work on a stream of the current context, which reads and writes the device's
   memory; null for the default stream. The driver's error, 0 for none. */
int emulatorEnqueue(void *stream, void (*work)(void *data), void *data);
/* Whether these bytes lie in one live block of the memory of the current context's device. */
int emulatorHolds(const void *pointer, uint64_t bytes);
/* The place on the machine's bus of the current context's device, as cuDeviceGetPCIBusId; the driver's error. */
int emulatorBus(char *text, int length);

#ifdef __cplusplus
}
#endif

#endif /* PYCOMPILER_TESTS_EMULATOR_EMULATORCONTROLS_H */
