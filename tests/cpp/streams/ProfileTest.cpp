// The recorder: no events while it is off, every thread's events while it is on, and a bound.
#include "runtime/Profile.h"
#include "Check.h"

#include <cstring>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace pcrt;

static unsigned count(const std::string &text, const char *part) {
  unsigned found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

static bool has(const std::string &text, const char *part) { return count(text, part) == 1; }

static void recordsWhileItIsOn() {
  {
    ProfileScope before(ProfileKind::User, "before");
  }
  CHECK(!Profile::isOn() && Profile::start() && Profile::isOn());
  CHECK(!Profile::start()); // one recording at a time
  {
    ProfileScope outer(ProfileKind::Trace, "outer", "model.py:3");
    ProfileScope inner(ProfileKind::Compile, "inner \"quoted\"\n");
  }
  uint64_t flow = Profile::newFlow();
  int64_t now = nowNs();
  Profile::record(ProfileKind::Enqueue, "enqueue f", now, now + 1500, nullptr, flow, "\"device\": 0");
  Profile::record(ProfileKind::Run, "f", now + 2000, now + 3000, "model.py:4", flow, "\"device\": 0");
  std::string trace = Profile::stop({});
  {
    ProfileScope after(ProfileKind::User, "after");
  }
  CHECK(!Profile::isOn());
  CHECK(count(trace, "before") == 0 && count(trace, "after") == 0);
  CHECK(has(trace, "\"name\": \"outer\", \"cat\": \"trace\"") && has(trace, "\"place\": \"model.py:3\""));
  CHECK(has(trace, "\"name\": \"inner \\\"quoted\\\"\\u000a\", \"cat\": \"compile\""));
  CHECK(has(trace, "\"ph\": \"s\"") && has(trace, "\"ph\": \"f\"") && count(trace, "\"id\": ") == 2);
  CHECK(has(trace, "\"args\": {\"place\": \"model.py:4\", \"device\": 0}"));
  CHECK(has(trace, "\"droppedEvents\": 0"));
  CHECK(count(Profile::stop({}), "outer") == 0);
}

static void everyThreadHasALog() {
  constexpr unsigned threads = 4, each = 200;
  std::atomic<bool> stop{false};
  // Of a recording: however long the workers take, there is room for theirs.
  std::atomic<int> left{0};
  std::vector<std::thread> others;
  for (unsigned t = 0; t < threads; ++t)
    others.emplace_back([&] {
      while (!stop) {
        if (left <= 0 || left.fetch_sub(1) <= 0)
          std::this_thread::yield();
        else
          ProfileScope scope(ProfileKind::Run, "busy");
      }
    });
  for (unsigned round = 0; round < 10; ++round) {
    CHECK(Profile::start());
    left = 10000;
    std::vector<std::thread> workers;
    for (unsigned t = 0; t < threads; ++t)
      workers.emplace_back([] {
        for (unsigned i = 0; i < each; ++i)
          ProfileScope scope(ProfileKind::Run, "counted");
      });
    for (std::thread &worker : workers)
      worker.join();
    std::string trace = Profile::stop({{getpid(), "main"}});
    CHECK(count(trace, "\"counted\"") == threads * each);
    CHECK(count(trace, "thread_name") >= threads);
  }
  stop = true;
  for (std::thread &other : others)
    other.join();
}

static void isBounded() {
  CHECK(Profile::start());
  for (unsigned i = 0; i < Profile::limit + 5; ++i)
    Profile::record(ProfileKind::Run, "x", 1, 2);
  CHECK(has(Profile::stop({}), "\"droppedEvents\": 5"));
}

#if !defined(__SANITIZE_THREAD__) // its runtime does not follow threads through fork
static void aChildRecordsNothing() {
  CHECK(Profile::start());
  {
    ProfileScope scope(ProfileKind::Run, "parent");
  }
  pid_t child = fork();
  if (child == 0) {
    bool wasOn = Profile::isOn();
    {
      ProfileScope scope(ProfileKind::Run, "child");
    }
    bool starts = Profile::start();
    {
      ProfileScope scope(ProfileKind::Run, "late");
    }
    std::string trace = Profile::stop({});
    _exit(!wasOn && starts && count(trace, "parent") == 0 && count(trace, "child") == 0 && has(trace, "late") ? 0 : 1);
  }
  int status = 1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(has(Profile::stop({}), "parent"));
}
#endif

int main() {
  RUN(recordsWhileItIsOn);
  RUN(everyThreadHasALog);
  RUN(isBounded);
#if !defined(__SANITIZE_THREAD__)
  RUN(aChildRecordsNothing);
#endif
  return test::failures() != 0;
}
