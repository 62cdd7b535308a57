// Images on devices.
#include "runtime/KernelImage.h"

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
  // The lock is for this image alone: other images load at the same time.
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
