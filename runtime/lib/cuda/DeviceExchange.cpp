// Copies between GPUs, ordered by events.
#include "cuda/DeviceExchange.h"

#include "cuda/CudaDeviceBase.h"
#include "memory/HostOperands.h"

using namespace pcrt;
using namespace pcrt::cuda;

static const Driver &driverOf(CudaDeviceBase &device) { return device.parts().context().driver(); }

DeviceExchange::~DeviceExchange() {
  for (const std::unique_ptr<Side> &side : sides) {
    if (!side || !side->device->parts().context().makeCurrent().isOk())
      continue;
    // Pending work keeps the resources of an event.
    for (CUevent event : {side->ready, side->fetched})
      if (event)
        driverOf(*side->device).cuEventDestroy(event);
  }
}

DeviceExchange::Side &DeviceExchange::sideOf(size_t place, const Contribution &own) {
  std::lock_guard<std::mutex> guard(lock);
  if (sides.size() <= place)
    sides.resize(place + 1);
  if (!sides[place]) {
    sides[place] = std::make_unique<Side>();
    // A device of this kind made this work, so every caller runs on one.
    sides[place]->device = static_cast<CudaDeviceBase *>(own.device);
  }
  return *sides[place];
}

Status DeviceExchange::arrive(size_t place, const Contribution &own) {
  if (!own.device || own.device->hasHostMemory())
    return Status(Code::InvalidArgument, "a participant on the host is in a collective with participants on GPUs");
  Side &side = sideOf(place, own);
  const Driver &driver = driverOf(*side.device);
  Status status = side.device->parts().context().makeCurrent();
  for (CUevent *event : {&side.ready, &side.fetched})
    if (status.isOk() && !*event)
      status = driver.check(driver.cuEventCreate(event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
  if (status.isOk())
    status = driver.check(driver.cuEventRecord(side.ready, side.device->parts().stream()), "cuEventRecord");
  return status;
}

bool DeviceExchange::prepare(const std::vector<Contribution> &contributions) {
  members = &contributions;
  params = CollectiveParams(contributions[0].params);
  pieces = ExchangePieces(contributions.size(), contributions[0].input);
  failure = Status::ok();
  return areAlike(contributions) && pieces.fits(params, contributions[0].input, contributions[0].output);
}

//===-- Fetching
//----------------------------------------------------------------------------------------------------===//

Status DeviceExchange::fetch(size_t target) {
  CudaDeviceBase &device = *sides[target]->device;
  const Driver &driver = driverOf(device);
  CUstream stream = device.parts().stream();
  CUdeviceptr output = addressOf((*members)[target].output.data);
  if (Status status = device.parts().context().makeCurrent(); !status.isOk())
    return status;
  std::lock_guard<std::mutex> guard(betweenStreams());
  Status status;
  if (pieces.bytes > 0 && !pieces.isReceiver(params, target))
    status = driver.check(driver.cuMemsetD8Async(output, 0, pieces.bytes, stream), "cuMemsetD8Async");
  // Start with the neighbours, so that not all devices read from one at the same time.
  for (size_t step = 0; step < pieces.members && status.isOk(); ++step) {
    size_t source = (target + step) % pieces.members;
    Piece piece = pieces.between(params, target, source);
    if (piece.bytes == 0)
      continue;
    if (source != target)
      status = driver.check(driver.cuStreamWaitEvent(stream, sides[source]->ready, 0), "cuStreamWaitEvent");
    if (status.isOk())
      status = device.enqueueCopy(output + piece.to, *sides[source]->device,
                                  addressOf((*members)[source].input.data) + piece.from, piece.bytes);
  }
  // Also after a failure: work that was enqueued before it reads from the other devices.
  Status noted = driver.check(driver.cuEventRecord(sides[target]->fetched, stream), "cuEventRecord");
  return status.isOk() ? std::move(noted) : std::move(status);
}

void DeviceExchange::run(uint32_t target) {
  Status status = fetch(target);
  if (status.isOk())
    return;
  std::lock_guard<std::mutex> guard(lock);
  if (failure.isOk())
    failure = std::move(status);
}

Status DeviceExchange::leave(size_t place, const Contribution &own) {
  CollectiveParams form(own.params);
  CudaDeviceBase &device = *sides[place]->device;
  const Driver &driver = driverOf(device);
  std::lock_guard<std::mutex> guard(betweenStreams());
  // The thread that enqueued the others' fetches has switched to their contexts.
  Status status = device.parts().context().makeCurrent();
  for (size_t target = 0; target < pieces.members && status.isOk(); ++target)
    if (target != place && pieces.between(form, target, place).bytes > 0)
      status = driver.check(driver.cuStreamWaitEvent(device.parts().stream(), sides[target]->fetched, 0),
                            "cuStreamWaitEvent");
  if (!failure.isOk())
    return Status(failure.code(), failure.message());
  return status;
}
