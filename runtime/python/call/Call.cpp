// The call of a CompiledCall, and its type.
#include "call/Call.h"

#include "array/Copies.h"
#include "array/Pending.h"
#include "array/Share.h"
#include "call/DonationReport.h"
#include "call/Execute.h"
#include "runtime/Devices.h"
#include "types/Tree.h"

#include <algorithm>
#include <structmember.h>

using namespace pcrt;
using namespace pcrt::python;

//===-- Donated arguments
//----------------------------------------------------------------------------------------------===//

/// Bytes of a donated array from which on its copy is worth a warning.
static constexpr size_t worthAReport = 4096;

/// Whether the one donated array has the only reference to a buffer, except for the execution that fills it. The GIL is
/// held, so no new reference appears meanwhile; an execution releases its reference after its token is done.
static bool isAlone(const Buffer *buffer) {
  uint32_t references = buffer->references();
  if (!buffer->isOurs() || buffer->exports.load(std::memory_order_acquire) > 0)
    return false;
  if (buffer->isView()) // results are aligned, parts need not be
    return references == 1 && buffer->rootReferences() == 1 &&
           reinterpret_cast<uintptr_t>(buffer->data()) % PCRT_ALIGNMENT == 0;
  return buffer->viewCount() == 0 && (references == 1 || (references == 2 && !buffer->isReady()));
}

/// A copy of a donated array that is used elsewhere; null with an exception. Of an array whose computation failed
/// nobody reads the memory: it is its own copy, and the results fail with it.
static RefPtr<Buffer> copyOf(Buffer &argument, AvalObject *aval) {
  // The order of a device's stream replaces waiting on the host.
  if (!argument.isHostReadable())
    return copyTo(*argument.device(), aval, argument);
  if (!waitFor(&argument)) {
    if (!argument.error())
      return nullptr; // a signal
    PyErr_Clear();
    return RefPtr<Buffer>(&argument);
  }
  RefPtr<Buffer> copy = allocateBuffer(*argument.device(), aval, "copying a donated array that is used elsewhere");
  if (copy)
    std::memcpy(copy->data(), argument.data(), argument.size());
  return copy;
}

namespace {
/// Results that are computed in the memory of donated arguments.
class InPlaceResults {
public:
  ~InPlaceResults() {
    for (Buffer *buffer : owned)
      buffer->release();
  }
  /// Replaces arguments whose memory other objects read by copies. False with an exception set.
  bool take(const CompiledCallObject *call, SmallVector<Buffer *, 32> &args, size_t resultCount,
            AvalObject *const *avals) {
    for (size_t i = 0; i < resultCount; ++i)
      given.push(nullptr);
    for (const Alias &alias : *call->inPlace) {
      Buffer *argument = args[alias.argument];
      if (isDeleted(argument))
        continue; // the launch reports it
      bool twice = std::count(args.begin(), args.end(), argument) > 1;
      if (twice || !isAlone(argument)) {
        bool reported = argument->size() >= worthAReport;
        if (reported && !reportKept(call->loaded->name(), *argument, avals[alias.result], twice))
          return false;
        RefPtr<Buffer> copy = copyOf(*argument, avals[alias.result]);
        if (!copy)
          return false;
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
/// The donated leaves of a call. Their arrays are deleted before the launch, so that no other thread begins to read
/// memory that is overwritten; their buffers are held until the launch.
class DonatedLeaves {
public:
  ~DonatedLeaves() {
    for (Buffer *buffer : held)
      buffer->release();
  }
  void take(const CompiledCallObject *call, ArrayObject *const *leaves) {
    const char *place = callSite();
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

/// Whether each donated array is only one argument of the call: another reader would read a result. False with an
/// exception set.
static bool areDonatedOnce(const CompiledCallObject *call, ArrayObject *const *leaves) {
  const ArrayObject *twice = nullptr;
  auto look = [&](size_t index) {
    if (leaves[index]->isMarked)
      twice = leaves[index];
  };
  for (size_t index : *call->given) {
    look(index);
    leaves[index]->isMarked = true;
  }
  for (size_t index : *call->kept)
    look(index);
  for (size_t index : *call->given)
    leaves[index]->isMarked = false;
  if (!twice)
    return true;
  SmallVector<size_t, 16> places;
  for (size_t index = 0; index < call->leavesNeeded; ++index)
    if (leaves[index] == twice)
      places.push(index);
  PyErr_Format(
      PyExc_ValueError,
      "%s: the donated array %S is given twice, as leaves %zu and %zu of the arguments, counted from 0: its "
      "memory becomes that of a result. What to do: give a copy for one of them, x.copy(), or do not donate it",
      call->loaded ? call->loaded->name().c_str() : "a jitted function", twice->aval, places[0], places[1]);
  return false;
}

/// Whether every view among the outputs is possible.
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

/// Appends an array for each output that is a leaf, or a view of one: deletion and donation then affect the argument
/// and not the result. False with an exception set.
static bool keepReturned(const CompiledCallObject *call, ArrayObject *const *leaves,
                         SmallVector<PyObject *, 16> &results) {
  for (const Output &output : *call->results) {
    if (output.kind != OutputKind::View && output.kind != OutputKind::Argument)
      continue;
    ArrayObject *leaf = leaves[output.index];
    results.push(output.kind == OutputKind::View ? viewOf(leaf, output.aval, output.offset) : shareElements(leaf));
    if (!results[results.size() - 1])
      return false;
  }
  return true;
}

//===-- The device of a call
//-------------------------------------------------------------------------------------------===//

namespace {
/// Buffers that a call holds besides its leaves, if there is more than one device: copies of operands.
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
  // While the copies were made, another thread may have made the same ones.
  found = std::find_if(all.begin(), all.end(), isOf);
  return &(found != all.end() ? *found : all.emplace_back(std::move(made))).buffers;
}

/// The buffers of the executable's arguments on the device of the call; false with an exception.
static bool collectPlaced(const CompiledCallObject *call, ArrayObject *const *leaves, const DevicePlacement &where,
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
  // Only now, because other threads may have run during the copies. Buffers that are not copied are held by their
  // arrays alone, so that unshared donated ones can be recognized.
  for (size_t i = 0; i < call->used->size(); ++i)
    args.push(copies[i] ? copies[i] : leaves[(*call->used)[i]]->buffer);
  for (const RefPtr<Buffer> &constant : *constants)
    args.push(constant.get());
  return true;
}

/// An array that a call returns unchanged, or that is a constant of it, on the device of the call. A new reference.
static PyObject *outputOn(const DevicePlacement &where, PyObject *object) {
  ArrayObject *array = asArray(object);
  bool isThere = array->buffer->device() == where.device;
  if ((isThere && array->committed == where.committed) || isDeleted(array->buffer))
    return Py_NewRef(object);
  if (isThere && isDeferred(array->buffer) && !makeElements(array))
    return nullptr;
  RefPtr<Buffer> buffer = elementsOn(*where.device, array);
  return buffer ? newArray(array->aval, std::move(buffer), where.committed) : nullptr;
}

/// The buffers of the executable's arguments if there is one device; returns whether any is committed.
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

/// Launches a call with donated leaves; false with an exception set.
[[gnu::noinline]] static bool runDonating(const DevicePlacement &where, CompiledCallObject *call,
                                          ArrayObject *const *leaves, SmallVector<Buffer *, 32> &args,
                                          AvalObject *const *avals, size_t resultCount,
                                          SmallVector<PyObject *, 16> &results) {
  for (Buffer *buffer : args) {
    if (isDeleted(buffer)) {
      raise(*buffer->error());
      return false;
    }
  }
  if (!areDonatedOnce(call, leaves))
    return false;
  DonatedLeaves donated;
  donated.take(call, leaves);
  InPlaceResults inPlace;
  return !call->loaded || (inPlace.take(call, args, resultCount, avals) &&
                           execute(*where.device, *call->loaded, args.data(), args.size(), avals, resultCount,
                                   results.data(), inPlace.data(), where.committed));
}

/// The tree of the outputs, including the not computed ones, on the device of the call. Takes the references of
/// `results`.
static PyObject *unflattenPlaced(const CompiledCallObject *call, const DevicePlacement &where,
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

/// Whether the code of a call is for a device.
static bool isFor(const CompiledCallObject *call, const Device &device) {
  return !call->loaded || PyUnicode_CompareWithASCIIString(call->capability, device.computeCapability().c_str()) == 0;
}

/// The call for a device that this code was not compiled for; null with an exception.
static CompiledCallObject *callFor(CompiledCallObject *call, Device &device) {
  for (const CallElsewhere &other : *call->others)
    if (other.device == &device)
      return asCall(other.call);
  if (!call->elsewhere) {
    PyErr_Format(PyExc_RuntimeError, "%s: its code is not for %R", call->loaded->name().c_str(), deviceObject(device));
    return nullptr;
  }
  PyRef made = PyRef::steal(PyObject_CallOneArg(call->elsewhere, deviceObject(device)));
  if (!made)
    return nullptr;
  if (!isCompiledCall(made.get()) || !isFor(asCall(made.get()), device)) {
    PyErr_SetString(PyExc_TypeError, "CompiledCall: elsewhere gave no call for the device");
    return nullptr;
  }
  call->others->push_back({&device, made.get()});
  return asCall(made.take());
}

/// `several`: whether there is more than one device, so that leaves may have to be moved.
template <bool several>
[[gnu::always_inline]] static inline PyObject *runCall(CompiledCallObject *call, ArrayObject *const *leaves) {
  DevicePlacement where{nullptr, false};
  if constexpr (several) {
    const char *name = call->loaded ? call->loaded->name().c_str() : "a jitted function";
    if (!placeLeaves(leaves, call->placed->data(), call->placed->size(), call->place, name, where))
      return nullptr;
    if (!isFor(call, *where.device)) {
      CompiledCallObject *other = callFor(call, *where.device);
      return other ? runCompiledCall(other, leaves) : nullptr;
    }
  } else {
    where.device = &Devices::cpu();
  }
  SmallVector<PyObject *, 16> results;
  auto resultCount = static_cast<size_t>(PyTuple_GET_SIZE(call->outAvals));
  for (size_t i = 0; i < resultCount; ++i)
    results.push(nullptr);
  auto *avals = reinterpret_cast<AvalObject *const *>(reinterpret_cast<PyTupleObject *>(call->outAvals)->ob_item);
  bool donates = !call->given->empty(), done = !call->returnsLeaves || keepReturned(call, leaves, results);
  if (done && (call->loaded || donates)) {
    SmallVector<Buffer *, 32> args;
    std::conditional_t<several, MovedBuffers, int> moved{};
    if constexpr (several)
      done = !call->loaded || collectPlaced(call, leaves, where, args, moved);
    else if (call->loaded)
      where.committed = collectArguments(call, leaves, args) || call->place;
    done = done && (donates ? runDonating(where, call, leaves, args, avals, resultCount, results)
                            : executeInline(where, *call->loaded, args.data(), args.size(), avals, resultCount,
                                            results.data(), nullptr));
  }
  if (!done) {
    // The creator of the executable's results cleans them up.
    for (size_t i = resultCount; i < results.size(); ++i)
      Py_XDECREF(results[i]);
    return nullptr;
  }
  SmallVector<PyObject *, 16> outputs;
  size_t returned = resultCount;
  for (const Output &output : *call->results) {
    if (output.kind == OutputKind::Result && !output.isRepeated) {
      outputs.push(results[output.index]);
      continue;
    }
    if (output.kind == OutputKind::Argument || output.kind == OutputKind::View) {
      outputs.push(results[returned++]);
      continue;
    }
    PyObject *shared =
        shareElements(asArray(output.kind == OutputKind::Constant ? output.constant : results[output.index]));
    if (!shared) {
      for (PyObject *result : results)
        Py_DECREF(result);
      return nullptr;
    }
    results.push(shared);
    outputs.push(shared);
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

//===-- The type
//----------------------------------------------------------------------------------------------------===//

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
    if (!ensureSize(asArray(items[i])))
      return nullptr;
  }
  return runCompiledCall(call, reinterpret_cast<ArrayObject *const *>(items));
}

#define PCRT_MEMBER(name, field) {name, T_OBJECT_EX, offsetof(CompiledCallObject, field), READONLY, nullptr}
static PyMemberDef callMembers[] = {PCRT_MEMBER("executable", executable),
                                    PCRT_MEMBER("in_used", inUsed),
                                    PCRT_MEMBER("outputs", outputs),
                                    PCRT_MEMBER("out_avals", outAvals),
                                    PCRT_MEMBER("out_tree", outTree),
                                    PCRT_MEMBER("consts", consts),
                                    PCRT_MEMBER("donated", donated),
                                    PCRT_MEMBER("aliases", aliases),
                                    PCRT_MEMBER("device", device),
                                    PCRT_MEMBER("capability", capability),
                                    {}};
#undef PCRT_MEMBER

static PyType_Slot callSlots[] = {
    {Py_tp_doc, const_cast<char *>("An executable, with the description of the tree of its results.")},
    {Py_tp_new, reinterpret_cast<void *>(newCompiledCall)},
    {Py_tp_dealloc, reinterpret_cast<void *>(deallocateCompiledCall)},
    {Py_tp_traverse, reinterpret_cast<void *>(traverseCompiledCall)},
    {Py_tp_call, reinterpret_cast<void *>(callCompiled)},
    {Py_tp_members, callMembers},
    {}};

static PyType_Spec callSpec = {"pycompiler._runtime.CompiledCall", sizeof(CompiledCallObject), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, callSlots};

bool pcrt::python::addCompiledCallType(PyObject *module) {
  compiledCallType = addType(module, callSpec);
  return compiledCallType != nullptr;
}
