// The messages of each collective.
#include "collective/RemoteCollective.h"

#include "memory/HostOperands.h"
#include "runtime/Device.h"

#include <algorithm>
#include <cstring>
#include <deque>

using namespace pcrt;

/// If an input has at most this many bytes, an all_reduce fetches every whole input: one step of messages instead of
/// two.
static constexpr size_t wholeBytes = size_t(1) << 14;
/// The bytes of a piece of a larger one, and the number of pieces that are fetched before they are needed.
static constexpr size_t pieceBytes = size_t(1) << 18, ahead = 3;

namespace {
struct Range {
  size_t start, end;
};

/// Steps that have begun, in order. At their end none uses the caller's memory, also if the launch failed.
class Steps {
public:
  explicit Steps(Communicator &communicator) : communicator(communicator) {}
  Steps(const Steps &) = delete;
  Steps &operator=(const Steps &) = delete;
  /// Steps remain only after a failure: then the waits abandon them.
  ~Steps() {
    while (!isEmpty())
      static_cast<void>(waitForFirst().isOk());
  }

  bool isEmpty() const { return transfers.empty(); }
  void begin(const std::vector<Piece> &sends, const std::vector<Piece> &receives) {
    transfers.push_back(communicator.begin(sends, receives));
  }
  Status waitForFirst() {
    RefPtr<Transfer> first = std::move(transfers.front());
    transfers.pop_front();
    return communicator.wait(*first);
  }

private:
  Communicator &communicator;
  std::deque<RefPtr<Transfer>> transfers;
};
} // namespace

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
  /// The original operands, to which `store` refers.
  std::vector<std::unique_ptr<Contribution>> given;
};

bool RemoteCollective::prepare(const std::vector<Contribution> &contributions) {
  full = contributions;
  // Members in other processes are like those here: the launches have one fingerprint.
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

/// All inputs of other processes, as inputs of their members. For a gather along the first dimension, they arrive at
/// their position in the first output here.
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
///
/// A part is sent in pieces, and each round of messages has one piece of every part. While a round is combined, the
/// next ones are in flight, and the received pieces are still in the caches.
Status RemoteCollective::reduceInParts() {
  const size_t count = ordered.size(), rounding = 64;
  auto startOf = [&](size_t part) { return part == count ? elements : elements * part / count / rounding * rounding; };
  size_t longest = 0;
  for (size_t part = 0; part < count; ++part)
    longest = std::max(longest, startOf(part + 1) - startOf(part));
  const size_t piece = std::max<size_t>(pieceBytes / width, 1), rounds = (longest + piece - 1) / piece;
  auto pieceOf = [&](size_t part, size_t round) {
    size_t end = startOf(part + 1);
    return Range{std::min(startOf(part) + round * piece, end), std::min(startOf(part) + (round + 1) * piece, end)};
  };
  const auto own = static_cast<size_t>(std::find(ordered.begin(), ordered.end(), communicator.launch.transport.rank()) -
                                       ordered.begin());
  char *output = static_cast<char *>(full[here[0]].output.data);
  std::vector<char *> copies;
  for (size_t source = 0; source < processes.size(); ++source)
    copies.push_back(isHere(source) ? nullptr : block(ahead * std::min(piece, longest) * width));
  auto copyOf = [&](size_t source, size_t round) {
    return copies[source] + round % ahead * std::min(piece, longest) * width;
  };

  std::vector<Piece> sends, receives;
  Steps inputs(communicator), results(communicator);
  auto add = [&](std::vector<Piece> &list, size_t process, size_t number, char *from, Range range) {
    if (range.end > range.start)
      list.push_back({ordered[process], number, from, (range.end - range.start) * width});
  };
  auto beginInputs = [&](size_t round) {
    sends.clear();
    receives.clear();
    for (size_t source = 0; source < processes.size(); ++source) {
      if (!isHere(source)) {
        auto process =
            static_cast<size_t>(std::find(ordered.begin(), ordered.end(), processes[source]) - ordered.begin());
        add(receives, process, towards(source, own), copyOf(source, round), pieceOf(own, round));
        continue;
      }
      for (size_t part = 0; part < count; ++part)
        if (part != own)
          add(sends, part, towards(source, part),
              static_cast<char *>(full[source].input.data) + pieceOf(part, round).start * width, pieceOf(part, round));
    }
    inputs.begin(sends, receives);
  };
  for (size_t round = 0; round < std::min(ahead, rounds); ++round)
    beginInputs(round);
  for (size_t round = 0; round < rounds; ++round) {
    if (Status status = inputs.waitForFirst(); !status.isOk())
      return status;
    const Range mine = pieceOf(own, round);
    std::vector<const char *> operands;
    for (size_t source = 0; source < processes.size(); ++source)
      operands.push_back(isHere(source) ? static_cast<char *>(full[source].input.data) + mine.start * width
                                        : copyOf(source, round));
    combine(operands, mine.end - mine.start, output + mine.start * width);
    sends.clear();
    receives.clear();
    for (size_t part = 0; part < count; ++part) {
      if (part == own)
        continue;
      Range theirs = pieceOf(part, round);
      add(sends, part, own, output + mine.start * width, mine);
      add(receives, part, part, output + theirs.start * width, theirs);
    }
    results.begin(sends, receives);
    if (round + ahead < rounds)
      beginInputs(round + ahead);
  }
  while (!results.isEmpty())
    if (Status status = results.waitForFirst(); !status.isOk())
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
