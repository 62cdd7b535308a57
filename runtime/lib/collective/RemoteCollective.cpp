// Which bytes go where, for each collective.
#include "collective/RemoteCollective.h"

#include "memory/HostOperands.h"
#include "runtime/Device.h"

#include <algorithm>
#include <cstring>

using namespace pcrt;

/// Up to this many bytes of an input, an all_reduce fetches all of every input: one step of messages instead of two.
static constexpr size_t wholeBytes = size_t(1) << 14;

RemoteCollective::RemoteCollective(SharedLaunch &launch, const std::vector<int64_t> &participants)
    : communicator(launch, participants) {
  for (int64_t participant : participants)
    processes.push_back(launch.owners[static_cast<size_t>(participant)]);
  for (size_t member = 0; member < processes.size(); ++member) {
    if (isHere(member))
      here.push_back(member);
    if (std::find(ordered.begin(), ordered.end(), processes[member]) == ordered.end())
      ordered.push_back(processes[member]);
  }
  for (unsigned process : ordered)
    if (process != launch.transport.rank())
      others.push_back(process);
}

/// The operands of a member whose device has its own memory, in the host's.
class RemoteCollective::HostCopies {
public:
  Status fetch(std::vector<Contribution> &full, const std::vector<size_t> &here) {
    for (size_t member : here) {
      Contribution &own = full[member];
      if (!own.device || own.device->hasHostMemory())
        continue;
      given.push_back(std::make_unique<Contribution>(own));
      Contribution &kept = *given.back();
      copies.push_back(std::make_unique<HostOperands>(*kept.device, &kept.input, 1, &kept.output, 1));
      if (Status status = copies.back()->fetch(); !status.isOk())
        return status;
      own.input = copies.back()->inputs()[0];
      own.output = copies.back()->outputs()[0];
    }
    return Status::ok();
  }
  Status store() {
    for (const auto &copy : copies)
      if (Status status = copy->store(); !status.isOk())
        return status;
    return Status::ok();
  }

private:
  std::vector<std::unique_ptr<HostOperands>> copies;
  /// The operands as they were, which `store` refers to.
  std::vector<std::unique_ptr<Contribution>> given;
};

bool RemoteCollective::prepare(const std::vector<Contribution> &contributions) {
  full = contributions;
  // A member elsewhere is like those here: the launches have one fingerprint.
  for (size_t member = 0; member < full.size(); ++member)
    if (!isHere(member)) {
      full[member] = full[here[0]];
      full[member].input.data = full[member].output.data = nullptr;
    }
  std::vector<Device *> devices;
  for (Contribution &each : full)
    devices.push_back(std::exchange(each.device, nullptr));
  bool fits = CollectiveJob::prepare(full);
  for (size_t member : here)
    full[member].device = devices[member];
  return fits;
}

void RemoteCollective::run(uint32_t) {
  failure = perform();
  blocks.clear();
}

Status RemoteCollective::leave(size_t, const Contribution &) {
  return failure.isOk() ? Status::ok() : Status(failure.code(), failure.message());
}

char *RemoteCollective::block(size_t bytes) {
  blocks.push_back(Block(new char[std::max<size_t>(bytes, 1)]));
  return blocks.back().get();
}

Status RemoteCollective::step(const std::vector<Piece> &sends, const std::vector<Piece> &receives) {
  RefPtr<Transfer> transfer = communicator.begin(sends, receives);
  return communicator.wait(*transfer);
}

Status RemoteCollective::perform() {
  HostCopies copies;
  if (Status status = copies.fetch(full, here); !status.isOk())
    return status;
  Status status;
  switch (params.code()) {
  case PCRT_ALL_REDUCE:
    if (elements * width > wholeBytes) {
      status = reduceInParts();
    } else if (status = fetchWhole(/*toOutputs=*/false); status.isOk()) {
      reduce(0, elements);
    }
    break;
  case PCRT_ALL_GATHER:
    if (status = fetchWhole(/*toOutputs=*/outer == 1); status.isOk())
      for (size_t source = 0; source < processes.size(); ++source)
        gather(source);
    break;
  case PCRT_REDUCE_SCATTER:
    status = scatterBlocks();
    break;
  case PCRT_ALL_TO_ALL:
    status = exchangeBlocks();
    break;
  default:
    status = permuteWhole();
  }
  return status.isOk() ? copies.store() : std::move(status);
}

/// All inputs from elsewhere, as inputs of their members. For a gather along the first dimension, they arrive at their
/// place in the first output here.
Status RemoteCollective::fetchWhole(bool toOutputs) {
  const size_t bytes = elements * width;
  std::vector<Piece> sends, receives;
  for (size_t source = 0; source < processes.size(); ++source) {
    if (isHere(source)) {
      for (size_t i = 0; i < others.size(); ++i)
        sends.push_back({others[i], towards(source, 0), full[source].input.data, bytes});
      continue;
    }
    char *place = toOutputs ? static_cast<char *>(full[here[0]].output.data) + source * bytes : block(bytes);
    full[source].input.data = place;
    receives.push_back({processes[source], towards(source, 0), place, bytes});
  }
  return step(sends, receives);
}

/// Each process combines a part of the elements of all members, and sends it to the others. The bytes are those of a
/// ring, and the order of additions is that of the members.
Status RemoteCollective::reduceInParts() {
  const size_t count = ordered.size(), rounding = 64;
  auto startOf = [&](size_t part) { return part == count ? elements : elements * part / count / rounding * rounding; };
  const auto own = static_cast<size_t>(std::find(ordered.begin(), ordered.end(), communicator.launch.transport.rank()) -
                                       ordered.begin());
  const size_t ownBytes = (startOf(own + 1) - startOf(own)) * width;

  std::vector<Piece> sends, receives;
  std::vector<const char *> inputs;
  for (size_t source = 0; source < processes.size(); ++source) {
    char *input = static_cast<char *>(full[source].input.data);
    if (!isHere(source)) {
      char *copy = block(ownBytes);
      receives.push_back({processes[source], towards(source, own), copy, ownBytes});
      inputs.push_back(copy);
      continue;
    }
    inputs.push_back(input + startOf(own) * width);
    for (size_t part = 0; part < count; ++part)
      if (part != own)
        sends.push_back({ordered[part], towards(source, part), input + startOf(part) * width,
                         (startOf(part + 1) - startOf(part)) * width});
  }
  if (Status status = step(sends, receives); !status.isOk())
    return status;

  char *output = static_cast<char *>(full[here[0]].output.data);
  combine(inputs, startOf(own + 1) - startOf(own), output + startOf(own) * width);
  sends.clear();
  receives.clear();
  for (size_t part = 0; part < count; ++part) {
    if (part == own)
      continue;
    sends.push_back({ordered[part], own, output + startOf(own) * width, ownBytes});
    receives.push_back(
        {ordered[part], part, output + startOf(part) * width, (startOf(part + 1) - startOf(part)) * width});
  }
  if (Status status = step(sends, receives); !status.isOk())
    return status;
  for (size_t i = 1; i < here.size(); ++i)
    std::memcpy(full[here[i]].output.data, output, elements * width);
  return Status::ok();
}

/// Each member here gets its part of every input.
Status RemoteCollective::scatterBlocks() {
  std::vector<Piece> sends, receives;
  std::vector<std::vector<const char *>> inputs(processes.size());
  for (size_t source = 0; source < processes.size(); ++source)
    for (size_t target = 0; target < processes.size(); ++target) {
      if (!isHere(source) && !isHere(target))
        continue;
      char *part = block(blockBytes());
      if (isHere(source))
        takeBlock(source, target, part);
      if (isHere(target))
        inputs[target].push_back(part);
      if (!isHere(target))
        sends.push_back({processes[target], between(source, target), part, blockBytes()});
      else if (!isHere(source))
        receives.push_back({processes[source], between(source, target), part, blockBytes()});
    }
  if (Status status = step(sends, receives); !status.isOk())
    return status;
  for (size_t target : here)
    combine(inputs[target], elements / processes.size(), static_cast<char *>(full[target].output.data));
  return Status::ok();
}

Status RemoteCollective::exchangeBlocks() {
  struct Arrival {
    size_t source, target;
    const char *part;
  };
  std::vector<Piece> sends, receives;
  std::vector<Arrival> arrivals;
  for (size_t source = 0; source < processes.size(); ++source)
    for (size_t target = 0; target < processes.size(); ++target) {
      if (!isHere(source) && !isHere(target))
        continue;
      char *part = block(blockBytes());
      if (isHere(source))
        takeBlock(source, target, part);
      if (isHere(target))
        arrivals.push_back({source, target, part});
      if (!isHere(target))
        sends.push_back({processes[target], between(source, target), part, blockBytes()});
      else if (!isHere(source))
        receives.push_back({processes[source], between(source, target), part, blockBytes()});
    }
  if (Status status = step(sends, receives); !status.isOk())
    return status;
  for (const Arrival &each : arrivals)
    placeBlock(each.source, each.target, each.part);
  return Status::ok();
}

/// Inputs arrive in the outputs.
Status RemoteCollective::permuteWhole() {
  const size_t bytes = elements * width;
  std::vector<Piece> sends, receives;
  std::vector<size_t> elsewhere(processes.size(), 0);
  for (int64_t i = 0; i < params.pairCount(); ++i) {
    auto source = static_cast<size_t>(params.pairs()[2 * i]), target = static_cast<size_t>(params.pairs()[2 * i + 1]);
    if (isHere(source) && !isHere(target))
      sends.push_back({processes[target], between(source, target), full[source].input.data, bytes});
    if (isHere(source) || !isHere(target))
      continue;
    elsewhere[target] = 1;
    receives.push_back({processes[source], between(source, target), full[target].output.data, bytes});
  }
  for (size_t target : here)
    if (!elsewhere[target])
      permute(target);
  return step(sends, receives);
}
