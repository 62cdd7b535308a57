// What a routine of the call frame's table knows of the run that calls it. Made by Stream for each run; Executable puts
// it into the frame.
#ifndef PYCOMPILER_RUNTIME_RUNCONTEXT_H
#define PYCOMPILER_RUNTIME_RUNCONTEXT_H

#include "runtime/Abi.h"

namespace pcrt {

class Device;
class Executable;

struct RunContext {
  Device &device;
  const Executable &executable;
  /// Which part of a run on several devices this is; null when it is on one.
  void *participant = nullptr;

  static const RunContext &of(const PcrtFrame *frame) { return *static_cast<const RunContext *>(frame->context); }
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_RUNCONTEXT_H
