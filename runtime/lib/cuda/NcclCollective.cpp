// The agreement of processes on a communicator.
#include "cuda/NcclCollective.h"

#include "cuda/CudaDeviceBase.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <unistd.h>

using namespace pcrt;
using namespace pcrt::cuda;

/// Distinguishes its messages from those of the staged collective.
static constexpr uint64_t purpose = 0x6e63636c;

//===-- The communicators of this process
//---------------------------------------------------------------------------===//

/// By group. Two launches may make one for the same group at the same time: all processes keep that of the lower tag.
class NcclCollective::Routes {
public:
  static Route find(const Key &key) {
    std::lock_guard<std::mutex> guard(lock());
    auto known = all().find(key);
    return known == all().end() ? Route() : known->second;
  }
  static void keep(const Key &key, Route made) {
    std::lock_guard<std::mutex> guard(lock());
    Route &known = all()[key];
    if (!known.tag() || made.tag() < known.tag())
      known = made;
  }

private:
  static std::mutex &lock() {
    static auto *const made = new std::mutex();
    return *made;
  }
  static std::map<Key, Route> &all() {
    static auto *const made = new std::map<Key, Route>();
    return *made;
  }
};

namespace {
/// The facts that a process sends about itself, then about each of its members.
struct Greeting {
  uint64_t hasLibrary;
  /// All processes take the value of the first process.
  ncclUniqueId id;
};
struct Card {
  /// The machine, and the GPU's place on its bus. NCCL takes no two members on one.
  uint64_t machine;
  char bus[32];

  bool operator==(const Card &other) const {
    return machine == other.machine && std::strncmp(bus, other.bus, sizeof(bus)) == 0;
  }
};
} // namespace

/// Names of machines may be equal; the number of a boot is not.
static uint64_t machineNumber() {
  char name[256] = "";
  gethostname(name, sizeof(name) - 1);
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  return std::hash<std::string>()(std::string(name) + boot);
}

//===-- Meeting
//-----------------------------------------------------------------------------------------------------===//

NcclCollective::NcclCollective(SharedLaunch &launch, const std::vector<int64_t> &participants)
    : launch(launch), staged(launch, participants), messages(launch, participants, purpose),
      key{&launch.transport, {}, {}} {
  for (size_t member = 0; member < participants.size(); ++member) {
    auto number = static_cast<size_t>(participants[member]);
    unsigned process = launch.owners[number];
    key.processes.push_back(process);
    key.devices.push_back(launch.deviceIds[number]);
    if (std::find(processes.begin(), processes.end(), process) == processes.end()) {
      processes.push_back(process);
      firsts.push_back(member);
    }
    if (launch.isHere(number))
      here.push_back(member);
  }
}

bool NcclCollective::prepare(const std::vector<Contribution> &contributions) {
  members = &contributions;
  const Contribution &own = contributions[here[0]];
  return ExchangePieces(contributions.size(), own.input).fits(CollectiveParams(own.params), own.input, own.output) &&
         staged.prepare(contributions);
}

void NcclCollective::run(uint32_t) { failure = perform(); }

Status NcclCollective::leave(size_t, const Contribution &) {
  return failure.isOk() ? Status::ok() : Status(failure.code(), failure.message());
}

Status NcclCollective::perform() {
  Route route;
  if (Status status = agree(route); !status.isOk())
    return status;
  const Contribution &own = (*members)[here[0]];
  if (!route.isStaged)
    return route.communicator->exchange(launch, CollectiveParams(own.params),
                                        ExchangePieces(members->size(), own.input), *members);
  staged.run(0);
  return staged.leave(here[0], own);
}

Status NcclCollective::tellAll(const std::vector<char> &own, std::vector<std::vector<char>> &theirs) {
  const unsigned self = launch.transport.rank();
  const auto place = static_cast<size_t>(std::find(processes.begin(), processes.end(), self) - processes.begin());
  auto number = [&](size_t from, size_t to) { return firsts[from] * key.processes.size() + firsts[to]; };
  std::vector<pcrt::Piece> sends, receives;
  for (size_t i = 0; i < processes.size(); ++i) {
    if (i == place) {
      theirs[i] = own;
      continue;
    }
    sends.push_back({processes[i], number(place, i), const_cast<char *>(own.data()), own.size()});
    receives.push_back({processes[i], number(i, place), theirs[i].data(), theirs[i].size()});
  }
  RefPtr<Transfer> transfer = messages.begin(sends, receives);
  return messages.wait(*transfer);
}

Status NcclCollective::agree(Route &route) {
  route = Routes::find(key);
  const uint64_t own = route.tag();
  std::vector<char> told(sizeof(own));
  std::memcpy(told.data(), &own, sizeof(own));
  std::vector<std::vector<char>> theirs(processes.size(), std::vector<char>(sizeof(own)));
  if (Status status = tellAll(told, theirs); !status.isOk())
    return status;
  bool agrees = own != 0;
  for (const std::vector<char> &each : theirs)
    agrees &= each == told;
  return agrees ? Status::ok() : introduce(route);
}

Status NcclCollective::introduce(Route &route) {
  const Nccl *library = Nccl::loaded();
  Greeting greeting = {library != nullptr, {}};
  if (library)
    if (Status status = library->check(library->ncclGetUniqueId(&greeting.id), "ncclGetUniqueId"); !status.isOk())
      return status;
  std::vector<char> told(sizeof(Greeting));
  std::memcpy(told.data(), &greeting, sizeof(greeting));
  std::vector<NcclCommunicator::Own> own;
  for (size_t member : here) {
    // A GPU made this work, so the members here are on GPUs.
    auto *device = static_cast<CudaDeviceBase *>((*members)[member].device);
    own.push_back({member, device});
    Card card = {machineNumber(), ""};
    device->parts().properties().bus.copy(card.bus, sizeof(card.bus) - 1);
    const char *bytes = reinterpret_cast<const char *>(&card);
    told.insert(told.end(), bytes, bytes + sizeof(card));
  }
  std::vector<std::vector<char>> theirs;
  for (unsigned process : processes)
    theirs.emplace_back(sizeof(Greeting) + sizeof(Card) * static_cast<size_t>(std::count(
                                                              key.processes.begin(), key.processes.end(), process)));
  if (Status status = tellAll(told, theirs); !status.isOk())
    return status;

  std::vector<Card> cards;
  bool isPossible = true;
  for (const std::vector<char> &each : theirs) {
    Greeting other;
    std::memcpy(&other, each.data(), sizeof(other));
    isPossible &= other.hasLibrary != 0;
    if (&each == &theirs[0])
      greeting.id = other.id;
    for (size_t at = sizeof(Greeting); at < each.size(); at += sizeof(Card)) {
      Card card;
      std::memcpy(&card, each.data() + at, sizeof(card));
      isPossible &= std::find(cards.begin(), cards.end(), card) == cards.end();
      cards.push_back(card);
    }
  }
  route = {nullptr, !isPossible};
  if (isPossible) {
    Result<NcclCommunicator *> made =
        NcclCommunicator::create(*library, greeting.id, key.processes.size(), own, launch);
    if (!made.isOk())
      return Status(made.status().code(), made.status().message());
    route.communicator = made.value();
  }
  Routes::keep(key, route);
  return Status::ok();
}
