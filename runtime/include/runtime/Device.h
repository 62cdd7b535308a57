// A device: where arrays live and executions run. The launching side asks a device for its memory, its stream and its
// threads, and for nothing else. An interface alone, so that whatever a device is made of may know it; what a CPU is
// made of stands in CpuDevice, and Devices has those of this process.
#ifndef PYCOMPILER_RUNTIME_DEVICE_H
#define PYCOMPILER_RUNTIME_DEVICE_H

#include "runtime/Buffer.h"

#include <memory>

namespace pcrt {

class BufferPool;
class CollectiveWork;
class KernelImage;
class LoadedKernels;
class Stream;
class ThreadPool;

class Device {
public:
  virtual ~Device() = default;
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  /// Counted from 0 within its platform.
  int id() const { return number; }
  /// "cpu" or "gpu".
  virtual const char *platform() const = 0;
  /// What messages call it: "cpu:0", "cuda:0".
  virtual std::string name() const = 0;
  /// What the hardware calls itself.
  virtual std::string kind() const = 0;
  /// Which instructions a GPU has, "9.0"; empty for a CPU.
  virtual std::string computeCapability() const { return ""; }
  virtual BufferPool &memory() = 0;
  virtual Stream &stream() = 0;
  /// The host's threads that serve it; devices may share them.
  virtual ThreadPool &threads() = 0;

  /// The driver's own handle of the stream, for other libraries; null for a CPU.
  virtual void *streamHandle() const { return nullptr; }
  /// What compiled code that runs here reaches through its call frame.
  virtual const PcrtTable &table() const = 0;
  /// The kernels of an image, ready to be launched here; or why they can't be.
  virtual Result<std::unique_ptr<LoadedKernels>> load(const KernelImage &image) = 0;
  /// What assembles an image's code for it, with its version, "CUDA 13.0"; empty for a CPU.
  virtual std::string assembler() const { return ""; }
  /// An image's code, assembled for devices like this one: an image that takes less time to load.
  virtual Result<std::string> assemble(const std::string &image) = 0;
  /// Copies bytes of its memory to the host's, once everything that was enqueued on it before is done.
  virtual Status read(const void *source, void *target, size_t bytes) = 0;
  /// Copies the bytes of one of its buffers, which is ready and did not fail, to the host's memory; does not wait for
  /// more than they need.
  virtual Status readBuffer(const Buffer &source, void *target) { return read(source.data(), target, source.size()); }
  /// Copies bytes of the host's memory to its own, after what was enqueued on it before. The source is the caller's
  /// again at once.
  virtual Status write(void *target, const void *source, size_t bytes) = 0;

  /// What the members of a group of participants that run on devices of this kind do at their collectives.
  virtual std::unique_ptr<CollectiveWork> collectiveWork() = 0;

  /// Whether the host may look at its memory.
  bool hasHostMemory() const { return onHost; }

protected:
  Device(int number, bool onHost) : number(number), onHost(onHost) {}

private:
  const int number;
  const bool onHost;
};

inline bool Buffer::isHostReadable() const { return !home || home->hasHostMemory(); }

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_DEVICE_H
