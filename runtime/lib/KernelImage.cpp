// Images on devices, and the routines of the table by which the host's part of a program reaches its device.
#include "runtime/KernelImage.h"

#include "LibraryCalls.h"
#include "runtime/Device.h"

using namespace pcrt;

LoadedKernels *KernelImage::find(const Device &device) const {
  for (const Entry *entry = entries.load(std::memory_order_acquire); entry; entry = entry->next)
    if (entry->device == &device)
      return entry->kernels.get();
  return nullptr;
}

Result<LoadedKernels *> KernelImage::on(Device &device) {
  if (LoadedKernels *known = find(device))
    return known;
  // Of this image alone: others are loaded at the same time.
  std::lock_guard<std::mutex> guard(loading);
  if (LoadedKernels *known = find(device))
    return known;
  Result<std::unique_ptr<LoadedKernels>> loaded = device.load(*this);
  if (!loaded.isOk())
    return Status(loaded.status().code(), loaded.status().message());
  auto *entry = new Entry{&device, loaded.take(), entries.load(std::memory_order_relaxed)};
  entries.store(entry, std::memory_order_release);
  return entry->kernels.get();
}

KernelImage::~KernelImage() {
  for (const Entry *entry = entries.load(); entry;)
    delete std::exchange(entry, entry->next);
}

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
  return run.fail(Status(Code::InvalidArgument, run.device.name() + " has no library for products: compiled code asks "
                                                                    "for one on GPUs alone"));
}
