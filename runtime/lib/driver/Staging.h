// Copies between the host's memory and a CUDA device's through page-locked blocks: for other memory, the driver makes
// the host wait for the stream. After Completions; before code that moves arrays.
#ifndef PYCOMPILER_RUNTIME_LIB_DRIVER_STAGING_H
#define PYCOMPILER_RUNTIME_LIB_DRIVER_STAGING_H

#include "driver/Completions.h"

#include <map>
#include <unordered_map>

namespace pcrt::cuda {

class Staging {
public:
  /// Locking memory costs more than most copies, so this many bytes are cached for later ones.
  static constexpr uint64_t keptBytes = uint64_t(256) << 20;

  Staging(const Context &context, CUstream stream, Completions &completions)
      : context(context), stream(stream), completions(completions) {}
  /// When no copy is pending, and every block was released.
  ~Staging();
  Staging(const Staging &) = delete;
  Staging &operator=(const Staging &) = delete;

  /// Enqueues a copy to the device. The caller may reuse the source at once.
  Status upload(CUdeviceptr target, const void *source, size_t bytes);
  /// Enqueues a copy to a block of the host, which holds the bytes when the stream reaches this point, and belongs to
  /// the caller until `release`. OutOfMemory if the system does not allow so much locked memory. `on`: another stream
  /// of the device.
  Result<void *> download(CUdeviceptr source, size_t bytes, CUstream on = nullptr);
  /// In any thread, and in a host function; not before the copy is done.
  void release(void *block);

  /// Returns unused blocks to the system.
  void trim();
  /// The bytes of all blocks, and of the cached ones.
  uint64_t lockedBytes();
  uint64_t cachedBytes();

private:
  class Return;
  Result<void *> take(size_t bytes);
  /// Frees cached blocks until at most `bytes` are left.
  void shrinkTo(uint64_t bytes);

  const Context context;
  CUstream const stream;
  Completions &completions;
  std::mutex lock;
  /// The cached blocks, by size; and the sizes of all.
  std::multimap<size_t, void *> waiting;
  std::unordered_map<void *, size_t> sizes;
  uint64_t locked = 0, cached = 0;
};

} // namespace pcrt::cuda

#endif // PYCOMPILER_RUNTIME_LIB_DRIVER_STAGING_H
