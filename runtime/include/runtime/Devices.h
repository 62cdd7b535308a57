// The devices of this process, and operations on all of them. After Device and every kind of device; before the binding
// and array-run.
#ifndef PYCOMPILER_RUNTIME_DEVICES_H
#define PYCOMPILER_RUNTIME_DEVICES_H

#include "runtime/Device.h"

#include <vector>

namespace pcrt {

struct Devices {
  /// Every device of this process: the CPUs, then the GPUs, unless PYCOMPILER_PLATFORM is "cpu". Created at the first
  /// request, never destroyed: objects that use them may outlive every other static object.
  static const std::vector<Device *> &all();
  /// The uuids of the GPUs that the driver shows to this process; none without a driver, or if PYCOMPILER_PLATFORM
  /// leaves them out.
  static Result<std::vector<std::string>> visibleGpus();
  /// Before a GPU is used: leaves the other GPUs, by their numbers among the visible ones, to other processes.
  static void keepGpus(const std::vector<int> &numbers);
  /// Adds CPUs after all devices, with the next ids; the others keep their positions. The threads are the same.
  static void addCpus(int count);
  /// The default device of arrays: the first GPU, or the first CPU if there is none.
  static Device &standard();
  /// The reason why there is no GPU; Ok if there is one.
  static const Status &gpuStatus();
  /// The first CPU. There always is one.
  static Device &cpu();

  /// Waits for everything in flight on any device; false when `hook` ended the wait.
  static bool synchronize(InterruptHook hook = nullptr);
  /// Waits for everything in flight and ends the threads; later launches run in place.
  static void shutdown();
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_DEVICES_H
