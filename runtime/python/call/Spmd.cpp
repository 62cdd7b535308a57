// run_spmd: one launch for each participant, on the stream of its device and into its memory, and a rendezvous for
// their collectives. Everything that can fail comes before the first launch, because all of them have to start.
#include "call/Spmd.h"

#include "array/CallbackWait.h"
#include "array/Pending.h"
#include "call/ExecutableType.h"
#include "runtime/Collective.h"
#include "runtime/Devices.h"
#include "runtime/EffectfulLaunch.h"
#include "runtime/Processes.h"
#include "runtime/ThreadPool.h"
#include "support/CallSite.h"
#include "support/Gil.h"
#include "support/Wait.h"

#include <atomic>
#include <map>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

using namespace pcrt;
using namespace pcrt::python;
namespace nb = nanobind;

namespace {

/// The buffers of one participant, held while the GIL is released.
struct Part {
  Device *device;
  std::vector<RefPtr<Buffer>> args, results;
  uint64_t resultBytes = 0;

  Launch launch(Executable &executable, std::vector<Buffer *> &pointers, const char *place) const {
    pointers.clear();
    for (const std::vector<RefPtr<Buffer>> *buffers : {&args, &results})
      for (const RefPtr<Buffer> &buffer : *buffers)
        pointers.push_back(buffer.get());
    return {&executable,
            pointers.data(),
            static_cast<unsigned>(args.size()),
            pointers.data() + args.size(),
            static_cast<unsigned>(results.size()),
            place};
  }
};

/// A launch of which other processes run a part: the numbers of the participants here, and the launch of all.
struct OverProcesses {
  std::vector<unsigned> numbers;
  RefPtr<SharedLaunch> launch;
};

} // namespace

/// The arguments, copied to the device if they are elsewhere. False with an exception set.
static bool takeArguments(nb::sequence given, Part &part) {
  for (nb::handle object : given) {
    if (!isArray(object.ptr())) {
      PyErr_SetString(PyExc_TypeError, "run_spmd: an argument is not an Array");
      return false;
    }
    RefPtr<Buffer> buffer = elementsOn(*part.device, asArray(object.ptr()));
    if (!buffer)
      return false;
    if (isDeleted(buffer.get())) {
      raise(*buffer->error());
      return false;
    }
    part.args.push_back(std::move(buffer));
  }
  return true;
}

static bool makeResults(nb::sequence avals, const std::string &name, Part &part) {
  for (nb::handle object : avals) {
    auto *aval = reinterpret_cast<AvalObject *>(object.ptr());
    if (!isAval(object.ptr()) || !aval->isConcrete()) {
      PyErr_SetString(PyExc_TypeError, "run_spmd: out_avals must be concrete ShapedArrays");
      return false;
    }
    waitForFreed(*part.device, aval);
    RefPtr<Buffer> buffer = allocateBuffer(*part.device, aval, name.c_str());
    if (!buffer)
      return false;
    part.resultBytes += buffer->size();
    part.results.push_back(std::move(buffer));
  }
  return true;
}

/// Waits until every device has room for another call; false with an exception set.
static bool waitForRoom(const std::vector<Part> &parts) {
  for (const Part &part : parts) {
    Stream &stream = part.device->stream();
    if (stream.hasRoom(part.resultBytes))
      continue;
    WithoutGil released;
    if (!stream.waitForRoom(part.resultBytes, interrupted))
      return false;
  }
  return true;
}

/// Done when the arguments of all participants are ready, or on their devices' streams. Participants start together.
/// Otherwise those with early arguments would block threads while they wait for the others, in this run and in a
/// thousand later ones.
static RefPtr<Token> argumentsReady(const std::vector<Part> &parts) {
  std::vector<Token *> tokens;
  for (const Part &part : parts)
    for (const RefPtr<Buffer> &buffer : part.args)
      if (Token *token = buffer->token())
        tokens.push_back(token->orderedOn(part.device->stream()));
  return whenAllDone(tokens);
}

/// The last launch over processes on a GPU of this process, whose own work has begun or will. Under the GIL, which
/// gives the launches their order.
static RefPtr<Token> &lastOn(const Device &device) {
  static auto *const all = new std::map<const Device *, RefPtr<Token>>();
  return (*all)[&device];
}

/// The condition for a launch over processes on a GPU: the host's part of the previous one has run. So exchanges with
/// other processes are on the stream in the order of the launches, as on the streams of the other processes (lib/cuda).
/// Null for none.
static RefPtr<Token> afterLastOn(Device &device) {
  Token *last = lastOn(device).get();
  return last && !last->isDone() ? whenAllDone({last->orderedOn(device.stream())}) : RefPtr<Token>();
}

/// Each launch is enqueued, at any cost of the runs: a participant that ran in this thread would wait for later
/// launches. If everything is to run in place, or the callbacks are waited for, this waits for the launches.
static bool launchAll(Executable &executable, const std::vector<Part> &parts, const OverProcesses &over) {
  static std::atomic<uint64_t> calls{0};
  const uint64_t call = ++calls;
  const char *place = callSite();
  auto numberOf = [&](size_t i) { return over.launch ? over.numbers[i] : static_cast<unsigned>(i); };
  std::vector<Device *> devices(over.launch ? over.launch->owners.size() : parts.size());
  for (size_t i = 0; i < parts.size(); ++i)
    devices[numberOf(i)] = parts[i].device;
  const auto count = static_cast<unsigned>(devices.size());
  auto run = RefPtr<Rendezvous>::adopt(new Rendezvous(count, std::move(devices), over.launch));
  RefPtr<Token> ready = argumentsReady(parts), turn;
  bool inPlace = false;
  std::vector<RefPtr<Token>> waitedFor;
  const bool waits = waitsForCallbacks(executable);
  if (waits || over.launch)
    for (size_t i = 0; i < parts.size(); ++i)
      waitedFor.push_back(RefPtr<Token>::adopt(new Token()));
  if (over.launch) {
    std::vector<Token *> ends;
    for (const RefPtr<Token> &each : waitedFor)
      ends.push_back(each.get());
    turn = Processes::current()->turn(whenAllDone(ends));
  }
  std::vector<Token *> after;
  for (Token *each : {ready.get(), turn.get()})
    if (each)
      after.push_back(each);
  std::vector<Buffer *> pointers;
  for (unsigned number = 0; number < parts.size(); ++number) {
    Launch launch = parts[number].launch(executable, pointers, place);
    Stream &stream = parts[number].device->stream();
    Stream::LaunchPolicy policy = stream.policyOf(launch);
    inPlace |= policy == Stream::LaunchPolicy::Inline || policy == Stream::LaunchPolicy::InlineWithoutGil;
    const bool isOrdered = over.launch && !parts[number].device->hasHostMemory();
    RefPtr<Token> before = isOrdered ? afterLastOn(*parts[number].device) : RefPtr<Token>();
    std::vector<Token *> all = after;
    if (before)
      all.push_back(before.get());
    launch.after = all.data();
    launch.afterCount = static_cast<unsigned>(all.size());
    launch.participant = run->join(numberOf(number));
    if (!waitedFor.empty())
      launch.completes = waitedFor[number].get();
    if (executable.effects() == Executable::Effects::None)
      stream.enqueue(launch);
    else
      EffectfulLaunch(launch, executable.effects(), call).enqueue(stream);
    if (isOrdered) {
      const std::vector<RefPtr<Buffer>> &results = parts[number].results;
      lastOn(*parts[number].device) = results.empty() ? waitedFor[number] : RefPtr<Token>(results.front()->token());
    }
  }
  if (waits)
    return finishCallbacks(waitedFor);
  if (!inPlace)
    return true;
  WithoutGil released;
  for (const Part &part : parts)
    for (const RefPtr<Buffer> &result : part.results)
      if (result->token() && !result->token()->wait(interrupted))
        return false;
  return true;
}

/// The participants of a launch over processes, of which `owners` gives the processes and devices; none without it.
/// `what` is the name of the program and, after a unit separator, the types of its arguments.
static OverProcesses overProcesses(nb::handle numbers, nb::handle owners, uint64_t fingerprint,
                                   const std::string &what) {
  OverProcesses over;
  if (owners.is_none())
    return over;
  Processes *processes = Processes::current();
  if (!processes)
    throw nb::value_error("run_spmd: this process has no others");
  for (nb::handle number : nb::cast<nb::sequence>(numbers))
    over.numbers.push_back(nb::cast<unsigned>(number));
  std::vector<unsigned> ranks;
  std::vector<int> deviceIds;
  for (auto [rank, id] : nb::cast<std::vector<std::pair<unsigned, int>>>(owners)) {
    ranks.push_back(rank);
    deviceIds.push_back(id);
  }
  const char *place = callSite();
  const std::string name = SharedLaunch::shown(what);
  std::string program =
      "`" + name + "`" + (place && *place ? std::string(" (") + place + ")" : "") + what.substr(name.size());
  Result<RefPtr<SharedLaunch>> launch =
      processes->launch(std::move(ranks), std::move(deviceIds), fingerprint, std::move(program));
  if (!launch.isOk()) {
    raise(launch.status(), name.c_str());
    throw nb::python_error();
  }
  over.launch = launch.take();
  return over;
}

/// This process can't begin its part: the launch, which the others begin, fails everywhere. Keeps the exception that is
/// set.
static void failForAll(nb::handle numbers, nb::handle owners, uint64_t fingerprint, const std::string &what) {
  if (owners.is_none() || !PyErr_Occurred())
    return;
  nb::python_error raised;
  nb::object given = nb::borrow(raised.value());
  const std::string cause =
      nb::cast<std::string>(nb::type_name(given.type())) + ": " + nb::cast<std::string>(nb::str(given));
  try {
    OverProcesses over = overProcesses(numbers, owners, fingerprint, what);
    auto error = RefPtr<Error>::adopt(new Error(Code::LibraryFailed, cause, "", ""));
    WithoutGil released;
    over.launch->tell(*error);
  } catch (nb::python_error &) {
    // Another process has failed: all processes know this.
  }
  raised.restore();
}

static nb::list runSpmd(nb::handle executable, nb::sequence devices, nb::sequence args, nb::sequence outAvals,
                        nb::handle numbers, nb::handle owners, uint64_t fingerprint, const std::string &what) {
  LoadedExecutable *loaded = loadedExecutable(executable.ptr());
  if (!loaded)
    throw nb::python_error();
  Executable &program = *loaded->executable;
  if (!program.mayBlock())
    throw nb::value_error("run_spmd: the executable was not loaded with may_block=True");
  // Ordered launches run one after the other, so those of several devices could not meet in a collective.
  if (program.effects() == Executable::Effects::Ordered && (nb::len(devices) > 1 || !owners.is_none()))
    throw nb::value_error("run_spmd: ordered effects have no order on several devices: leave out ordered=True");
  // At exit the threads are gone, and participants cannot wait for each other in one thread.
  if (Devices::cpu().threads().isStopped())
    nb::raise("%s: the runtime was shut down", program.name().c_str());
  if (nb::len(devices) != nb::len(args))
    throw nb::value_error("run_spmd: as many lists of arguments as devices are needed");
  std::vector<Part> parts(nb::len(devices));
  for (size_t number = 0; number < parts.size(); ++number) {
    nb::object device = devices[number];
    parts[number].device = deviceOf(device.ptr());
    if (!parts[number].device || !takeArguments(nb::cast<nb::sequence>(args[number]), parts[number]) ||
        !makeResults(outAvals, program.name(), parts[number])) {
      failForAll(numbers, owners, fingerprint, what);
      throw nb::python_error();
    }
  }
  if (!waitForRoom(parts)) {
    failForAll(numbers, owners, fingerprint, what);
    throw nb::python_error();
  }
  // Last: the others will wait for a launch that has a number.
  if (!launchAll(program, parts, overProcesses(numbers, owners, fingerprint, what)))
    throw nb::python_error();
  nb::list found;
  for (Part &part : parts) {
    nb::list results;
    for (size_t i = 0; i < part.results.size(); ++i) {
      nb::object aval = outAvals[i];
      PyObject *array = newArray(reinterpret_cast<AvalObject *>(aval.ptr()), std::move(part.results[i]), true);
      if (!array)
        throw nb::python_error();
      results.append(nb::steal(array));
    }
    found.append(results);
  }
  return found;
}

void pcrt::python::addSpmdFunctions(nb::module_ &module) {
  module.def("run_spmd", runSpmd, nb::arg("executable"), nb::arg("devices"), nb::arg("args"), nb::arg("out_avals"),
             nb::arg("numbers") = nb::none(), nb::arg("owners") = nb::none(), nb::arg("fingerprint") = 0,
             nb::arg("what") = "");
}
