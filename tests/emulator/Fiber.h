// A second flow of control within a thread, with explicit switches: the threads of a block.
#ifndef PYCOMPILER_TESTS_EMULATOR_FIBER_H
#define PYCOMPILER_TESTS_EMULATOR_FIBER_H

#include <cstddef>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace emulator {

/// The state of a stopped flow of control.
struct FiberContext {
#if defined(__x86_64__)
  void *stackPointer = nullptr;
#else
  ucontext_t registers;
#endif
};

/// Prepares `context` to start in `entry`, which must never return, on the given stack.
void prepareFiber(FiberContext &context, char *stack, size_t bytes, void (*entry)());
/// Stops here, until a switch to `from`; continues with `to`.
void switchFiber(FiberContext &from, FiberContext &to);

} // namespace emulator

#endif // PYCOMPILER_TESTS_EMULATOR_FIBER_H
