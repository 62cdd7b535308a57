// Handlers of XLA's FFI for the tests: each is called by this package and by jax. And plain functions.
#include <atomic>
#include <chrono>
#include <complex>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "xla/ffi/api/c_api.h"
#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

//===-- Values
//------------------------------------------------------------------------------------------------------===//

static ffi::Error saxpy(float a, ffi::Buffer<ffi::F32> x, ffi::Buffer<ffi::F32> y, ffi::ResultBuffer<ffi::F32> out) {
  if (x.element_count() != y.element_count())
    return ffi::Error::InvalidArgument("x and y have different sizes");
  for (size_t i = 0; i < x.element_count(); ++i)
    out->typed_data()[i] = a * x.typed_data()[i] + y.typed_data()[i];
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Saxpy, saxpy,
                              ffi::Ffi::Bind()
                                  .Attr<float>("a")
                                  .Arg<ffi::Buffer<ffi::F32>>()
                                  .Arg<ffi::Buffer<ffi::F32>>()
                                  .Ret<ffi::Buffer<ffi::F32>>());

/// The elementwise square and the cube, of the last dimension alone: broadcasts over leading ones.
static ffi::Error powers(ffi::AnyBuffer x, ffi::Result<ffi::AnyBuffer> square, ffi::Result<ffi::AnyBuffer> cube) {
  for (size_t i = 0; i < x.element_count(); ++i) {
    float v = x.typed_data<float>()[i];
    square->typed_data<float>()[i] = v * v;
    cube->typed_data<float>()[i] = v * v * v;
  }
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    Powers, powers, ffi::Ffi::Bind().Arg<ffi::AnyBuffer>().Ret<ffi::AnyBuffer>().Ret<ffi::AnyBuffer>());

static void write(const std::string &text, ffi::Result<ffi::AnyBuffer> out) {
  size_t size = out->size_bytes();
  std::memset(out->untyped_data(), 0, size);
  std::memcpy(out->untyped_data(), text.data(), text.size() < size ? text.size() : size);
}

static void writeBytes(std::ostream &out, const void *data, size_t size) {
  static const char digits[] = "0123456789abcdef";
  for (size_t i = 0; i < size; ++i) {
    unsigned byte = static_cast<const unsigned char *>(data)[i];
    out << digits[byte / 16] << digits[byte % 16];
  }
}

static void describe(std::ostream &out, const XLA_FFI_Attrs &attrs) {
  for (int64_t i = 0; i < attrs.size; ++i) {
    out << std::string(attrs.names[i]->ptr, attrs.names[i]->len) << "=";
    switch (attrs.types[i]) {
    case XLA_FFI_AttrType_SCALAR: {
      auto *scalar = static_cast<XLA_FFI_Scalar *>(attrs.attrs[i]);
      out << "scalar " << scalar->dtype << " ";
      writeBytes(out, scalar->value, ffi::ByteWidth(static_cast<ffi::DataType>(scalar->dtype)));
      break;
    }
    case XLA_FFI_AttrType_ARRAY: {
      auto *array = static_cast<XLA_FFI_Array *>(attrs.attrs[i]);
      out << "array " << array->dtype << " " << array->size << " ";
      writeBytes(out, array->data, array->size * ffi::ByteWidth(static_cast<ffi::DataType>(array->dtype)));
      break;
    }
    case XLA_FFI_AttrType_STRING: {
      auto *span = static_cast<XLA_FFI_ByteSpan *>(attrs.attrs[i]);
      out << "string " << std::string(span->ptr, span->len);
      break;
    }
    case XLA_FFI_AttrType_DICTIONARY:
      out << "{";
      describe(out, *static_cast<XLA_FFI_Attrs *>(attrs.attrs[i]));
      out << "}";
      break;
    }
    out << ";";
  }
}

/// Writes what the call frame has into the first result.
static XLA_FFI_Error *describeFrame(XLA_FFI_CallFrame *frame) {
  if (frame->extension_start && frame->extension_start->type == XLA_FFI_Extension_Metadata) {
    auto *metadata = reinterpret_cast<XLA_FFI_Metadata_Extension *>(frame->extension_start)->metadata;
    metadata->api_version.major_version = XLA_FFI_API_MAJOR;
    metadata->api_version.minor_version = XLA_FFI_API_MINOR;
    return nullptr;
  }
  std::ostringstream out;
  auto buffers = [&](int64_t count, void **all) {
    for (int64_t i = 0; i < count; ++i) {
      auto *buffer = static_cast<XLA_FFI_Buffer *>(all[i]);
      out << buffer->dtype << "[";
      for (int64_t d = 0; d < buffer->rank; ++d)
        out << buffer->dims[d] << ",";
      out << "]";
    }
  };
  buffers(frame->args.size, frame->args.args);
  out << "->";
  buffers(frame->rets.size, frame->rets.rets);
  out << " ";
  describe(out, frame->attrs);
  write(out.str(), ffi::Result<ffi::AnyBuffer>(ffi::AnyBuffer(static_cast<XLA_FFI_Buffer *>(frame->rets.rets[0]))));
  return nullptr;
}
extern "C" XLA_FFI_Error *Describe(XLA_FFI_CallFrame *frame) { return describeFrame(frame); }

/// The elements in the order of memory.
static ffi::Error inMemory(ffi::AnyBuffer x, ffi::Result<ffi::AnyBuffer> out) {
  std::memcpy(out->untyped_data(), x.untyped_data(), x.size_bytes());
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(InMemory, inMemory, ffi::Ffi::Bind().Arg<ffi::AnyBuffer>().Ret<ffi::AnyBuffer>());

/// Adds 1 in place; fails unless the input and the output are the same memory.
static ffi::Error increment(ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y) {
  if (x.typed_data() != y->typed_data())
    return ffi::Error::Internal("the input and the output are apart");
  for (size_t i = 0; i < x.element_count(); ++i)
    y->typed_data()[i] += 1;
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Increment, increment,
                              ffi::Ffi::Bind().Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());

/// The sum of all inputs; as many outputs as there are.
static ffi::Error variadic(ffi::RemainingArgs args, ffi::RemainingRets rets) {
  double sum = 0;
  for (size_t i = 0; i < args.size(); ++i) {
    auto x = args.get<ffi::Buffer<ffi::F32>>(i);
    if (x.has_error())
      return x.error();
    for (size_t j = 0; j < x->element_count(); ++j)
      sum += x->typed_data()[j];
  }
  for (size_t i = 0; i < rets.size(); ++i) {
    auto y = rets.get<ffi::Buffer<ffi::F32>>(i);
    if (y.has_error())
      return y.error();
    (*y)->typed_data()[0] = static_cast<float>(sum + i);
  }
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Variadic, variadic, ffi::Ffi::Bind().RemainingArgs().RemainingRets());

//===-- Errors
//------------------------------------------------------------------------------------------------------===//

/// Fails where an element of x is negative. With the code 0 it throws the message, with the code -1 a number.
static ffi::Error fail(int32_t code, std::string_view message, ffi::Buffer<ffi::F32> x,
                       ffi::ResultBuffer<ffi::F32> y) {
  for (size_t i = 0; i < x.element_count(); ++i) {
    if (x.typed_data()[i] < 0 && code == 0)
      throw std::runtime_error(std::string(message));
    if (x.typed_data()[i] < 0 && code == -1)
      throw 7;
    if (x.typed_data()[i] < 0)
      return ffi::Error(static_cast<ffi::ErrorCode>(code), std::string(message));
    y->typed_data()[i] = x.typed_data()[i];
  }
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Fail, fail,
                              ffi::Ffi::Bind()
                                  .Attr<int32_t>("code")
                                  .Attr<std::string_view>("message")
                                  .Arg<ffi::Buffer<ffi::F32>>()
                                  .Ret<ffi::Buffer<ffi::F32>>());

//===-- Stages, threads, effects
//------------------------------------------------------------------------------------===//

struct Counter {
  static ffi::TypeId id;
  static std::atomic<int64_t> alive;
  explicit Counter(int64_t start) : count(start) { ++alive; }
  ~Counter() { --alive; }
  std::atomic<int64_t> count;
};
ffi::TypeId Counter::id = {};
std::atomic<int64_t> Counter::alive = 0;

static ffi::ErrorOr<std::unique_ptr<Counter>> makeCounter(int64_t start) {
  if (start < 0)
    return ffi::Unexpected(ffi::Error::InvalidArgument("start is negative"));
  return std::make_unique<Counter>(start);
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(CountInstantiate, makeCounter, ffi::Ffi::BindInstantiate().Attr<int64_t>("start"));

static ffi::Error count(Counter *counter, ffi::ResultBuffer<ffi::S32> out) {
  out->typed_data()[0] = static_cast<int32_t>(counter->count++);
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(CountExecute, count,
                              ffi::Ffi::Bind().Ctx<ffi::State<Counter>>().Ret<ffi::Buffer<ffi::S32>>());

extern "C" XLA_FFI_TypeId *CounterTypeId() { return &Counter::id; }
extern "C" XLA_FFI_TypeInfo *CounterTypeInfo() {
  static XLA_FFI_TypeInfo info = [] {
    XLA_FFI_TypeInfo made{XLA_FFI_TypeInfo_STRUCT_SIZE, nullptr,
                          [](void *object) { delete static_cast<Counter *>(object); }};
    return made;
  }();
  return &info;
}
extern "C" int64_t countersAlive() { return Counter::alive; }

/// Squares, each element as a task of the pool.
static ffi::Future pooled(ffi::ThreadPool pool, ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y) {
  ffi::CountDownPromise promise(x.element_count());
  ffi::Future future(promise);
  for (size_t i = 0; i < x.element_count(); ++i)
    pool.Schedule([promise, i, from = x.typed_data(), to = y->typed_data()]() mutable {
      bool isWrong = from[i] < 0;
      to[i] = from[i] * from[i];
      promise.CountDown(1, isWrong ? ffi::Error::InvalidArgument("negative") : ffi::Error::Success());
    });
  return future;
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Pooled, pooled,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::Buffer<ffi::F32>>()
                                  .Ret<ffi::Buffer<ffi::F32>>());

/// Waits in the handler for a task of the pool: needs a thread beside its own.
static ffi::Error waits(ffi::ThreadPool pool, ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y) {
  std::atomic<bool> isDone = false;
  pool.Schedule([&] {
    y->typed_data()[0] = x.typed_data()[0] + 1;
    isDone = true;
  });
  while (!isDone)
    std::this_thread::yield();
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    Waits, waits,
    ffi::Ffi::Bind().Ctx<ffi::ThreadPool>().Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());

static std::atomic<int> gate{0}, inside{0}, most{0}, calls{0};
extern "C" void openGate() { gate = 1; }
extern "C" void closeGate() { gate = inside = most = 0; }
extern "C" int mostInside() { return most; }
extern "C" int callCount() { return calls; }

/// Ends when Python opens the gate. Counts the calls that are inside.
static ffi::Error gated(ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y) {
  int now = ++inside, before = most;
  while (now > before && !most.compare_exchange_weak(before, now))
    ;
  while (gate == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  y->typed_data()[0] = x.typed_data()[0];
  --inside;
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Gated, gated, ffi::Ffi::Bind().Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());

static ffi::Error counts(ffi::AnyBuffer) {
  ++calls;
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Counts, counts, ffi::Ffi::Bind().Arg<ffi::AnyBuffer>());

/// Memory for the handler, and the numbers of the device and the run.
static ffi::Error context(ffi::ScratchAllocator scratch, ffi::RunId run, int32_t device, ffi::ResultBuffer<ffi::S32> out) {
  auto block = scratch.Allocate(1000, 64);
  if (!block.has_value() || reinterpret_cast<uintptr_t>(*block) % 64)
    return ffi::Error::Internal("no scratch memory");
  std::memset(*block, 1, 1000);
  out->typed_data()[0] = device;
  out->typed_data()[1] = run.run_id != 0;
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Context, context,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ScratchAllocator>()
                                  .Ctx<ffi::RunId>()
                                  .Ctx<ffi::DeviceOrdinal>()
                                  .Ret<ffi::Buffer<ffi::S32>>());

//===-- Plain functions
//---------------------------------------------------------------------------------------------===//

extern "C" {
void axpy(int64_t n, double a, const double *x, double *y) {
  for (int64_t i = 0; i < n; ++i)
    y[i] += a * x[i];
}

void wide(const int32_t *x, int64_t n, int64_t *y) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = x[i] + (INT64_C(1) << 40);
}

double ratio(int32_t x, int32_t y) { return double(x) / y; }

int32_t row_sums(int32_t rows, int32_t columns, const float *x, float *sums) {
  for (int32_t i = 0; i < rows; ++i)
    sums[i] = std::accumulate(x + i * columns, x + (i + 1) * columns, 0.0F);
  return 0;
}

int checked_root(const float *x, float *y, intptr_t n) {
  for (intptr_t i = 0; i < n; ++i) {
    if (x[i] < 0)
      return 7;
    y[i] = __builtin_sqrtf(x[i]);
  }
  return 0;
}

/// More integers than registers, between floats of both kinds.
double many(int8_t a, float b, int64_t c, double d, const float *e, uint16_t f, int64_t g, float h, int64_t i,
            int64_t j, double k, int64_t l, int32_t m, int64_t n) {
  return a + 2.0 * b + 3.0 * c + 4.0 * d + 5.0 * e[0] + 6.0 * f + 7.0 * g + 8.0 * h + 9.0 * i + 10.0 * j + 11.0 * k +
         12.0 * l + 13.0 * m + 14.0 * n;
}

float half(float x) { return x / 2; }
int8_t narrow(int32_t x) { return static_cast<int8_t>(x); }
bool is_even(int32_t x) { return x % 2 == 0; }
void touch(const float *x) { calls += x[0] > 0; }
}
