// For tests of all kinds of devices: vectors of 64 equal floats, made, launched on and read.
#ifndef PYCOMPILER_TESTS_CPP_VECTORS_H
#define PYCOMPILER_TESTS_CPP_VECTORS_H

#include "Check.h"
#include "runtime/BufferPool.h"
#include "runtime/Device.h"
#include "runtime/Executable.h"
#include "runtime/Stream.h"

#include <string>
#include <vector>

namespace test {

struct Vectors {
  static constexpr size_t count = 64, bytes = count * sizeof(float);

  static pcrt::RefPtr<pcrt::Buffer> value(pcrt::Device &where, float number) {
    auto buffer = where.memory().allocate(bytes);
    REQUIRE(buffer.isOk());
    std::vector<float> values(count, number);
    CHECK(where.write(buffer.value()->data(), values.data(), bytes).isOk());
    return buffer.take();
  }
  /// The number that a buffer holds; waits for it.
  static float read(const pcrt::RefPtr<pcrt::Buffer> &buffer) {
    if (buffer->token())
      CHECK(buffer->token()->wait());
    if (pcrt::Error *error = buffer->error()) {
      std::fprintf(stderr, "%s\n", error->text().c_str());
      CHECK(false);
      return -1;
    }
    std::vector<float> values(count);
    CHECK(buffer->device()->readBuffer(*buffer, values.data()).isOk());
    CHECK(values.front() == values.back());
    return values.front();
  }
  static std::string failureOf(const pcrt::RefPtr<pcrt::Buffer> &buffer) {
    REQUIRE(buffer->token() && buffer->token()->wait());
    return buffer->error() ? buffer->error()->text() : "";
  }

  /// With the result in the memory of the first argument, which is donated, or in new memory.
  static pcrt::RefPtr<pcrt::Buffer> launch(pcrt::Device &where, pcrt::Executable *executable,
                                           const std::vector<pcrt::RefPtr<pcrt::Buffer>> &args, bool donates = false) {
    std::vector<pcrt::Buffer *> raw;
    for (const auto &arg : args)
      raw.push_back(arg.get());
    auto result = donates ? pcrt::Buffer::successor(*raw[0]) : where.memory().allocate(bytes).take();
    pcrt::Buffer *results[] = {result.get()};
    pcrt::Launch launch{executable, raw.data(), static_cast<unsigned>(raw.size()), results, 1, "model.py:3"};
    if (where.stream().policyOf(launch) == pcrt::Stream::LaunchPolicy::Async)
      where.stream().enqueue(launch);
    else
      where.stream().runInPlace(launch);
    return result;
  }
};

} // namespace test

#endif // PYCOMPILER_TESTS_CPP_VECTORS_H
