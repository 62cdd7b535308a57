// Tokens: ready, failed, continuations, waiting and interrupting a wait.
#include "runtime/Token.h"
#include "Check.h"

#include <thread>
#include <vector>

using namespace pcrt;

static RefPtr<Token> newToken() { return RefPtr<Token>::adopt(new Token()); }

static RefPtr<Error> newError(const char *message) {
  return RefPtr<Error>::adopt(new Error(Code::LibraryFailed, message, "kernel", "file.py:3"));
}

static void completes() {
  auto token = newToken();
  CHECK(!token->isDone());
  token->complete();
  CHECK(token->isDone() && !token->error() && token->wait());
}

static void carriesAnError() {
  auto token = Token::failed(newError("it broke"));
  CHECK(token->isDone() && token->wait());
  REQUIRE(token->error());
  CHECK(token->error()->text() == "kernel: it broke (launched at file.py:3)");
}

namespace {
struct Recorder : Continuation {
  explicit Recorder(std::vector<int> &order, int number) : order(order), number(number) {
    run = [](Continuation *self) {
      auto *recorder = static_cast<Recorder *>(self);
      recorder->order.push_back(recorder->number);
    };
  }
  std::vector<int> &order;
  int number;
};
} // namespace

static void continuesInOrder() {
  std::vector<int> order;
  Recorder first(order, 1), second(order, 2), late(order, 3);
  auto token = newToken();
  CHECK(token->then(&first) && token->then(&second));
  CHECK(order.empty());
  token->complete();
  CHECK((order == std::vector<int>{1, 2}));
  CHECK(!token->then(&late) && order.size() == 2);
}

static void wakesAllWaiters() {
  auto token = newToken();
  std::atomic<int> awake{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] { awake += token->wait(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(awake == 0);
  token->complete();
  for (std::thread &thread : threads)
    thread.join();
  CHECK(awake == 4);
}

static std::atomic<int> hookCalls;

static void hookInterrupts() {
  auto token = newToken();
  hookCalls = 0;
  CHECK(!token->wait([] { return ++hookCalls == 2; }));
  CHECK(hookCalls == 2 && !token->isDone());
  token->complete();
  CHECK(token->wait());
}

static void racesToComplete() {
  // A continuation is either kept and run, or refused: never both, never neither.
  for (int round = 0; round < 2000; ++round) {
    auto token = newToken();
    std::vector<int> order;
    Recorder recorder(order, 1);
    std::thread completer([&] { token->complete(); });
    bool kept = token->then(&recorder);
    completer.join();
    CHECK(order.size() == (kept ? 1u : 0u));
  }
}

int main() {
  RUN(completes);
  RUN(carriesAnError);
  RUN(continuesInOrder);
  RUN(wakesAllWaiters);
  RUN(hookInterrupts);
  RUN(racesToComplete);
  return test::failures() != 0;
}
