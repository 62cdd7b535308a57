// Memory of arrays: counted buffers, each of a device's pool, or over the memory of somebody else. A buffer also holds
// the token of the execution that fills it. After Token; before BufferPool, Stream and Executable.
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

/// What a buffer's memory goes back to when nobody needs it: a pool.
class BufferOwner {
protected:
  ~BufferOwner() = default;

private:
  friend class Buffer;
  /// The last reference to a buffer of its memory is gone.
  virtual void recycle(Buffer *buffer) = 0;
};

class Buffer : public RefCounted<Buffer> {
public:
  /// Never null; PCRT_ALIGNMENT-aligned, but for wrapped memory.
  void *data() const { return memory; }
  /// Bytes asked for; the block may be larger.
  size_t size() const { return bytes; }

  /// Where the memory is; null only for buffers of a pool without a device, in tests.
  Device *device() const { return home; }
  /// Whether the host may look at `data`; else Device::read and Device::write have the bytes. Stands in Device.h.
  bool isHostReadable() const;

  /// What fills the buffer; null when it was filled before it was shared (in a device's memory: when what fills it was
  /// enqueued before). Set once, before the buffer is shared.
  Token *token() const { return producer.get(); }
  void setToken(RefPtr<Token> token) { producer = std::move(token); }
  bool isReady() const { return !producer || producer->isDone(); }
  /// The failure that the contents carry, if ready.
  Error *error() const { return producer ? producer->error() : nullptr; }

  /// Memory of somebody else's, aligned to its element type only. `release(owner)` is called when the last reference
  /// goes, in whichever thread that happens.
  static RefPtr<Buffer> wrap(Device *device, void *memory, size_t bytes, void (*release)(void *), void *owner);
  bool isWrapped() const { return !pool; }
  /// Whether it was wrapped with this function.
  bool isReleasedBy(void (*release)(void *)) const { return releaseOwner == release; }
  /// The `owner` that wrapped memory was given.
  void *wrappedOwner() const { return owner; }
  /// A buffer over the memory of another one, which its contents are overwritten in: with a token of its own.
  static RefPtr<Buffer> successor(Buffer &of);
  /// `bytes` of another buffer's memory from `offset` on, for an array that is a part of another one: ready when that
  /// is, with its failure.
  static RefPtr<Buffer> view(Buffer &of, size_t offset, size_t bytes);
  /// A small part must not keep a large block: a view has all of it, or at least 64 KiB and an eighth.
  static bool isWorthViewing(size_t part, size_t whole) {
    return part == whole || (part >= smallestView && part >= whole / 8);
  }
  /// Whether `part` bytes of this memory may be looked at in place. Memory of others' may change under the view.
  bool mayView(size_t part) const { return isOurs() && (part == bytes || isWorthViewing(part, root().bytes)); }
  bool isView() const { return releaseOwner == releaseView; }
  /// The references to the buffer whose memory it is.
  uint32_t rootReferences() const { return root().references(); }
  /// How many views look at the memory.
  uint32_t viewCount() const { return root().views.load(std::memory_order_acquire); }
  /// How often NumPy, or another library, was given the memory to read and has not given it back.
  std::atomic<uint32_t> exports{0};
  /// Whether the memory is the pool's, or another buffer's that it came from by `successor` or `view`.
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
  /// What a successor, or a view, has for `releaseOwner`; its owner is the buffer whose memory it has, which is
  /// neither itself, so that no chain grows.
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
  /// Of blocks that are listed: their neighbours in the list, and who made them.
  Buffer *previousListed = nullptr, *nextListed = nullptr;
  std::string made;
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_BUFFER_H
