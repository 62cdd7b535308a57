// Asking a compilation to end before it is done: between passes, and before each part that LLVM compiles.
#ifndef ARRAY_TARGET_STOP_H
#define ARRAY_TARGET_STOP_H

#include <atomic>

namespace mlir::array {

/// Whoever sets `flag` asks the compilations of this thread, from here on, to fail soon; null: nobody may.
void setStopFlag(const std::atomic<bool> *flag);
const std::atomic<bool> *getStopFlag();
inline bool isStopped(const std::atomic<bool> *flag) { return flag && flag->load(std::memory_order_relaxed); }

/// What the compilations of the process share, and one that was asked to end has taken, is left to it: those that begin
/// from here on make their own.
void leaveBusyTargets();

} // namespace mlir::array

#endif // ARRAY_TARGET_STOP_H
