// Tokens: completion, continuations, waiting.
#include "runtime/Token.h"

#include "runtime/ThreadPool.h"

#include <climits>

using namespace pcrt;

/// Marks the list of a completed token: nothing is added any more.
static Continuation closedList;

/// A signal between the hook and the sleep must not be lost for long.
static constexpr int hookPeriodMs = 100;

RefPtr<Token> Token::failed(RefPtr<Error> error) {
  auto token = RefPtr<Token>::adopt(new Token());
  token->complete(std::move(error));
  return token;
}

void Token::complete(RefPtr<Error> failure) {
  cause = std::move(failure);
  uint32_t before = state.exchange(done, std::memory_order_acq_rel);
  if (before & waitersBit)
    futexWake(state, INT_MAX);
  Continuation *list = continuations.exchange(&closedList, std::memory_order_acq_rel);
  // The list is a stack: reverse it, so that continuations run in the order in which they were added.
  Continuation *ordered = nullptr;
  while (list) {
    Continuation *next = list->next;
    list->next = ordered;
    ordered = list;
    list = next;
  }
  while (ordered) {
    Continuation *next = ordered->next;
    ordered->run(ordered);
    ordered = next;
  }
}

bool Token::then(Continuation *continuation) {
  Continuation *head = continuations.load(std::memory_order_acquire);
  do {
    if (head == &closedList)
      return false;
    continuation->next = head;
  } while (
      !continuations.compare_exchange_weak(head, continuation, std::memory_order_acq_rel, std::memory_order_acquire));
  return true;
}

static thread_local WaiterScope *currentScope = nullptr;

WaiterScope::WaiterScope(InterruptHook hook) : before(std::exchange(currentScope, this)), hook(hook) {}
WaiterScope::~WaiterScope() { currentScope = before; }

bool WaiterScope::askHook() {
  WaiterScope *scope = currentScope;
  if (scope && scope->hook && !scope->ended)
    scope->ended = scope->hook();
  return scope && scope->ended;
}

bool Token::waitAwake(InterruptHook) {
  spinUntil([this] { return isDone(); }, spinNs);
  return true;
}

bool Token::wait(InterruptHook hook) {
  if (isDone())
    return true;
  if (!waitAwake(hook))
    return false;
  if (isDone())
    return true;
  // A sleeping worker must not prevent the awaited execution from running.
  BlockingScope blocking;
  while (true) {
    uint32_t seen = state.fetch_or(waitersBit, std::memory_order_acq_rel) | waitersBit;
    if ((seen & ~waitersBit) != pending)
      return true;
    futexWait(state, seen, hook ? hookPeriodMs : -1);
    if (isDone())
      return true;
    if (hook && hook())
      return false;
  }
}
