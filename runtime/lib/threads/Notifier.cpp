// The list of completed tokens, and the descriptor that signals that it is not empty.
#include "runtime/Notifier.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/eventfd.h>
#include <unistd.h>

using namespace pcrt;

Result<RefPtr<Notifier>> Notifier::create() {
  int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (event < 0)
    return Status(Code::OutOfMemory, std::string("no descriptor to wait on: ") + std::strerror(errno));
  return RefPtr<Notifier>::adopt(new Notifier(event));
}

Notifier::~Notifier() {
  for (Watch *watch = done.load(std::memory_order_acquire); watch;)
    delete std::exchange(watch, watch->nextDone);
  close(event);
}

bool Notifier::watch(Token &token, uint64_t key) {
  auto *watch = new Watch();
  watch->run = [](Continuation *self) {
    auto *watch = static_cast<Watch *>(self);
    // An entry of the list must not keep the notifier, which keeps the list.
    RefPtr<Notifier> notifier = std::move(watch->notifier);
    notifier->add(watch);
  };
  watch->notifier = RefPtr<Notifier>(this);
  watch->key = key;
  if (token.then(watch))
    return true;
  delete watch;
  return false;
}

void Notifier::add(Watch *watch) {
  Watch *head = done.load(std::memory_order_relaxed);
  do
    watch->nextDone = head;
  while (!done.compare_exchange_weak(head, watch, std::memory_order_acq_rel, std::memory_order_relaxed));
  // The thread that found the list empty wakes the loop, which takes all entries that exist by then.
  uint64_t one = 1;
  if (!head && write(event, &one, sizeof(one)) < 0) {
    // The counter is full, so the descriptor is readable.
  }
}

std::vector<uint64_t> Notifier::take() {
  // Read first the descriptor, then the list: an entry that is added in between makes the descriptor readable again.
  uint64_t count;
  if (read(event, &count, sizeof(count)) < 0) {
    // No write since the last call; the list may have entries all the same.
  }
  std::vector<uint64_t> keys;
  for (Watch *watch = done.exchange(nullptr, std::memory_order_acq_rel); watch;) {
    keys.push_back(watch->key);
    delete std::exchange(watch, watch->nextDone);
  }
  std::reverse(keys.begin(), keys.end());
  return keys;
}
