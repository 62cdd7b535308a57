// The context of a run for routines of the call frame's table. Stream makes it for each run; Executable puts it into
// the frame.
#ifndef PYCOMPILER_RUNTIME_RUNCONTEXT_H
#define PYCOMPILER_RUNTIME_RUNCONTEXT_H

#include "runtime/Status.h"

namespace pcrt {

class Device;
class Executable;

/// Work that a run has begun and that uses its memory.
class UnfinishedWork {
public:
  /// Waits until nothing of it is left.
  virtual void finish() = 0;

protected:
  ~UnfinishedWork() = default;
};

struct RunContext {
  Device &device;
  const Executable &executable;
  /// The participant, in a run on several devices; null in a run on one.
  void *participant = nullptr;

  /// The status of the routine that failed first; see `fail`.
  mutable std::atomic<Status *> reason{nullptr};
  /// The executable ends it before the memory of the run is reused. Null if nothing was begun.
  mutable UnfinishedWork *unfinished = nullptr;

  ~RunContext() { delete reason.load(std::memory_order_relaxed); }

  /// For a routine with more details of its failure than a number: the error of the run gets the text, the payload, and
  /// the operation if `status` names one. The first call counts. Returns the value that the routine must return.
  int32_t fail(Status status) const {
    auto code = static_cast<int32_t>(status.code());
    auto *told = new Status(std::move(status));
    Status *none = nullptr;
    if (!reason.compare_exchange_strong(none, told, std::memory_order_acq_rel))
      delete told;
    return code;
  }

  static const RunContext &of(const PcrtFrame *frame) { return *static_cast<const RunContext *>(frame->context); }
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_RUNCONTEXT_H
