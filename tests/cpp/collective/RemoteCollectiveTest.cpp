// Collectives among participants of several processes: the same bits as in one process, for every division of the
// participants, and no endless waits.
#include "Check.h"
#include "Operands.h"
#include "distributed/InProcessTransport.h"
#include "runtime/Collective.h"

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
      launches.push_back(RefPtr<TestLaunch>::adopt(new TestLaunch(*transports[rank], owners, 1, 1, 7, "test")));
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

int main() {
  RUN(reducesWithTheSameBits);
  RUN(gathersScattersAndExchanges);
  RUN(permutes);
  RUN(failsEverywhere);
  return test::failures() ? 1 : 0;
}
