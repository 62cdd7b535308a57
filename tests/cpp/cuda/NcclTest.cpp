// Collectives among GPUs of several processes, by the emulated NCCL: the values, the agreement of the processes on a
// communicator, and the end of exchanges whose other side failed. Each process has its own transport and rendezvous
// here, and its own GPUs.
#include "cuda/EmulatedDevice.h"
#include "distributed/InProcessTransport.h"
#include "runtime/BufferPool.h"
#include "runtime/Collective.h"
#include "runtime/GpuLibraries.h"

#include <dlfcn.h>

using namespace pcrt;
using namespace test;

using Rows = std::vector<RefPtr<Buffer>>;

static std::vector<int64_t> params;
static int64_t sizeIn, sizeOut;

static void setForm(PcrtCollective code, int64_t members, int64_t in, int64_t out, std::vector<int64_t> pairs = {}) {
  params = {code, 0, 0, 0, static_cast<int64_t>(pairs.size() / 2), 1, members};
  for (int64_t member = 0; member < members; ++member)
    params.push_back(member);
  params.insert(params.end(), pairs.begin(), pairs.end());
  sizeIn = in;
  sizeOut = out;
}

static int32_t meets(const PcrtFrame *frame) {
  ++hostCalls;
  int64_t dims[] = {sizeIn, sizeOut};
  PcrtTensor in = {const_cast<void *>(frame->args[0]), &dims[0], 1, PCRT_DTYPE_Float32};
  PcrtTensor out = {frame->results[0], &dims[1], 1, PCRT_DTYPE_Float32};
  return frame->table->collective(frame, &in, 1, &out, 1, params.data());
}

static unsigned numberOf(const PcrtFrame *frame) {
  return static_cast<Participant *>(RunContext::of(frame).participant)->number;
}

/// The first participant fails by itself.
static int32_t failsOrMeets(const PcrtFrame *frame) {
  return numberOf(frame) == 0 ? launchesTooMuch(frame) : meets(frame);
}

static void *nccl() {
  static void *const library = dlopen(EMULATED_NCCL, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library);
  return library;
}
static uint64_t exchanges() { return reinterpret_cast<uint64_t (*)()>(dlsym(nccl(), "emulatedComputations"))(); }
static void failNext(int status) { reinterpret_cast<void (*)(int)>(dlsym(nccl(), "emulatedFailNext"))(status); }

namespace {
/// Participant p is on GPU `gpus[p]`, in process `owners[p]`.
struct Program {
  Program(std::vector<unsigned> owners, std::vector<int> gpus, unsigned seed = 0)
      : pool(6), owners(std::move(owners)), gpus(std::move(gpus)) {
    for (int gpu : this->gpus) {
      auto made = cuda::CudaDevice::create(emulatedDriver(), gpu, pool, /*inPlace=*/false);
      REQUIRE(made.isOk());
      devices.push_back(made.take());
    }
    processes = *std::max_element(this->owners.begin(), this->owners.end()) + 1;
    // Never destroyed: a group's communicator is known by its transport.
    for (unsigned rank = 0; rank < processes; ++rank)
      transports.push_back(allTransports().emplace_back(new InProcessTransport(network, rank, processes, seed)).get());
  }
  ~Program() {
    gateOpen = true;
    for (auto &device : devices)
      CHECK(device->stream().synchronize() && device->stream().callsInFlight() == 0);
    for (auto &device : devices)
      const_cast<cuda::DeviceResources &>(device->parts()).completions().drain();
    pool.shutdown();
    image = nullptr;
    devices.clear();
  }

  RefPtr<Executable> program(PcrtEntry entry, const char *name) {
    auto made = RefPtr<Executable>::adopt(new Executable(entry, 0, name, 100, /*mayBlock=*/true));
    made->setImage(image);
    return made;
  }
  RefPtr<Buffer> vector(size_t device, const std::vector<float> &values) {
    auto buffer = devices[device]->memory().allocate(values.size() * sizeof(float)).take();
    CHECK(devices[device]->write(buffer->data(), values.data(), buffer->size()).isOk());
    return buffer;
  }
  static std::vector<float> read(const RefPtr<Buffer> &buffer) {
    CHECK(buffer->token()->wait());
    if (Error *error = buffer->error())
      std::fprintf(stderr, "%s\n", error->text().c_str());
    REQUIRE(!buffer->error());
    std::vector<float> values(buffer->size() / sizeof(float));
    CHECK(buffer->device()->readBuffer(*buffer, values.data()).isOk());
    return values;
  }
  static std::string failureOf(const RefPtr<Buffer> &buffer) {
    CHECK(buffer->token()->wait());
    return buffer->error() ? buffer->error()->text() : "";
  }

  Rows run(Executable &executable, const Rows &args) {
    launches.clear();
    ++number;
    std::vector<RefPtr<Rendezvous>> meetings;
    for (unsigned rank = 0; rank < processes; ++rank) {
      launches.push_back(RefPtr<TestLaunch>::adopt(
          new TestLaunch(*transports[rank], owners, gpus, 1, number, 7, "`meet` (model.py:3)")));
      std::vector<Device *> own;
      for (size_t p = 0; p < owners.size(); ++p)
        own.push_back(owners[p] == rank ? devices[p].get() : nullptr);
      meetings.push_back(RefPtr<Rendezvous>::adopt(
          new Rendezvous(static_cast<unsigned>(owners.size()), own, RefPtr<SharedLaunch>(launches[rank].get()))));
    }
    for (auto &launch : launches)
      for (auto &other : launches)
        if (other.get() != launch.get())
          launch->others.push_back(other.get());
    Rows results;
    for (size_t p = 0; p < args.size(); ++p) {
      results.push_back(devices[p]->memory().allocate(static_cast<size_t>(sizeOut) * sizeof(float)).take());
      Buffer *arg = args[p].get(), *result = results[p].get();
      Launch launch = {&executable, &arg, 1, &result, 1, "model.py:3"};
      launch.participant = meetings[owners[p]]->join(static_cast<unsigned>(p));
      devices[p]->stream().enqueue(launch);
    }
    return results;
  }

  ThreadPool pool;
  const std::vector<unsigned> owners;
  const std::vector<int> gpus;
  unsigned processes = 0;
  uint64_t number = 0;
  Network network;
  static std::vector<std::unique_ptr<InProcessTransport>> &allTransports() {
    static std::vector<std::unique_ptr<InProcessTransport>> all;
    return all;
  }
  std::vector<InProcessTransport *> transports;
  std::vector<std::unique_ptr<cuda::CudaDevice>> devices;
  std::vector<RefPtr<TestLaunch>> launches;
  RefPtr<KernelImage> image = kernelImage();
};
} // namespace

static bool contains(const std::string &text, const char *part) {
  bool found = text.find(part) != std::string::npos;
  if (!found)
    std::fprintf(stderr, "text: %s\n", text.c_str());
  return found;
}

/// All collectives, for a division of the participants. Whether each exchange went by NCCL.
static void movesPieces(const std::vector<unsigned> &owners, const std::vector<int> &gpus, bool byNccl) {
  Program all(owners, gpus, /*seed=*/5);
  auto meet = all.program(meets, "meet");
  auto args = [&] {
    Rows rows;
    for (size_t p = 0; p < 3; ++p)
      rows.push_back(all.vector(p, {10.0f * float(p), 10.0f * float(p) + 1, 10.0f * float(p) + 2}));
    return rows;
  };
  uint64_t before = exchanges();
  setForm(PCRT_ALL_GATHER, 3, 3, 9);
  for (const auto &row : all.run(*meet, args()))
    CHECK((Program::read(row) == std::vector<float>{0, 1, 2, 10, 11, 12, 20, 21, 22}));
  setForm(PCRT_ALL_TO_ALL, 3, 3, 3);
  Rows exchanged = all.run(*meet, args());
  CHECK((Program::read(exchanged[0]) == std::vector<float>{0, 10, 20}));
  CHECK((Program::read(exchanged[2]) == std::vector<float>{2, 12, 22}));
  setForm(PCRT_COLLECTIVE_PERMUTE, 3, 3, 3, {0, 2, 0, 1});
  Rows sent = all.run(*meet, args());
  CHECK((Program::read(sent[0]) == std::vector<float>{0, 0, 0}));
  CHECK((Program::read(sent[1]) == std::vector<float>{0, 1, 2}) && Program::read(sent[2]) == Program::read(sent[1]));
  CHECK((exchanges() > before) == byNccl);
}

static void everyDivisionHasTheValues() {
  for (const std::vector<unsigned> &owners : {std::vector<unsigned>{0, 1, 2}, {0, 0, 1}, {0, 1, 0}, {1, 0, 0}})
    movesPieces(owners, {0, 1, 2}, /*byNccl=*/true);
}

/// NCCL takes no two members on one GPU.
static void membersOnOneGpuGoByTheHost() { movesPieces({0, 1, 2}, {0, 1, 0}, /*byNccl=*/false); }

/// A chain of runs: all hosts' parts end while one GPU has not begun.
static void noHostWaitsForADevice() {
  Program all({0, 1}, {0, 1});
  auto meet = all.program(meets, "meet");
  setForm(PCRT_COLLECTIVE_PERMUTE, 2, 2, 2, {0, 1, 1, 0});
  Rows rows = {all.vector(0, {0, 0}), all.vector(1, {1, 1})};
  rows = all.run(*meet, rows);
  for (const auto &row : rows)
    CHECK(row->token()->wait());
  gateOpen = false;
  const auto &parts = all.devices[1]->parts();
  REQUIRE(parts.context().makeCurrent().isOk());
  CHECK(emulatedDriver().cuLaunchHostFunc(parts.stream(), waitAtGate, nullptr) == CUDA_SUCCESS);
  int before = hostCalls;
  constexpr int steps = 6;
  for (int step = 0; step < steps; ++step)
    rows = all.run(*meet, rows);
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (hostCalls < before + 2 * steps && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(hostCalls == before + 2 * steps);
  for (const auto &row : rows)
    CHECK(!row->isReady());
  gateOpen = true;
  CHECK(Program::read(rows[0])[0] == 1 && Program::read(rows[1])[0] == 0);
}

/// Before the exchange: nobody's GPU waits, and the next launch works by the same communicator.
static void aParticipantThatFailsFailsTheLaunch() {
  Program all({0, 1, 2}, {0, 1, 2});
  auto fails = all.program(failsOrMeets, "fails"), meet = all.program(meets, "meet");
  setForm(PCRT_COLLECTIVE_PERMUTE, 3, 1, 1, {0, 1, 1, 2, 2, 0});
  Rows rows = {all.vector(0, {0}), all.vector(1, {1}), all.vector(2, {2})};
  CHECK(Program::read(all.run(*meet, rows)[0])[0] == 2);
  for (const auto &row : all.run(*fails, rows))
    CHECK(contains(Program::failureOf(row), "cuLaunchKernel failed"));
  CHECK(Program::read(all.run(*meet, rows)[0])[0] == 2);
}

/// In the exchange, when the others' GPUs are in it already: it is ended there, and the next launch has a new
/// communicator.
static void anExchangeWithoutItsOtherSideEnds() {
  Program all({0, 1}, {0, 1});
  auto meet = all.program(meets, "meet");
  setForm(PCRT_COLLECTIVE_PERMUTE, 2, 1, 1, {0, 1, 1, 0});
  Rows rows = {all.vector(0, {0}), all.vector(1, {1})};
  CHECK(Program::read(all.run(*meet, rows)[0])[0] == 1);
  failNext(ncclSystemError);
  for (const auto &row : all.run(*meet, rows))
    CHECK(contains(Program::failureOf(row), "failed: unhandled system error"));
  CHECK(Program::read(all.run(*meet, rows)[0])[0] == 1);
}

int main() {
  setenv("PYCOMPILER_EMULATED_DEVICES", "3", 1);
  // Without the library, by the host's memory.
  movesPieces({0, 0, 1}, {0, 1, 2}, /*byNccl=*/false);
  setenv("PYCOMPILER_NCCL", EMULATED_NCCL, 1);
  REQUIRE(loadGpuLibrary("nccl", {}, false).isOk());
  RUN(everyDivisionHasTheValues);
  RUN(membersOnOneGpuGoByTheHost);
  RUN(noHostWaitsForADevice);
  RUN(aParticipantThatFailsFailsTheLaunch);
  RUN(anExchangeWithoutItsOtherSideEnds);
  return test::failures() != 0;
}
