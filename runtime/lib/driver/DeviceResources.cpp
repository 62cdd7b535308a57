// Creates the parts in order, and destroys them in the opposite order.
#include "driver/DeviceResources.h"

using namespace pcrt;
using namespace pcrt::cuda;

/// Moves the value out, or returns the failure.
template <typename T> static Status unpack(Result<T> &&from, T &to) {
  if (!from.isOk())
    return Status(from.status().code(), from.status().message());
  to = from.take();
  return Status::ok();
}

Result<std::unique_ptr<DeviceResources>> DeviceResources::create(const Driver &driver, int number) {
  std::unique_ptr<DeviceResources> made(new DeviceResources());
  if (Status status = unpack(Context::retain(driver, number), made->own); !status.isOk())
    return status;
  if (Status status = unpack(driver.properties(made->own.device()), made->known); !status.isOk())
    return status;
  if (Status status = made->own.makeCurrent(); !status.isOk())
    return status;
  // The streams do not wait for the legacy default stream, which other libraries may use.
  for (CUstream *stream : {&made->work, &made->reads})
    if (Status status = driver.check(driver.cuStreamCreate(stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
        !status.isOk())
      return status;
  if (Status failed = unpack(CudaMemory::create(made->own, made->work), made->blocks); !failed.isOk())
    return failed;
  if (Status failed = unpack(Completions::create(made->own, made->work), made->watcher); !failed.isOk())
    return failed;
  made->copies = std::make_unique<Staging>(made->own, made->work, *made->watcher);
  return made;
}

Status DeviceResources::synchronize() {
  if (Status status = own.makeCurrent(); !status.isOk())
    return status;
  const Driver &driver = own.driver();
  Status status = driver.check(driver.cuStreamSynchronize(work), "cuStreamSynchronize");
  watcher->drain();
  return status;
}

DeviceResources::~DeviceResources() {
  // The watcher returns the copies' blocks, and ends only after all notifications.
  if (watcher)
    watcher->drain();
  copies = nullptr;
  watcher = nullptr;
  if (!work || !own.makeCurrent().isOk())
    return;
  if (blocks)
    (void)blocks->trim();
  blocks = nullptr;
  for (CUstream stream : {work, reads})
    if (stream)
      own.driver().cuStreamDestroy(stream);
}
