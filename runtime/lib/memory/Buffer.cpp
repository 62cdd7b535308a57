// Buffers over foreign memory, and the release of every buffer.
#include "runtime/Buffer.h"

using namespace pcrt;

void Buffer::destroy() {
  producer = nullptr;
  if (pool) {
    pool->recycle(this);
    return;
  }
  if (releaseOwner)
    releaseOwner(owner);
  delete this;
}

RefPtr<Buffer> Buffer::wrap(Device *device, void *memory, size_t bytes, void (*release)(void *), void *owner) {
  auto buffer = RefPtr<Buffer>::adopt(new Buffer(device, nullptr, memory, 0));
  buffer->bytes = bytes;
  buffer->releaseOwner = release;
  buffer->owner = owner;
  return buffer;
}

RefPtr<Buffer> Buffer::successor(Buffer &of) {
  Buffer *root = of.releaseOwner == releaseRoot ? static_cast<Buffer *>(of.owner) : &of;
  root->retain();
  return wrap(of.device(), of.data(), of.size(), releaseRoot, root);
}

void Buffer::releaseRoot(void *root) { static_cast<Buffer *>(root)->release(); }

RefPtr<Buffer> Buffer::view(Buffer &of, size_t offset, size_t bytes) {
  Buffer &root = const_cast<Buffer &>(of.root());
  root.retain();
  root.views.fetch_add(1, std::memory_order_relaxed);
  RefPtr<Buffer> part = wrap(of.device(), static_cast<char *>(of.data()) + offset, bytes, releaseView, &root);
  part->producer = of.producer;
  return part;
}

void Buffer::releaseView(void *root) {
  static_cast<Buffer *>(root)->views.fetch_sub(1, std::memory_order_release);
  static_cast<Buffer *>(root)->release();
}
