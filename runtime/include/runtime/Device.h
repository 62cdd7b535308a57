// A device: the place of arrays and executions. Callers use its memory, its stream and its threads only through this
// interface. CpuDevice implements a CPU, and Devices has those of this process.
#ifndef PYCOMPILER_RUNTIME_DEVICE_H
#define PYCOMPILER_RUNTIME_DEVICE_H

#include "runtime/Buffer.h"

#include <memory>
#include <vector>

namespace pcrt {

class BufferPool;
class CollectiveWork;
class KernelImage;
class LoadedKernels;
class SharedLaunch;
class Stream;
class ThreadPool;

/// The facts about a device that every process of a program has.
class DeviceInfo {
public:
  virtual ~DeviceInfo() = default;
  DeviceInfo(const DeviceInfo &) = delete;
  DeviceInfo &operator=(const DeviceInfo &) = delete;

  /// Counted from 0 within its platform, over all processes.
  int id() const { return number; }
  /// Counted within its process.
  int localId() const { return localNumber; }
  /// The process that it belongs to.
  unsigned process() const { return owner; }
  /// "cpu" or "gpu".
  virtual const char *platform() const = 0;
  /// The name in messages: "cpu:0", "cuda:0".
  virtual std::string name() const = 0;
  /// The name of the hardware.
  virtual std::string kind() const = 0;
  /// The compute capability of a GPU, "9.0"; empty for a CPU.
  virtual std::string computeCapability() const { return ""; }

  /// Its place among the devices of all processes.
  void setPlace(unsigned process, int id) {
    owner = process;
    number = id;
  }

protected:
  explicit DeviceInfo(int localNumber) : localNumber(localNumber), number(localNumber) {}

private:
  const int localNumber;
  int number;
  unsigned owner = 0;
};

/// A device of another process: here it has only a name.
class RemoteDevice final : public DeviceInfo {
public:
  RemoteDevice(int localNumber, std::string platform, std::string family, std::string hardware, std::string capability)
      : DeviceInfo(localNumber), platformName(std::move(platform)), family(std::move(family)),
        hardware(std::move(hardware)), capability(std::move(capability)) {}

  const char *platform() const override { return platformName.c_str(); }
  std::string name() const override { return family + ":" + std::to_string(id()); }
  std::string kind() const override { return hardware; }
  std::string computeCapability() const override { return capability; }

private:
  const std::string platformName, family, hardware, capability;
};

class Device : public DeviceInfo {
public:
  virtual BufferPool &memory() = 0;
  virtual Stream &stream() = 0;
  /// The host's threads that serve it; devices may share them.
  virtual ThreadPool &threads() = 0;

  /// The driver's own handle of the stream, for other libraries; null for a CPU.
  virtual void *streamHandle() const { return nullptr; }
  /// The call frame's table for compiled code that runs here.
  virtual const PcrtTable &table() const = 0;
  /// The kernels of an image, ready for launches here; or the reason why they cannot be loaded.
  virtual Result<std::unique_ptr<LoadedKernels>> load(const KernelImage &image) = 0;
  /// The assembler of an image's code, with its version, "CUDA 13.0"; empty for a CPU.
  virtual std::string assembler() const { return ""; }
  /// An image's code, assembled for devices like this one: the resulting image loads faster.
  virtual Result<std::string> assemble(const std::string &image) = 0;
  /// Copies bytes of its memory to the host's, after all earlier work on it is done.
  virtual Status read(const void *source, void *target, size_t bytes) = 0;
  /// Copies the bytes of one of its buffers, which is ready and did not fail, to the host's memory; waits only as long
  /// as these bytes need.
  virtual Status readBuffer(const Buffer &source, void *target) { return read(source.data(), target, source.size()); }
  /// Copies bytes of the host's memory to its own, after earlier work. The caller may reuse the source at once.
  virtual Status write(void *target, const void *source, size_t bytes) = 0;

  /// The implementation of collectives for a group of participants on devices of this kind.
  virtual std::unique_ptr<CollectiveWork> collectiveWork() = 0;
  /// The same for participants of several processes: all `members` of a group of the launch.
  virtual std::unique_ptr<CollectiveWork> collectiveWork(SharedLaunch &launch, const std::vector<int64_t> &members) = 0;

  /// Whether the host may access its memory.
  bool hasHostMemory() const { return onHost; }

protected:
  Device(int number, bool onHost) : DeviceInfo(number), onHost(onHost) {}

private:
  const bool onHost;
};

inline bool Buffer::isHostReadable() const { return !home || home->hasHostMemory(); }

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_DEVICE_H
