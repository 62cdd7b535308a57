// Switches stacks: by assembly on x86-64, where a test kernel switches a million times; by ucontext elsewhere.
#include "Fiber.h"

#include <cstdint>
#include <cstring>

using namespace emulator;

#if defined(__x86_64__)

// The callee-saved state goes to the stack: the registers, and the modes of the floating-point units.
__asm__(R"(
  .text
  .p2align 4
  .globl pcrtEmulatorSwitch
  .hidden pcrtEmulatorSwitch
  .type pcrtEmulatorSwitch, @function
pcrtEmulatorSwitch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  subq $8, %rsp
  stmxcsr (%rsp)
  fnstcw 4(%rsp)
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  ldmxcsr (%rsp)
  fldcw 4(%rsp)
  addq $8, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size pcrtEmulatorSwitch, .-pcrtEmulatorSwitch
)");
extern "C" __attribute__((visibility("hidden"))) void pcrtEmulatorSwitch(void **from, void *to);

void emulator::prepareFiber(FiberContext &context, char *stack, size_t bytes, void (*entry)()) {
  // A function starts with the stack 8 bytes off a multiple of 16, and with its return address there.
  char *top = stack + (bytes & ~size_t(15)) - 24;
  uint64_t frame[9] = {};
  uint32_t sseMode;
  uint16_t x87Mode;
  __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(sseMode), "=m"(x87Mode));
  frame[0] = sseMode | static_cast<uint64_t>(x87Mode) << 32;
  frame[7] = reinterpret_cast<uint64_t>(entry);
  std::memcpy(top - 64, frame, sizeof(frame));
  context.stackPointer = top - 64;
}

void emulator::switchFiber(FiberContext &from, FiberContext &to) {
  pcrtEmulatorSwitch(&from.stackPointer, to.stackPointer);
}

#else

void emulator::prepareFiber(FiberContext &context, char *stack, size_t bytes, void (*entry)()) {
  getcontext(&context.registers);
  context.registers.uc_stack.ss_sp = stack;
  context.registers.uc_stack.ss_size = bytes;
  context.registers.uc_link = nullptr;
  makecontext(&context.registers, entry, 0);
}

void emulator::switchFiber(FiberContext &from, FiberContext &to) { swapcontext(&from.registers, &to.registers); }

#endif
