// Executables of programs with symbols: unbound after loading, and bound to sizes with shared code.
#include "Check.h"
#include "runtime/Device.h"
#include "runtime/Devices.h"
#include "runtime/Executable.h"

#include <atomic>
#include <fstream>
#include <iterator>
#include <thread>

using namespace pcrt;

static std::string readFile(const char *path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

static RefPtr<Executable> load() {
  auto loaded = Executable::load(readFile(FIXTURE_sized), "pcrt_main", 0, "sized", 1000);
  REQUIRE(loaded.isOk());
  return loaded.take();
}

static Status run(Executable &executable, const void *const *args, void *const *results) {
  return executable.run({Devices::cpu(), executable}, args, results);
}

/// Runs it for n and m; returns whether every element is right.
static bool isRight(Executable &executable, int64_t n, int64_t m) {
  // Of exactly these sizes, so that the sanitizer detects accesses beyond them.
  std::vector<float> x(n), out(n * m, -1);
  for (int64_t i = 0; i < n; ++i)
    x[i] = static_cast<float>(i % 97);
  const void *args[] = {x.data()};
  void *results[] = {out.data()};
  if (!run(executable, args, results).isOk())
    return false;
  for (int64_t j = 0; j < m; ++j)
    for (int64_t i = 0; i < n; ++i)
      if (out[j * n + i] != 2 * x[i] + static_cast<float>(j))
        return false;
  return true;
}

static bool says(const Status &status, const char *text) {
  bool found = status.message().find(text) != std::string::npos;
  if (!found)
    std::fprintf(stderr, "message: %s\n", status.message().c_str());
  return status.code() == Code::InvalidArgument && found;
}

static void bindsToSizes() {
  RefPtr<Executable> program = load();
  CHECK(program->isUnbound());
  for (int64_t n : {int64_t(0), int64_t(1), int64_t(7), int64_t(1024), int64_t(1025), int64_t(100000)}) {
    auto bound = program->bind({n, 3}, 500);
    REQUIRE(bound.isOk());
    CHECK(!bound.value()->isUnbound() && bound.value()->arenaBytes() == static_cast<uint64_t>(4 * n));
    CHECK(bound.value()->boundSizes() == std::vector<int64_t>({n, 3}) && bound.value()->name() == "sized");
    CHECK(bound.value()->codeBytes() == program->codeBytes() && program->codeBytes() > 0);
    CHECK(isRight(*bound.value(), n, 3));
  }
}

static void keepsTheCodeAlive() {
  RefPtr<Executable> program = load();
  RefPtr<Executable> bound = program->bind({5, 2}, 500).take();
  program = nullptr;
  CHECK(isRight(*bound, 5, 2));
}

static void measuresTimesOfItsOwn() {
  RefPtr<Executable> program = load();
  RefPtr<Executable> little = program->bind({1, 1}, 1e6).take(), large = program->bind({1 << 20, 4}, 2e6).take();
  CHECK(little->expectedNs(0) == 1e6 && large->expectedNs(0) == 2e6);
  CHECK(isRight(*little, 1, 1));
  CHECK(little->expectedNs(0) < 1e6 && large->expectedNs(0) == 2e6);
}

static void refusesSizes() {
  RefPtr<Executable> program = load();
  CHECK(says(program->bind({-1, 3}, 0).status(), "'sized' can't be bound to (-1, 3): a size is negative"));
  CHECK(says(program->bind({int64_t(1) << 62, 3}, 0).status(), "temporaries would take more bytes"));
  RefPtr<Executable> bound = program->bind({5, 2}, 500).take();
  CHECK(says(bound->bind({6, 2}, 500).status(), "can't be bound to the sizes (6, 2): it is bound to (5, 2)"));
  auto plain = Executable::load(readFile(FIXTURE_plain), "pcrt_main", 64, "plain", 0);
  REQUIRE(plain.isOk());
  CHECK(!plain.value()->isUnbound() && says(plain.value()->bind({1}, 0).status(), "it has no symbols"));
}

static void refusesToRunUnbound() {
  RefPtr<Executable> program = load();
  CHECK(says(run(*program, nullptr, nullptr), "'sized' runs once it is bound"));
}

static void sharesTheSites() {
  RefPtr<Executable> program = load();
  program->setCallSites({{"cholesky", "model.py:12"}});
  RefPtr<Executable> bound = program->bind({0, 13}, 500).take();
  Status status = run(*bound, std::vector<const void *>{nullptr}.data(), std::vector<void *>{nullptr}.data());
  CHECK(status.code() == Code::LibraryFailed && status.site().place == "model.py:12");
}

static int64_t planOf(const int64_t *sizes) { return 64 * sizes[0]; }
static int32_t writesItsSize(const PcrtFrame *frame) {
  *static_cast<int64_t *>(frame->results[0]) = frame->sizes[0] + (frame->arena ? 0 : 1000);
  return PCRT_OK;
}

static void bindsEntriesFromElsewhere() {
  auto program = Executable::unbound(writesItsSize, planOf, "linked", 100);
  CHECK(program->isUnbound());
  int64_t size = 0;
  void *results[] = {&size};
  CHECK(run(*program->bind({9}, 100).take(), nullptr, results).isOk() && size == 9);
}

static void bindsInSeveralThreads() {
  RefPtr<Executable> program = load();
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int64_t number = 0; number < 4; ++number)
    threads.emplace_back([&, number] {
      for (int64_t n = 1; n < 50; ++n)
        right += isRight(*program->bind({n + number, 2}, 100).take(), n + number, 2);
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(right == 4 * 49);
}

int main() {
  RUN(bindsToSizes);
  RUN(keepsTheCodeAlive);
  RUN(measuresTimesOfItsOwn);
  RUN(refusesSizes);
  RUN(refusesToRunUnbound);
  RUN(sharesTheSites);
  RUN(bindsEntriesFromElsewhere);
  RUN(bindsInSeveralThreads);
  return test::failures() != 0;
}
