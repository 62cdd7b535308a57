// run_spmd: one launch for each participant, on the stream of its device and into its memory, and a rendezvous for
// their collectives. Everything that can fail comes before the first launch, because all of them have to start.
#include "call/Spmd.h"

#include "array/CallbackWait.h"
#include "array/Pending.h"
#include "call/ExecutableType.h"
#include "runtime/Collective.h"
#include "runtime/Devices.h"
#include "runtime/EffectfulLaunch.h"
#include "runtime/ThreadPool.h"
#include "support/CallSite.h"
#include "support/Gil.h"
#include "support/Wait.h"

#include <atomic>

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

/// Each launch is enqueued, at any cost of the runs: a participant that ran in this thread would wait for later
/// launches. If everything is to run in place, or the callbacks are waited for, this waits for the launches.
static bool launchAll(Executable &executable, const std::vector<Part> &parts) {
  static std::atomic<uint64_t> calls{0};
  const uint64_t call = ++calls;
  const char *place = callSite();
  std::vector<Device *> devices;
  for (const Part &part : parts)
    devices.push_back(part.device);
  auto run = RefPtr<Rendezvous>::adopt(new Rendezvous(static_cast<unsigned>(parts.size()), std::move(devices)));
  RefPtr<Token> ready = argumentsReady(parts);
  Token *const after[] = {ready.get()};
  bool inPlace = false;
  std::vector<RefPtr<Token>> waitedFor;
  const bool waits = waitsForCallbacks(executable);
  std::vector<Buffer *> pointers;
  for (unsigned number = 0; number < parts.size(); ++number) {
    Launch launch = parts[number].launch(executable, pointers, place);
    Stream &stream = parts[number].device->stream();
    Stream::LaunchPolicy policy = stream.policyOf(launch);
    inPlace |= policy == Stream::LaunchPolicy::Inline || policy == Stream::LaunchPolicy::InlineWithoutGil;
    launch.after = after;
    launch.afterCount = ready ? 1 : 0;
    launch.participant = run->join(number);
    if (waits)
      launch.completes = waitedFor.emplace_back(RefPtr<Token>::adopt(new Token())).get();
    if (executable.effects() == Executable::Effects::None)
      stream.enqueue(launch);
    else
      EffectfulLaunch(launch, executable.effects() == Executable::Effects::Ordered, call).enqueue(stream);
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

static nb::list runSpmd(nb::handle executable, nb::sequence devices, nb::sequence args, nb::sequence outAvals) {
  LoadedExecutable *loaded = loadedExecutable(executable.ptr());
  if (!loaded)
    throw nb::python_error();
  Executable &program = *loaded->executable;
  if (!program.mayBlock())
    throw nb::value_error("run_spmd: the executable was not loaded with may_block=True");
  // Ordered launches run one after the other, so those of several devices could not meet in a collective.
  if (program.effects() == Executable::Effects::Ordered && nb::len(devices) > 1)
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
        !makeResults(outAvals, program.name(), parts[number]))
      throw nb::python_error();
  }
  if (!waitForRoom(parts) || !launchAll(program, parts))
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
  module.def("run_spmd", runSpmd, nb::arg("executable"), nb::arg("devices"), nb::arg("args"), nb::arg("out_avals"));
}
