// The kernels of a program, compiled for a family of devices: the bytes of an image, and its kernels. Loaded on each
// device once. After Status; Executable holds one, Device loads it.
#ifndef PYCOMPILER_RUNTIME_KERNELIMAGE_H
#define PYCOMPILER_RUNTIME_KERNELIMAGE_H

#include "runtime/Abi.h"
#include "runtime/Status.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace pcrt {

class Device;

/// An image on one device.
class LoadedKernels {
public:
  LoadedKernels() = default;
  virtual ~LoadedKernels() = default;
  LoadedKernels(const LoadedKernels &) = delete;
  LoadedKernels &operator=(const LoadedKernels &) = delete;
  /// As PcrtLaunch; in any thread.
  virtual Status launch(size_t kernel, const PcrtLaunchShape &shape, void *const *params) = 0;
};

class KernelImage : public RefCounted<KernelImage> {
public:
  /// `bytes`: PTX, a cubin, or another format of the device. Kernel number i is `kernels[i]`.
  KernelImage(std::string bytes, std::vector<std::string> kernels)
      : contents(std::move(bytes)), names(std::move(kernels)) {}

  /// Terminated by a 0, which does not count.
  const std::string &bytes() const { return contents; }
  const std::vector<std::string> &kernels() const { return names; }

  /// The kernels on a device, which loads them at the first call: that takes as long as the device's compiler. In any
  /// thread; they live as long as the image.
  Result<LoadedKernels *> on(Device &device);
  /// Null if they were not loaded there yet.
  LoadedKernels *find(const Device &device) const;

private:
  friend class RefCounted<KernelImage>;
  ~KernelImage();

  /// A list that only grows, so that a launch searches it without a lock.
  struct Entry {
    const Device *device;
    std::unique_ptr<LoadedKernels> kernels;
    Entry *next;
  };
  const std::string contents;
  const std::vector<std::string> names;
  std::mutex loading;
  std::atomic<Entry *> entries{nullptr};
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_KERNELIMAGE_H
