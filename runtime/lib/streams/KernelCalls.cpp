// The routines of the table by which the host's part of a program uses its device.
#include "runtime/Device.h"
#include "runtime/Executable.h"
#include "support/LibraryCalls.h"

using namespace pcrt;

static Status launchKernel(const RunContext &run, int32_t kernel, const PcrtLaunchShape &shape, void *const *params) {
  KernelImage *image = run.executable.image();
  size_t count = image ? image->kernels().size() : 0;
  if (kernel < 0 || static_cast<size_t>(kernel) >= count)
    return Status(Code::InvalidArgument, "compiled code launches kernel " + std::to_string(kernel) + ", and has " +
                                             std::to_string(count) + " of them");
  Result<LoadedKernels *> kernels = image->on(run.device);
  if (!kernels.isOk())
    return Status(kernels.status().code(), kernels.status().message());
  return kernels.value()->launch(static_cast<size_t>(kernel), shape, params);
}

static int32_t resultOf(const RunContext &run, Status status) {
  return status.isOk() ? PCRT_OK : run.fail(std::move(status));
}

int32_t library::launch(const PcrtFrame *frame, int32_t kernel, const PcrtLaunchShape *shape, void *const *params) {
  const RunContext &run = RunContext::of(frame);
  return resultOf(run, launchKernel(run, kernel, *shape, params));
}

int32_t library::read(const PcrtFrame *frame, const void *source, void *target, int64_t bytes) {
  const RunContext &run = RunContext::of(frame);
  return resultOf(run, run.device.read(source, target, static_cast<size_t>(bytes)));
}

int32_t library::product(const PcrtFrame *frame, const PcrtTensor *, int32_t, const PcrtTensor *, int32_t,
                         const int64_t *) {
  const RunContext &run = RunContext::of(frame);
  return run.fail(Status(Code::InvalidArgument, run.device.name() + " has no library for products: only code for "
                                                                    "GPUs asks for one"));
}
