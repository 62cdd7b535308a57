// Requests to stop a compilation early: between passes, and before each part that LLVM compiles.
#ifndef ARRAY_TARGET_STOP_H
#define ARRAY_TARGET_STOP_H

#include <atomic>

namespace mlir::array {

/// Setting `flag` asks later compilations of this thread to fail soon. Null: no such requests.
void setStopFlag(const std::atomic<bool> *flag);
const std::atomic<bool> *getStopFlag();
inline bool isStopped(const std::atomic<bool> *flag) { return flag && flag->load(std::memory_order_relaxed); }

/// A compilation that was asked to stop may still hold objects that the compilations of the process share. This call
/// abandons them to it: later compilations make their own.
void leaveBusyTargets();

} // namespace mlir::array

#endif // ARRAY_TARGET_STOP_H
