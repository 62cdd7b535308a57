// Fibers in phases: each thread runs until it returns or waits; then those whose wait is over continue. If a thread
// returns, its fiber takes the next thread at once, so a kernel without barriers is a plain loop.
#include "BlockRunner.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

using namespace emulator;

static constexpr size_t warpSize = 32;
static constexpr size_t stackBytes = size_t(128) << 10, guardBytes = 4096, signalStackBytes = 65536;
static constexpr uint32_t undefinedLane = 0x7fc0dead;
static constexpr int caughtSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
static struct sigaction before[64];

thread_local BlockRunner *BlockRunner::current = nullptr;

static char *mapMemory(size_t bytes) {
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    std::abort();
  return static_cast<char *>(memory);
}

BlockRunner::~BlockRunner() {
  for (Fiber &fiber : fibers)
    munmap(fiber.stack - guardBytes, guardBytes + stackBytes);
  if (sharedMapping)
    munmap(sharedMapping, sharedCapacity + guardBytes);
}

//===-- Traps
//-------------------------------------------------------------------------------------------------------===//

void BlockRunner::onSignal(int signal, siginfo_t *info, void *context) {
  BlockRunner *runner = current;
  if (runner && runner->running) {
    runner->caughtSignal = signal;
    runner->faultAddress = info->si_addr;
    // It never returns here: the signal stays unblocked (SA_NODEFER), and the stack of signals is free again.
    FiberContext abandoned;
    switchFiber(abandoned, runner->scheduler);
  }
  // A signal of other code: the former handler gets it, at the same instruction.
  struct sigaction &old = before[signal];
  if (old.sa_flags & SA_SIGINFO)
    old.sa_sigaction(signal, info, context);
  else if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN)
    old.sa_handler(signal);
  else
    sigaction(signal, &old, nullptr);
}

void BlockRunner::catchSignals() {
  static const bool once = [] {
    for (int signal : caughtSignals) {
      struct sigaction action = {};
      action.sa_sigaction = onSignal;
      action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
      sigaction(signal, &action, &before[signal]);
    }
    return true;
  }();
  (void)once;
}

std::string BlockRunner::nameOf(const Thread &thread) const {
  auto triple = [](const uint32_t *values) {
    return "(" + std::to_string(values[0]) + ", " + std::to_string(values[1]) + ", " + std::to_string(values[2]) + ")";
  };
  return "thread " + triple(thread.view.threadId) + " of block " + triple(thread.view.blockId);
}

bool BlockRunner::fail(CUresult what, const std::string &why) {
  error = what;
  text = why;
  return false;
}

//===-- Threads and fibers
//------------------------------------------------------------------------------------------===//

BlockRunner::Fiber *BlockRunner::freeFiber() {
  if (idle.empty()) {
    char *memory = mapMemory(guardBytes + stackBytes);
    mprotect(memory, guardBytes, PROT_NONE);
    fibers.push_back({{}, memory + guardBytes});
    Fiber &fiber = fibers.back();
    prepareFiber(fiber.context, fiber.stack, stackBytes, fiberMain);
    idle.push_back(&fiber);
  }
  Fiber *fiber = idle.back();
  idle.pop_back();
  return fiber;
}

void BlockRunner::fiberMain() {
  BlockRunner &runner = *current;
  while (true) {
    while (runner.nextThread < runner.threads.size()) {
      Thread &thread = runner.threads[runner.nextThread++];
      thread.state = State::Running;
      thread.fiber = runner.runningFiber;
      runner.running = &thread;
      runner.kernel(&thread.view, runner.params);
      // It may have been stopped in between, and another one may have run.
      thread.state = State::Returned;
    }
    runner.running = nullptr;
    Fiber &self = *runner.runningFiber;
    runner.idle.push_back(&self);
    switchFiber(self.context, runner.scheduler);
  }
}

void BlockRunner::enter(Fiber &fiber) {
  runningFiber = &fiber;
  switchFiber(scheduler, fiber.context);
  runningFiber = nullptr;
  if (!caughtSignal) {
    running = nullptr;
    return;
  }
  bool isAddress = caughtSignal == SIGSEGV || caughtSignal == SIGBUS;
  char address[32];
  std::snprintf(address, sizeof(address), "%p", faultAddress);
  fail(isAddress                                           ? CUDA_ERROR_ILLEGAL_ADDRESS
       : caughtSignal == SIGILL || caughtSignal == SIGTRAP ? CUDA_ERROR_ILLEGAL_INSTRUCTION
                                                           : CUDA_ERROR_LAUNCH_FAILED,
       nameOf(*running) +
           (isAddress ? std::string(" accesses ") + address : " gets signal " + std::to_string(caughtSignal)));
  running = nullptr;
  caughtSignal = 0;
}

void BlockRunner::suspend(Thread &thread, State state) {
  thread.state = state;
  running = nullptr;
  switchFiber(thread.fiber->context, scheduler);
}

void BlockRunner::barrier(const EmulatedThread *view, int32_t site) {
  auto &thread = *reinterpret_cast<Thread *>(const_cast<EmulatedThread *>(view));
  thread.site = site;
  current->suspend(thread, State::AtBarrier);
}

uint32_t BlockRunner::shuffle(const EmulatedThread *view, int32_t mode, uint32_t value, uint32_t offset, uint32_t width,
                              uint8_t *valid) {
  auto &thread = *reinterpret_cast<Thread *>(const_cast<EmulatedThread *>(view));
  thread.mode = mode;
  thread.value = value;
  thread.offset = offset;
  thread.width = width;
  current->suspend(thread, State::AtShuffle);
  *valid = thread.valid;
  return thread.result;
}

//===-- Meeting
//-----------------------------------------------------------------------------------------------------===//

/// The warp that starts with this thread: true if all participants have arrived; then they have their results.
bool BlockRunner::exchange(size_t firstLane) {
  size_t lanes = std::min(warpSize, threads.size() - firstLane);
  Thread *warp = &threads[firstLane];
  const Thread *one = nullptr;
  for (size_t lane = 0; lane < lanes && !one; ++lane)
    one = warp[lane].state == State::AtShuffle ? &warp[lane] : nullptr;
  if (!one)
    return false;
  uint32_t width = one->width;
  if (width == 0 || width > warpSize || (width & (width - 1)) || one->mode < 0 || one->mode > 3)
    return fail(CUDA_ERROR_LAUNCH_FAILED, nameOf(*one) + " shuffles with width " + std::to_string(width) +
                                              " and mode " + std::to_string(one->mode) +
                                              "; widths are powers of two up to 32, modes 0 to 3");
  for (size_t lane = 0; lane < lanes; ++lane) {
    const Thread &thread = warp[lane];
    if (thread.state == State::AtShuffle && (thread.width != width || thread.mode != one->mode || lane >= width))
      return fail(CUDA_ERROR_LAUNCH_FAILED, nameOf(thread) + " and " + nameOf(*one) +
                                                " of one warp are at different shuffles, or beyond their width");
    if (lane < width && thread.state != State::AtShuffle && thread.state != State::Returned)
      return false;
  }
  for (size_t lane = 0; lane < std::min<size_t>(lanes, width); ++lane) {
    Thread &thread = warp[lane];
    if (thread.state == State::Returned)
      continue;
    int64_t from = thread.mode == EmulatedShuffleXor    ? int64_t(lane ^ thread.offset)
                   : thread.mode == EmulatedShuffleUp   ? int64_t(lane) - thread.offset
                   : thread.mode == EmulatedShuffleDown ? int64_t(lane) + thread.offset
                                                        : int64_t(thread.offset);
    thread.valid = from >= 0 && from < int64_t(width);
    if (!thread.valid)
      thread.result = thread.value;
    else
      thread.result = from < int64_t(lanes) && warp[from].state != State::Returned ? warp[from].value : undefinedLane;
  }
  for (size_t lane = 0; lane < std::min<size_t>(lanes, width); ++lane)
    if (warp[lane].state == State::AtShuffle)
      warp[lane].state = State::Ready;
  return true;
}

/// Continues threads whose wait is over; false if there are none.
bool BlockRunner::release() {
  bool any = false, allAtBarrier = true;
  const Thread *waiting = nullptr, *other = nullptr;
  for (size_t first = 0; first < threads.size() && error == CUDA_SUCCESS; first += warpSize)
    any = exchange(first) || any;
  if (error != CUDA_SUCCESS || any)
    return any && error == CUDA_SUCCESS;
  for (const Thread &thread : threads) {
    if (thread.state == State::AtBarrier)
      waiting = &thread;
    if (thread.state == State::AtShuffle)
      other = &thread;
    allAtBarrier = allAtBarrier && (thread.state == State::AtBarrier || thread.state == State::Returned);
  }
  if (!waiting && !other)
    return false;
  if (!allAtBarrier)
    return fail(CUDA_ERROR_LAUNCH_FAILED, "deadlock: " + nameOf(*other) +
                                              " waits at a shuffle that not all of its warp reach" +
                                              (waiting ? ", and " + nameOf(*waiting) + " waits at a barrier" : ""));
  const Thread *first = nullptr; // of the warp, at the barrier
  for (size_t number = 0; number < threads.size(); ++number) {
    Thread &thread = threads[number];
    if (number % warpSize == 0)
      first = nullptr;
    if (thread.state != State::AtBarrier)
      continue;
    first = first ? first : &thread;
    // A GPU would wait forever.
    if (thread.site != first->site)
      return fail(CUDA_ERROR_LAUNCH_FAILED,
                  nameOf(*first) + " and " + nameOf(thread) + " of one warp are at different barriers");
  }
  for (Thread &thread : threads)
    if (thread.state == State::AtBarrier)
      thread.state = State::Ready;
  return true;
}

void BlockRunner::resumeReady() {
  // In alternating directions, so that a kernel that relies on one order by mistake fails soon.
  backwards = !backwards;
  for (size_t i = 0; i < threads.size() && error == CUDA_SUCCESS; ++i) {
    Thread &thread = threads[backwards ? threads.size() - 1 - i : i];
    if (thread.state != State::Ready)
      continue;
    thread.state = State::Running;
    running = &thread;
    enter(*thread.fiber);
  }
}

bool BlockRunner::runBlock() {
  nextThread = 0;
  backwards = false;
  while (nextThread < threads.size() && error == CUDA_SUCCESS)
    enter(*freeFiber());
  while (error == CUDA_SUCCESS && release())
    resumeReady();
  return error == CUDA_SUCCESS;
}

/// The block ends at a page without access.
void BlockRunner::reserveShared(uint32_t bytes) {
  shared = nullptr;
  if (bytes == 0)
    return;
  if (bytes > sharedCapacity) {
    if (sharedMapping)
      munmap(sharedMapping, sharedCapacity + guardBytes);
    sharedCapacity = (bytes + guardBytes - 1) & ~(guardBytes - 1);
    sharedMapping = mapMemory(sharedCapacity + guardBytes);
    mprotect(sharedMapping + sharedCapacity, guardBytes, PROT_NONE);
  }
  shared = sharedMapping + sharedCapacity - ((bytes + 127) & ~127u);
}

CUresult BlockRunner::run(EmulatedKernel function, void *const *values, const Dimensions &dimensions) {
  catchSignals();
  if (!signalStack) {
    // Never freed: the thread may still use it when its stream ends.
    signalStack = mapMemory(signalStackBytes);
    stack_t stack = {};
    stack.ss_sp = signalStack;
    stack.ss_size = signalStackBytes;
    sigaltstack(&stack, nullptr);
  }
  kernel = function;
  params = values;
  error = CUDA_SUCCESS;
  text.clear();
  current = this;
  reserveShared(dimensions.sharedBytes);
  const auto &[grid, block, sharedBytes] = dimensions;
  threads.assign(size_t(block[0]) * block[1] * block[2], Thread());
  for (uint64_t number = 0, count = uint64_t(grid[0]) * grid[1] * grid[2]; number < count; ++number) {
    for (size_t i = 0; i < threads.size(); ++i) {
      EmulatedThread &view = threads[i].view;
      auto index = static_cast<uint32_t>(i);
      view = {{index % block[0], index / block[0] % block[1], index / block[0] / block[1]},
              {uint32_t(number % grid[0]), uint32_t(number / grid[0] % grid[1]), uint32_t(number / grid[0] / grid[1])},
              {block[0], block[1], block[2]},
              {grid[0], grid[1], grid[2]},
              shared,
              barrier,
              shuffle};
      threads[i].state = State::New;
    }
    if (shared)
      std::memset(shared, 0xff, (sharedBytes + 127) & ~127u);
    if (!runBlock())
      break;
  }
  current = nullptr;
  if (error != CUDA_SUCCESS) {
    // The interrupted launch is never continued: its fibers start anew.
    idle.clear();
    for (Fiber &fiber : fibers) {
      prepareFiber(fiber.context, fiber.stack, stackBytes, fiberMain);
      idle.push_back(&fiber);
    }
  }
  return error;
}
