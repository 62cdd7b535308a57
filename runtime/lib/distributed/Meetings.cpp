// Meetings of processes: each gives a value, and gets those of all. Who is missing, late, failed, or at its end.
#include "distributed/ControlServer.h"

#include "runtime/Futex.h"

#include <algorithm>

using namespace pcrt;

void ControlServer::gather(Connection &connection, Frame &frame) {
  unsigned rank = connection.rank;
  const std::string name = frame.text(0);
  std::vector<unsigned> members;
  for (size_t at = 0; at < frame.text(1).size();) {
    size_t end = std::min(frame.text(1).find(',', at), frame.text(1).size());
    members.push_back(static_cast<unsigned>(std::stoul("0" + frame.text(1).substr(at, end - at))));
    at = end + 1;
  }
  for (unsigned member : members)
    if (member >= size)
      return refuse(rank, frame.number, name + ": there is no process " + std::to_string(member));
  if (std::find(members.begin(), members.end(), rank) == members.end())
    return refuse(rank, frame.number, name + ": process " + std::to_string(rank) + " is not a participant");
  if (auto found = over.find(name); found != over.end() && found->second.erase(rank)) {
    if (found->second.empty())
      over.erase(found);
    return refuse(rank, frame.number,
                  name + ": this process is late: the others that waited for it have timed out. What to do: give a "
                         "longer timeout");
  }
  for (unsigned member : members)
    if (processes[member].hasFailed)
      return refuse(rank, frame.number, name + ": " + nameOf(member) + " failed: " + processes[member].cause);
  unsigned missing = nobody;
  for (unsigned member : members)
    if (member != rank && willNotCome(member, name) &&
        (missing == nobody || processes[member].end < processes[missing].end))
      missing = member;
  if (missing != nobody)
    return refuseWithout(rank, frame.number, name, missing);
  Meeting &meeting = meetings[name];
  if (meeting.members.empty()) {
    meeting.members = members;
    meeting.number = ++lastMeeting;
  }
  if (meeting.members != members)
    return refuse(rank, frame.number, name + ": its participants do not agree on the list of participants");
  meeting.given[rank] = frame.text(2);
  uint64_t milliseconds = frame.integer(3);
  meeting.waiting.push_back(
      {rank, frame.number, milliseconds ? nowNs() + int64_t(milliseconds) * 1'000'000 : INT64_MAX});
  if (meeting.given.size() < members.size())
    return;
  std::vector<std::string> all;
  for (unsigned member : members)
    all.push_back(meeting.given[member]);
  std::vector<Waiting> waiting = std::move(meeting.waiting);
  meetings.erase(name);
  for (const Waiting &each : waiting)
    answer(each.rank, each.number, all);
}

/// Asks those who are missing at a meeting where they are. Questions about launches have the number of their processes,
/// which is not 0.
void ControlServer::tellOfLong(const std::string &name, Meeting &meeting, int64_t now) {
  if (meeting.isTold || meeting.waiting.empty() || now - meeting.since < toldAfterNs())
    return;
  meeting.isTold = true;
  for (unsigned member : meeting.members)
    if (Connection *late = meeting.given.count(member) ? nullptr : of(member))
      send(*late, {FrameKind::Asked,
                   0,
                   {std::to_string(meeting.waiting.front().rank), "0", std::to_string(meeting.number),
                    std::to_string(member)}});
}

/// The answer, for one of those who wait.
void ControlServer::tellWhereLate(unsigned rank, const Frame &frame) {
  auto to = of(static_cast<unsigned>(frame.integer(0)));
  auto isIt = [&](const auto &each) { return each.second.number == frame.integer(2); };
  auto found = std::find_if(meetings.begin(), meetings.end(), isIt);
  if (!to || found == meetings.end() || found->second.given.count(rank))
    return;
  std::string told = "has waited for " + std::to_string((nowNs() - found->second.since + 500'000'000) / 1'000'000'000) +
                     " s in " + found->first + ", for " + nameOf(rank) + ": " + frame.text(3);
  send(*to, {FrameKind::PeerLate,
             0,
             {std::to_string(rank), processes[rank].host, std::to_string(processes[rank].pid), std::move(told),
              frame.text(4), "0", frame.text(2)}});
}

/// Whether a process that has not failed never comes to a meeting. Its part may have come before.
bool ControlServer::willNotCome(unsigned rank, const std::string &name) {
  if (auto found = meetings.find(name); found != meetings.end() && found->second.given.count(rank))
    return false;
  return processes[rank].hasLeft || (processes[rank].isAtEnd && !isOfTheEnd(name));
}

void ControlServer::refuseWithout(unsigned rank, uint64_t number, const std::string &name, unsigned missing) {
  const Process &process = processes[missing];
  const std::string cause = causeOfAbsence(name);
  if (Connection *connection = of(rank))
    send(*connection,
         {FrameKind::Refusal,
          number,
          {nameOf(missing) + ": " + cause, std::to_string(missing), process.host, std::to_string(process.pid), cause}});
}

void ControlServer::refuseMeetingsWithout(unsigned rank) {
  for (auto at = meetings.begin(); at != meetings.end();) {
    Meeting &meeting = at->second;
    bool isMember = std::find(meeting.members.begin(), meeting.members.end(), rank) != meeting.members.end();
    if (!isMember || !willNotCome(rank, at->first)) {
      ++at;
      continue;
    }
    for (const Waiting &each : meeting.waiting)
      refuseWithout(each.rank, each.number, at->first, rank);
    at = meetings.erase(at);
  }
}

void ControlServer::failMeetingsOf(unsigned rank) {
  std::map<std::string, Meeting> hopeless;
  for (auto each = meetings.begin(); each != meetings.end();) {
    bool waits =
        std::find(each->second.members.begin(), each->second.members.end(), rank) != each->second.members.end();
    if (waits)
      hopeless.insert(std::move(*each));
    each = waits ? meetings.erase(each) : std::next(each);
  }
  for (const auto &[name, meeting] : hopeless)
    for (const Waiting &each : meeting.waiting)
      refuse(each.rank, each.number, name + ": " + nameOf(rank) + " failed: " + processes[rank].cause);
}

void ControlServer::checkMeetings(int64_t now) {
  for (auto at = meetings.begin(); at != meetings.end();) {
    Meeting &meeting = at->second;
    auto isLate = [&](const Waiting &each) { return each.deadline <= now; };
    if (std::none_of(meeting.waiting.begin(), meeting.waiting.end(), isLate)) {
      tellOfLong(at->first, meeting, now);
      ++at;
      continue;
    }
    std::string missing;
    for (unsigned member : meeting.members)
      if (!meeting.given.count(member)) {
        missing += (missing.empty() ? "" : ", ") + nameOf(member);
        over[at->first].insert(member);
      }
    std::string message = at->first + ": timed out waiting for " + missing;
    std::vector<Waiting> waiting = std::move(meeting.waiting);
    at = meetings.erase(at);
    for (const Waiting &each : waiting)
      refuse(each.rank, each.number, message);
  }
}
