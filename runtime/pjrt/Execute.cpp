// Runs of loaded executables: one launch for each device, and their results as arrays with tokens, at once. Arrays that
// are donated give their memory to results.
#include "pjrt/Functions.h"
#include "pjrt/Layouts.h"
#include "pjrt/Objects.h"
#include "runtime/Collective.h"
#include "runtime/EffectfulLaunch.h"
#include "runtime/Stream.h"

#include <algorithm>

using namespace pcrt;
using namespace pcrt::pjrt;

PJRT_Error *pcrt::pjrt::ExecuteContext_Create(PJRT_ExecuteContext_Create_Args *args) {
  args->context = new PJRT_ExecuteContext();
  return nullptr;
}

PJRT_Error *pcrt::pjrt::ExecuteContext_Destroy(PJRT_ExecuteContext_Destroy_Args *args) {
  delete args->context;
  return nullptr;
}

namespace {

/// The run on one device.
struct Part {
  PJRT_Device *device = nullptr;
  std::vector<RefPtr<Buffer>> args, results;
  uint64_t resultBytes = 0;
  RefPtr<Token> end;
};

PJRT_Error *invalid(const Program &program, const std::string &what) {
  return failure(PJRT_Error_Code_INVALID_ARGUMENT, program.name + ": " + what);
}

PJRT_Error *takeArguments(const Program &program, PJRT_Buffer *const *given, Part &part) {
  for (size_t i = 0; i < program.parameters.size(); ++i) {
    PJRT_Buffer &array = *given[i];
    RefPtr<Buffer> content = array.take();
    if (!content)
      return invalid(program, "argument " + std::to_string(i) + " has been deleted or donated");
    if (array.device != part.device)
      return invalid(program, "argument " + std::to_string(i) + " is on " + array.device->description.text +
                                  ", and the program runs on " + part.device->description.text);
    if (content->size() != program.parameters[i].bytes())
      return invalid(program, "argument " + std::to_string(i) + " has " + std::to_string(content->size()) +
                                  " bytes, expected " + std::to_string(program.parameters[i].bytes()));
    if (array.type.order != program.parameters[i].order)
      return invalid(program, "argument " + std::to_string(i) + " has the layout " + layoutOf(array.type) +
                                  ", expected " + layoutOf(program.parameters[i]) +
                                  "\nWhat to do: give the array by jax.device_put(x, format), with the format of "
                                  "compiled.input_formats");
    part.args.push_back(std::move(content));
  }
  return nullptr;
}

/// Whether nothing else reads the memory of an argument, whose array was taken away: it may be overwritten.
bool isAlone(const Part &part, size_t index) {
  Buffer &buffer = *part.args[index];
  return buffer.isOurs() && !buffer.isView() && buffer.references() == 1 && buffer.viewCount() == 0 &&
         buffer.exports.load() == 0;
}

/// Whether this call gives an array away.
bool isTaken(const Program &program, const PJRT_ExecuteOptions *options, size_t index) {
  if (!program.donations[index].isDonated)
    return false;
  const int64_t *kept = options ? options->non_donatable_input_indices : nullptr;
  const int64_t *end = kept ? kept + options->num_non_donatable_input_indices : nullptr;
  return std::find(kept, end, static_cast<int64_t>(index)) == end;
}

/// An error, as with XLA, if an array that is given away is an argument in another place, too.
PJRT_Error *refuseClashes(const Program &program, PJRT_Buffer *const *given, const PJRT_ExecuteOptions *options) {
  auto isDonated = [](const Program::Donation &donation) { return donation.isDonated; };
  if (std::none_of(program.donations.begin(), program.donations.end(), isDonated))
    return nullptr;
  std::vector<std::pair<PJRT_Buffer *, bool>> sorted;
  for (size_t i = 0; i < program.donations.size(); ++i)
    sorted.emplace_back(given[i], isTaken(program, options, i));
  std::sort(sorted.begin(), sorted.end());
  auto clash = std::adjacent_find(sorted.begin(), sorted.end(), [](const auto &one, const auto &next) {
    return one.first == next.first && next.second;
  });
  if (clash == sorted.end())
    return nullptr;
  auto number = std::find(given, given + program.donations.size(), clash->first) - given;
  return invalid(program, "argument " + std::to_string(number) +
                              " is donated, and the same array is another argument\nWhat to do: give a copy");
}

/// Deletes the donated arrays. Those whose memory a result takes are replaced by copies if it is read elsewhere.
PJRT_Error *donate(const Program &program, PJRT_Buffer *const *given, const PJRT_ExecuteOptions *options, Part &part) {
  part.results.resize(program.results.size());
  for (size_t i = 0; i < program.donations.size(); ++i) {
    const Program::Donation &donation = program.donations[i];
    if (!donation.isDonated)
      continue;
    if (isTaken(program, options, i))
      given[i]->release();
    if (donation.result < 0)
      continue;
    if (!isAlone(part, i)) {
      Result<RefPtr<Buffer>> copy = copyTo(*part.device->device, *part.args[i]);
      if (!copy.isOk())
        return failure(copy.status());
      part.args[i] = copy.take();
    }
    part.results[donation.result] = Buffer::successor(*part.args[i]);
  }
  return nullptr;
}

PJRT_Error *makeResults(const Program &program, Part &part) {
  for (size_t i = 0; i < program.results.size(); ++i) {
    uint64_t bytes = program.results[i].bytes();
    part.resultBytes += bytes;
    if (part.results[i])
      continue;
    part.device->device->stream().waitForFreed(bytes);
    Result<RefPtr<Buffer>> buffer = allocate(*part.device->device, bytes);
    if (!buffer.isOk())
      return failure(Status(buffer.status().code(), program.name + ": " + buffer.status().message()));
    part.results[i] = buffer.take();
  }
  return nullptr;
}

/// The pointers of a launch.
struct Pointers {
  explicit Pointers(const Part &part) {
    for (const std::vector<RefPtr<Buffer>> *buffers : {&part.args, &part.results})
      for (const RefPtr<Buffer> &buffer : *buffers)
        all.push_back(buffer.get());
  }
  std::vector<Buffer *> all;
};

Launch launchOf(const Program &program, const Part &part, const Pointers &pointers) {
  return {program.executable.get(),
          pointers.all.data(),
          static_cast<unsigned>(part.args.size()),
          pointers.all.data() + part.args.size(),
          static_cast<unsigned>(part.results.size()),
          nullptr};
}

void waitForRoom(Stream &stream, uint64_t bytes) {
  if (!stream.hasRoom(bytes))
    stream.waitForRoom(bytes);
}

/// Whether a call returns only when the program has run. JAX's programs with callbacks into Python expect this: the
/// call itself raises failures of callbacks.
bool waitsForEnd(const Program &program) { return program.executable->callback(0) != nullptr; }

/// Runs on one device: here, if it is short.
void launchOne(const Program &program, Part &part, bool needsEnd) {
  Pointers pointers(part);
  Launch launch = launchOf(program, part, pointers);
  Stream &stream = part.device->device->stream();
  Stream::LaunchPolicy policy = stream.policyOf(launch);
  bool isInPlace = policy == Stream::LaunchPolicy::Inline || policy == Stream::LaunchPolicy::InlineWithoutGil;
  if (waitsForEnd(program) ||
      (needsEnd && (part.results.empty() || program.executable->effects() != Executable::Effects::None))) {
    part.end = RefPtr<Token>::adopt(new Token());
    launch.completes = part.end.get();
  }
  if (program.executable->effects() != Executable::Effects::None) {
    if (!isInPlace)
      waitForRoom(stream, part.resultBytes);
    EffectfulLaunch effectful(launch, program.executable->effects());
    if (isInPlace)
      effectful.runInPlace(stream, nullptr);
    else
      effectful.enqueue(stream);
    return;
  }
  if (isInPlace) {
    stream.runInPlace(launch);
  } else if (policy != Stream::LaunchPolicy::Speculative || !stream.runSpeculatively(launch)) {
    waitForRoom(stream, part.resultBytes);
    stream.enqueue(launch);
  }
  if (needsEnd && !part.end && !part.results.empty())
    part.end = RefPtr<Token>(part.results.front()->token());
}

/// Runs on several devices. All are enqueued: one that ran in this thread would wait for later ones. They start
/// together, when the arguments of all are ready.
void launchAll(const Program &program, std::vector<Part> &parts) {
  std::vector<Device *> devices;
  std::vector<Token *> tokens;
  for (const Part &part : parts) {
    devices.push_back(part.device->device);
    waitForRoom(part.device->device->stream(), part.resultBytes);
    for (const RefPtr<Buffer> &buffer : part.args)
      if (Token *token = buffer->token())
        tokens.push_back(token->orderedOn(part.device->device->stream()));
  }
  static std::atomic<uint64_t> calls{0};
  const uint64_t call = ++calls;
  auto run = RefPtr<Rendezvous>::adopt(new Rendezvous(static_cast<unsigned>(parts.size()), std::move(devices)));
  RefPtr<Token> ready = whenAllDone(tokens);
  Token *const after[] = {ready.get()};
  for (unsigned number = 0; number < parts.size(); ++number) {
    Part &part = parts[number];
    Pointers pointers(part);
    Launch launch = launchOf(program, part, pointers);
    launch.after = after;
    launch.afterCount = ready ? 1 : 0;
    launch.participant = run->join(number);
    part.end = RefPtr<Token>::adopt(new Token());
    launch.completes = part.end.get();
    Stream &stream = part.device->device->stream();
    if (program.executable->effects() == Executable::Effects::None)
      stream.enqueue(launch);
    else
      EffectfulLaunch(launch, program.executable->effects(), call).enqueue(stream);
  }
}

} // namespace

PJRT_Error *pcrt::pjrt::LoadedExecutable_Execute(PJRT_LoadedExecutable_Execute_Args *args) {
  PJRT_LoadedExecutable &loaded = *args->executable;
  const Program &program = loaded.facts->program;
  if (loaded.isDeleted.load())
    return invalid(program, "the executable has been deleted");
  if (args->num_args != program.parameters.size())
    return invalid(program, "takes " + std::to_string(program.parameters.size()) + " arrays, got " +
                                std::to_string(args->num_args));
  if (args->execute_device && args->num_devices != 1)
    return invalid(program, "is called for one device, with arguments for " + std::to_string(args->num_devices));
  if (args->num_devices != loaded.devices.size())
    return invalid(program, "is for " + std::to_string(loaded.devices.size()) + " devices, and called for " +
                                std::to_string(args->num_devices));
  std::vector<Part> parts(args->num_devices);
  for (size_t number = 0; number < parts.size(); ++number) {
    parts[number].device = args->execute_device ? args->execute_device : loaded.devices[number];
    if (PJRT_Error *error = takeArguments(program, args->argument_lists[number], parts[number]))
      return error;
  }
  for (size_t number = 0; number < parts.size(); ++number)
    if (PJRT_Error *error = refuseClashes(program, args->argument_lists[number], args->options))
      return error;
  for (size_t number = 0; number < parts.size(); ++number)
    if (PJRT_Error *error = donate(program, args->argument_lists[number], args->options, parts[number]))
      return error;
  for (Part &part : parts)
    if (PJRT_Error *error = makeResults(program, part))
      return error;
  bool needsEnd = args->device_complete_events != nullptr;
  if (parts.size() == 1)
    launchOne(program, parts.front(), needsEnd);
  else
    launchAll(program, parts);
  if (waitsForEnd(program)) {
    for (const Part &part : parts)
      part.end->wait();
    for (const Part &part : parts)
      if (const Error *error = part.end->error())
        return failure(*error);
  }
  for (size_t number = 0; number < parts.size(); ++number) {
    Part &part = parts[number];
    for (size_t i = 0; i < part.results.size(); ++i) {
      const std::string &kind = program.resultKinds[i];
      PJRT_Memory *memory = part.device->memories.front();
      for (PJRT_Memory *other : part.device->memories)
        if (other->kind == kind)
          memory = other;
      args->output_lists[number][i] = new PJRT_Buffer(part.device, memory, program.results[i], part.results[i]);
    }
    if (needsEnd)
      args->device_complete_events[number] = eventOf(part.end);
  }
  return nullptr;
}
