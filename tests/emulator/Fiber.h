// A second flow of control within a thread, that starts and stops where it says so: what the threads of a block are.
#ifndef PYCOMPILER_TESTS_EMULATOR_FIBER_H
#define PYCOMPILER_TESTS_EMULATOR_FIBER_H

#include <cstddef>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace emulator {

/// Where a flow of control stopped.
struct FiberContext {
#if defined(__x86_64__)
  void *stackPointer = nullptr;
#else
  ucontext_t registers;
#endif
};

/// Makes `context` one that starts in `entry`, which must never return, on the given stack.
void prepareFiber(FiberContext &context, char *stack, size_t bytes, void (*entry)());
/// Stops here, to be continued by a switch to `from`; goes on with `to`.
void switchFiber(FiberContext &from, FiberContext &to);

} // namespace emulator

#endif // PYCOMPILER_TESTS_EMULATOR_FIBER_H
