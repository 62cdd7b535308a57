// Runs loaded code: the call frame, the arena, the measured cost.
#include "runtime/Executable.h"

#include "runtime/BufferPool.h"
#include "runtime/Device.h"
#include "runtime/Futex.h"
#include "runtime/ParallelFor.h"

#include <cmath>

using namespace pcrt;

/// An arena up to this size is on the stack of a run on the host.
static constexpr size_t stackArenaBytes = 4096;

Executable::Executable(PcrtEntry entry, uint64_t arenaBytes, std::string name, double costNs, bool mayBlock,
                       double speculativeNs)
    : entry(entry), arenaSize(arenaBytes), label(std::move(name)), costNs(costNs), speculativeNs(speculativeNs),
      blocks(mayBlock) {}

RefPtr<Executable> Executable::unbound(PcrtEntry entry, PcrtPlan plan, std::string name, double costNs) {
  auto executable = RefPtr<Executable>::adopt(new Executable(entry, /*arenaBytes=*/0, std::move(name), costNs));
  executable->plan = plan;
  return executable;
}

Executable::Executable(RefPtr<Executable> program, std::vector<int64_t> sizes, uint64_t arenaBytes, double costNs,
                       bool mayBlock)
    : entry(program->entry), plan(program->plan), program(std::move(program)), sizes(std::move(sizes)),
      arenaSize(arenaBytes), label(this->program->label), costNs(costNs), speculativeNs(this->program->speculativeNs),
      blocks(mayBlock), kind(this->program->kind), kernels(this->program->kernels) {}

Executable::Executable(RefPtr<BlockKernel> kernel, std::vector<BlockOperand> operands, int64_t count, std::string name)
    : entry(nullptr), kernel(std::move(kernel)), operands(std::move(operands)), count(count), arenaSize(0),
      label(std::move(name)), costNs(0), speculativeNs(noSpeculation), blocks(false) {}

Result<RefPtr<Executable>> Executable::load(std::string_view object, const std::string &entry, uint64_t arenaBytes,
                                            std::string name, double costNs, bool mayBlock, double speculativeNs) {
  Result<MappedObject> mapped = MappedObject::load(object, entry);
  if (!mapped.isOk())
    return Status(mapped.status().code(), "cannot load '" + name + "': " + mapped.status().message());
  auto executable = RefPtr<Executable>::adopt(
      new Executable(mapped.value().entryPoint(), arenaBytes, std::move(name), costNs, mayBlock, speculativeNs));
  executable->plan = mapped.value().plan();
  executable->code = mapped.take();
  return executable;
}

static std::string textOf(const std::vector<int64_t> &sizes) {
  std::string text;
  for (int64_t size : sizes)
    text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "(" + text + ")";
}

Result<RefPtr<Executable>> Executable::bind(std::vector<int64_t> sizes, double costNs, bool mayBlock) {
  if (!isUnbound())
    return Status(Code::InvalidArgument, "'" + label + "' can't be bound to the sizes " + textOf(sizes) + ": it " +
                                             (program ? "is bound to " + textOf(this->sizes) : "has no symbols"));
  if (std::any_of(sizes.begin(), sizes.end(), [](int64_t size) { return size < 0; }))
    return Status(Code::InvalidArgument, "'" + label + "' can't be bound to " + textOf(sizes) + ": a size is negative");
  int64_t bytes = plan(sizes.data());
  if (bytes < 0)
    return Status(Code::InvalidArgument, "'" + label + "' can't be bound to " + textOf(sizes) +
                                             ": its temporaries would take more bytes than can be counted");
  return RefPtr<Executable>::adopt(new Executable(RefPtr<Executable>(this), std::move(sizes),
                                                  static_cast<uint64_t>(bytes), costNs, blocks || mayBlock));
}

Status Executable::statusOf(int32_t word, const RunContext &context) const {
  if (word == PCRT_OK)
    return Status::ok();
  constexpr int32_t codes = 1 << PCRT_STATUS_BITS;
  // Compiled code returns no negative status: no call site has such an id.
  size_t number = word < 0 ? 0 : static_cast<size_t>(word / codes);
  const std::vector<CallSite> &known = callSites();
  CallSite site = number >= 1 && number <= known.size() ? known[number - 1] : CallSite();
  if (const Status *told = context.reason.load(std::memory_order_acquire)) {
    if (!told->site().primitive.empty())
      site.primitive = told->site().primitive;
    if (!told->site().place.empty())
      site.place = told->site().place;
    return Status(told->code(), told->message(), std::move(site), RefPtr<Payload>(told->payload()));
  }
  switch (word < 0 ? word : word % codes) {
  case PCRT_INVALID_ARGUMENT:
    return Status(Code::InvalidArgument, "a library routine refused its arguments", std::move(site));
  case PCRT_OUT_OF_MEMORY:
    return Status(Code::OutOfMemory, "out of memory in a library routine", std::move(site));
  case PCRT_LIBRARY_FAILED:
    return Status(Code::LibraryFailed, "a library routine failed", std::move(site));
  case PCRT_CALLBACK_FAILED:
    return Status(Code::CallbackFailed, "a callback failed", std::move(site));
  case PCRT_OUT_OF_BUDGET:
    return Status(Code::OutOfBudget, "the run took longer than its budget");
  default:
    return Status(Code::Unknown, "compiled code returned the unknown status " + std::to_string(word), std::move(site));
  }
}

Status Executable::runWithArena(const RunContext &context, const void *const *args, void *const *results, void *arena,
                                int64_t budget) const {
  PcrtFrame frame = {args,
                     results,
                     arena,
                     &context.device.table(),
                     const_cast<RunContext *>(&context),
                     budget,
                     sizes.empty() ? nullptr : sizes.data(),
                     threadsOfLoops(context.device.threads())};
  Status status = statusOf(kernel ? kernel->run(frame, operands, count) : entry(&frame), context);
  // After a failure some may be left, which use the arena.
  if (context.unfinished)
    context.unfinished->finish();
  return status;
}

bool Executable::isWorthSpeculating(double mostNs) {
  if (speculativeNs > mostNs)
    return false;
  uint32_t left = untilSpeculation.load(std::memory_order_relaxed);
  if (left == 0)
    return true;
  untilSpeculation.store(left - 1, std::memory_order_relaxed);
  return false;
}

void Executable::noteSpeculation(bool succeeded) {
  constexpr uint32_t mostPatience = 1023;
  uint32_t calls = succeeded ? 0 : std::min(2 * patience.load(std::memory_order_relaxed) + 1, mostPatience);
  patience.store(calls, std::memory_order_relaxed);
  untilSpeculation.store(calls, std::memory_order_relaxed);
}

Status Executable::run(const RunContext &context, const void *const *args, void *const *results, int64_t budget) {
  if (isUnbound())
    return Status(Code::InvalidArgument, "'" + label + "' runs once it is bound to the sizes of its symbols");
  // Reading the clock costs as much as a small kernel: the first runs are measured, then one in 64.
  uint32_t number = runs.load(std::memory_order_relaxed);
  runs.store(number + 1, std::memory_order_relaxed);
  // If the time depends on data, the next run may take far longer than earlier ones.
  bool timed = (number < 8 || number % 64 == 0) && !std::isinf(costNs);
  int64_t start = timed ? nowNs() : 0;
  Status status;
  if (arenaSize == 0 || (arenaSize <= stackArenaBytes && context.device.hasHostMemory())) {
    alignas(PCRT_ALIGNMENT) char arena[stackArenaBytes];
    status = runWithArena(context, args, results, arena, budget);
  } else {
    Result<RefPtr<Buffer>> arena = context.device.memory().allocate(arenaSize);
    if (!arena.isOk())
      return Status(Code::OutOfMemory, "temporaries: " + arena.status().message());
    if (arenaSize >= BufferPool::listedBytes)
      context.device.memory().note(*arena.value(), "of temporaries of " + label);
    status = runWithArena(context, args, results, arena.value()->data(), budget);
  }
  if (timed)
    recordTime(static_cast<float>(nowNs() - start), number);
  return status;
}

void Executable::recordTime(float ns, uint32_t number) {
  // Disturbances only lengthen a run, especially the first ones: follow shorter times quickly, longer ones slowly.
  float before = measuredNs.load(std::memory_order_relaxed);
  float shorter = number < 8 ? ns : (before + ns) / 2;
  float after = before == 0 ? ns : ns < before ? shorter : before + (ns - before) / 8;
  measuredNs.store(after > 1 ? after : 1, std::memory_order_relaxed);
}
