// Processes that are alive but late: a process that waits long asks the others, and they answer with their position.
#include "distributed/World.h"

#include "runtime/Futex.h"

#include <cstdio>

using namespace pcrt;

/// A wait of this time is reported on stderr, or of half the time after which it is an error, if that is less.
static constexpr int64_t toldNs = 30'000'000'000;
/// The time for Python to answer with its position.
static constexpr int64_t pythonNs = 2'000'000'000;

static std::atomic<int64_t> errorNs{300'000'000'000};

void Processes::setCollectiveTimeout(int64_t seconds) { errorNs.store(seconds * 1'000'000'000); }

int64_t pcrt::toldAfterNs() {
  const int64_t limit = errorNs.load();
  return limit ? std::min(toldNs, limit / 2) : toldNs;
}

static std::string seconds(int64_t ns) { return std::to_string((ns + 500'000'000) / 1'000'000'000) + " s"; }

/// In the poller: reports long waits, and ends those that exceed the limit.
void World::watchWaits() {
  const int64_t limit = errorNs.load(), told = toldAfterNs(), now = nowNs();
  std::vector<Frame> frames;
  std::vector<Number> failures;
  {
    std::lock_guard<std::mutex> guard(lock);
    for (auto each = longWaits.begin(); each != longWaits.end();) {
      auto running = active.find(each->first);
      bool isOver = running == active.end() || running->second->waitingSince() != each->second.since;
      each = isOver ? longWaits.erase(each) : std::next(each);
    }
    for (auto &[number, launch] : active) {
      const int64_t since = launch->waitingSince();
      if (!since || now - since < told || launch->failure())
        continue;
      const std::string processes = std::to_string(number.first), count = std::to_string(number.second);
      auto [entry, isNew] = longWaits.try_emplace(number, LongWait{since, {}});
      if (isNew) {
        std::string members;
        for (unsigned owner : launch->owners)
          members += (members.empty() ? "" : ",") + std::to_string(owner);
        frames.push_back({FrameKind::Ask, 0, {processes, count, members}});
      }
      if (!limit || now - since < limit)
        continue;
      const std::string time = " for " + seconds(limit) + " (the setting collective_timeout)";
      PeerFailure late{self.rank, self.host, self.pid,
                       "it waits in " + launch->what + time + ", and no process is late", ""};
      if (entry->second.late) {
        late = *entry->second.late;
        late.cause += ". Process " + std::to_string(self.rank) + " has waited in " + launch->what + time;
      }
      launch->fail(errorOf(late, "is late in launch " + count));
      frames.push_back({FrameKind::Launch, 0, {processes, count, late.cause, late.place, std::to_string(late.rank)}});
      failures.push_back(number);
    }
  }
  for (const Frame &frame : frames)
    client.tell(frame.kind, frame.fields);
  for (const Number &number : failures)
    transport->drop(number.first, number.second);
  answerForPython();
}

void World::peerLate(const PeerFailure &peer, uint64_t processes, uint64_t number) {
  std::string at = peer.place.empty() ? "" : ", at " + peer.place;
  if (!processes) {
    // Of a meeting, of which the server has the name.
    std::fprintf(stderr, "pycompiler: process %u %s%s\n", self.rank, peer.cause.c_str(), at.c_str());
    std::fflush(stderr);
    return;
  }
  std::lock_guard<std::mutex> guard(lock);
  auto running = active.find({processes, number});
  auto entry = longWaits.find({processes, number});
  if (running == active.end() || entry == longWaits.end())
    return;
  if (!entry->second.late)
    entry->second.late = peer;
  std::fprintf(stderr, "pycompiler: process %u has waited for %s in launch %llu, %s, for %s: %s%s\n", self.rank,
               seconds(nowNs() - entry->second.since).c_str(), static_cast<unsigned long long>(number),
               running->second->what.c_str(), nameOf(peer).c_str(), peer.cause.c_str(), at.c_str());
  std::fflush(stderr);
}

//===-- Answers
//----------------------------------------------------------------------------------------------------===//

void World::asked(unsigned from, uint64_t processes, uint64_t number, const std::string &members) {
  if (!isAmong(self.rank, members))
    return;
  std::lock_guard<std::mutex> guard(lock);
  if (!processes && !hasLeft) {
    questions.push_back({++lastQuestion, from, {0, number}, "it has not come", false, false, nowNs()});
    return questionCame.notify_all();
  }
  auto running = active.find({processes, number});
  const bool isHere = running != active.end();
  // It waits itself, or has done its part.
  if (hasLeft || (isHere && running->second->waitingSince()) || (!isHere && lastNumbers[processes] >= number))
    return;
  std::string state = isHere ? "it computes in this launch, or before it" : "it has not reached this launch";
  questions.push_back({++lastQuestion, from, {processes, number}, state, isHere, false, nowNs()});
  questionCame.notify_all();
}

bool World::nextQuestion(Question &question) {
  std::unique_lock<std::mutex> guard(lock);
  while (!hasLeft) {
    for (Asked &each : questions)
      if (!std::exchange(each.isTaken, true)) {
        question = {each.id, each.isInLaunch};
        return true;
      }
    questionCame.wait(guard);
  }
  return false;
}

void World::tellPlace(uint64_t id, const std::string &place) {
  std::vector<std::string> fields;
  {
    std::lock_guard<std::mutex> guard(lock);
    auto found = std::find_if(questions.begin(), questions.end(), [&](const Asked &each) { return each.id == id; });
    if (found == questions.end())
      return;
    fields = {std::to_string(found->from), std::to_string(found->number.first), std::to_string(found->number.second),
              found->state, place};
    questions.erase(found);
  }
  client.tell(FrameKind::Place, fields);
}

/// In the poller: answers if Python doesn't.
void World::answerForPython() {
  std::vector<uint64_t> late;
  {
    std::lock_guard<std::mutex> guard(lock);
    for (Asked &each : questions)
      if (nowNs() - each.at > pythonNs) {
        each.state += ", and its Python does not answer: a function in C keeps the interpreter's lock";
        late.push_back(each.id);
      }
  }
  for (uint64_t id : late)
    tellPlace(id, "");
}
