// Arrays from the host's memory, and to it.
#include "pjrt/Functions.h"
#include "pjrt/Objects.h"
#include "runtime/BufferPool.h"

#include <algorithm>
#include <cstring>
#include <numeric>

using namespace pcrt;
using namespace pcrt::pjrt;

namespace {

/// Copies an array between two forms, given by the bytes from element to element. The inner dimensions that are dense
/// in both are copied as one block.
class Strided {
public:
  Strided(const std::vector<int64_t> &dims, size_t element) : dims(dims), block(element) {}

  void copy(const char *source, const int64_t *sourceStrides, char *target, const int64_t *targetStrides) {
    for (int64_t dim : dims)
      if (dim == 0)
        return;
    outer = dims.size();
    while (outer > 0 && sourceStrides[outer - 1] == static_cast<int64_t>(block) &&
           targetStrides[outer - 1] == static_cast<int64_t>(block))
      block *= static_cast<size_t>(dims[--outer]);
    from = sourceStrides;
    to = targetStrides;
    walk(0, source, target);
  }

private:
  void walk(size_t dimension, const char *source, char *target) {
    if (dimension == outer) {
      std::memcpy(target, source, block);
      return;
    }
    for (int64_t i = 0; i < dims[dimension]; ++i)
      walk(dimension + 1, source + i * from[dimension], target + i * to[dimension]);
  }

  const std::vector<int64_t> &dims;
  size_t block, outer = 0;
  const int64_t *from = nullptr, *to = nullptr;
};

/// Gives a type the order of a layout of the API. False for tiles, for an order that is no permutation, and for strides
/// that are not those of a dense array.
bool takeOrder(const PJRT_Buffer_MemoryLayout *layout, ArrayType &type) {
  type.order.clear();
  if (!layout)
    return true;
  size_t rank = type.dims.size();
  std::vector<int64_t> order(rank);
  if (layout->type == PJRT_Buffer_MemoryLayout_Type_Strides) {
    if (layout->strides.num_byte_strides != rank)
      return false;
    const int64_t *strides = layout->strides.byte_strides;
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t one, int64_t other) {
      return strides[one] != strides[other] ? strides[one] > strides[other] : type.dims[one] > type.dims[other];
    });
    type.setOrder(std::move(order));
    return type.strides() == std::vector<int64_t>(strides, strides + rank);
  }
  if (layout->tiled.minor_to_major_size != rank || layout->tiled.num_tiles != 0)
    return false;
  std::vector<bool> seen(rank);
  for (size_t i = 0; i < rank; ++i) {
    int64_t dimension = layout->tiled.minor_to_major[i];
    if (dimension < 0 || static_cast<size_t>(dimension) >= rank || seen[dimension])
      return false;
    seen[dimension] = true;
    order[rank - 1 - i] = dimension;
  }
  type.setOrder(std::move(order));
  return true;
}

/// The strides of a layout of the API, which need not be dense. False for tiles, and for an order that is no
/// permutation.
bool stridesOf(const PJRT_Buffer_MemoryLayout *layout, ArrayType type, std::vector<int64_t> &strides) {
  if (layout && layout->type == PJRT_Buffer_MemoryLayout_Type_Strides) {
    strides.assign(layout->strides.byte_strides, layout->strides.byte_strides + layout->strides.num_byte_strides);
    return strides.size() == type.dims.size();
  }
  bool isTaken = takeOrder(layout, type);
  strides = type.strides();
  return isTaken;
}

const char *const tiled =
    "a layout with tiles is given; arrays are dense, in any order of their dimensions.\nWhat to do: "
    "give Layout(major_to_minor=...) without tiling";

PJRT_Error *checkType(PJRT_Buffer_Type given, const int64_t *dims, size_t rank, ArrayType &type) {
  if (!dtypeOf(given, type.dtype))
    return failure(PJRT_Error_Code_UNIMPLEMENTED,
                   "arrays of the API's element type " + std::to_string(given) + " have no counterpart in pycompiler");
  type.dims.assign(dims, dims + rank);
  uint64_t bytes = byteSize(type.dtype);
  for (int64_t dim : type.dims)
    if (dim < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(dim), &bytes))
      return failure(PJRT_Error_Code_INVALID_ARGUMENT, "an array of a negative size, or of too many bytes");
  return nullptr;
}

/// The device and the memory that a caller names; each may be null, not both.
void placeOf(PJRT_Client &client, PJRT_Device *&device, PJRT_Memory *&memory) {
  if (memory)
    device = memory->devices.front();
  else if (!device)
    device = client.deviceList.front();
  if (!memory)
    memory = device->memories.front();
}

/// Memory of the caller under a buffer; `ended` completes when the last reader is gone.
RefPtr<Buffer> borrow(Device &device, void *data, size_t bytes, RefPtr<Token> &ended) {
  ended = RefPtr<Token>::adopt(new Token());
  ended->retain();
  return Buffer::wrap(
      &device, data, bytes,
      [](void *owner) {
        auto token = RefPtr<Token>::adopt(static_cast<Token *>(owner));
        token->complete();
      },
      ended.get());
}

Status write(Device &device, Buffer &target, const void *data, const ArrayType &type,
             const std::vector<int64_t> &strides) {
  std::vector<int64_t> dense = type.strides();
  bool isDense = strides == dense;
  if (target.isHostReadable()) {
    if (isDense)
      std::memcpy(target.data(), data, target.size());
    else
      Strided(type.dims, byteSize(type.dtype))
          .copy(static_cast<const char *>(data), strides.data(), static_cast<char *>(target.data()), dense.data());
    return Status::ok();
  }
  if (isDense)
    return device.write(target.data(), data, target.size());
  std::unique_ptr<char[]> staged(new char[target.size()]);
  Strided(type.dims, byteSize(type.dtype))
      .copy(static_cast<const char *>(data), strides.data(), staged.get(), dense.data());
  return device.write(target.data(), staged.get(), target.size());
}

/// Reads `bytes` from `offset` of a buffer that is ready into the host's memory, with these strides if there are any.
Status read(Buffer &source, const ArrayType &type, const std::vector<int64_t> &strides, void *target, size_t offset,
            size_t bytes) {
  const char *data = static_cast<const char *>(source.data());
  if (strides.empty()) {
    if (source.isHostReadable()) {
      std::memcpy(target, data + offset, bytes);
      return Status::ok();
    }
    return source.device()->read(data + offset, target, bytes);
  }
  std::unique_ptr<char[]> staged;
  if (!source.isHostReadable()) {
    staged.reset(new char[source.size()]);
    if (Status status = source.device()->readBuffer(source, staged.get()); !status.isOk())
      return status;
    data = staged.get();
  }
  std::vector<int64_t> dense = type.strides();
  Strided(type.dims, byteSize(type.dtype)).copy(data, dense.data(), static_cast<char *>(target), strides.data());
  return Status::ok();
}

/// A read that starts when the buffer is ready, in the thread that completes it.
struct Read final : Continuation {
  Read(RefPtr<Buffer> source, ArrayType type, std::vector<int64_t> strides, void *target, size_t offset, size_t bytes)
      : source(std::move(source)), type(std::move(type)), strides(std::move(strides)), target(target), offset(offset),
        bytes(bytes), done(RefPtr<Token>::adopt(new Token())) {
    run = [](Continuation *self) { static_cast<Read *>(self)->end(); };
  }
  void end() {
    RefPtr<Error> error(source->error());
    if (!error)
      if (Status status = read(*source, type, strides, target, offset, bytes); !status.isOk())
        error = RefPtr<Error>::adopt(new Error(status, "a read of an array", ""));
    RefPtr<Token> token = done;
    delete this;
    token->complete(std::move(error));
  }
  RefPtr<Buffer> source;
  ArrayType type;
  std::vector<int64_t> strides;
  void *target;
  size_t offset, bytes;
  RefPtr<Token> done;
};

PJRT_Error *startRead(const PJRT_Buffer &from, RefPtr<Buffer> source, std::vector<int64_t> strides, void *target,
                      size_t offset, size_t bytes, PJRT_Event *&event) {
  if (source->isReady() && source->isHostReadable() && !source->error()) {
    if (Status status = read(*source, from.type, strides, target, offset, bytes); !status.isOk())
      return failure(status);
    event = eventOf(nullptr);
    return nullptr;
  }
  RefPtr<Token> token(source->token());
  auto *reading = new Read(std::move(source), from.type, std::move(strides), target, offset, bytes);
  event = eventOf(reading->done);
  if (!token || !token->then(reading))
    reading->end();
  return nullptr;
}

PJRT_Error *gone(const char *what) {
  return failure(PJRT_Error_Code_INVALID_ARGUMENT, std::string(what) + ": the array has been deleted or donated");
}

} // namespace

PJRT_Error *pcrt::pjrt::Client_BufferFromHostBuffer(PJRT_Client_BufferFromHostBuffer_Args *args) {
  ArrayType type;
  if (PJRT_Error *error = checkType(args->type, args->dims, args->num_dims, type))
    return error;
  if (!takeOrder(args->device_layout, type))
    return failure(PJRT_Error_Code_UNIMPLEMENTED, tiled);
  PJRT_Device *device = args->device;
  PJRT_Memory *memory = args->memory;
  placeOf(*args->client, device, memory);
  std::vector<int64_t> dense = type.strides(), strides = ArrayType{type.dtype, type.dims, {}}.strides();
  if (args->num_byte_strides != 0) {
    if (args->num_byte_strides != type.dims.size())
      return failure(PJRT_Error_Code_INVALID_ARGUMENT, "as many byte strides as dimensions are expected");
    strides.assign(args->byte_strides, args->byte_strides + args->num_byte_strides);
    // The stride of a dimension of one element does not matter.
    for (size_t i = 0; i < strides.size(); ++i)
      if (type.dims[i] <= 1)
        strides[i] = dense[i];
  }
  size_t bytes = type.bytes();
  bool mayBorrow = args->host_buffer_semantics == PJRT_HostBufferSemantics_kImmutableZeroCopy ||
                   args->host_buffer_semantics == PJRT_HostBufferSemantics_kMutableZeroCopy;
  bool isAligned = reinterpret_cast<uintptr_t>(args->data) % PCRT_ALIGNMENT == 0;
  if (mayBorrow && isAligned && bytes != 0 && strides == dense && device->device->hasHostMemory()) {
    RefPtr<Token> ended;
    RefPtr<Buffer> buffer = borrow(*device->device, const_cast<void *>(args->data), bytes, ended);
    args->done_with_host_buffer = eventOf(ended);
    args->buffer = new PJRT_Buffer(device, memory, std::move(type), std::move(buffer));
    return nullptr;
  }
  Result<RefPtr<Buffer>> buffer = allocate(*device->device, bytes);
  if (!buffer.isOk())
    return failure(buffer.status());
  if (bytes != 0)
    if (Status status = write(*device->device, *buffer.value(), args->data, type, strides); !status.isOk())
      return failure(status);
  args->done_with_host_buffer = eventOf(nullptr);
  args->buffer = new PJRT_Buffer(device, memory, std::move(type), buffer.take());
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Client_CreateUninitializedBuffer(PJRT_Client_CreateUninitializedBuffer_Args *args) {
  ArrayType type;
  if (PJRT_Error *error = checkType(args->shape_element_type, args->shape_dims, args->shape_num_dims, type))
    return error;
  PJRT_Device *device = args->device;
  PJRT_Memory *memory = args->memory;
  placeOf(*args->client, device, memory);
  Result<RefPtr<Buffer>> buffer = allocate(*device->device, type.bytes());
  if (!buffer.isOk())
    return failure(buffer.status());
  args->buffer = new PJRT_Buffer(device, memory, std::move(type), buffer.take());
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Client_CreateErrorBuffer(PJRT_Client_CreateErrorBuffer_Args *args) {
  ArrayType type;
  if (PJRT_Error *error = checkType(args->shape_element_type, args->shape_dims, args->shape_num_dims, type))
    return error;
  PJRT_Device *device = nullptr;
  PJRT_Memory *memory = args->memory;
  placeOf(*args->client, device, memory);
  static char nothing[PCRT_ALIGNMENT];
  RefPtr<Buffer> buffer = Buffer::wrap(device->device, nothing, type.bytes(), nullptr, nullptr);
  Code code = args->error_code == PJRT_Error_Code_INVALID_ARGUMENT     ? Code::InvalidArgument
              : args->error_code == PJRT_Error_Code_RESOURCE_EXHAUSTED ? Code::OutOfMemory
                                                                       : Code::Unknown;
  std::string message(args->error_message, args->error_message_size);
  buffer->setToken(Token::failed(RefPtr<Error>::adopt(new Error(code, std::move(message), "", ""))));
  args->buffer = new PJRT_Buffer(device, memory, std::move(type), std::move(buffer));
  return nullptr;
}

namespace {
struct Foreign {
  void *data;
  void (*onDelete)(void *, void *);
  void *argument;
};
} // namespace

PJRT_Error *pcrt::pjrt::Client_CreateViewOfDeviceBuffer(PJRT_Client_CreateViewOfDeviceBuffer_Args *args) {
  ArrayType type;
  if (PJRT_Error *error = checkType(args->element_type, args->dims, args->num_dims, type))
    return error;
  if (!takeOrder(args->layout, type))
    return failure(PJRT_Error_Code_UNIMPLEMENTED,
                   "a view of memory that is not dense, or has tiles, is given; dense arrays are taken");
  PJRT_Device *device = args->device;
  PJRT_Memory *memory = PJRT_HAS(args, memory) ? args->memory : nullptr;
  placeOf(*args->client, device, memory);
  auto *foreign = new Foreign{args->device_buffer_ptr, args->on_delete_callback, args->on_delete_callback_arg};
  RefPtr<Buffer> buffer = Buffer::wrap(
      device->device, args->device_buffer_ptr, type.bytes(),
      [](void *owner) {
        std::unique_ptr<Foreign> foreign(static_cast<Foreign *>(owner));
        if (foreign->onDelete)
          foreign->onDelete(foreign->data, foreign->argument);
      },
      foreign);
  args->buffer = new PJRT_Buffer(device, memory, std::move(type), std::move(buffer));
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Buffer_ToHostBuffer(PJRT_Buffer_ToHostBuffer_Args *args) {
  const PJRT_Buffer &from = *args->src;
  if (!args->dst) {
    args->dst_size = from.bytes;
    return nullptr;
  }
  RefPtr<Buffer> source = from.take();
  if (!source)
    return gone("PJRT_Buffer_ToHostBuffer");
  if (args->dst_size < from.bytes)
    return failure(PJRT_Error_Code_INVALID_ARGUMENT, "PJRT_Buffer_ToHostBuffer: the host's memory has " +
                                                         std::to_string(args->dst_size) + " bytes, the array has " +
                                                         std::to_string(from.bytes));
  std::vector<int64_t> strides;
  if (!stridesOf(args->host_layout, from.type, strides))
    return failure(PJRT_Error_Code_UNIMPLEMENTED, std::string("PJRT_Buffer_ToHostBuffer: ") + tiled);
  if (strides == from.type.strides())
    strides.clear();
  return startRead(from, std::move(source), std::move(strides), args->dst, 0, from.bytes, args->event);
}

PJRT_Error *pcrt::pjrt::Buffer_CopyRawToHost(PJRT_Buffer_CopyRawToHost_Args *args) {
  const PJRT_Buffer &from = *args->buffer;
  RefPtr<Buffer> source = from.take();
  if (!source)
    return gone("PJRT_Buffer_CopyRawToHost");
  auto size = static_cast<int64_t>(from.bytes);
  if (args->offset < 0 || args->transfer_size < 0 || args->offset > size || args->transfer_size > size - args->offset)
    return failure(PJRT_Error_Code_INVALID_ARGUMENT, "PJRT_Buffer_CopyRawToHost: bytes outside of the array");
  return startRead(from, std::move(source), {}, args->dst, static_cast<size_t>(args->offset),
                   static_cast<size_t>(args->transfer_size), args->event);
}
