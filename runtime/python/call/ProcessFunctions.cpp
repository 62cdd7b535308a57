// No logic: each function waits for the runtime's function without the GIL, and raises its failure.
#include "call/ProcessFunctions.h"

#include "array/Array.h"
#include "runtime/Processes.h"
#include "support/Gil.h"
#include "support/Wait.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

using namespace pcrt;
using namespace pcrt::python;
namespace nb = nanobind;

[[noreturn]] static void raiseStatus(const Status &status) {
  PyErr_SetString(PyExc_RuntimeError, status.message().c_str());
  throw nb::python_error();
}

static Processes &processes() {
  if (Processes *found = Processes::current())
    return *found;
  throw nb::value_error("the program has only this process: distributed.initialize() has not been called");
}

/// The end of this thread's wait, in the runtime's clock.
static thread_local int64_t deadline = INT64_MAX;
static bool peerHasFailed() { return Processes::current() && Processes::current()->failure(); }
/// The wait for the others ends, also if MPI waits for a process that has ended.
static bool isOver() { return nowNs() > deadline || interrupted() || (deadline != INT64_MAX && peerHasFailed()); }

[[noreturn]] static void raiseError(Error &error) {
  raise(error);
  throw nb::python_error();
}

/// The requested value; raises a refusal, and Ctrl-C.
static std::vector<std::string> waitForReply(Reply &reply, int64_t end = INT64_MAX, const char *late = "") {
  bool done;
  {
    WithoutGil released;
    deadline = end;
    done = reply.wait(isOver);
  }
  if (!done && PyErr_CheckSignals() != 0)
    throw nb::python_error();
  if (done && !reply.isRefused)
    return reply.fields;
  if (RefPtr<Error> failed = Processes::current() ? Processes::current()->failure() : nullptr)
    raiseError(*failed);
  if (done && reply.peer)
    raiseError(*errorOf(*reply.peer, "does not come"));
  raiseStatus(Status(Code::LibraryFailed, done ? reply.message : late));
}

static nb::bytes bytesOf(const std::string &text) { return nb::bytes(text.data(), text.size()); }
static std::string textOf(nb::bytes bytes) { return std::string(bytes.c_str(), bytes.size()); }

static int orRaise(Result<int> result) {
  if (!result.isOk())
    raiseStatus(result.status());
  return result.value();
}

static void beginProcesses(unsigned rank, unsigned size, const std::string &hostName, int64_t pid,
                           const std::string &address, int port, const std::string &secret, int64_t timeoutMs,
                           int64_t silenceMs) {
  Status status = [&] {
    WithoutGil released;
    return Processes::begin({rank, size, hostName, pid}, address, port, secret, timeoutMs, silenceMs);
  }();
  if (!status.isOk())
    raiseStatus(status);
}

static std::string openMpi(const std::string &path) {
  Result<std::string> version = Mpi::open(path);
  if (!version.isOk())
    raiseStatus(version.status());
  return version.take();
}

static std::pair<unsigned, unsigned> startMpi(int64_t timeoutMs, const std::string &late) {
  RefPtr<Reply> reply = Mpi::start();
  waitForReply(*reply, nowNs() + timeoutMs * 1'000'000, late.c_str());
  return {Mpi::rank(), Mpi::size()};
}

static nb::bytes broadcastByMpi(nb::bytes own, int64_t timeoutMs, const std::string &late) {
  RefPtr<Reply> reply = Mpi::broadcast(textOf(own));
  return bytesOf(waitForReply(*reply, nowNs() + timeoutMs * 1'000'000, late.c_str())[0]);
}

static void joinTransport(bool maySpin, bool sharesMemory, int64_t timeoutMs, const std::string &late) {
  RefPtr<Reply> reply = Mpi::connect(maySpin, sharesMemory);
  waitForReply(*reply, nowNs() + timeoutMs * 1'000'000, late.c_str());
  processes().setTransport(Mpi::takeTransport());
}

static nb::list gather(const std::string &name, const std::vector<unsigned> &members, nb::bytes own,
                       int64_t timeoutMs) {
  RefPtr<Reply> reply = processes().gather(name, members, textOf(own), timeoutMs);
  nb::list all;
  for (const std::string &each : waitForReply(*reply))
    all.append(bytesOf(each));
  return all;
}

static nb::bytes getValue(const std::string &key, int64_t timeoutMs) {
  RefPtr<Reply> reply = processes().get(key, timeoutMs);
  return bytesOf(waitForReply(*reply)[0]);
}

static nb::object nextQuestion() {
  Processes &all = processes();
  Processes::Question question{};
  bool isThere;
  {
    WithoutGil released;
    isThere = all.nextQuestion(question);
  }
  return isThere ? nb::object(nb::make_tuple(question.id, question.isInLaunch)) : nb::none();
}

static void leave(bool endsMpi, int pmiPort) {
  Processes &all = processes();
  WithoutGil released;
  all.leave();
  if (endsMpi)
    Mpi::finish();
  if (endsMpi && pmiPort)
    Processes::replacePmi(pmiPort);
}

void pcrt::python::addProcessFunctions(nb::module_ &module) {
  module.def("set_peer_error_type", [](nb::handle type) { setPeerErrorType(type.ptr()); }, nb::arg("cls"));
  module.def(
      "serve_processes",
      [](const std::string &address, int port, unsigned size, const std::string &secret, int64_t silence) {
        return orRaise(Processes::serve(address, port, size, secret, silence));
      },
      nb::arg("address"), nb::arg("port"), nb::arg("size"), nb::arg("secret"), nb::arg("silence_ms"));
  module.def(
      "serve_pmi",
      [](const std::string &address, unsigned size, const std::string &mapping) {
        return orRaise(Processes::servePmi(address, size, mapping));
      },
      nb::arg("address"), nb::arg("size"), nb::arg("mapping"));
  module.def("begin_processes", beginProcesses, nb::arg("rank"), nb::arg("size"), nb::arg("host_name"), nb::arg("pid"),
             nb::arg("address"), nb::arg("port"), nb::arg("secret"), nb::arg("timeout_ms"), nb::arg("silence_ms"));
  module.def("open_mpi", openMpi, nb::arg("path"));
  module.def("mpi_abi", [] { return std::string(Mpi::abi()); });
  module.def("start_mpi", startMpi, nb::arg("timeout_ms"), nb::arg("late"));
  module.def("broadcast_by_mpi", broadcastByMpi, nb::arg("own"), nb::arg("timeout_ms"), nb::arg("late"));
  module.def("join_transport", joinTransport, nb::arg("may_spin"), nb::arg("shares_memory"), nb::arg("timeout_ms"),
             nb::arg("late"));
  module.def(
      "set_value", [](const std::string &key, nb::bytes value) { processes().set(key, textOf(value)); }, nb::arg("key"),
      nb::arg("value"));
  module.def("get_value", getValue, nb::arg("key"), nb::arg("timeout_ms"));
  module.def("gather_values", gather, nb::arg("name"), nb::arg("members"), nb::arg("own"), nb::arg("timeout_ms"));
  module.def("process_failure", []() -> nb::object {
    RefPtr<Error> failed = Processes::current() ? Processes::current()->failure() : nullptr;
    return failed ? nb::object(nb::str(failed->message.c_str())) : nb::none();
  });
  module.def(
      "tell_failure", [](const std::string &cause, const std::string &place) { processes().tellFailure(cause, place); },
      nb::arg("cause"), nb::arg("place"));
  module.def("next_question", nextQuestion);
  module.def(
      "tell_place", [](uint64_t id, const std::string &place) { processes().tellPlace(id, place); }, nb::arg("id"),
      nb::arg("place"));
  module.def("set_collective_timeout", Processes::setCollectiveTimeout, nb::arg("seconds"));
  module.def("note_use_of_devices", noteUseOfDevices);
  module.def("first_use_of_devices", []() -> nb::object {
    const char *place = firstUseOfDevices();
    return place ? nb::object(nb::str(place)) : nb::none();
  });
  module.def("tell_end", [] { processes().tellEnd(); });
  module.def("drain_messages", [] {
    Processes &all = processes();
    WithoutGil released;
    all.drain();
  });
  module.def("leave_processes", leave, nb::arg("ends_mpi"), nb::arg("pmi_port"));
}
