// Collectives among participants of several processes: the same bits as in one process, for every division of the
// participants, and no endless waits.
#include "Check.h"
#include "Operands.h"
#include "distributed/InProcessTransport.h"
#include "runtime/Collective.h"
#include "runtime/RunContext.h"

#include <random>
#include <thread>

using namespace pcrt;
using test::InProcessTransport;
using test::Network;
using test::Operand;
using test::TestLaunch;

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

/// The processes of the four participants: all in one, two and two, one each, and others.
static const std::vector<std::vector<unsigned>> divisions = {{0, 0, 0, 0}, {0, 0, 1, 1}, {0, 1, 2, 3},
                                                             {0, 1, 0, 1}, {1, 0, 0, 0}, {2, 0, 1, 2}};

/// Each process of a division has a rendezvous, and a thread for each of its participants.
struct Run {
  explicit Run(const std::vector<unsigned> &owners, unsigned seed = 0) : owners(owners) {
    unsigned count = *std::max_element(owners.begin(), owners.end()) + 1;
    for (unsigned rank = 0; rank < count; ++rank) {
      transports.push_back(std::make_unique<InProcessTransport>(network, rank, count, seed));
      launches.push_back(RefPtr<TestLaunch>::adopt(new TestLaunch(*transports[rank], owners, {}, 1, 1, 7, "test")));
      meetings.push_back(RefPtr<Rendezvous>::adopt(
          new Rendezvous(static_cast<unsigned>(owners.size()), {}, RefPtr<SharedLaunch>(launches[rank].get()))));
    }
    for (auto &launch : launches)
      for (auto &other : launches)
        if (other.get() != launch.get())
          launch->others.push_back(other.get());
  }

  template <typename Body> void all(Body body) {
    std::vector<std::thread> threads;
    for (unsigned number = 0; number < owners.size(); ++number) {
      Rendezvous &meeting = *meetings[owners[number]];
      Participant *self = meeting.join(number);
      threads.emplace_back([self, number, &meeting, &body] {
        RefPtr<Error> error = body(meeting, number);
        endParticipant(self, error.get());
      });
    }
    for (std::thread &thread : threads)
      thread.join();
  }

  const std::vector<unsigned> owners;
  Network network;
  std::vector<std::unique_ptr<InProcessTransport>> transports;
  std::vector<RefPtr<TestLaunch>> launches;
  std::vector<RefPtr<Rendezvous>> meetings;
};

template <typename T>
static std::vector<std::vector<T>> results(const std::vector<unsigned> &owners, test::Dims inDims, test::Dims outDims,
                                           const std::vector<int64_t> &params,
                                           const std::vector<std::vector<T>> &inputs, unsigned seed = 0) {
  Run run(owners, seed);
  std::vector<std::vector<T>> found(owners.size());
  run.all([&](Rendezvous &meeting, unsigned number) {
    Operand<T> in(inDims, inputs[number]), out(outDims);
    // Twice: a group's later meetings have messages of their own.
    for (int round = 0; round < 2; ++round)
      CHECK(meeting.exchange(number, in, out, params.data()).isOk());
    found[number] = out.values;
    return RefPtr<Error>();
  });
  for (const auto &transport : run.transports)
    CHECK(!transport->hasWrongSize);
  CHECK(run.network.messages.empty());
  return found;
}

template <typename T> static std::vector<std::vector<T>> randomInputs(size_t size) {
  std::mt19937 random(static_cast<unsigned>(size));
  std::vector<std::vector<T>> inputs(4);
  for (std::vector<T> &each : inputs)
    for (size_t i = 0; i < size; ++i)
      each.push_back(static_cast<T>(static_cast<double>(random() % 2000) / 7 - 100));
  return inputs;
}

/// The same bits for every division.
template <typename T> static void agrees(test::Dims inDims, test::Dims outDims, const std::vector<int64_t> &params) {
  size_t size = 1;
  for (int64_t dim : inDims)
    size *= static_cast<size_t>(dim);
  auto inputs = randomInputs<T>(size);
  auto expected = results<T>(divisions[0], inDims, outDims, params, inputs);
  for (const std::vector<unsigned> &owners : divisions)
    for (unsigned seed : {0u, 5u})
      CHECK(results<T>(owners, inDims, outDims, params, inputs, seed) == expected);
}

static const Groups all4 = {{0, 1, 2, 3}}, pairs4 = {{0, 2}, {3, 1}}, reversed4 = {{3, 2, 1, 0}};

static void reducesWithTheSameBits() {
  for (const Groups &groups : {all4, pairs4, reversed4})
    for (int64_t size : {1, 3, 300, 5000, 70001}) {
      agrees<float>({size}, {size}, form(PCRT_ALL_REDUCE, groups));
      agrees<double>({size}, {size}, form(PCRT_ALL_REDUCE, groups, PCRT_REDUCTION_MAX));
      agrees<int8_t>({size}, {size}, form(PCRT_ALL_REDUCE, groups, PCRT_REDUCTION_PROD));
    }
  agrees<float>({}, {}, form(PCRT_ALL_REDUCE, all4));
  agrees<float>({0}, {0}, form(PCRT_ALL_REDUCE, all4));
}

static void gathersScattersAndExchanges() {
  for (int64_t dim : {0, 1, 2}) {
    test::Dims in = {4, 8, 12}, gathered = in, part = in;
    gathered[static_cast<size_t>(dim)] *= 4;
    part[static_cast<size_t>(dim)] /= 4;
    agrees<float>(in, gathered, form(PCRT_ALL_GATHER, all4, 0, dim));
    agrees<float>(in, part, form(PCRT_REDUCE_SCATTER, all4, 0, dim));
    for (int64_t other : {0, 1, 2}) {
      test::Dims out = in;
      out[static_cast<size_t>(dim)] /= 4;
      out[static_cast<size_t>(other)] *= 4;
      agrees<int32_t>(in, out, form(PCRT_ALL_TO_ALL, all4, 0, dim, other));
      test::Dims half = in;
      half[static_cast<size_t>(dim)] /= 2;
      half[static_cast<size_t>(other)] *= 2;
      agrees<int32_t>(in, half, form(PCRT_ALL_TO_ALL, pairs4, 0, dim, other));
    }
  }
}

static void permutes() {
  for (const std::vector<int64_t> &pairs :
       {std::vector<int64_t>{0, 1, 1, 2, 2, 3, 3, 0}, {0, 3}, {1, 1, 2, 0}, {0, 0, 0, 1, 0, 2, 0, 3}})
    agrees<float>({1000}, {1000}, form(PCRT_COLLECTIVE_PERMUTE, all4, 0, 0, 0, pairs));
  agrees<float>({7}, {7}, form(PCRT_COLLECTIVE_PERMUTE, pairs4, 0, 0, 0, {0, 1, 1, 0}));
}

/// A participant that fails ends the waits in all processes.
static void failsEverywhere() {
  for (const std::vector<unsigned> &owners : divisions) {
    Run run(owners);
    run.all([&](Rendezvous &meeting, unsigned number) {
      if (number == 2)
        return RefPtr<Error>::adopt(new Error(Code::OutOfMemory, "no memory", "f", ""));
      Operand<float> in({3}, std::vector<float>(3)), out({3});
      std::vector<int64_t> params = form(PCRT_ALL_REDUCE, all4);
      Status status = meeting.exchange(number, in, out, params.data());
      CHECK(!status.isOk() && status.code() == Code::OutOfMemory);
      return RefPtr<Error>::adopt(new Error(status, "f", ""));
    });
  }
}

/// A thread that runs its part of a launch because it waits for it asks its hook, also for started ones.
static void aWaiterCanBeInterrupted() {
  for (bool isStarted : {false, true}) {
    Run run({0, 1});
    run.all([&](Rendezvous &meeting, unsigned number) {
      Operand<float> in({3}, std::vector<float>(3)), out({3});
      std::vector<int64_t> params = form(PCRT_ALL_REDUCE, {{0, 1}});
      UnfinishedWork *unfinished = nullptr;
      if (number == 1) {
        while (!run.launches[1]->failure())
          std::this_thread::yield();
        CHECK(run.launches[1]->failure()->message == "the wait for it was interrupted in process 0");
        return RefPtr<Error>();
      }
      WaiterScope scope([] { return true; });
      Status status = isStarted ? meeting.start(number, in, out, params.data(), unfinished)
                                : meeting.exchange(number, in, out, params.data());
      if (isStarted)
        status = meeting.waitForStarted(number, static_cast<PcrtTensor>(out).data);
      CHECK(!status.isOk() && scope.isInterrupted() && WaiterScope::askHook());
      return RefPtr<Error>::adopt(new Error(status, "f", ""));
    });
  }
  CHECK(!WaiterScope::askHook());
}

/// Several are on their way while a participant computes, and are awaited in another order.
static void startedOnesHaveTheSameBits() {
  constexpr int64_t large = 70001, small = 5;
  auto some = randomInputs<float>(large), few = randomInputs<float>(small);
  std::vector<int64_t> sum = form(PCRT_ALL_REDUCE, all4), most = form(PCRT_ALL_REDUCE, pairs4, PCRT_REDUCTION_MAX),
                       next = form(PCRT_COLLECTIVE_PERMUTE, all4, 0, 0, 0, {0, 1, 1, 2, 2, 3, 3, 0});
  auto sums = results<float>(divisions[0], {large}, {large}, sum, some);
  auto maxima = results<float>(divisions[0], {small}, {small}, most, few);
  auto moved = results<float>(divisions[0], {small}, {small}, next, few);
  for (const std::vector<unsigned> &owners : divisions)
    for (unsigned seed : {0u, 5u}) {
      Run run(owners, seed);
      run.all([&](Rendezvous &meeting, unsigned number) {
        UnfinishedWork *unfinished = nullptr;
        for (int round = 0; round < 3; ++round) {
          Operand<float> in({large}, some[number]), out({large}), in2({small}, few[number]), out2({small}),
              out3({small}), out4({small});
          auto start = [&](Operand<float> &from, Operand<float> &to, const std::vector<int64_t> &params) {
            // The caller's arrays are gone when the collective runs.
            std::vector<int64_t> copy = params;
            PcrtTensor input = from, output = to;
            std::vector<int64_t> dims(input.dims, input.dims + input.rank);
            input.dims = output.dims = dims.data();
            CHECK(meeting.start(number, input, output, copy.data(), unfinished).isOk());
            copy.assign(copy.size(), -1);
            dims.assign(dims.size(), -1);
          };
          start(in, out, sum);
          start(in2, out2, most);
          CHECK(meeting.waitForStarted(number, out2.values.data()).isOk());
          start(in2, out3, next);
          if (round == 1) // Another one waits for all.
            CHECK(meeting.exchange(number, in2, out4, most.data()).isOk());
          CHECK(meeting.waitForStarted(number, out3.values.data()).isOk());
          CHECK(meeting.waitForStarted(number, out.values.data()).isOk());
          CHECK(out.values == sums[number] && out2.values == maxima[number] && out3.values == moved[number]);
          CHECK(round != 1 || out4.values == maxima[number]);
        }
        if (unfinished)
          unfinished->finish();
        return RefPtr<Error>();
      });
      CHECK(run.network.messages.empty());
    }
}

/// Its memory is free when a participant leaves, whether it has waited or not, and a failure is not lost.
static void startedOnesFail() {
  for (const std::vector<unsigned> &owners : divisions)
    for (int kind = 0; kind < 3; ++kind) {
      Run run(owners);
      run.all([&](Rendezvous &meeting, unsigned number) {
        if (number == 2)
          return RefPtr<Error>::adopt(new Error(Code::OutOfMemory, "no memory", "f", ""));
        Operand<float> in({3}, std::vector<float>(3)), out({3}), out2({3});
        std::vector<int64_t> params = form(PCRT_ALL_REDUCE, all4);
        UnfinishedWork *unfinished = nullptr;
        Status status = meeting.start(number, in, out, params.data(), unfinished);
        if (status.isOk() && kind == 1) {
          Status other = meeting.exchange(number, in, out2, params.data());
          CHECK(!other.isOk());
        }
        if (status.isOk() && kind != 2)
          status = meeting.waitForStarted(number, out.values.data());
        CHECK((status.isOk() && kind == 2) || status.code() == Code::OutOfMemory);
        if (unfinished)
          unfinished->finish();
        return RefPtr<Error>::adopt(new Error(Code::OutOfMemory, "no memory", "f", ""));
      });
    }
}

int main() {
  RUN(startedOnesHaveTheSameBits);
  RUN(startedOnesFail);
  RUN(reducesWithTheSameBits);
  RUN(gathersScattersAndExchanges);
  RUN(permutes);
  RUN(failsEverywhere);
  RUN(aWaiterCanBeInterrupted);
  return test::failures() ? 1 : 0;
}
