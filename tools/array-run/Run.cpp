// Launches: in this thread, or, for several participants, each on the stream of its device.
#include "Run.h"
#include "Failure.h"

#include "runtime/BufferPool.h"
#include "runtime/Collective.h"
#include "runtime/Devices.h"
#include "runtime/Stream.h"

#include <algorithm>
#include <chrono>

using namespace arrayrun;
using llvm::Error;
using llvm::Expected;
using pcrt::Buffer;
using pcrt::RefPtr;

static Expected<RefPtr<Buffer>> allocate(pcrt::Device &device, size_t bytes) {
  pcrt::Result<RefPtr<Buffer>> made = device.memory().allocate(bytes);
  if (!made.isOk())
    return failure(made.status().message());
  return made.take();
}

Expected<Runner> Runner::make(const Program &program, const Target &target, const std::vector<Array> &inputs) {
  Runner runner(program);
  const auto &devices = pcrt::Devices::all();
  auto first = std::find(devices.begin(), devices.end(), target.device);
  for (unsigned number = 0; number < target.participants; ++number) {
    Part part{first[number], {}, {}};
    for (const Array &input : inputs) {
      Expected<RefPtr<Buffer>> buffer = allocate(*part.device, input.data.size());
      if (!buffer)
        return buffer.takeError();
      if (auto status = part.device->write((*buffer)->data(), input.data.data(), input.data.size()); !status.isOk())
        return failure(status.message());
      part.arguments.push_back(std::move(*buffer));
    }
    runner.parts.push_back(std::move(part));
  }
  return runner;
}

Error Runner::allocateResults() {
  for (Part &part : parts) {
    part.results.clear();
    for (const ArrayType &type : program->results) {
      Expected<RefPtr<Buffer>> buffer = allocate(*part.device, type.bytes());
      if (!buffer)
        return buffer.takeError();
      part.results.push_back(std::move(*buffer));
    }
  }
  return Error::success();
}

/// Waits for all tokens. Returns the first failure.
static Error waitFor(const std::vector<RefPtr<pcrt::Token>> &tokens) {
  for (const RefPtr<pcrt::Token> &token : tokens)
    token->wait();
  for (const RefPtr<pcrt::Token> &token : tokens)
    if (const pcrt::Error *error = token->error())
      return failure(error->text());
  return Error::success();
}

Error Runner::launch() {
  RefPtr<pcrt::Rendezvous> together;
  if (parts.size() > 1)
    together = RefPtr<pcrt::Rendezvous>::adopt(new pcrt::Rendezvous(static_cast<unsigned>(parts.size())));
  std::vector<RefPtr<pcrt::Token>> done;
  for (size_t number = 0; number < parts.size(); ++number) {
    Part &part = parts[number];
    std::vector<Buffer *> arguments, results;
    for (const RefPtr<Buffer> &buffer : part.arguments)
      arguments.push_back(buffer.get());
    for (const RefPtr<Buffer> &buffer : part.results)
      results.push_back(buffer.get());
    done.push_back(RefPtr<pcrt::Token>::adopt(new pcrt::Token()));
    pcrt::Launch launch = {program->executable.get(),
                           arguments.data(),
                           static_cast<unsigned>(arguments.size()),
                           results.data(),
                           static_cast<unsigned>(results.size()),
                           /*place=*/nullptr};
    launch.completes = done.back().get();
    if (!together) {
      part.device->stream().runInPlace(launch);
      continue;
    }
    // A participant that runs in this thread would wait for later launches.
    launch.participant = together->join(static_cast<unsigned>(number));
    part.device->stream().enqueue(launch);
  }
  return waitFor(done);
}

Expected<Results> Runner::run() {
  if (Error error = allocateResults())
    return error;
  if (Error error = launch())
    return error;
  Results results;
  for (const Part &part : parts) {
    results.emplace_back();
    for (auto [type, buffer] : llvm::zip_equal(program->results, part.results)) {
      Expected<Array> array = Array::make(type);
      if (!array)
        return array.takeError();
      if (auto status = part.device->readBuffer(*buffer, array->data.data()); !status.isOk())
        return failure(status.message());
      results.back().push_back(std::move(*array));
    }
  }
  return results;
}

Expected<Timing> Runner::measure(unsigned count) {
  std::vector<double> ns;
  for (unsigned i = 0; i <= count; ++i) {
    if (Error error = allocateResults())
      return error;
    auto begin = std::chrono::steady_clock::now();
    if (Error error = launch())
      return error;
    // The first run has cold caches, and maps memory.
    if (i > 0)
      ns.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(ns.begin(), ns.end());
  return Timing{(ns[count / 2] + ns[(count - 1) / 2]) / 2, ns.front()};
}
