// The notifier of event loops: it reports completed tokens, misses none, and keeps none alive.
#include "runtime/Notifier.h"
#include "Check.h"

#include <algorithm>
#include <poll.h>
#include <thread>
#include <unistd.h>

using namespace pcrt;

static bool isReadable(const Notifier &notifier, int milliseconds) {
  pollfd descriptor{notifier.descriptor(), POLLIN, 0};
  return poll(&descriptor, 1, milliseconds) == 1;
}

static void tellsWhatIsDone() {
  auto notifier = Notifier::create().take();
  auto first = RefPtr<Token>::adopt(new Token()), second = RefPtr<Token>::adopt(new Token());
  CHECK(notifier->watch(*first, 1) && notifier->watch(*second, 2) && notifier->watch(*first, 3));
  CHECK(!isReadable(*notifier, 0) && notifier->take().empty());
  second->complete();
  CHECK(isReadable(*notifier, 0));
  first->complete(RefPtr<Error>::adopt(new Error(Code::LibraryFailed, "it broke", "kernel", "")));
  CHECK((notifier->take() == std::vector<uint64_t>{2, 1, 3}));
  CHECK(!isReadable(*notifier, 0) && notifier->take().empty());
  CHECK(!notifier->watch(*first, 4)); // done already
}

static void outlivesItsOwner() {
  auto token = RefPtr<Token>::adopt(new Token()), done = RefPtr<Token>::adopt(new Token());
  {
    auto notifier = Notifier::create().take();
    CHECK(notifier->watch(*token, 1) && notifier->watch(*done, 2));
    done->complete(); // never taken
  }
  token->complete();
}

static void missesNothing() {
  constexpr unsigned threads = 4, each = 500;
  auto notifier = Notifier::create().take();
  std::vector<RefPtr<Token>> tokens;
  for (unsigned i = 0; i < threads * each; ++i) {
    tokens.push_back(RefPtr<Token>::adopt(new Token()));
    CHECK(notifier->watch(*tokens.back(), i));
  }
  std::vector<std::thread> workers;
  for (unsigned t = 0; t < threads; ++t)
    workers.emplace_back([&, t] {
      for (unsigned i = 0; i < each; ++i)
        tokens[t * each + i]->complete();
    });
  std::vector<uint64_t> keys;
  while (keys.size() < threads * each) {
    if (!CHECK(isReadable(*notifier, 10000)))
      break;
    for (uint64_t key : notifier->take())
      keys.push_back(key);
  }
  for (std::thread &worker : workers)
    worker.join();
  std::sort(keys.begin(), keys.end());
  CHECK(std::unique(keys.begin(), keys.end()) == keys.end() && keys.size() == threads * each);
}

int main() {
  RUN(tellsWhatIsDone);
  RUN(outlivesItsOwner);
  RUN(missesNothing);
  return test::failures() != 0;
}
