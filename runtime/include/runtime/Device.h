// A device: where arrays live and executions run. There is one so far, the CPU; the launching side asks a device for
// its memory and its stream, and for nothing else.
#ifndef PYCOMPILER_RUNTIME_DEVICE_H
#define PYCOMPILER_RUNTIME_DEVICE_H

#include "runtime/Buffer.h"
#include "runtime/Stream.h"
#include "runtime/ThreadPool.h"

namespace pcrt {

class Device {
public:
  /// The CPU. Made when first asked for, never destroyed: objects that use it may outlive every other static object.
  static Device &cpu();

  const char *platform() const { return "cpu"; }
  int id() const { return 0; }
  BufferPool &memory() { return buffers; }
  Stream &stream() { return executions; }
  unsigned threadCount() const { return pool.size(); }

  /// Waits for everything in flight and ends the threads; what is launched later runs in place.
  void shutdown();

private:
  Device();
  static void beforeFork();
  static void afterForkInParent();
  static void afterForkInChild();

  BufferPool buffers;
  ThreadPool pool;
  Stream executions;
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_DEVICE_H
