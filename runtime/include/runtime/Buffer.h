// Memory of arrays: counted buffers, from a device's pool, or over foreign memory. A buffer also holds the token of the
// execution that fills it. After Token; before BufferPool, Stream and Executable.
#ifndef PYCOMPILER_RUNTIME_BUFFER_H
#define PYCOMPILER_RUNTIME_BUFFER_H

#include "runtime/Status.h"
#include "runtime/Token.h"

#include <atomic>
#include <cstddef>
#include <string>

namespace pcrt {

class Buffer;
class BufferPool;
class Device;

/// The owner that takes back a buffer's memory after the last reference: a pool.
class BufferOwner {
protected:
  ~BufferOwner() = default;

private:
  friend class Buffer;
  /// Called after the last reference to a buffer of its memory is gone.
  virtual void recycle(Buffer *buffer) = 0;
};

class Buffer : public RefCounted<Buffer> {
public:
  /// Never null; PCRT_ALIGNMENT-aligned, but for wrapped memory.
  void *data() const { return memory; }
  /// The requested bytes; the block may be larger.
  size_t size() const { return bytes; }

  /// The device of the memory; null only for buffers of a pool without a device, in tests.
  Device *device() const { return home; }
  /// Whether the host may read `data`; otherwise Device::read and Device::write access the bytes. Defined in Device.h.
  bool isHostReadable() const;

  /// The token of the execution that fills the buffer; null if the buffer was filled before it was shared (in a
  /// device's memory: if the filling was enqueued before). Set once, before the buffer is shared.
  Token *token() const { return producer.get(); }
  void setToken(RefPtr<Token> token) { producer = std::move(token); }
  bool isReady() const { return !producer || producer->isDone(); }
  /// The failure of the contents, if ready.
  Error *error() const { return producer ? producer->error() : nullptr; }

  /// Foreign memory, aligned to its element type only. `release(owner)` is called when the last reference goes, in any
  /// thread.
  static RefPtr<Buffer> wrap(Device *device, void *memory, size_t bytes, void (*release)(void *), void *owner);
  bool isWrapped() const { return !pool; }
  /// Whether it was wrapped with this function.
  bool isReleasedBy(void (*release)(void *)) const { return releaseOwner == release; }
  /// The `owner` of wrapped memory.
  void *wrappedOwner() const { return owner; }
  /// A buffer over the memory of another one, whose contents it overwrites, with a separate token.
  static RefPtr<Buffer> successor(Buffer &of);
  /// `bytes` of another buffer's memory from `offset` on, for an array that is a part of another one. It is ready with
  /// that buffer, and shares its failure.
  static RefPtr<Buffer> view(Buffer &of, size_t offset, size_t bytes);
  /// A small part must not keep a large block alive: a view has the whole block, or at least 64 KiB and an eighth of
  /// it.
  static bool isWorthViewing(size_t part, size_t whole) {
    return part == whole || (part >= smallestView && part >= whole / 8);
  }
  /// Whether `part` bytes of this memory may become a view. Foreign memory may change under a view.
  bool mayView(size_t part) const { return isOurs() && (part == bytes || isWorthViewing(part, root().bytes)); }
  bool isView() const { return releaseOwner == releaseView; }
  /// The number of references to the buffer that owns the memory.
  uint32_t rootReferences() const { return root().references(); }
  /// The number of views of the memory.
  uint32_t viewCount() const { return root().views.load(std::memory_order_acquire); }
  /// The number of current exports of the memory to NumPy or another library.
  std::atomic<uint32_t> exports{0};
  /// Whether the memory belongs to the pool, or to another buffer from which it came by `successor` or `view`.
  bool isOurs() const { return root().pool; }

  static constexpr size_t smallestView = size_t(64) << 10;

private:
  friend class RefCounted<Buffer>;
  friend class BufferPool;
  friend class HostBufferPool;
  Buffer(Device *home, BufferOwner *pool, void *memory, unsigned sizeClass)
      : home(home), pool(pool), memory(memory), sizeClass(sizeClass) {}
  ~Buffer() = default;
  void destroy();
  /// The `releaseOwner` of a successor or a view. Its owner is the root buffer of the memory, which is neither itself,
  /// so chains do not grow.
  static void releaseRoot(void *root);
  static void releaseView(void *root);
  const Buffer &root() const {
    return releaseOwner == releaseRoot || releaseOwner == releaseView ? *static_cast<const Buffer *>(owner) : *this;
  }

  Device *const home;
  /// Null for wrapped memory.
  BufferOwner *const pool;
  void *const memory;
  const unsigned sizeClass;
  size_t bytes = 0;
  RefPtr<Token> producer;
  Buffer *nextFree = nullptr;
  void (*releaseOwner)(void *) = nullptr;
  void *owner = nullptr;
  std::atomic<uint32_t> views{0};
  /// For listed blocks: the neighbours in the list, and the operation that made them.
  Buffer *previousListed = nullptr, *nextListed = nullptr;
  std::string made;
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_BUFFER_H
