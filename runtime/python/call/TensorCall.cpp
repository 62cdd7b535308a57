// TensorCall: runs an executable at once, on memory that tensors name by `data_ptr()`. The caller waits for the results
// anyway, so nothing is enqueued.
#include "call/TensorCall.h"

#include "array/Array.h"
#include "array/Pending.h"
#include "call/ExecutableType.h"
#include "runtime/Devices.h"
#include "runtime/Executable.h"
#include "runtime/ParallelFor.h"
#include "runtime/Stream.h"
#include "support/CallSite.h"
#include "support/ForkGate.h"
#include "support/Gil.h"
#include "support/OrThrow.h"
#include "support/Wait.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace pcrt;
using namespace pcrt::python;

namespace {

/// The memory of tensors without elements.
alignas(PCRT_ALIGNMENT) char nothing[PCRT_ALIGNMENT];

class HeldBuffers {
public:
  ~HeldBuffers() {
    for (Buffer *buffer : buffers)
      buffer->release();
  }
  void hold(Buffer *buffer) { buffers.push(buffer); }
  Buffer *const *data() const { return buffers.data(); }
  size_t size() const { return buffers.size(); }

private:
  SmallVector<Buffer *, 32> buffers;
};

class TensorCall {
public:
  TensorCall(nb::handle executable, nb::tuple consts, std::vector<size_t> places, std::vector<size_t> argumentBytes,
             std::vector<size_t> resultBytes)
      : owner(nb::borrow(executable)), consts(consts), places(std::move(places)),
        argumentBytes(std::move(argumentBytes)), resultBytes(std::move(resultBytes)) {
    LoadedExecutable *loaded = loadedExecutable(executable.ptr());
    if (!loaded)
      throw nb::python_error();
    code = loaded->executable.get();
    if (code->isUnbound())
      throw nb::value_error("TensorCall: the executable is of a program with symbols: bind it to their sizes");
    if (this->places.size() != this->argumentBytes.size())
      throw nb::value_error("TensorCall: places and argument_bytes differ in length");
    for (nb::handle constant : consts) {
      if (!isArray(constant.ptr()))
        throw nb::type_error("TensorCall: consts must be Arrays");
      orThrow(ensureElements(asArray(constant.ptr())) && waitFor(asArray(constant.ptr())->buffer));
    }
  }

  void call(nb::list arguments, nb::list results, unsigned threads) {
    ThreadLimit limit(threads);
    HeldBuffers given, made;
    std::vector<nb::object> copies;
    for (size_t i = 0; i < places.size(); ++i) {
      if (places[i] >= nb::len(arguments))
        throw nb::index_error("TensorCall: too few arguments");
      PyObject *tensor = PyList_GET_ITEM(arguments.ptr(), static_cast<Py_ssize_t>(places[i]));
      given.hold(wrapped(rowMajor(tensor, copies), argumentBytes[i]));
    }
    for (nb::handle constant : consts) {
      Buffer *buffer = asArray(constant.ptr())->buffer;
      buffer->retain();
      given.hold(buffer);
    }
    if (nb::len(results) != resultBytes.size())
      throw nb::index_error("TensorCall: another number of results");
    for (size_t i = 0; i < resultBytes.size(); ++i)
      made.hold(wrapped(PyList_GET_ITEM(results.ptr(), static_cast<Py_ssize_t>(i)), resultBytes[i]));
    run({code, given.data(), static_cast<unsigned>(given.size()), made.data(), static_cast<unsigned>(made.size()),
         nullptr});
  }

private:
  /// The tensor itself if its elements lie in the order of its axes, else a copy, which `copies` holds.
  static PyObject *rowMajor(PyObject *tensor, std::vector<nb::object> &copies) {
    static PyObject *const isContiguous = PyUnicode_InternFromString("is_contiguous");
    static PyObject *const contiguous = PyUnicode_InternFromString("contiguous");
    nb::object answer = nb::steal(PyObject_CallMethodNoArgs(tensor, isContiguous));
    if (!answer.is_valid())
      throw nb::python_error();
    if (answer.ptr() == Py_True)
      return tensor;
    copies.push_back(nb::steal(PyObject_CallMethodNoArgs(tensor, contiguous)));
    if (!copies.back().is_valid())
      throw nb::python_error();
    return copies.back().ptr();
  }

  /// A new reference to a buffer over a tensor's memory.
  static Buffer *wrapped(PyObject *tensor, size_t bytes) {
    static PyObject *const dataPtr = PyUnicode_InternFromString("data_ptr");
    nb::object number = nb::steal(PyObject_CallMethodNoArgs(tensor, dataPtr));
    if (!number.is_valid())
      throw nb::python_error();
    void *memory = PyLong_AsVoidPtr(number.ptr());
    if (!memory && PyErr_Occurred())
      throw nb::python_error();
    if (!memory && bytes)
      throw nb::value_error("TensorCall: a tensor has no memory");
    return Buffer::wrap(&Devices::cpu(), memory ? memory : nothing, bytes, [](void *) {}, nullptr).take();
  }

  static void run(const Launch &request) {
    if (forkgate::isClosed())
      orThrow(forkgate::pass());
    Launch launch = request;
    launch.findPlace = callSite;
    Stream &stream = Devices::cpu().stream();
    if (stream.policyOf(launch) == Stream::LaunchPolicy::Inline) {
      stream.runInPlace(launch);
    } else {
      launch.place = callSite();
      WithoutGil released;
      stream.runInPlace(launch);
    }
    for (unsigned i = 0; i < launch.resultCount; ++i) {
      if (Error *error = launch.results[i]->error()) {
        raise(*error);
        throw nb::python_error();
      }
    }
  }

  nb::object owner;
  nb::tuple consts;
  std::vector<size_t> places, argumentBytes, resultBytes;
  Executable *code;
};

} // namespace

void pcrt::python::addTensorCallType(PyObject *module) {
  nb::class_<TensorCall>(nb::borrow<nb::module_>(module), "TensorCall")
      .def(nb::init<nb::handle, nb::tuple, std::vector<size_t>, std::vector<size_t>, std::vector<size_t>>(),
           nb::arg("executable"), nb::arg("consts"), nb::arg("places"), nb::arg("argument_bytes"),
           nb::arg("result_bytes"))
      .def("__call__", &TensorCall::call, nb::arg("arguments"), nb::arg("results"), nb::arg("threads"));
}
