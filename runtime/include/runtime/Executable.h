// Loaded code: an ELF object, mapped, relocated and callable. After Buffer (arguments, results and the arena); before
// Stream, which runs it. It does not depend on the compiler: it gets the bytes of a relocatable object.
#ifndef PYCOMPILER_RUNTIME_EXECUTABLE_H
#define PYCOMPILER_RUNTIME_EXECUTABLE_H

#include "runtime/BlockKernel.h"
#include "runtime/Buffer.h"
#include "runtime/HostCallback.h"
#include "runtime/KernelImage.h"
#include "runtime/RunContext.h"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace pcrt {

/// The address of a symbol of Symbols.def, or null.
void *findSymbol(std::string_view name);

class Executable : public RefCounted<Executable> {
public:
  /// For code without a loop budget, which cannot stop early.
  static constexpr double noSpeculation = std::numeric_limits<double>::infinity();

  /// `costNs` is an estimate of the time of one run. The bytes that a run touches give another estimate, and the larger
  /// one counts. Infinity: the time depends on data, regardless of earlier runs. `mayBlock`: a run may wait for other
  /// runs or for Python, so it is never made under a lock. `speculativeNs`: an estimate of a run of a few iterations,
  /// if the code has a loop budget.
  ///
  /// For a program with symbols the executable is unbound: it cannot run, but can be bound to sizes (`bind`).
  static Result<RefPtr<Executable>> load(std::string_view object, const std::string &entry, uint64_t arenaBytes,
                                         std::string name, double costNs, bool mayBlock = false,
                                         double speculativeNs = noSpeculation);
  /// For an entry with another owner (linked into the program).
  Executable(PcrtEntry entry, uint64_t arenaBytes, std::string name, double costNs, bool mayBlock = false,
             double speculativeNs = noSpeculation);

  /// For a kernel that the build compiled, with results of `count` elements.
  Executable(RefPtr<BlockKernel> kernel, std::vector<BlockOperand> operands, int64_t count, std::string name);

  /// For an entry with another owner, of a program with symbols: unbound.
  static RefPtr<Executable> unbound(PcrtEntry entry, PcrtPlan plan, std::string name, double costNs);

  /// The executable for these sizes of the program's symbols, all of them, in the order of their numbers. It shares the
  /// code, the call sites and the kernels of this one, which it keeps alive; the arena, the measured times and the
  /// callbacks are its own. `costNs` is the estimate for these sizes. InvalidArgument for a negative size, if the
  /// executable has no symbols or is bound, and if the bytes of the temporaries overflow.
  Result<RefPtr<Executable>> bind(std::vector<int64_t> sizes, double costNs, bool mayBlock = false);
  /// Whether it waits for sizes.
  bool isUnbound() const { return plan && !program; }
  /// The sizes that it is bound to.
  const std::vector<int64_t> &boundSizes() const { return sizes; }
  double estimatedNs() const { return costNs; }

  const std::string &name() const { return label; }
  uint64_t arenaBytes() const { return arenaSize; }
  bool mayBlock() const { return blocks; }
  /// Whether it is a kernel that the build compiled, for the host.
  bool isBuilt() const { return static_cast<bool>(kernel); }
  /// The effects of a run besides its results. `OfThread`: unordered ones of an operation outside of compiled
  /// functions, which follow the order of the calls of its thread.
  enum class Effects : uint8_t { None, Unordered, Ordered, OfThread };
  Effects effects() const { return kind; }
  /// The callbacks into the host program, by slot. Set before it runs.
  void setCallbacks(std::vector<RefPtr<HostCallback>> table, Effects effects) {
    callbacks = std::move(table);
    kind = effects;
    foreign = std::any_of(callbacks.begin(), callbacks.end(), [](const RefPtr<HostCallback> &callback) {
      return callback->kind == HostCallback::Kind::Direct;
    });
  }
  /// Whether a call waits for a callback.
  bool isAttended() const {
    return std::any_of(callbacks.begin(), callbacks.end(), [](const auto &callback) { return callback->attended; });
  }
  HostCallback *callback(int64_t slot) const {
    return slot >= 0 && static_cast<size_t>(slot) < callbacks.size() ? callbacks[slot].get() : nullptr;
  }
  /// Whether it calls C functions, so that no run keeps Python's lock.
  bool callsForeign() const { return foreign; }
  size_t codeBytes() const { return (program ? program->code : code).size(); }
  /// The kernels that it launches; null if it launches none. Set before it runs.
  KernelImage *image() const { return kernels.get(); }
  void setImage(RefPtr<KernelImage> image) { kernels = std::move(image); }

  /// The table of call sites for the ids above PCRT_STATUS_BITS in a failure's status, from 1. Set before the
  /// executable is shared.
  void setCallSites(std::vector<CallSite> table) { sites = std::move(table); }

  /// The expected time of a run with `touchedBytes` of arguments and results: measured, once it has run.
  double expectedNs(uint64_t touchedBytes) const {
    float measured = measuredNs.load(std::memory_order_relaxed);
    return measured > 0 ? measured : std::max(costNs, 500 + 0.05 * static_cast<double>(touchedBytes));
  }

  /// Whether a speculative run may pay, in a thread that cannot wait: it stops rather than take longer, and its other
  /// work takes at most `mostNs`. After speculative runs that stopped, the answer is no for a while, which grows with
  /// their number.
  bool isWorthSpeculating(double mostNs);
  /// Records the outcome of a speculative run.
  void noteSpeculation(bool succeeded);

  /// Runs it in this thread, with temporaries in the device's memory. Failures are InvalidArgument, OutOfMemory (the
  /// arena) or the code's status; OutOfBudget if it stopped.
  Status run(const RunContext &context, const void *const *args, void *const *results, int64_t budget = PCRT_UNLIMITED);

private:
  Executable(RefPtr<Executable> program, std::vector<int64_t> sizes, uint64_t arenaBytes, double costNs, bool mayBlock);
  const std::vector<CallSite> &callSites() const { return program ? program->sites : sites; }
  Status statusOf(int32_t word, const RunContext &context) const;
  Status runWithArena(const RunContext &context, const void *const *args, void *const *results, void *arena,
                      int64_t budget) const;
  void recordTime(float ns, uint32_t number);

  MappedObject code;
  PcrtEntry entry;
  /// For a program with symbols; `program` is the unbound executable with the code, if this one is bound to sizes.
  PcrtPlan plan = nullptr;
  RefPtr<Executable> program;
  std::vector<int64_t> sizes;
  /// Replaces `entry`, if present; and the number of elements.
  RefPtr<BlockKernel> kernel;
  std::vector<BlockOperand> operands;
  int64_t count = 0;
  const uint64_t arenaSize;
  const std::string label;
  const double costNs, speculativeNs;
  const bool blocks;
  std::vector<CallSite> sites;
  Effects kind = Effects::None;
  bool foreign = false;
  std::vector<RefPtr<HostCallback>> callbacks;
  RefPtr<KernelImage> kernels;
  std::atomic<float> measuredNs{0};
  std::atomic<uint32_t> runs{0};
  /// The number of calls without speculation: after the last run that stopped, and still to come.
  std::atomic<uint32_t> patience{0}, untilSpeculation{0};
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_EXECUTABLE_H
