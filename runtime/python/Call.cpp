// Launching from Python, and CompiledCall.
#include "Call.h"

#include "ForkGate.h"

#include "Callback.h"
#include "Placement.h"

#include <algorithm>
#include <structmember.h>

using namespace pcrt;
using namespace pcrt::python;

PyTypeObject *pcrt::python::compiledCallType = nullptr;

//===-- Launching
//---------------------------------------------------------------------------------------------------===//

namespace {
/// Result buffers of one launch, released unless they were given to arrays.
class ResultBuffers {
public:
  ~ResultBuffers() {
    for (Buffer *buffer : buffers)
      if (buffer)
        buffer->release();
  }
  /// `given` has, for each result that is not to be allocated, its buffer; it may be null.
  bool allocate(Device &device, AvalObject *const *avals, size_t count, const std::string &name, Buffer *const *given) {
    for (size_t i = 0; i < count; ++i) {
      if (given && given[i]) {
        given[i]->retain();
        buffers.push(given[i]);
        continue;
      }
      RefPtr<Buffer> buffer = allocateBuffer(device, avals[i], name.c_str());
      if (!buffer)
        return false;
      bytes += buffer->size();
      buffers.push(buffer.take());
    }
    return true;
  }
  RefPtr<Buffer> take(size_t i) { return RefPtr<Buffer>::adopt(std::exchange(buffers[i], nullptr)); }
  Buffer *const *data() const { return buffers.data(); }

  uint64_t bytes = 0;

private:
  SmallVector<Buffer *, 16> buffers;
};
} // namespace

namespace {
/// The arguments of a launch, held while the GIL is not: another thread may delete or donate their arrays.
class HeldArguments {
public:
  explicit HeldArguments(const Launch &launch) : launch(launch) {
    for (unsigned i = 0; i < launch.argCount; ++i)
      launch.args[i]->retain();
  }
  ~HeldArguments() {
    for (unsigned i = 0; i < launch.argCount; ++i)
      launch.args[i]->release();
  }
  HeldArguments(const HeldArguments &) = delete;
  HeldArguments &operator=(const HeldArguments &) = delete;

private:
  const Launch &launch;
};
} // namespace

/// Out of line: what runs at once and is short is not to pay for this.
[[gnu::noinline]] static bool launchLong(Stream &stream, Launch &launch, Stream::Manner manner, uint64_t resultBytes) {
  launch.place = launchPlace();
  if (forkgate::isClosed()) {
    HeldArguments held(launch);
    if (!forkgate::pass())
      return false;
  }
  // A copy between devices has no executable.
  if (launch.executable && launch.executable->effects() != Executable::Effects::None) {
    HeldArguments held(launch);
    if (manner == Stream::Manner::Enqueue && !stream.hasRoom(resultBytes)) {
      WithoutGil released;
      if (!stream.waitForRoom(resultBytes, interrupted))
        return false;
    }
    return launchEffectful(stream, launch, manner);
  }
  if (manner == Stream::Manner::Long) {
    HeldArguments held(launch);
    WithoutGil released;
    stream.runInPlace(launch);
    return true;
  }
  if (stream.hasRoom(resultBytes)) {
    stream.enqueue(launch);
    return true;
  }
  HeldArguments held(launch);
  {
    WithoutGil released;
    if (!stream.waitForRoom(resultBytes, interrupted))
      return false;
  }
  stream.enqueue(launch);
  return true;
}

static bool launch(Device &device, const Launch &request, uint64_t resultBytes) {
  Stream &stream = device.stream();
  Launch launch = request;
  Stream::Manner manner = stream.mannerOf(launch);
  if (manner != Stream::Manner::Short)
    return launchLong(stream, launch, manner, resultBytes);
  launch.findPlace = launchPlace;
  stream.runInPlace(launch);
  return true;
}

bool pcrt::python::launchOn(Device &device, const Launch &request, uint64_t resultBytes) {
  return launch(device, request, resultBytes);
}

/// `execute`, for the hot path.
[[gnu::always_inline]] static inline bool executeHere(const Placement &where, Executable &executable,
                                                      Buffer *const *args, size_t argCount, AvalObject *const *outAvals,
                                                      size_t resultCount, PyObject **results, Buffer *const *given) {
  ResultBuffers buffers;
  for (size_t i = 0; i < argCount; ++i) {
    if (isDeleted(args[i])) {
      raise(*args[i]->error());
      return false;
    }
  }
  if (!buffers.allocate(*where.device, outAvals, resultCount, executable.name(), given))
    return false;
  Launch request = {
      &executable, args, static_cast<unsigned>(argCount), buffers.data(), static_cast<unsigned>(resultCount), nullptr};
  if (!launch(*where.device, request, buffers.bytes))
    return false;
  for (size_t i = 0; i < resultCount; ++i) {
    results[i] = newArray(outAvals[i], buffers.take(i), where.committed);
    if (!results[i]) {
      while (i-- > 0)
        Py_DECREF(results[i]);
      return false;
    }
  }
  return true;
}

bool pcrt::python::execute(Device &device, Executable &executable, Buffer *const *args, size_t argCount,
                           AvalObject *const *outAvals, size_t resultCount, PyObject **results, Buffer *const *given,
                           bool committed) {
  return executeHere({&device, committed}, executable, args, argCount, outAvals, resultCount, results, given);
}

//===-- CompiledCall
//------------------------------------------------------------------------------------------------===//

namespace pcrt::python {

enum class OutputKind : uint8_t { Result, Argument, Constant, View };

struct Output {
  OutputKind kind;
  size_t index;       // of the result or the leaf
  PyObject *constant; // borrowed from `outputs`
  // Of a view: its aval, borrowed too, and the byte of the leaf at which it starts.
  AvalObject *aval = nullptr;
  size_t offset = 0;
};

/// A result that is computed in the memory of a donated argument of the executable.
struct Alias {
  size_t result, argument;
};

/// The constants of a call in the memory of a device where they are not.
struct ConstantCopies {
  struct OfDevice {
    Device *device;
    std::vector<RefPtr<Buffer>> buffers;
  };
  std::vector<OfDevice> all;
};

struct CompiledCallObject {
  PyObject_HEAD
      // As given, for Python; they own everything below.
      PyObject *executable,
      *inUsed, *outputs, *outAvals, *outTree, *consts, *donated, *aliases, *device;
  /// What is called instead when the views among the outputs are not to be had; null without views.
  PyObject *copying;
  Executable *loaded;
  std::vector<size_t> *used, *given; // leaves that are read, and those that are donated
  std::vector<Output> *results;
  std::vector<Alias> *inPlace;
  size_t leavesNeeded;
  Device *place;               // where the function puts values itself, or null
  std::vector<size_t> *placed; // leaves that say where a call runs: those that are read or returned
  ConstantCopies *copies;
};

} // namespace pcrt::python

size_t pcrt::python::leavesNeeded(const CompiledCallObject *call) { return call->leavesNeeded; }

static CompiledCallObject *asCall(PyObject *object) { return reinterpret_cast<CompiledCallObject *>(object); }

static bool fail(const char *message) {
  PyErr_Format(PyExc_ValueError, "CompiledCall: %s", message);
  return false;
}

static bool readLeaves(CompiledCallObject *call, PyObject *numbers, std::vector<size_t> &leaves) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(numbers); ++i) {
    size_t index = PyLong_AsSize_t(PyTuple_GET_ITEM(numbers, i));
    if (index == static_cast<size_t>(-1) && PyErr_Occurred())
      return false;
    leaves.push_back(index);
    call->leavesNeeded = std::max(call->leavesNeeded, index + 1);
  }
  return true;
}

static bool readView(CompiledCallObject *call, PyObject *value) {
  PyObject *aval;
  Py_ssize_t leaf, offset;
  if (!PyTuple_Check(value) || !PyArg_ParseTuple(value, "nO!n:outputs", &leaf, avalType, &aval, &offset))
    return PyErr_Occurred() ? false : fail("a view is not (leaf, aval, offset)");
  auto *shape = reinterpret_cast<AvalObject *>(aval);
  if (leaf < 0 || offset < 0 || !shape->isConcrete() || !call->copying)
    return fail("a view needs a leaf, a concrete aval, an offset, and `copying`");
  call->leavesNeeded = std::max(call->leavesNeeded, static_cast<size_t>(leaf) + 1);
  call->results->push_back({OutputKind::View, static_cast<size_t>(leaf), nullptr, shape, static_cast<size_t>(offset)});
  return true;
}

static bool readOutput(CompiledCallObject *call, PyObject *entry) {
  const char *kind;
  PyObject *value;
  if (!PyTuple_Check(entry) || !PyArg_ParseTuple(entry, "sO:outputs", &kind, &value))
    return PyErr_Occurred() ? false : fail("an output is not a pair");
  if (std::strcmp(kind, "const") == 0) {
    if (!isArray(value))
      return fail("a constant output is not an Array");
    call->results->push_back({OutputKind::Constant, 0, value});
    return true;
  }
  if (std::strcmp(kind, "view") == 0)
    return readView(call, value);
  size_t index = PyLong_AsSize_t(value);
  if (index == static_cast<size_t>(-1) && PyErr_Occurred())
    return false;
  if (std::strcmp(kind, "arg") == 0) {
    call->leavesNeeded = std::max(call->leavesNeeded, index + 1);
    call->results->push_back({OutputKind::Argument, index, nullptr});
    return true;
  }
  if (std::strcmp(kind, "result") != 0)
    return fail("an output is neither 'result', 'arg', 'view' nor 'const'");
  if (index >= static_cast<size_t>(PyTuple_GET_SIZE(call->outAvals)))
    return fail("an output names a result that the executable does not have");
  call->results->push_back({OutputKind::Result, index, nullptr});
  return true;
}

static bool readAliases(CompiledCallObject *call) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(call->aliases); ++i) {
    Py_ssize_t result, argument;
    PyObject *pair = PyTuple_GET_ITEM(call->aliases, i);
    if (!PyTuple_Check(pair) || !PyArg_ParseTuple(pair, "nn:aliases", &result, &argument))
      return PyErr_Occurred() ? false : fail("an alias is not a pair");
    auto at = static_cast<size_t>(argument);
    if (result < 0 || result >= PyTuple_GET_SIZE(call->outAvals) || argument < 0 || at >= call->used->size())
      return fail("an alias names a result or an argument that the executable does not have");
    if (std::find(call->given->begin(), call->given->end(), (*call->used)[at]) == call->given->end())
      return fail("an aliased argument is not donated");
    call->inPlace->push_back({static_cast<size_t>(result), at});
  }
  return true;
}

static bool readPlaced(CompiledCallObject *call) {
  *call->placed = *call->used;
  for (const Output &output : *call->results)
    if (output.kind == OutputKind::Argument || output.kind == OutputKind::View)
      call->placed->push_back(output.index);
  return true;
}

/// False with an exception set. Everything the hot path relies on is checked here.
static bool readCall(CompiledCallObject *call) {
  call->loaded = nullptr;
  if (call->executable != Py_None) {
    LoadedExecutable *loaded = loadedExecutable(call->executable);
    if (!loaded)
      return false;
    call->loaded = loaded->executable.get();
  }
  if (!isTree(call->outTree))
    return fail("out_tree is not a PyTreeDef");
  for (PyObject *tuple : {call->inUsed, call->outputs, call->outAvals, call->consts, call->donated, call->aliases})
    if (!PyTuple_Check(tuple))
      return fail("in_used, outputs, out_avals, consts, donated and aliases must be tuples");
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(call->outAvals); ++i) {
    PyObject *aval = PyTuple_GET_ITEM(call->outAvals, i);
    if (!isAval(aval) || !reinterpret_cast<AvalObject *>(aval)->isConcrete())
      return fail("out_avals must be concrete ShapedArrays");
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(call->consts); ++i)
    if (!isArray(PyTuple_GET_ITEM(call->consts, i)))
      return fail("consts must be Arrays");
  if (!call->loaded && PyTuple_GET_SIZE(call->outAvals) > 0)
    return fail("results without an executable");
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(call->outputs); ++i)
    if (!readOutput(call, PyTuple_GET_ITEM(call->outputs, i)))
      return false;
  if (PyTuple_GET_SIZE(call->outputs) != reinterpret_cast<TreeObject *>(call->outTree)->leafCount)
    return fail("out_tree has another number of leaves than outputs");
  if (call->device != Py_None && !(call->place = deviceOf(call->device)))
    return false;
  return readLeaves(call, call->inUsed, *call->used) && readLeaves(call, call->donated, *call->given) &&
         readAliases(call) && readPlaced(call);
}

static PyObject *newCall(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static const char *names[] = {"executable", "in_used", "outputs", "out_avals", "out_tree", "consts",
                                "donated",    "aliases", "device",  "copying",   nullptr};
  PyObject *executable, *inUsed, *outputs, *outAvals, *outTree,
      *consts = nullptr, *donated = nullptr, *aliases = nullptr, *device = Py_None, *copying = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOOO|OOOOO:CompiledCall", const_cast<char **>(names), &executable,
                                   &inUsed, &outputs, &outAvals, &outTree, &consts, &donated, &aliases, &device,
                                   &copying))
    return nullptr;
  PyRef none = PyRef::steal(PyTuple_New(0));
  PyRef self = PyRef::steal(type->tp_alloc(type, 0));
  if (!self || !none)
    return nullptr;
  CompiledCallObject *call = asCall(self.get());
  call->executable = Py_NewRef(executable);
  call->inUsed = Py_NewRef(inUsed);
  call->outputs = Py_NewRef(outputs);
  call->outAvals = Py_NewRef(outAvals);
  call->outTree = Py_NewRef(outTree);
  call->consts = Py_NewRef(consts ? consts : none.get());
  call->donated = Py_NewRef(donated ? donated : none.get());
  call->aliases = Py_NewRef(aliases ? aliases : none.get());
  call->device = Py_NewRef(device);
  call->copying = copying == Py_None ? nullptr : Py_NewRef(copying);
  call->used = new std::vector<size_t>();
  call->inPlace = new std::vector<Alias>();
  call->given = new std::vector<size_t>();
  call->results = new std::vector<Output>();
  call->leavesNeeded = 0;
  call->place = nullptr;
  call->placed = new std::vector<size_t>();
  call->copies = new ConstantCopies();
  return readCall(call) ? self.take() : nullptr;
}

static int traverseCall(PyObject *self, visitproc visit, void *arg) {
  CompiledCallObject *call = asCall(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(call->executable);
  Py_VISIT(call->inUsed);
  Py_VISIT(call->outputs);
  Py_VISIT(call->outAvals);
  Py_VISIT(call->outTree);
  Py_VISIT(call->consts);
  Py_VISIT(call->donated);
  Py_VISIT(call->aliases);
  Py_VISIT(call->copying);
  return 0;
}

static void deallocateCall(PyObject *self) {
  PyObject_GC_UnTrack(self);
  CompiledCallObject *call = asCall(self);
  delete call->used;
  delete call->given;
  delete call->inPlace;
  delete call->results;
  delete call->placed;
  delete call->copies;
  for (PyObject *part : {call->executable, call->inUsed, call->outputs, call->outAvals, call->outTree, call->consts,
                         call->donated, call->aliases, call->device, call->copying})
    Py_XDECREF(part);
  PyTypeObject *type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

/// Whether the one array that is donated is all that refers to a buffer, but for the execution that fills it. The GIL
/// is held, so that nobody takes a new reference meanwhile; an execution lets go after its token is done.
static bool isAlone(const Buffer *buffer) {
  uint32_t references = buffer->references();
  if (!buffer->isOurs() || buffer->exports.load(std::memory_order_acquire) > 0)
    return false;
  if (buffer->isView()) // results are aligned, parts need not be
    return references == 1 && buffer->rootReferences() == 1 &&
           reinterpret_cast<uintptr_t>(buffer->data()) % PCRT_ALIGNMENT == 0;
  return buffer->viewCount() == 0 && (references == 1 || (references == 2 && !buffer->isReady()));
}

namespace {
/// Results that are computed in the memory of donated arguments.
class InPlaceResults {
public:
  ~InPlaceResults() {
    for (Buffer *buffer : owned)
      buffer->release();
  }
  /// Replaces the arguments whose memory somebody else reads by copies. False with an exception set.
  bool take(const CompiledCallObject *call, SmallVector<Buffer *, 32> &args, size_t resultCount,
            AvalObject *const *avals) {
    for (size_t i = 0; i < resultCount; ++i)
      given.push(nullptr);
    for (const Alias &alias : *call->inPlace) {
      Buffer *argument = args[alias.argument];
      if (isDeleted(argument))
        continue; // the launch says so
      bool twice = std::count(args.begin(), args.end(), argument) > 1;
      if (twice || !isAlone(argument)) {
        if (!reportKept(call->loaded->name(), *argument, avals[alias.result], twice) || !waitFor(argument))
          return false;
        RefPtr<Buffer> copy =
            allocateBuffer(*argument->device(), avals[alias.result], "copying a donated array that is used elsewhere");
        if (!copy)
          return false;
        std::memcpy(copy->data(), argument->data(), argument->size());
        args[alias.argument] = argument = copy.get();
        owned.push(copy.take());
      }
      given[alias.result] = Buffer::successor(*argument).take();
      owned.push(given[alias.result]);
    }
    return true;
  }
  Buffer *const *data() const { return given.data(); }

private:
  SmallVector<Buffer *, 16> given, owned;
};
} // namespace

namespace {
/// The donated leaves of a call: their arrays are deleted before the call is launched, so that no other thread begins
/// to read what is overwritten; their buffers are held until it is.
class DonatedLeaves {
public:
  ~DonatedLeaves() {
    for (Buffer *buffer : held)
      buffer->release();
  }
  void take(const CompiledCallObject *call, ArrayObject *const *leaves) {
    const char *place = launchPlace();
    std::string why = "this array was donated to " + (call->loaded ? call->loaded->name() : "a jitted function") +
                      (place ? std::string(" at ") + place : "") +
                      ", which took its memory: use the result instead, or donate a copy";
    for (size_t index : *call->given) {
      leaves[index]->buffer->retain();
      held.push(leaves[index]->buffer);
    }
    for (size_t index : *call->given)
      if (!isDeleted(leaves[index]->buffer))
        deleteElements(leaves[index], why);
  }

private:
  SmallVector<Buffer *, 16> held;
};
} // namespace

static bool isDonated(const CompiledCallObject *call, size_t leaf) {
  return std::find(call->given->begin(), call->given->end(), leaf) != call->given->end();
}

PyObject *pcrt::python::viewOf(ArrayObject *array, AvalObject *aval, size_t offset) {
  auto bytes = static_cast<size_t>(aval->nbytes);
  bool isWhole = bytes == array->buffer->size();
  return newArray(aval, isWhole ? RefPtr<Buffer>(array->buffer) : Buffer::view(*array->buffer, offset, bytes),
                  array->committed);
}

/// Whether every view among the outputs may be one.
static bool mayView(const CompiledCallObject *call, ArrayObject *const *leaves) {
  for (const Output &output : *call->results) {
    if (output.kind != OutputKind::View)
      continue;
    const Buffer *buffer = leaves[output.index]->buffer;
    auto bytes = static_cast<size_t>(output.aval->nbytes);
    if (!buffer->mayView(bytes) || output.offset + bytes > buffer->size())
      return false;
  }
  return true;
}

/// Appends an array for each output that is a donated leaf (what is deleted is the argument, not the result), or a view
/// of a leaf. False with an exception set.
static bool keepReturned(const CompiledCallObject *call, ArrayObject *const *leaves,
                         SmallVector<PyObject *, 16> &results) {
  for (const Output &output : *call->results) {
    bool isView = output.kind == OutputKind::View;
    if (!isView && (output.kind != OutputKind::Argument || !isDonated(call, output.index)))
      continue;
    ArrayObject *leaf = leaves[output.index];
    if (!isView && !ensureElements(leaf))
      return false;
    results.push(isView ? viewOf(leaf, output.aval, output.offset)
                        : newArray(leaf->aval, RefPtr<Buffer>(leaf->buffer), leaf->committed));
    if (!results[results.size() - 1])
      return false;
  }
  return true;
}

//===-- Where a call runs
//-------------------------------------------------------------------------------------------===//

namespace {
/// What a call has in its hands besides its leaves, where there is more than one device: copies of operands.
class MovedBuffers {
public:
  ~MovedBuffers() {
    for (Buffer *buffer : held)
      buffer->release();
  }
  Buffer *keep(RefPtr<Buffer> buffer) {
    held.push(buffer.get());
    return buffer.take();
  }

private:
  SmallVector<Buffer *, 8> held;
};
} // namespace

/// The constants of a call on a device; null with an exception.
static const std::vector<RefPtr<Buffer>> *constantsOn(const CompiledCallObject *call, Device &device) {
  std::vector<ConstantCopies::OfDevice> &all = call->copies->all;
  auto isOf = [&](const ConstantCopies::OfDevice &copies) { return copies.device == &device; };
  auto found = std::find_if(all.begin(), all.end(), isOf);
  if (found != all.end())
    return &found->buffers;
  ConstantCopies::OfDevice made{&device, {}};
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(call->consts); ++i) {
    RefPtr<Buffer> buffer = elementsOn(device, asArray(PyTuple_GET_ITEM(call->consts, i)));
    if (!buffer)
      return nullptr;
    made.buffers.push_back(std::move(buffer));
  }
  // Making the copies may have let another thread do the same.
  found = std::find_if(all.begin(), all.end(), isOf);
  return &(found != all.end() ? *found : all.emplace_back(std::move(made))).buffers;
}

/// The buffers of the executable's arguments where the call runs; false with an exception.
static bool collectPlaced(const CompiledCallObject *call, ArrayObject *const *leaves, const Placement &where,
                          SmallVector<Buffer *, 32> &args, MovedBuffers &moved) {
  SmallVector<Buffer *, 32> copies;
  for (size_t index : *call->used) {
    ArrayObject *leaf = leaves[index];
    copies.push(nullptr);
    if (leaf->buffer->device() == where.device && !isDeferred(leaf->buffer))
      continue;
    RefPtr<Buffer> copy = elementsOn(*where.device, leaf);
    if (!copy)
      return false;
    if (copy.get() != leaf->buffer)
      copies[copies.size() - 1] = moved.keep(std::move(copy));
  }
  const std::vector<RefPtr<Buffer>> *constants = constantsOn(call, *where.device);
  if (!constants)
    return false;
  // Only now, since the copies may have let other threads run. Those that are not copied are held by their arrays
  // alone: a donated one can be told from one that others read.
  for (size_t i = 0; i < call->used->size(); ++i)
    args.push(copies[i] ? copies[i] : leaves[(*call->used)[i]]->buffer);
  for (const RefPtr<Buffer> &constant : *constants)
    args.push(constant.get());
  return true;
}

/// An array that a call returns as it was given, or that is a constant of it, where the call ran. A new reference.
static PyObject *outputOn(const Placement &where, PyObject *object) {
  ArrayObject *array = asArray(object);
  bool isThere = array->buffer->device() == where.device;
  if ((isThere && array->committed == where.committed) || isDeleted(array->buffer))
    return Py_NewRef(object);
  if (isThere && isDeferred(array->buffer) && !makeElements(array))
    return nullptr;
  RefPtr<Buffer> buffer = elementsOn(*where.device, array);
  return buffer ? newArray(array->aval, std::move(buffer), where.committed) : nullptr;
}

/// The buffers of the executable's arguments where there is one device; whether any is committed.
static bool collectArguments(const CompiledCallObject *call, ArrayObject *const *leaves,
                             SmallVector<Buffer *, 32> &args) {
  bool committed = false;
  for (size_t index : *call->used) {
    args.push(leaves[index]->buffer);
    committed |= leaves[index]->committed;
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(call->consts); ++i)
    args.push(asArray(PyTuple_GET_ITEM(call->consts, i))->buffer);
  return committed;
}

/// Launches a call that leaves are donated to; false with an exception set.
[[gnu::noinline]] static bool runDonating(const Placement &where, CompiledCallObject *call, ArrayObject *const *leaves,
                                          SmallVector<Buffer *, 32> &args, AvalObject *const *avals, size_t resultCount,
                                          SmallVector<PyObject *, 16> &results) {
  for (Buffer *buffer : args) {
    if (isDeleted(buffer)) {
      raise(*buffer->error());
      return false;
    }
  }
  if (!keepReturned(call, leaves, results))
    return false;
  DonatedLeaves donated;
  donated.take(call, leaves);
  InPlaceResults inPlace;
  return !call->loaded || (inPlace.take(call, args, resultCount, avals) &&
                           execute(*where.device, *call->loaded, args.data(), args.size(), avals, resultCount,
                                   results.data(), inPlace.data(), where.committed));
}

/// The tree of the outputs, with those that were not computed where the call ran. Takes the references of `results`.
static PyObject *unflattenPlaced(const CompiledCallObject *call, const Placement &where,
                                 SmallVector<PyObject *, 16> &outputs, SmallVector<PyObject *, 16> &results) {
  bool complete = true;
  for (size_t i = 0; complete && i < outputs.size(); ++i) {
    if ((*call->results)[i].kind == OutputKind::Result)
      continue;
    PyObject *placed = outputOn(where, outputs[i]);
    complete = placed != nullptr;
    if (complete) {
      results.push(placed);
      outputs[i] = placed;
    }
  }
  PyObject *tree = complete ? unflatten(reinterpret_cast<TreeObject *>(call->outTree), outputs.data()) : nullptr;
  for (PyObject *result : results)
    Py_DECREF(result);
  return tree;
}

/// `several`: whether there is more than one device, so that leaves may have to be moved.
template <bool several>
[[gnu::always_inline]] static inline PyObject *runCall(CompiledCallObject *call, ArrayObject *const *leaves) {
  Placement where{nullptr, false};
  if constexpr (several) {
    const char *name = call->loaded ? call->loaded->name().c_str() : "a jitted function";
    if (!placeLeaves(leaves, call->placed->data(), call->placed->size(), call->place, name, where))
      return nullptr;
  } else {
    where.device = &Device::cpu();
  }
  SmallVector<PyObject *, 16> results;
  auto resultCount = static_cast<size_t>(PyTuple_GET_SIZE(call->outAvals));
  for (size_t i = 0; i < resultCount; ++i)
    results.push(nullptr);
  auto *avals = reinterpret_cast<AvalObject *const *>(reinterpret_cast<PyTupleObject *>(call->outAvals)->ob_item);
  bool donates = !call->given->empty(), done = donates || !call->copying || keepReturned(call, leaves, results);
  if (done && (call->loaded || donates)) {
    SmallVector<Buffer *, 32> args;
    std::conditional_t<several, MovedBuffers, int> moved{};
    if constexpr (several)
      done = !call->loaded || collectPlaced(call, leaves, where, args, moved);
    else if (call->loaded)
      where.committed = collectArguments(call, leaves, args) || call->place;
    done = done && (donates ? runDonating(where, call, leaves, args, avals, resultCount, results)
                            : executeHere(where, *call->loaded, args.data(), args.size(), avals, resultCount,
                                          results.data(), nullptr));
  }
  if (!done) {
    // The results of the executable are cleaned up by who makes them.
    for (size_t i = resultCount; i < results.size(); ++i)
      Py_XDECREF(results[i]);
    return nullptr;
  }
  SmallVector<PyObject *, 16> outputs;
  size_t returned = resultCount;
  for (const Output &output : *call->results) {
    switch (output.kind) {
    case OutputKind::Result:
      outputs.push(results[output.index]);
      break;
    case OutputKind::Argument:
      outputs.push(donates && isDonated(call, output.index) ? results[returned++]
                                                            : reinterpret_cast<PyObject *>(leaves[output.index]));
      break;
    case OutputKind::View:
      outputs.push(results[returned++]);
      break;
    case OutputKind::Constant:
      outputs.push(output.constant);
      break;
    }
  }
  if constexpr (several)
    return unflattenPlaced(call, where, outputs, results);
  PyObject *tree = unflatten(reinterpret_cast<TreeObject *>(call->outTree), outputs.data());
  for (PyObject *result : results)
    Py_DECREF(result);
  return tree;
}

[[gnu::noinline]] static PyObject *runCallPlaced(CompiledCallObject *call, ArrayObject *const *leaves) {
  return runCall<true>(call, leaves);
}

PyObject *pcrt::python::runCompiledCall(CompiledCallObject *call, ArrayObject *const *leaves) {
  if (call->copying && !mayView(call, leaves))
    return PyObject_Vectorcall(call->copying, reinterpret_cast<PyObject *const *>(leaves), call->leavesNeeded, nullptr);
  return severalDevices ? runCallPlaced(call, leaves) : runCall<false>(call, leaves);
}

static PyObject *callCompiled(PyObject *self, PyObject *args, PyObject *kwargs) {
  CompiledCallObject *call = asCall(self);
  if (kwargs && PyDict_GET_SIZE(kwargs)) {
    PyErr_SetString(PyExc_TypeError, "CompiledCall takes no keyword arguments");
    return nullptr;
  }
  auto count = static_cast<size_t>(PyTuple_GET_SIZE(args));
  if (count < call->leavesNeeded) {
    PyErr_Format(PyExc_TypeError, "CompiledCall: %zu leaves, %zu are needed", count, call->leavesNeeded);
    return nullptr;
  }
  PyObject *const *items = reinterpret_cast<PyTupleObject *>(args)->ob_item;
  for (size_t i = 0; i < count; ++i) {
    if (!isArray(items[i])) {
      PyErr_Format(PyExc_TypeError, "CompiledCall: leaf %zu is not an Array", i);
      return nullptr;
    }
  }
  return runCompiledCall(call, reinterpret_cast<ArrayObject *const *>(items));
}

#define PCRT_MEMBER(name, field) {name, T_OBJECT_EX, offsetof(CompiledCallObject, field), READONLY, nullptr}
static PyMemberDef callMembers[] = {PCRT_MEMBER("executable", executable), PCRT_MEMBER("in_used", inUsed),
                                    PCRT_MEMBER("outputs", outputs),       PCRT_MEMBER("out_avals", outAvals),
                                    PCRT_MEMBER("out_tree", outTree),      PCRT_MEMBER("consts", consts),
                                    PCRT_MEMBER("donated", donated),       PCRT_MEMBER("aliases", aliases),
                                    PCRT_MEMBER("device", device),         {}};
#undef PCRT_MEMBER

static PyType_Slot callSlots[] = {
    {Py_tp_doc, const_cast<char *>("An executable, with what turns its results into a tree.")},
    {Py_tp_new, reinterpret_cast<void *>(newCall)},
    {Py_tp_dealloc, reinterpret_cast<void *>(deallocateCall)},
    {Py_tp_traverse, reinterpret_cast<void *>(traverseCall)},
    {Py_tp_call, reinterpret_cast<void *>(callCompiled)},
    {Py_tp_members, callMembers},
    {}};

static PyType_Spec callSpec = {"pycompiler._runtime.CompiledCall", sizeof(CompiledCallObject), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, callSlots};

bool pcrt::python::addCompiledCallType(PyObject *module) {
  compiledCallType = addType(module, callSpec);
  return compiledCallType != nullptr;
}
