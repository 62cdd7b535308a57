// Compiled code that was loaded: an ELF object, mapped, relocated and callable. After Buffer (arguments, results and
// the arena); before Stream, which runs it. Knows no compiler: it is handed the bytes of a relocatable object.
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
  /// For code without a budget of its loops, which does not stop before its end.
  static constexpr double noSpeculation = std::numeric_limits<double>::infinity();

  /// `costNs` is an estimate of the time of one run; the bytes that a run touches give another, and the larger one
  /// counts; infinity: it depends on data, whatever the runs before took. `mayBlock`: a run may wait for other runs or
  /// for Python, so it is never made under a lock. `speculativeNs`: an estimate of a run of a few trips, if the code
  /// stops when the budget of its loops is used up.
  ///
  /// Of a program with symbols the executable is unbound: it is not run, but bound to sizes (`bind`).
  static Result<RefPtr<Executable>> load(std::string_view object, const std::string &entry, uint64_t arenaBytes,
                                         std::string name, double costNs, bool mayBlock = false,
                                         double speculativeNs = noSpeculation);
  /// For an entry that lives elsewhere (linked into the program).
  Executable(PcrtEntry entry, uint64_t arenaBytes, std::string name, double costNs, bool mayBlock = false,
             double speculativeNs = noSpeculation);

  /// Of a kernel that the build compiled, for results of `count` elements.
  Executable(RefPtr<BlockKernel> kernel, std::vector<BlockOperand> operands, int64_t count, std::string name);

  /// For an entry that lives elsewhere, of a program with symbols: unbound.
  static RefPtr<Executable> unbound(PcrtEntry entry, PcrtPlan plan, std::string name, double costNs);

  /// The executable for these sizes of the program's symbols, all of them, in the order of their numbers. It shares the
  /// code, the sites and the kernels of this one, which it keeps alive; the arena, the measured times and the callbacks
  /// are its own. `costNs` is the estimate for these sizes. InvalidArgument for a negative size, for an executable that
  /// has no symbols or is bound, and where the temporaries' bytes are no number.
  Result<RefPtr<Executable>> bind(std::vector<int64_t> sizes, double costNs, bool mayBlock = false);
  /// Whether it waits for sizes.
  bool isUnbound() const { return plan && !program; }
  /// Those that it is bound to.
  const std::vector<int64_t> &boundSizes() const { return sizes; }
  double estimatedNs() const { return costNs; }

  const std::string &name() const { return label; }
  uint64_t arenaBytes() const { return arenaSize; }
  bool mayBlock() const { return blocks; }
  /// Whether it is a kernel that the build compiled, for the host.
  bool isBuilt() const { return static_cast<bool>(kernel); }
  /// What a run does beside giving its results.
  enum class Effects : uint8_t { None, Unordered, Ordered };
  Effects effects() const { return kind; }
  /// The functions of the host program that it calls, by slot. Set before it runs.
  void setCallbacks(std::vector<RefPtr<HostCallback>> table, Effects effects) {
    callbacks = std::move(table);
    kind = effects;
  }
  HostCallback *callback(int64_t slot) const {
    return slot >= 0 && static_cast<size_t>(slot) < callbacks.size() ? callbacks[slot].get() : nullptr;
  }
  size_t codeBytes() const { return (program ? program->code : code).size(); }
  /// The kernels that it launches; null if it launches none. Set before it runs.
  KernelImage *image() const { return kernels.get(); }
  void setImage(RefPtr<KernelImage> image) { kernels = std::move(image); }

  /// What the numbers above PCRT_STATUS_BITS of a failure's status mean, from 1. Before anybody else knows the
  /// executable.
  void setCallSites(std::vector<CallSite> table) { sites = std::move(table); }

  /// What a run that touches `touchedBytes` of arguments and results is expected to take: as measured, once it has run.
  double expectedNs(uint64_t touchedBytes) const {
    float measured = measuredNs.load(std::memory_order_relaxed);
    return measured > 0 ? measured : std::max(costNs, 500 + 0.05 * static_cast<double>(touchedBytes));
  }

  /// Whether it may be worth while to run it within a budget, in a thread that can't wait for it: it stops rather
  /// than take longer, and what else it does takes no more than `mostNs`. Not after such runs that stopped: the more of
  /// them, the longer.
  bool isWorthSpeculating(double mostNs);
  /// What became of a speculative run.
  void noteSpeculation(bool succeeded);

  /// Runs it in this thread, with temporaries in the device's memory. Failures are InvalidArgument, OutOfMemory (the
  /// arena) or what the code returned; OutOfBudget if it stopped.
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
  /// Of a program with symbols; that is the unbound executable with the code, once this one is bound to sizes.
  PcrtPlan plan = nullptr;
  RefPtr<Executable> program;
  std::vector<int64_t> sizes;
  /// What runs in the place of `entry`, if there is one, and for how many elements.
  RefPtr<BlockKernel> kernel;
  std::vector<BlockOperand> operands;
  int64_t count = 0;
  const uint64_t arenaSize;
  const std::string label;
  const double costNs, speculativeNs;
  const bool blocks;
  std::vector<CallSite> sites;
  Effects kind = Effects::None;
  std::vector<RefPtr<HostCallback>> callbacks;
  RefPtr<KernelImage> kernels;
  std::atomic<float> measuredNs{0};
  std::atomic<uint32_t> runs{0};
  /// How many calls do not speculate, after the last run that stopped and from now on.
  std::atomic<uint32_t> patience{0}, untilSpeculation{0};
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_EXECUTABLE_H
