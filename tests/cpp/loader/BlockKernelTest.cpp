// Kernels of blocks: every count, operands that are not whole blocks, scalars, conversions.
#include "runtime/BlockKernel.h"
#include "Check.h"
#include "runtime/BufferPool.h"
#include "runtime/Executable.h"
#include "runtime/HostBufferPool.h"
#include "runtime/HostLibrary.h"

#include <cstring>
#include <vector>

using namespace pcrt;

/// Calls of each length so far.
static int calls[blockCount];

template <int length, int kind> static int32_t subtract(const PcrtFrame *frame) {
  ++calls[kind];
  const auto *a = static_cast<const float *>(frame->args[0]), *b = static_cast<const float *>(frame->args[1]);
  auto *result = static_cast<float *>(frame->results[0]);
  CHECK(reinterpret_cast<uintptr_t>(result) % PCRT_ALIGNMENT == 0);
  for (int i = 0; i < length; ++i)
    result[i] = a[i] - b[i];
  return PCRT_OK;
}

template <int length> static int32_t less(const PcrtFrame *frame) {
  const auto *a = static_cast<const int32_t *>(frame->args[0]), *b = static_cast<const int32_t *>(frame->args[1]);
  auto *result = static_cast<uint8_t *>(frame->results[0]);
  CHECK(reinterpret_cast<uintptr_t>(result) % length == 0 || length > 64);
  for (int i = 0; i < length; ++i)
    result[i] = a[i] < b[i];
  return PCRT_OK;
}

static int32_t fail(const PcrtFrame *) { return PCRT_INVALID_ARGUMENT; }

static const PcrtEntry subtractions[] = {subtract<16, 0>, subtract<128, 1>, subtract<1024, 2>};
static const PcrtEntry comparisons[] = {less<16>, less<128>, less<1024>};
static const int64_t counts[] = {0, 1, 15, 16, 17, 127, 128, 129, 1000, 1023, 1024, 1025, 8192 + 131, 9000, 200001};

static RefPtr<Buffer> allocate(BufferPool &pool, size_t bytes) {
  Result<RefPtr<Buffer>> buffer = pool.allocate(bytes);
  REQUIRE(buffer.isOk());
  return buffer.take();
}

static int32_t run(const PcrtEntry (&entries)[blockCount], DType dtype, DType result, const void *a, const void *b,
                   const std::vector<BlockOperand> &operands, void *to, int64_t count) {
  auto kernel = RefPtr<BlockKernel>::adopt(new BlockKernel(entries, dtype, result));
  const void *args[] = {a, b};
  void *results[] = {to};
  PcrtFrame frame = {args, results, nullptr, &libraryTable(), nullptr, PCRT_UNLIMITED, nullptr, 1};
  return kernel->run(frame, operands, count);
}

static void everyCount() {
  HostBufferPool pool;
  for (int64_t count : counts) {
    auto bytes = static_cast<size_t>(count) * sizeof(float);
    RefPtr<Buffer> a = allocate(pool, bytes), result = allocate(pool, bytes);
    // Not aligned, and without memory after it, as a borrowed argument may be.
    std::vector<float> elsewhere(static_cast<size_t>(count) + 1);
    auto *values = static_cast<float *>(a->data());
    float *others = elsewhere.data() + 1;
    for (int64_t i = 0; i < count; ++i) {
      values[i] = static_cast<float>(3 * i);
      others[i] = static_cast<float>(i);
    }
    std::vector<BlockOperand> both = {{0, false, DType::Float32}, {1, false, DType::Float32}};
    CHECK(run(subtractions, DType::Float32, DType::Float32, values, others, both, result->data(), count) == PCRT_OK);
    for (int64_t i = 0; i < count; ++i)
      CHECK(static_cast<float *>(result->data())[i] == static_cast<float>(2 * i));
    // An array twice, and in the other order.
    std::vector<BlockOperand> turned = {{1, false, DType::Float32}, {0, false, DType::Float32}};
    CHECK(run(subtractions, DType::Float32, DType::Float32, values, others, turned, result->data(), count) == PCRT_OK);
    for (int64_t i = 0; i < count; ++i)
      CHECK(static_cast<float *>(result->data())[i] == static_cast<float>(-2 * i));
  }
}

static void scalarsAndConversions() {
  HostBufferPool pool;
  for (int64_t count : counts) {
    RefPtr<Buffer> result = allocate(pool, static_cast<size_t>(count) * sizeof(float));
    std::vector<int32_t> integers(static_cast<size_t>(count));
    std::vector<uint8_t> bools(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
      integers[static_cast<size_t>(i)] = static_cast<int32_t>(i) - 5;
      bools[static_cast<size_t>(i)] = i % 3 == 0;
    }
    int32_t seven = 7;
    float half = 0.5f;
    auto *floats = static_cast<float *>(result->data());
    CHECK(run(subtractions, DType::Float32, DType::Float32, integers.data(), &seven,
              {{0, false, DType::Int32}, {1, true, DType::Int32}}, floats, count) == PCRT_OK);
    for (int64_t i = 0; i < count; ++i)
      CHECK(floats[i] == static_cast<float>(i - 12));
    CHECK(run(subtractions, DType::Float32, DType::Float32, &half, bools.data(),
              {{0, true, DType::Float32}, {1, false, DType::Bool}}, floats, count) == PCRT_OK);
    for (int64_t i = 0; i < count; ++i)
      CHECK(floats[i] == (i % 3 == 0 ? -0.5f : 0.5f));
  }
}

static void narrowResults() {
  HostBufferPool pool;
  for (int64_t count : counts) {
    RefPtr<Buffer> result = allocate(pool, static_cast<size_t>(count));
    std::vector<int32_t> values(static_cast<size_t>(count) + 16); // a whole line may be read
    for (int64_t i = 0; i < count; ++i)
      values[static_cast<size_t>(i)] = static_cast<int32_t>(i % 7);
    int32_t three = 3;
    CHECK(run(comparisons, DType::Int32, DType::Bool, values.data(), &three,
              {{0, false, DType::Int32}, {1, true, DType::Int32}}, result->data(), count) == PCRT_OK);
    for (int64_t i = 0; i < count; ++i)
      CHECK(static_cast<uint8_t *>(result->data())[i] == (i % 7 < 3));
  }
}

static void longBlocksWhereTheyFit() {
  HostBufferPool pool;
  constexpr int64_t count = 2 * 1024 + 3 * 128 + 2 * 16 + 1;
  RefPtr<Buffer> a = allocate(pool, count * sizeof(float)), result = allocate(pool, count * sizeof(float));
  std::memset(a->data(), 0, count * sizeof(float));
  std::fill(std::begin(calls), std::end(calls), 0);
  CHECK(run(subtractions, DType::Float32, DType::Float32, a->data(), a->data(),
            {{0, false, DType::Float32}, {0, false, DType::Float32}}, result->data(), count) == PCRT_OK);
  CHECK(calls[2] == 2 && calls[1] == 3 && calls[0] == 3);
}

static void aFailureEndsTheRun() {
  const PcrtEntry entries[] = {fail, fail, fail};
  alignas(PCRT_ALIGNMENT) float values[16] = {};
  CHECK(run(entries, DType::Float32, DType::Float32, values, values,
            {{0, false, DType::Float32}, {1, false, DType::Float32}}, values, 5) == PCRT_INVALID_ARGUMENT);
}

static void whatIsTaken() {
  BlockKernel floats(subtractions, DType::Float32, DType::Float32), integers(comparisons, DType::Int32, DType::Bool);
  CHECK(floats.takes(DType::Float32) && floats.takes(DType::Int32) && floats.takes(DType::Bool));
  CHECK(!floats.takes(DType::Float64) && !floats.takes(DType::UInt32));
  CHECK(integers.takes(DType::Int32) && integers.takes(DType::Bool) && !integers.takes(DType::Float32));
}

int main() {
  RUN(everyCount);
  RUN(scalarsAndConversions);
  RUN(narrowResults);
  RUN(longBlocksWhereTheyFit);
  RUN(aFailureEndsTheRun);
  RUN(whatIsTaken);
  return test::failures() != 0;
}
