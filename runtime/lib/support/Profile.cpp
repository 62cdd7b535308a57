// Recording: a log for each thread, and the trace that they are merged into.
#include "runtime/Profile.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

using namespace pcrt;

std::atomic<bool> Profile::on{false};

namespace {
struct Event {
  std::string name, args;
  int64_t start, end;
  const char *place;
  uint64_t flow;
  ProfileKind kind;
};

/// The events of one thread. Only the thread takes the lock until the recording ends.
struct ThreadLog {
  std::mutex lock;
  int thread = 0;
  std::string name;
  std::vector<Event> events;
};

/// Never destroyed: threads may end after everything else.
struct Recorder {
  std::mutex lock;
  std::vector<std::shared_ptr<ThreadLog>> logs;
  int64_t begin = 0;
  /// Counts recordings: a log belongs to one.
  std::atomic<unsigned> number{0};
  std::atomic<unsigned> events{0}, dropped{0};
  std::atomic<uint64_t> flows{0};
};
} // namespace

/// A child has the threads' logs, but not the threads. It records nothing until it starts a recording.
static void afterForkInChild();

static Recorder *make() {
  pthread_atfork(nullptr, nullptr, afterForkInChild);
  return new Recorder();
}

static Recorder *&recorderSlot() {
  static Recorder *recorder = make();
  return recorder;
}

static Recorder &recorder() { return *recorderSlot(); }

static ThreadLog &ownLog() {
  static thread_local std::shared_ptr<ThreadLog> log;
  static thread_local unsigned recording = 0;
  unsigned current = recorder().number.load(std::memory_order_acquire);
  if (log && recording == current)
    return *log;
  log = std::make_shared<ThreadLog>();
  recording = current;
  log->thread = static_cast<int>(syscall(SYS_gettid));
  char name[32] = "";
  pthread_getname_np(pthread_self(), name, sizeof(name));
  log->name = name;
  std::lock_guard<std::mutex> guard(recorder().lock);
  recorder().logs.push_back(log);
  return *log;
}

bool Profile::start() {
  Recorder &all = recorder();
  std::lock_guard<std::mutex> guard(all.lock);
  if (isOn())
    return false;
  all.logs.clear();
  all.events = all.dropped = 0;
  all.number.fetch_add(1);
  all.begin = nowNs();
  on.store(true);
  return true;
}

void Profile::record(ProfileKind kind, std::string name, int64_t start, int64_t end, const char *place, uint64_t flow,
                     std::string args) {
  if (!isOn())
    return;
  Recorder &all = recorder();
  if (all.events.fetch_add(1, std::memory_order_relaxed) >= limit) {
    all.dropped.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  ThreadLog &log = ownLog();
  std::lock_guard<std::mutex> guard(log.lock);
  log.events.push_back({std::move(name), std::move(args), start, end, place, flow, kind});
}

uint64_t Profile::newFlow() { return recorder().flows.fetch_add(1, std::memory_order_relaxed) + 1; }

//===-- The trace
//--------------------------------------------------------------------------------------------------===//

std::string Profile::quoted(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      (result += '\\') += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof(escaped), "\\u%04x", static_cast<unsigned>(c));
      result += escaped;
    } else {
      result += c;
    }
  }
  return result += '"';
}

static const char *kindName(ProfileKind kind) {
  switch (kind) {
#define PCRT_KIND(enumerator, name)                                                                                    \
  case ProfileKind::enumerator:                                                                                        \
    return name;
    PCRT_PROFILE_KINDS(PCRT_KIND)
#undef PCRT_KIND
  }
  return "";
}

namespace {
/// The events of the Trace Event Format, one a line. Times are microseconds since the recording began.
class TraceWriter {
public:
  TraceWriter(int64_t begin, int64_t end) : begin(begin), end(end) {}

  void nameThread(int thread, const std::string &name) {
    open("M", thread);
    text += ", \"name\": \"thread_name\", \"args\": {\"name\": " + Profile::quoted(name) + "}}";
  }

  void write(const Event &event, int thread) {
    // Events that began before the recording, or continue after it, are clipped.
    int64_t from = std::max(event.start, begin), to = std::max(from, std::min(event.end, end));
    open("X", thread);
    text += ", \"name\": " + Profile::quoted(event.name) + ", \"cat\": \"" + kindName(event.kind) + "\"";
    time("ts", from - begin);
    time("dur", to - from);
    text += ", \"args\": {";
    if (event.place)
      text += "\"place\": " + Profile::quoted(event.place);
    if (!event.args.empty())
      text += (event.place ? ", " : "") + event.args;
    text += "}}";
    if (event.flow)
      arrow(event, thread, from);
  }

  std::string finish(unsigned dropped) {
    return "{\"displayTimeUnit\": \"ns\", \"droppedEvents\": " + std::to_string(dropped) + ", \"traceEvents\": [" +
           text + "\n]}\n";
  }

private:
  void open(const char *phase, int thread) {
    text += std::string(text.empty() ? "\n" : ",\n") + "{\"ph\": \"" + phase + "\", \"pid\": " + process +
            ", \"tid\": " + std::to_string(thread);
  }

  void time(const char *name, int64_t ns) {
    char number[64];
    std::snprintf(number, sizeof(number), ", \"%s\": %.3f", name, static_cast<double>(ns) / 1000);
    text += number;
  }

  /// From the enqueueing to the run.
  void arrow(const Event &event, int thread, int64_t from) {
    bool isEnd = event.kind == ProfileKind::Run;
    open(isEnd ? "f" : "s", thread);
    text += ", \"name\": \"launch\", \"cat\": \"launch\", \"id\": " + std::to_string(event.flow);
    time("ts", from - begin);
    text += isEnd ? ", \"bp\": \"e\"}" : "}";
  }

  const int64_t begin, end;
  const std::string process = std::to_string(getpid());
  std::string text;
};
} // namespace

std::string Profile::stop(const std::map<int, std::string> &threadNames) {
  Recorder &all = recorder();
  std::lock_guard<std::mutex> guard(all.lock);
  on.store(false);
  TraceWriter writer(all.begin, nowNs());
  for (const std::shared_ptr<ThreadLog> &log : all.logs) {
    std::lock_guard<std::mutex> own(log->lock);
    auto known = threadNames.find(log->thread);
    writer.nameThread(log->thread, known == threadNames.end() ? log->name : known->second);
    for (const Event &event : log->events)
      writer.write(event, log->thread);
  }
  all.logs.clear();
  // A thread that records next notices that its log belongs to another recording.
  all.number.fetch_add(1);
  return writer.finish(all.dropped.load());
}

static void afterForkInChild() {
  // Another thread may have held a lock, so the old recorder is abandoned.
  unsigned number = recorder().number.load();
  recorderSlot() = new Recorder();
  recorder().number = number + 1;
  Profile::stop();
}
