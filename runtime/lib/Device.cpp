// The CPU device, and what it does around fork().
#include "runtime/Device.h"

#include <cstdlib>
#include <cstring>
#include <pthread.h>

using namespace pcrt;

/// PYCOMPILER_SYNC=1: everything runs in the thread that asks for it.
static bool syncFromEnvironment() {
  const char *text = std::getenv("PYCOMPILER_SYNC");
  return text && *text && std::strcmp(text, "0") != 0;
}

Device &Device::cpu() {
  static Device *const device = new Device();
  return *device;
}

Device::Device() : pool(ThreadPool::defaultSize()), executions(pool, syncFromEnvironment()) {
  pthread_atfork(beforeFork, afterForkInParent, afterForkInChild);
}

void Device::shutdown() {
  executions.synchronize();
  pool.shutdown();
}

/// A child has none of the workers, so nothing may be in flight; then no lock may be held either.
void Device::beforeFork() {
  Device &device = cpu();
  while (true) {
    device.executions.synchronize();
    device.pool.beforeFork();
    if (device.executions.callsInFlight() == 0)
      break;
    device.pool.afterForkInParent();
  }
  device.buffers.beforeFork();
}

void Device::afterForkInParent() {
  cpu().buffers.afterFork();
  cpu().pool.afterForkInParent();
}

void Device::afterForkInChild() {
  cpu().buffers.afterFork();
  cpu().pool.afterForkInChild();
}
