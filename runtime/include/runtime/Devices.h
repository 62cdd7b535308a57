// The devices of this process, and what is done to all of them. After Device and every kind of device; before whoever
// launches (the binding, array-run).
#ifndef PYCOMPILER_RUNTIME_DEVICES_H
#define PYCOMPILER_RUNTIME_DEVICES_H

#include "runtime/Device.h"

#include <vector>

namespace pcrt {

struct Devices {
  /// Every device of this process: the CPUs, then the GPUs, unless PYCOMPILER_PLATFORM is "cpu". Made when first asked
  /// for, never destroyed: objects that use them may outlive every other static object.
  static const std::vector<Device *> &all();
  /// Where arrays are unless somebody says otherwise: the first GPU, or the first CPU if there is none.
  static Device &standard();
  /// Why there is no GPU; Ok if there is one.
  static const Status &gpuStatus();
  /// The first CPU. There always is one.
  static Device &cpu();

  /// Waits for everything in flight on any device; false when `hook` ended the wait.
  static bool synchronize(InterruptHook hook = nullptr);
  /// Waits for everything in flight and ends the threads; what is launched later runs in place.
  static void shutdown();
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_DEVICES_H
