// Collectives: the results of each, equal bits for all members, and no endless waits.
#include "runtime/Collective.h"
#include "Check.h"
#include "Operands.h"
#include "runtime/BufferPool.h"
#include "runtime/Device.h"
#include "runtime/Devices.h"
#include "runtime/Executable.h"
#include "runtime/Stream.h"

#include <chrono>
#include <cstring>

using namespace pcrt;
using test::Operand;

using Groups = std::vector<std::vector<int64_t>>;

static std::vector<int64_t> form(PcrtCollective code, const Groups &groups, int64_t reduction = 0,
                                 int64_t dimension = 0, int64_t other = 0, const std::vector<int64_t> &pairs = {}) {
  std::vector<int64_t> params = {code,
                                 reduction,
                                 dimension,
                                 other,
                                 static_cast<int64_t>(pairs.size() / 2),
                                 static_cast<int64_t>(groups.size()),
                                 static_cast<int64_t>(groups[0].size())};
  for (const std::vector<int64_t> &group : groups)
    params.insert(params.end(), group.begin(), group.end());
  params.insert(params.end(), pairs.begin(), pairs.end());
  return params;
}

/// Runs `body(number)` in a thread for each participant; its error, or null, ends the participant.
template <typename Body> static void runAll(Rendezvous &run, Body body) {
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < run.size(); ++number) {
    Participant *self = run.join(number);
    threads.emplace_back([self, number, &body] {
      RefPtr<Error> error = body(number);
      endParticipant(self, error.get());
    });
  }
  for (std::thread &thread : threads)
    thread.join();
}

static RefPtr<Rendezvous> makeRun(unsigned count) { return RefPtr<Rendezvous>::adopt(new Rendezvous(count)); }

/// The outputs of one collective with input `input(p)` of participant p.
template <typename T, typename Input>
static std::vector<std::vector<T>> results(unsigned count, test::Dims inDims, test::Dims outDims,
                                           std::vector<int64_t> params, Input input) {
  RefPtr<Rendezvous> run = makeRun(count);
  std::vector<std::vector<T>> found(count);
  runAll(*run, [&](unsigned number) {
    Operand<T> in(inDims, input(number)), out(outDims);
    CHECK(run->exchange(number, in, out, params.data()).isOk());
    found[number] = out.values;
    return RefPtr<Error>();
  });
  return found;
}

static const Groups all4 = {{0, 1, 2, 3}}, pairs4 = {{0, 2}, {3, 1}};

static void reduces() {
  auto input = [](unsigned p) { return std::vector<float>{float(p), -1.5f * float(p), 1}; };
  for (const auto &row : results<float>(4, {3}, {3}, form(PCRT_ALL_REDUCE, all4), input))
    CHECK((row == std::vector<float>{6, -9, 4}));
  auto grouped = results<float>(4, {3}, {3}, form(PCRT_ALL_REDUCE, pairs4, PCRT_REDUCTION_MIN), input);
  CHECK((grouped[0] == std::vector<float>{0, -3, 1}) && grouped[2] == grouped[0]);
  CHECK((grouped[1] == std::vector<float>{1, -4.5f, 1}) && grouped[3] == grouped[1]);
  auto wraps =
      results<uint8_t>(4, {}, {}, form(PCRT_ALL_REDUCE, all4), [](unsigned) { return std::vector<uint8_t>{100}; });
  CHECK(wraps[3] == std::vector<uint8_t>{144});
  auto bits = [](unsigned p) { return std::vector<int32_t>{int32_t(p) + 4}; };
  CHECK(results<int32_t>(4, {}, {}, form(PCRT_ALL_REDUCE, all4, PCRT_REDUCTION_AND), bits)[1][0] == 4);
  CHECK(results<int32_t>(4, {}, {}, form(PCRT_ALL_REDUCE, all4, PCRT_REDUCTION_OR), bits)[1][0] == 7);
  CHECK(results<int32_t>(4, {}, {}, form(PCRT_ALL_REDUCE, all4, PCRT_REDUCTION_PROD), bits)[1][0] == 4 * 5 * 6 * 7);
  auto nan = results<double>(4, {}, {}, form(PCRT_ALL_REDUCE, all4, PCRT_REDUCTION_MAX),
                             [](unsigned p) { return std::vector<double>{p == 2 ? test::notANumber : 1.0}; });
  CHECK(nan[0][0] != nan[0][0]);
  CHECK(results<float>(4, {0}, {0}, form(PCRT_ALL_REDUCE, all4), [](unsigned) { return std::vector<float>(); })[0]
            .empty());
}

/// Large enough for several items, which several threads execute.
static void givesAllTheSameBits() {
  constexpr size_t size = 300000;
  auto input = [](unsigned p) {
    std::vector<float> values(size);
    for (size_t i = 0; i < size; ++i)
      values[i] = 1.0f / float(i % 1000 + 3 * p + 1);
    return values;
  };
  auto found = results<float>(4, {size}, {size}, form(PCRT_ALL_REDUCE, all4), input);
  bool areRight = true, areSame = true;
  std::vector<std::vector<float>> inputs = {input(0), input(1), input(2), input(3)};
  for (size_t i = 0; i < size; ++i)
    areRight &= found[0][i] == ((inputs[0][i] + inputs[1][i]) + inputs[2][i]) + inputs[3][i];
  for (const auto &row : found)
    areSame &= row == found[0];
  CHECK(areRight && areSame);
}

/// Participant p has 10 p + 0, 1, ...
static std::vector<int16_t> counted(unsigned p, size_t size) {
  std::vector<int16_t> values(size);
  for (size_t i = 0; i < size; ++i)
    values[i] = static_cast<int16_t>(10 * p + i);
  return values;
}

static void moves() {
  const Groups both = {{0, 1}};
  auto four = [](unsigned p) { return counted(p, 4); };
  CHECK((results<int16_t>(2, {2, 2}, {4, 2}, form(PCRT_ALL_GATHER, both, 0, 0), four)[1] ==
         std::vector<int16_t>{0, 1, 2, 3, 10, 11, 12, 13}));
  CHECK((results<int16_t>(2, {2, 2}, {2, 4}, form(PCRT_ALL_GATHER, both, 0, 1), four)[0] ==
         std::vector<int16_t>{0, 1, 10, 11, 2, 3, 12, 13}));
  auto scattered = results<int16_t>(2, {2, 2}, {2, 1}, form(PCRT_REDUCE_SCATTER, both, 0, 1), four);
  CHECK((scattered[0] == std::vector<int16_t>{10, 14}) && (scattered[1] == std::vector<int16_t>{12, 16}));
  auto across = results<int16_t>(2, {2, 2}, {1, 4}, form(PCRT_ALL_TO_ALL, both, 0, 0, 1), four);
  CHECK((across[0] == std::vector<int16_t>{0, 1, 10, 11}) && (across[1] == std::vector<int16_t>{2, 3, 12, 13}));
  auto down = results<int16_t>(2, {2, 2}, {4, 1}, form(PCRT_ALL_TO_ALL, both, 0, 1, 0), four);
  CHECK((down[0] == std::vector<int16_t>{0, 2, 10, 12}) && (down[1] == std::vector<int16_t>{1, 3, 11, 13}));
  auto same = results<int16_t>(2, {2, 2}, {2, 2}, form(PCRT_ALL_TO_ALL, both, 0, 1, 1), four);
  CHECK((same[0] == std::vector<int16_t>{0, 10, 2, 12}) && (same[1] == std::vector<int16_t>{1, 11, 3, 13}));
  auto sent = results<int16_t>(4, {1}, {1}, form(PCRT_COLLECTIVE_PERMUTE, pairs4, 0, 0, 0, {1, 0}),
                               [](unsigned p) { return counted(p, 1); });
  CHECK(sent[0][0] == 20 && sent[2][0] == 0 && sent[3][0] == 10 && sent[1][0] == 0);
}

/// Hundreds of meetings of changing groups: members reach the next group at different times.
static void meetsAgainAndAgain() {
  RefPtr<Rendezvous> run = makeRun(4);
  const std::vector<int64_t> rows = form(PCRT_ALL_REDUCE, {{0, 1}, {2, 3}}),
                             columns = form(PCRT_ALL_REDUCE, {{0, 2}, {1, 3}}), whole = form(PCRT_ALL_REDUCE, all4);
  std::atomic<bool> isRight{true};
  runAll(*run, [&](unsigned number) {
    Operand<int64_t> value({}, {int64_t(number)}), sum({});
    for (int64_t step = 0; step < 300; ++step) {
      const auto &params = step % 3 == 0 ? rows : step % 3 == 1 ? columns : whole;
      value.values[0] = step + number;
      if (!run->exchange(number, value, sum, params.data()).isOk())
        isRight = false;
      int64_t partner = step % 3 == 0 ? number ^ 1 : number ^ 2;
      if (sum.values[0] != (step % 3 == 2 ? 4 * step + 6 : 2 * step + number + partner))
        isRight = false;
    }
    return RefPtr<Error>();
  });
  CHECK(isRight);
}

static RefPtr<Error> causeOf(Rendezvous &run, unsigned number) {
  RefPtr<Error> cause = collectiveFailure(run.join(number));
  run.release(); // the reference of join: it continues
  return cause;
}

/// A failed member fails its groups with its error, also through another member; other groups do not fail.
static void failsWithTheFirstCause() {
  for (int repetition = 0; repetition < 20; ++repetition) {
    RefPtr<Rendezvous> run = makeRun(6);
    auto first = RefPtr<Error>::adopt(new Error(Code::OutOfMemory, "no room", "", ""));
    const std::vector<int64_t> pairs = form(PCRT_ALL_REDUCE, {{0, 1}, {2, 3}, {4, 5}}),
                               others = form(PCRT_ALL_REDUCE, {{1, 2}, {3, 0}, {4, 5}});
    std::atomic<int> failed{0};
    runAll(*run, [&](unsigned number) {
      if (number == 0)
        return first;
      for (const auto *params : {&pairs, &others}) {
        Operand<float> x({2}), y({2});
        if (run->exchange(number, x, y, params->data()).isOk())
          continue;
        RefPtr<Error> cause = causeOf(*run, number);
        CHECK(cause.get() == first.get());
        ++failed;
        return cause;
      }
      return RefPtr<Error>();
    });
    CHECK(failed == 3);
  }
}

static void failsWhenOneEndsEarly() {
  RefPtr<Rendezvous> run = makeRun(2);
  runAll(*run, [&](unsigned number) {
    if (number == 0)
      return RefPtr<Error>();
    Operand<float> x({2}), y({2});
    Status status = run->exchange(number, x, y, form(PCRT_ALL_REDUCE, {{0, 1}}).data());
    CHECK(!causeOf(*run, number) && status.message().find("participant 0 has ended") != std::string::npos);
    return RefPtr<Error>();
  });
}

static void failsWhenTheyDiffer() {
  RefPtr<Rendezvous> run = makeRun(2);
  runAll(*run, [&](unsigned number) {
    Operand<float> x({2}), y({2});
    auto params = form(PCRT_ALL_REDUCE, {{0, 1}}, number ? PCRT_REDUCTION_MAX : PCRT_REDUCTION_SUM);
    CHECK(!run->exchange(number, x, y, params.data()).isOk());
    return RefPtr<Error>();
  });
}

static void failsWhenAllWaitForOthers() {
  RefPtr<Rendezvous> run = makeRun(3);
  runAll(*run, [&](unsigned number) {
    Operand<float> x({2}), y({2});
    int64_t next = (number + 1) % 3;
    auto params = form(PCRT_ALL_REDUCE, {{int64_t(number), next}});
    Status status = run->exchange(number, x, y, params.data());
    RefPtr<Error> cause = causeOf(*run, number);
    CHECK(!status.isOk());
    CHECK(cause || status.message().find("one order") != std::string::npos ||
          status.message().find("has ended") != std::string::npos);
    return RefPtr<Error>::adopt(new Error(Code::InvalidArgument, status.message(), "", ""));
  });
}

//===-- Starting together
//-------------------------------------------------------------------------------------------===//

static void waitsForAllTokens() {
  auto done = RefPtr<Token>::adopt(new Token()), pending = RefPtr<Token>::adopt(new Token()),
       failing = RefPtr<Token>::adopt(new Token());
  done->complete();
  CHECK(!whenAllDone({}) && !whenAllDone({nullptr, done.get()}));
  RefPtr<Token> all = whenAllDone({pending.get(), nullptr, done.get(), failing.get(), pending.get()});
  REQUIRE(all && !all->isDone());
  failing->complete(RefPtr<Error>::adopt(new Error(Code::Unknown, "", "", "")));
  CHECK(!all->isDone());
  std::thread other([&] { pending->complete(); });
  CHECK(all->wait() && !all->error());
  other.join();
}

//===-- On streams
//--------------------------------------------------------------------------------------------------===//

/// Sums its argument over eight participants, twice.
static int32_t sumTwice(const PcrtFrame *frame) {
  static const std::vector<int64_t> params = form(PCRT_ALL_REDUCE, {{0, 1, 2, 3, 4, 5, 6, 7}});
  int64_t between = 0;
  auto tensor = [](void *data) { return PcrtTensor{data, nullptr, 0, PCRT_DTYPE_Int64}; };
  PcrtTensor in = tensor(const_cast<void *>(frame->args[0])), middle = tensor(&between),
             out = tensor(frame->results[0]);
  int32_t status = frame->table->collective(frame, &in, 1, &middle, 1, params.data());
  return status != PCRT_OK ? status : frame->table->collective(frame, &middle, 1, &out, 1, params.data());
}

namespace {
/// One run of eight participants on the first device, with its arguments and results.
struct StreamRun {
  StreamRun(Executable &executable, int64_t base, int failing) : run(makeRun(8)) {
    Device &device = Devices::cpu();
    for (unsigned p = 0; p < 8; ++p) {
      args.push_back(device.memory().allocate(8).take());
      results.push_back(device.memory().allocate(8).take());
      *static_cast<int64_t *>(args[p]->data()) = base + p;
      if (int(p) == failing)
        args[p]->setToken(Token::failed(RefPtr<Error>::adopt(new Error(Code::OutOfMemory, "poison", "", ""))));
    }
    for (unsigned p = 0; p < 8; ++p) {
      Buffer *arg = args[p].get(), *result = results[p].get();
      Launch launch = {&executable, &arg, 1, &result, 1, nullptr};
      launch.participant = run->join(p);
      device.stream().enqueue(launch);
    }
  }
  RefPtr<Rendezvous> run;
  std::vector<RefPtr<Buffer>> args, results;
};
} // namespace

/// Many runs of more participants than there are threads, launched by several threads at once.
static void sharesThePool() {
  auto executable = RefPtr<Executable>::adopt(new Executable(sumTwice, 0, "sumTwice", 1e3, /*mayBlock=*/true));
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      std::vector<std::unique_ptr<StreamRun>> runs;
      for (int i = 0; i < 10; ++i)
        runs.push_back(std::make_unique<StreamRun>(*executable, 100 * t + i, i % 5 == 4 ? i % 8 : -1));
      for (int i = 0; i < 10; ++i) {
        for (RefPtr<Buffer> &result : runs[static_cast<size_t>(i)]->results) {
          if (result->token())
            CHECK(result->token()->wait());
          if (i % 5 == 4)
            CHECK(result->error() && result->error()->message == "poison");
          else
            CHECK(!result->error() && *static_cast<int64_t *>(result->data()) == 8 * (8 * (100 * t + i) + 28));
        }
      }
    });
  }
  for (std::thread &thread : threads)
    thread.join();
  CHECK(Devices::synchronize());
}

int main() {
  RUN(reduces);
  RUN(givesAllTheSameBits);
  RUN(moves);
  RUN(meetsAgainAndAgain);
  RUN(failsWithTheFirstCause);
  RUN(failsWhenOneEndsEarly);
  RUN(failsWhenTheyDiffer);
  RUN(failsWhenAllWaitForOthers);
  RUN(waitsForAllTokens);
  RUN(sharesThePool);
  Devices::shutdown();
  return test::failures() != 0;
}
