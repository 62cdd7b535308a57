// The rendezvous: the members that have arrived, the members that can still arrive, and the work once all have.
#include "runtime/Collective.h"

#include "collective/CollectiveJob.h"
#include "collective/RemoteCollective.h"
#include "collective/StartedCollectives.h"
#include "memory/HostOperands.h"
#include "runtime/Device.h"
#include "runtime/Profile.h"
#include "runtime/RunContext.h"
#include "runtime/ThreadPool.h"
#include "support/LibraryCalls.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <utility>

using namespace pcrt;

/// About the cost of a sleep and a wake-up: if each member has a core, members spin this long.
static constexpr int64_t spinNs = 10000;

/// The repeated meetings of one group's members. A member arrives at the next meeting only after it has left the one
/// before, so the counts of meetings give each member its position.
class pcrt::Exchange {
public:
  /// `expected` members come to the meetings: those of this process.
  Exchange(std::vector<int64_t> members, size_t expected, std::unique_ptr<CollectiveWork> job)
      : members(std::move(members)), expected(expected), contributions(this->members.size()), job(std::move(job)) {}

  bool has(unsigned number) const { return std::find(members.begin(), members.end(), number) != members.end(); }
  bool isOf(const int64_t *group, int64_t size) const {
    return static_cast<size_t>(size) == members.size() && std::equal(members.begin(), members.end(), group);
  }

  /// Called by the last member that arrived: from here on all may work, or the work is done already.
  void open();
  void work();
  void changed() {
    phase.fetch_add(1);
    futexWake(phase, INT_MAX);
  }

  /// Waits for a moment, without sleeping.
  bool changesSoon(uint32_t seen) const {
    for (int64_t end = nowNs() + spinNs; nowNs() < end;)
      for (int i = 0; i < 32; ++i, spinPause())
        if (phase.load(std::memory_order_relaxed) != seen)
          return true;
    return false;
  }

  const std::vector<int64_t> members;
  const size_t expected;
  // Under the rendezvous' lock.
  std::vector<Contribution> contributions;
  unsigned arrived = 0;
  Rendezvous::Failure failure;

  const std::unique_ptr<CollectiveWork> job;
  std::atomic<uint32_t> next{0}, finished{0};
  /// The number of meetings at which all members have arrived, and of those that are over.
  std::atomic<uint64_t> opened{0}, completed{0};
  std::atomic<bool> hasFailed{false};
  FutexWord phase{0};
};

void Exchange::open() {
  if (job->isLarge()) {
    next.store(0);
    finished.store(0);
    opened.fetch_add(1);
    changed();
    return work();
  }
  for (uint32_t item = 0; item < job->items(); ++item)
    job->run(item);
  // Late members must find no work.
  next.store(job->items());
  opened.fetch_add(1);
  completed.fetch_add(1);
  changed();
}

void Exchange::work() {
  for (uint32_t item; (item = next.fetch_add(1)) < job->items();) {
    job->run(item);
    if (finished.fetch_add(1) + 1 == job->items()) {
      completed.fetch_add(1);
      changed();
    }
  }
}

//===-- Meeting
//-----------------------------------------------------------------------------------------------------===//

Rendezvous::Rendezvous(unsigned count, std::vector<Device *> devices, RefPtr<SharedLaunch> shared)
    : count(count), shared(std::move(shared)), countHere(count), devices(std::move(devices)), states(count) {
  this->devices.resize(count);
  for (unsigned i = 0; i < count; ++i) {
    states[i].self = {this, i};
    if (this->shared && !this->shared->isHere(i))
      --countHere;
  }
}

Rendezvous::~Rendezvous() = default;

Participant *Rendezvous::join(unsigned number) {
  retain();
  return &states[number].self;
}

/// The exchange of the participant's group; null if it is in none. Under the lock.
Exchange *Rendezvous::groupOf(unsigned number, const int64_t *params) {
  CollectiveParams form(params);
  const int64_t *group = nullptr;
  for (int64_t i = 0; i < form.groupCount() && !group; ++i)
    if (std::find(form.group(i), form.group(i + 1), number) != form.group(i + 1))
      group = form.group(i);
  if (!group)
    return nullptr;
  for (Exchange *known : states[number].groups)
    if (known->isOf(group, form.groupSize()))
      return known;
  std::vector<int64_t> members(group, group + form.groupSize());
  for (int64_t member : members)
    if (member < 0 || member >= static_cast<int64_t>(count))
      return nullptr;
  auto isHere = [&](int64_t member) { return !shared || shared->isHere(static_cast<size_t>(member)); };
  auto expected = static_cast<size_t>(std::count_if(members.begin(), members.end(), isHere));
  std::unique_ptr<CollectiveWork> job;
  Device *device = devices[number];
  if (expected < members.size())
    job = device ? device->collectiveWork(*shared, members) : std::make_unique<RemoteCollective>(*shared, members);
  else
    job = device ? device->collectiveWork() : std::make_unique<CollectiveJob>();
  exchanges.push_back(std::make_unique<Exchange>(std::move(members), expected, std::move(job)));
  Exchange *made = exchanges.back().get();
  for (int64_t member : made->members)
    states[static_cast<size_t>(member)].groups.push_back(made);
  return made;
}

Status Rendezvous::fail(unsigned number, const Failure &failure) {
  states[number].cause = failure.cause;
  return Status(failure.cause ? failure.cause->code : Code::InvalidArgument, failure.message);
}

bool Rendezvous::isMissing(const Exchange &group, Failure &why) const {
  if (group.hasFailed) {
    why = group.failure;
    return true;
  }
  if (RefPtr<Error> failed = shared ? shared->failure() : nullptr) {
    why = {failed, failed->message};
    return true;
  }
  for (int64_t member : group.members) {
    const State &state = states[static_cast<size_t>(member)];
    if (!state.hasEnded)
      continue;
    why = {state.error, "participant " + std::to_string(member) +
                            " has ended without reaching the collective in which others of its group wait"};
    return true;
  }
  return false;
}

Status Rendezvous::exchange(unsigned number, const PcrtTensor &input, const PcrtTensor &output, const int64_t *params) {
  // In the order of the participant's collectives.
  if (states[number].started)
    states[number].started->waitForAll();
  return exchangeNow(number, input, output, params);
}

Status Rendezvous::start(unsigned number, const PcrtTensor &input, const PcrtTensor &output, const int64_t *params,
                         UnfinishedWork *&unfinished) {
  bool isFar = false;
  if (shared && (!devices[number] || devices[number]->hasHostMemory())) {
    std::lock_guard<std::mutex> guard(lock);
    Exchange *group = groupOf(number, params);
    isFar = group && group->expected < group->members.size();
  }
  if (!isFar)
    return exchange(number, input, output, params);
  std::unique_ptr<StartedCollectives> &started = states[number].started;
  if (!started)
    started = std::make_unique<StartedCollectives>(
        shared, [this, number](const PcrtTensor &from, const PcrtTensor &to, const int64_t *form) {
          return exchangeNow(number, from, to, form);
        });
  started->start(input, output, params);
  unfinished = started.get();
  return Status::ok();
}

Status Rendezvous::waitForStarted(unsigned number, const void *output) {
  StartedCollectives *started = states[number].started.get();
  return started ? started->wait(output) : Status::ok();
}

Status Rendezvous::exchangeNow(unsigned number, const PcrtTensor &input, const PcrtTensor &output,
                               const int64_t *params) {
  ProfileScope recorded(ProfileKind::Collective, CollectiveParams(params).name());
  std::unique_lock<std::mutex> guard(lock);
  Exchange *group = groupOf(number, params);
  if (!group)
    return fail(number, {nullptr, std::string(CollectiveParams(params).name()) + ": participant " +
                                      std::to_string(number) + " of " + std::to_string(count) + " is in no group"});
  Failure why;
  if (isMissing(*group, why))
    return fail(number, why);
  uint64_t meeting = group->completed.load();
  auto place =
      static_cast<size_t>(std::find(group->members.begin(), group->members.end(), number) - group->members.begin());
  Contribution own = {input, output, params, devices[number]};
  guard.unlock();
  if (Status status = group->job->arrive(place, own); !status.isOk())
    return status;
  guard.lock();
  if (isMissing(*group, why))
    return fail(number, why);
  group->contributions[place] = own;
  if (++group->arrived == group->expected) {
    waiting -= group->arrived - 1;
    if (!group->job->prepare(group->contributions)) {
      waiting += group->arrived;
      failWaiting(*group, {nullptr, std::string("participants of one group are in different collectives, or in one "
                                                "of other shapes; this one is in ") +
                                        CollectiveParams(params).name()});
      return fail(number, group->failure);
    }
    group->arrived = 0;
    for (int64_t member : group->members)
      states[static_cast<size_t>(member)].hasMet = true;
    guard.unlock();
    group->open();
  } else {
    ++waiting;
    failIfStuck();
    guard.unlock();
  }
  static const unsigned cores = ThreadPool::defaultSize();
  bool maySpin = group->expected <= cores;
  while (true) {
    uint32_t seen = group->phase.load();
    if (group->completed.load() > meeting)
      return result(*group, number, place, own);
    if (group->opened.load() > meeting) {
      group->work();
      if (group->completed.load() > meeting)
        return result(*group, number, place, own);
    } else if (group->hasFailed) {
      guard.lock();
      return fail(number, group->failure);
    }
    if (maySpin && group->changesSoon(seen))
      continue;
    BlockingScope blocking;
    futexWait(group->phase, seen);
  }
}

/// The result of a meeting that is over, for a member.
Status Rendezvous::result(Exchange &group, unsigned number, size_t place, const Contribution &own) {
  Status status = group.job->leave(place, own);
  RefPtr<Error> failed = shared && !status.isOk() ? shared->failure() : nullptr;
  if (!failed)
    return status;
  std::lock_guard<std::mutex> guard(lock);
  return fail(number, {failed, status.message()});
}

//===-- Failing
//-----------------------------------------------------------------------------------------------------===//

/// Waiting members of the group leave with the failure; later ones fail, too. Under the lock.
void Rendezvous::failWaiting(Exchange &group, const Failure &why) {
  waiting -= group.arrived;
  group.arrived = 0;
  group.failure = why;
  group.hasFailed = true;
  group.changed();
}

/// If all participants that have not ended wait for others, no one will arrive. Under the lock.
void Rendezvous::failIfStuck() {
  if (waiting == 0 || waiting + ended < countHere)
    return;
  for (const std::unique_ptr<Exchange> &group : exchanges)
    if (group->arrived > 0)
      failWaiting(*group, {nullptr, "all participants wait, each for participants of another group: they do not run "
                                    "their collectives in one order"});
}

void Rendezvous::end(unsigned number, Error *error) {
  if (shared && error)
    shared->tell(*error);
  std::lock_guard<std::mutex> guard(lock);
  State &state = states[number];
  state.hasEnded = true;
  state.error = RefPtr<Error>(error);
  ++ended;
  for (Exchange *group : state.groups) {
    Failure why;
    if (group->arrived > 0 && isMissing(*group, why))
      failWaiting(*group, why);
  }
  failIfStuck();
}

RefPtr<Error> pcrt::collectiveFailure(void *participant) {
  if (!participant)
    return nullptr;
  auto *self = static_cast<Participant *>(participant);
  std::lock_guard<std::mutex> guard(self->run->lock);
  return self->run->states[self->number].cause;
}

void pcrt::endParticipant(void *participant, Error *error) {
  if (!participant)
    return;
  auto *self = static_cast<Participant *>(participant);
  Rendezvous *run = self->run;
  run->end(self->number, error);
  run->release();
}

//===-- Starting together
//-------------------------------------------------------------------------------------------===//

namespace {
class Gate final : public Token {
public:
  /// If it `carries`, completes with the failure of the first token that failed; then it holds the tokens. So it does
  /// with that of a launch.
  Gate(const std::vector<Token *> &tokens, bool carries, RefPtr<SharedLaunch> launch = nullptr)
      : launch(std::move(launch)), parts(tokens.size()) {
    for (Token *token : tokens)
      if (carries)
        held.emplace_back(token);
    for (size_t i = 0; i < tokens.size(); ++i) {
      parts[i].gate = this;
      parts[i].run = [](Continuation *self) {
        Gate *gate = static_cast<Part *>(self)->gate;
        gate->arrive();
        gate->release();
      };
      retain();
      pending.fetch_add(1);
      if (!tokens[i]->then(&parts[i])) {
        pending.fetch_sub(1);
        release();
      }
    }
    arrive();
  }

private:
  struct Part : Continuation {
    Gate *gate;
  };
  void arrive() {
    if (pending.fetch_sub(1) != 1)
      return;
    std::vector<RefPtr<Token>> done = std::exchange(held, {});
    RefPtr<SharedLaunch> over = std::move(launch);
    RefPtr<Error> first;
    for (size_t i = 0; i < done.size() && !first; ++i)
      first = RefPtr<Error>(done[i]->error());
    if (!first && over)
      first = over->failure();
    complete(std::move(first));
  }

  RefPtr<SharedLaunch> launch;
  std::vector<RefPtr<Token>> held;
  std::vector<Part> parts;
  /// The number of tokens that are not done, plus one until all were visited.
  std::atomic<size_t> pending{1};
};
} // namespace

RefPtr<Token> pcrt::whenAllDone(const std::vector<Token *> &tokens) {
  std::vector<Token *> left;
  for (Token *token : tokens)
    if (token && !token->isDone())
      left.push_back(token);
  return left.empty() ? RefPtr<Token>() : RefPtr<Token>::adopt(new Gate(left, /*carries=*/false));
}

RefPtr<Token> pcrt::joined(const std::vector<Token *> &tokens, RefPtr<SharedLaunch> launch) {
  return RefPtr<Token>::adopt(new Gate(tokens, /*carries=*/true, std::move(launch)));
}

DeviceEnds Rendezvous::deviceEnds(unsigned number) {
  std::lock_guard<std::mutex> guard(lock);
  for (State &state : states)
    if (!state.onDevice)
      state.onDevice = RefPtr<Token>::adopt(new Token());
  DeviceEnds found{states[number].onDevice, nullptr};
  if (!states[number].hasMet)
    return found;
  std::vector<Token *> all;
  for (unsigned i = 0; i < count; ++i)
    if (!shared || shared->isHere(i))
      all.push_back(states[i].onDevice.get());
  found.all = joined(all, shared);
  return found;
}

//===-- The routine
//-------------------------------------------------------------------------------------------------===//

int32_t library::collective(const PcrtFrame *frame, const PcrtTensor *inputs, int32_t inputCount,
                            const PcrtTensor *outputs, int32_t outputCount, const int64_t *params) {
  const RunContext &run = RunContext::of(frame);
  auto *self = static_cast<Participant *>(run.participant);
  bool tellsNumber = params[0] == PCRT_PARTICIPANT;
  if (!self || outputCount != 1 || inputCount != (tellsNumber ? 0 : 1))
    return PCRT_INVALID_ARGUMENT;
  if (!tellsNumber) {
    Status status = self->run->exchange(self->number, inputs[0], outputs[0], params);
    return status.isOk() ? PCRT_OK : run.fail(std::move(status));
  }
  HostOperands operands(run.device, inputs, inputCount, outputs, outputCount);
  auto number = static_cast<int32_t>(self->number);
  std::memcpy(operands.outputs()[0].data, &number, sizeof(number));
  Status status = operands.store();
  return status.isOk() ? PCRT_OK : run.fail(std::move(status));
}

int32_t library::collective_start(const PcrtFrame *frame, const PcrtTensor *inputs, int32_t inputCount,
                                  const PcrtTensor *outputs, int32_t outputCount, const int64_t *params) {
  const RunContext &run = RunContext::of(frame);
  auto *self = static_cast<Participant *>(run.participant);
  if (!self || inputCount != 1 || outputCount != 1)
    return PCRT_INVALID_ARGUMENT;
  Status status = self->run->start(self->number, inputs[0], outputs[0], params, run.unfinished);
  return status.isOk() ? PCRT_OK : run.fail(std::move(status));
}

int32_t library::collective_wait(const PcrtFrame *frame, const PcrtTensor *, int32_t, const PcrtTensor *outputs,
                                 int32_t outputCount, const int64_t *) {
  const RunContext &run = RunContext::of(frame);
  auto *self = static_cast<Participant *>(run.participant);
  if (!self || outputCount != 1)
    return PCRT_INVALID_ARGUMENT;
  Status status = self->run->waitForStarted(self->number, outputs[0].data);
  return status.isOk() ? PCRT_OK : run.fail(std::move(status));
}
