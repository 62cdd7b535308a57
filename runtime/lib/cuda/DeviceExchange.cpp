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

//===-- Sources and targets
//---------------------------------------------------------------------------------------------===//

bool DeviceExchange::fits() const {
  const PcrtTensor &input = (*members)[0].input, &output = (*members)[0].output;
  bool isAlongFirst = params.dimension() == 0 && params.otherDimension() == 0 && input.rank > 0;
  auto results = static_cast<size_t>(bytesOf(output));
  switch (params.code()) {
  case PCRT_ALL_GATHER:
    return isAlongFirst && results == bytes * count;
  case PCRT_ALL_TO_ALL:
    return isAlongFirst && results == bytes && input.dims[0] % count == 0;
  case PCRT_COLLECTIVE_PERMUTE:
    for (int64_t i = 0; i < 2 * params.pairCount(); ++i)
      if (params.pairs()[i] < 0 || params.pairs()[i] >= params.groupSize())
        return false;
    return results == bytes;
  default:
    return false;
  }
}

bool DeviceExchange::prepare(const std::vector<Contribution> &contributions) {
  members = &contributions;
  params = CollectiveParams(contributions[0].params);
  count = static_cast<uint32_t>(contributions.size());
  bytes = static_cast<size_t>(bytesOf(contributions[0].input));
  failure = Status::ok();
  return areAlike(contributions) && fits();
}

DeviceExchange::Piece DeviceExchange::pieceFor(const CollectiveParams &form, size_t target, size_t source) const {
  size_t part = bytes / count;
  switch (form.code()) {
  case PCRT_ALL_GATHER:
    return {0, source * bytes, bytes};
  case PCRT_ALL_TO_ALL:
    return {target * part, source * part, part};
  default:
    for (int64_t i = 0; i < form.pairCount(); ++i)
      if (static_cast<size_t>(form.pairs()[2 * i]) == source && static_cast<size_t>(form.pairs()[2 * i + 1]) == target)
        return {0, 0, bytes};
    return {0, 0, 0};
  }
}

bool DeviceExchange::isReceiver(size_t target) const {
  for (size_t source = 0; source < count; ++source)
    if (pieceFor(params, target, source).bytes > 0)
      return true;
  return false;
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
  Status status;
  if (bytes > 0 && !isReceiver(target))
    status = driver.check(driver.cuMemsetD8Async(output, 0, bytes, stream), "cuMemsetD8Async");
  // Start with the neighbours, so that not all devices read from one at the same time.
  for (size_t step = 0; step < count && status.isOk(); ++step) {
    size_t source = (target + step) % count;
    Piece piece = pieceFor(params, target, source);
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
  // The thread that enqueued the others' fetches has switched to their contexts.
  Status status = device.parts().context().makeCurrent();
  for (size_t target = 0; target < count && status.isOk(); ++target)
    if (target != place && pieceFor(form, target, place).bytes > 0)
      status = driver.check(driver.cuStreamWaitEvent(device.parts().stream(), sides[target]->fetched, 0),
                            "cuStreamWaitEvent");
  if (!failure.isOk())
    return Status(failure.code(), failure.message());
  return status;
}
