// Headers over blocks, for pools that keep no buffers.
#include "runtime/BufferPool.h"

using namespace pcrt;

Buffer *BufferPool::makeHeader(Device *device, void *memory, size_t bytes) {
  auto *buffer = new Buffer(device, this, memory, 0);
  buffer->bytes = bytes;
  return buffer;
}
