// JitFunction: from a Python call to the enqueued execution. The arguments are flattened straight into the words of the
// key; a cache hit builds nothing else.
#include "call/JitFunction.h"

#include "array/Borrow.h"
#include "array/DevicePlacement.h"
#include "array/Leaf.h"
#include "array/Pending.h"
#include "call/Call.h"
#include "call/CallCache.h"
#include "support/Context.h"
#include "types/Ndarray.h"
#include "types/Tree.h"

#include <algorithm>
#include <structmember.h>

using namespace pcrt;
using namespace pcrt::python;

namespace {
struct JitObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject *fun, *miss, *traced, *sharded;
  PyObject *dict, *weakReferences;
  PyObject *staticNames; // tuple of str
  std::vector<Py_ssize_t> *staticNumbers;
  CallCache *cache;
  PyObject *lastMiss;
};
} // namespace

static PyTypeObject *jitType = nullptr;
static PyTypeObject *callKeyType = nullptr;
/// The classes of mutable references and of values of users' own types: Python handles calls with such arguments.
static SmallVector<PyTypeObject *, 4> &handledTypes() {
  static auto *const types = new SmallVector<PyTypeObject *, 4>;
  return *types;
}

static bool isHandled(PyObject *object) {
  for (PyTypeObject *type : handledTypes())
    if (Py_TYPE(object) == type)
      return true;
  return false;
}

static JitObject *asJit(PyObject *object) { return reinterpret_cast<JitObject *>(object); }

//===-- The arguments of one call ---------------------------------------------------------------------------------===//

namespace {
/// The arguments of the vectorcall.
struct Arguments {
  PyObject *const *values;
  Py_ssize_t positional;
  PyObject *names; // tuple of the keywords, or null
  size_t flags;

  Py_ssize_t keywords() const { return names ? PyTuple_GET_SIZE(names) : 0; }
  PyObject *keyword(Py_ssize_t i) const { return PyTuple_GET_ITEM(names, i); }
  PyObject *keywordValue(Py_ssize_t i) const { return values[positional + i]; }
};

/// The words and the leaves of a call.
class CallSink final : public TreeSink {
public:
  bool leaf(PyObject *object) override {
    if (!isArray(object)) {
      if (isTracer(object) || isHandled(object)) {
        foundTracer = true;
        return false;
      }
      PyObject *given = std::exchange(object, convertLeaf(object));
      if (!object)
        return flattenNothingInstead(given, *this);
      keep(object);
    }
    if (!ensureSize(asArray(object)))
      return false;
    word(Word::identity(asArray(object)->aval));
    foundSharded |= asArray(object)->shards != nullptr;
    leaves.push(asArray(object));
    return true;
  }

  SmallVector<ArrayObject *, 32> leaves;
  bool foundTracer = false;
  /// A leaf is on several devices: compiled calls for one device do not apply.
  bool foundSharded = false;
};

class CallReader {
public:
  CallReader(JitObject *jit, const Arguments &arguments) : jit(jit), arguments(arguments) {}

  /// False with an exception set, or with sink.foundTracer, also for a mutable reference.
  bool read();
  bool isStaticNumber(Py_ssize_t i) const {
    const std::vector<Py_ssize_t> &numbers = *jit->staticNumbers;
    return !numbers.empty() && std::find(numbers.begin(), numbers.end(), i) != numbers.end();
  }
  /// 1, 0, or -1 with an exception.
  int isStaticName(PyObject *name) const {
    return PyTuple_GET_SIZE(jit->staticNames) == 0 ? 0 : PySequence_Contains(jit->staticNames, name);
  }
  /// The keywords in the order of their names, in which a dict of them is flattened.
  Py_ssize_t sortedKeyword(size_t i) const { return keywordOrder[i]; }

  CallSink sink;
  uint64_t hash = 0;
  /// Whether the data of some registered node has no hash.
  bool isHashable = true;

private:
  bool readStatic(PyObject *value, PyObject *name, Py_ssize_t number);
  bool readDynamic(PyObject *value, PyObject *name, Py_ssize_t number);
  bool readKeywords();
  PyRef describe(PyObject *name, Py_ssize_t number) const;
  void explainLeaf(PyObject *value, PyObject *name, Py_ssize_t number, size_t leafNumber) const;

  JitObject *jit;
  const Arguments &arguments;
  SmallVector<Py_ssize_t, 16> keywordOrder;
};
} // namespace

bool CallReader::read() {
  sink.word(Word::header(NodeKind::Tuple, static_cast<size_t>(arguments.positional)));
  for (Py_ssize_t i = 0; i < arguments.positional; ++i) {
    PyObject *value = arguments.values[i];
    if (isStaticNumber(i) ? !readStatic(value, nullptr, i) : !readDynamic(value, nullptr, i))
      return false;
  }
  if (arguments.names && !readKeywords())
    return false;
  for (const Word &word : sink.words)
    if (!hashWord(word, hash, isHashable))
      return false;
  // Not hashed: it hardly ever differs, and its hash costs as much as the rest.
  sink.word(Word::value(contextKey()));
  return true;
}

bool CallReader::readKeywords() {
  for (Py_ssize_t i = 0; i < arguments.keywords(); ++i)
    keywordOrder.push(i);
  std::sort(keywordOrder.begin(), keywordOrder.end(), [&](Py_ssize_t a, Py_ssize_t b) {
    return PyUnicode_Compare(arguments.keyword(a), arguments.keyword(b)) < 0;
  });
  sink.word(Word::header(NodeKind::Dict, keywordOrder.size()));
  for (Py_ssize_t i : keywordOrder)
    sink.word(Word::value(arguments.keyword(i)));
  for (Py_ssize_t i : keywordOrder) {
    PyObject *name = arguments.keyword(i), *value = arguments.keywordValue(i);
    int isStatic = isStaticName(name);
    if (isStatic < 0 || (isStatic ? !readStatic(value, name, -1) : !readDynamic(value, name, -1)))
      return false;
  }
  return true;
}

bool CallReader::readStatic(PyObject *value, PyObject *name, Py_ssize_t number) {
  if (PyObject_Hash(value) == -1) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError))
      return false;
    PyErr_Clear();
    PyRef where = describe(name, number);
    if (where)
      PyErr_Format(PyExc_ValueError, "%U is static, so it must be hashable: %R is not", where.get(), Py_TYPE(value));
    return false;
  }
  sink.word(Word::header(NodeKind::Static, 0));
  // 1, 1.0 and True are equal, but not the same value to trace with.
  sink.word(Word::identity(Py_TYPE(value)));
  sink.word(Word::value(value));
  return true;
}

bool CallReader::readDynamic(PyObject *value, PyObject *name, Py_ssize_t number) {
  size_t before = sink.leaves.size();
  if (!isArray(value) && Py_TYPE(value) == ndarrayType() && areTemporaries(arguments.values, arguments.flags)) {
    if (PyObject *borrowed = borrowLeaf(value)) {
      sink.keep(borrowed);
      return sink.leaf(borrowed);
    }
    if (PyErr_Occurred())
      return false;
  }
  if (isArray(value) ? sink.leaf(value) : flatten(value, sink))
    return true;
  if (!sink.foundTracer && (PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_Occurred() == PyExc_ValueError))
    explainLeaf(value, name, number, sink.leaves.size() - before);
  return false;
}

//===-- Errors ----------------------------------------------------------------------------------------------------===//

static PyRef functionName(JitObject *jit) {
  PyRef name = PyRef::steal(PyObject_GetAttrString(jit->fun, "__name__"));
  if (name && PyUnicode_Check(name.get()))
    return name;
  PyErr_Clear();
  return PyRef::steal(PyObject_Repr(jit->fun));
}

/// The name of a positional parameter; null (no exception) if the signature does not have it.
static PyRef parameterName(PyObject *fun, Py_ssize_t number) {
  PyRef inspect = PyRef::steal(PyImport_ImportModule("inspect"));
  PyRef signature = inspect ? PyRef::steal(PyObject_CallMethod(inspect.get(), "signature", "O", fun)) : PyRef();
  PyRef parameters = signature ? PyRef::steal(PyObject_GetAttrString(signature.get(), "parameters")) : PyRef();
  PyRef values = parameters ? PyRef::steal(PySequence_List(parameters.get())) : PyRef();
  PyErr_Clear();
  if (!values || number >= PyList_GET_SIZE(values.get()))
    return nullptr;
  return PyRef::borrow(PyList_GET_ITEM(values.get(), number));
}

/// "f: argument 'x'".
PyRef CallReader::describe(PyObject *name, Py_ssize_t number) const {
  PyRef function = functionName(jit);
  PyRef parameter = name ? PyRef::borrow(name) : parameterName(jit->fun, number);
  if (!function)
    return nullptr;
  if (parameter)
    return PyRef::steal(PyUnicode_FromFormat("%U: argument '%U'", function.get(), parameter.get()));
  return PyRef::steal(PyUnicode_FromFormat("%U: argument %zd", function.get(), number));
}

/// Adds the argument, and the position in it, to the current TypeError or ValueError.
void CallReader::explainLeaf(PyObject *value, PyObject *name, Py_ssize_t number, size_t leafNumber) const {
  PyObject *type, *error, *traceback;
  PyErr_Fetch(&type, &error, &traceback);
  PyErr_NormalizeException(&type, &error, &traceback);
  PyRef cause = PyRef::steal(error);
  PyRef given = PyRef::steal(type);
  // A ValueError stays one, and a class that is both stays that class.
  bool isBoth =
      PyErr_GivenExceptionMatches(type, PyExc_ValueError) && PyErr_GivenExceptionMatches(type, PyExc_TypeError);
  PyObject *kind = type == PyExc_ValueError || isBoth ? type : PyExc_TypeError;
  Py_XDECREF(traceback);
  std::string path = leafPath(value, leafNumber);
  if (PyRef where = describe(name, number))
    PyErr_Format(kind, "%U%s%s: %S", where.get(), path.empty() ? "" : ", at ", path.c_str(), cause.get());
}

//===-- A miss ----------------------------------------------------------------------------------------------------===//

namespace {
/// The Python objects that describe a call: made on a miss only.
struct CallDescription {
  PyRef args, kwargs; // as passed
  PyRef key;

  bool make(const CallReader &reader, const Arguments &arguments);

private:
  bool addPositional(const CallReader &reader, const Arguments &arguments, PyObject *dynamic, PyObject *statics);
  bool addKeywords(const CallReader &reader, const Arguments &arguments, PyObject *dynamic, PyObject *statics);
};
} // namespace

bool CallDescription::addPositional(const CallReader &reader, const Arguments &arguments, PyObject *dynamic,
                                    PyObject *statics) {
  for (Py_ssize_t i = 0; i < arguments.positional; ++i) {
    PyObject *value = arguments.values[i];
    PyTuple_SET_ITEM(args.get(), i, Py_NewRef(value));
    if (!reader.isStaticNumber(i)) {
      if (PyList_Append(dynamic, value) < 0)
        return false;
      continue;
    }
    PyRef pair = PyRef::steal(Py_BuildValue("(nO)", i, value));
    if (!pair || PyList_Append(statics, pair.get()) < 0)
      return false;
  }
  return true;
}

bool CallDescription::addKeywords(const CallReader &reader, const Arguments &arguments, PyObject *dynamic,
                                  PyObject *statics) {
  for (Py_ssize_t i = 0; i < arguments.keywords(); ++i) {
    Py_ssize_t sorted = reader.sortedKeyword(static_cast<size_t>(i));
    PyObject *name = arguments.keyword(sorted), *value = arguments.keywordValue(sorted);
    int isStatic = reader.isStaticName(name);
    if (isStatic < 0 || PyDict_SetItem(kwargs.get(), name, value) < 0)
      return false;
    if (!isStatic) {
      if (PyDict_SetItem(dynamic, name, value) < 0)
        return false;
      continue;
    }
    PyRef pair = PyRef::steal(PyTuple_Pack(2, name, value));
    if (!pair || PyList_Append(statics, pair.get()) < 0)
      return false;
  }
  return true;
}

bool CallDescription::make(const CallReader &reader, const Arguments &arguments) {
  args = PyRef::steal(PyTuple_New(arguments.positional));
  kwargs = PyRef::steal(PyDict_New());
  PyRef dynamicArgs = PyRef::steal(PyList_New(0)), dynamicKwargs = PyRef::steal(PyDict_New());
  PyRef staticArgs = PyRef::steal(PyList_New(0)), staticKwargs = PyRef::steal(PyList_New(0));
  key = PyRef::steal(PyStructSequence_New(callKeyType));
  if (!args || !kwargs || !dynamicArgs || !dynamicKwargs || !staticArgs || !staticKwargs || !key ||
      !addPositional(reader, arguments, dynamicArgs.get(), staticArgs.get()) ||
      !addKeywords(reader, arguments, dynamicKwargs.get(), staticKwargs.get()))
    return false;
  PyRef dynamicTuple = PyRef::steal(PyList_AsTuple(dynamicArgs.get()));
  PyRef both = dynamicTuple ? PyRef::steal(PyTuple_Pack(2, dynamicTuple.get(), dynamicKwargs.get())) : PyRef();
  PyRef leaves;
  PyRef whole = both ? PyRef::steal(flattenToTree(both.get(), nullptr, leaves, /*hidesNothing=*/true)) : PyRef();
  PyObject *tree = whole ? snapshotTree(whole.get()) : nullptr;
  PyObject *avals = PyTuple_New(static_cast<Py_ssize_t>(reader.sink.leaves.size()));
  for (size_t i = 0; avals && i < reader.sink.leaves.size(); ++i)
    PyTuple_SET_ITEM(avals, static_cast<Py_ssize_t>(i),
                     Py_NewRef(reinterpret_cast<PyObject *>(reader.sink.leaves[i]->aval)));
  PyObject *parts[] = {tree, avals, PyList_AsTuple(staticArgs.get()), PyList_AsTuple(staticKwargs.get()),
                       Py_NewRef(contextKey())};
  bool complete = true;
  for (Py_ssize_t i = 0; i < 5; ++i) {
    complete = complete && parts[i];
    PyStructSequence_SetItem(key.get(), i, parts[i]);
  }
  return complete;
}

static PyRef compileCall(JitObject *jit, const CallReader &reader, const Arguments &arguments) {
  CallDescription description;
  if (!description.make(reader, arguments))
    return nullptr;
  Py_XSETREF(jit->lastMiss, Py_NewRef(description.key.get()));
  PyRef call = PyRef::steal(PyObject_CallFunctionObjArgs(jit->miss, description.args.get(), description.kwargs.get(),
                                                         description.key.get(), nullptr));
  if (!call)
    return nullptr;
  if (!PyCallable_Check(call.get())) {
    PyErr_Format(PyExc_TypeError, "miss returned %R, neither a CompiledCall nor callable", Py_TYPE(call.get()));
    return nullptr;
  }
  if (isCompiledCall(call.get()) &&
      leavesNeeded(reinterpret_cast<CompiledCallObject *>(call.get())) > reader.sink.leaves.size()) {
    PyErr_SetString(PyExc_ValueError, "miss returned a CompiledCall that needs more leaves than the call has");
    return nullptr;
  }
  // Another thread, or a nested call, may have compiled the same meanwhile: keep the first.
  const auto &words = reader.sink.words;
  if (PyObject *earlier = jit->cache->find(words.data(), words.size(), reader.hash))
    return PyRef::borrow(earlier);
  if (PyErr_Occurred())
    return nullptr;
  bool isKept = jit->cache->insert(words.data(), words.size(), reader.hash, description.key, call, reader.isHashable);
  return isKept ? call : nullptr;
}

//===-- Operands on different devices -----------------------------------------------------------------------------===//

/// leaf_namer(fun, key, static_argnums) -> the names of the dynamic leaves.
static PyObject *leafNamer = nullptr;

static PyRef leafNames(JitObject *jit, const CallDescription &description) {
  const std::vector<Py_ssize_t> &numbers = *jit->staticNumbers;
  PyRef statics = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(numbers.size())));
  for (size_t i = 0; statics && i < numbers.size(); ++i)
    PyTuple_SET_ITEM(statics.get(), static_cast<Py_ssize_t>(i), PyLong_FromSsize_t(numbers[i]));
  if (!statics || !leafNamer)
    return nullptr;
  PyRef names =
      PyRef::steal(PyObject_CallFunctionObjArgs(leafNamer, jit->fun, description.key.get(), statics.get(), nullptr));
  return names ? PyRef::steal(PySequence_Tuple(names.get())) : nullptr;
}

/// If the call failed because of operands on different devices, the error gets the function's names for them.
[[gnu::noinline]] static void nameConflict(JitObject *jit, const CallReader &reader, const Arguments &arguments) {
  Conflict conflict = takeConflict();
  if (!conflict.isSet)
    return;
  PyObject *type, *error, *traceback;
  PyErr_Fetch(&type, &error, &traceback);
  CallDescription description;
  PyRef function = functionName(jit);
  PyRef names = description.make(reader, arguments) ? leafNames(jit, description) : nullptr;
  auto nameOf = [&](size_t number) -> PyRef {
    if (!names || number >= static_cast<size_t>(PyTuple_GET_SIZE(names.get())))
      return nullptr;
    return PyRef::steal(
        PyUnicode_FromFormat("argument '%S'", PyTuple_GET_ITEM(names.get(), static_cast<Py_ssize_t>(number))));
  };
  PyRef first = nameOf(conflict.first), second = nameOf(conflict.second);
  const char *name = function ? PyUnicode_AsUTF8(function.get()) : nullptr;
  PyErr_Clear();
  if (!first || !second || !name) {
    PyErr_Restore(type, error, traceback);
    return;
  }
  Py_XDECREF(type);
  Py_XDECREF(error);
  Py_XDECREF(traceback);
  raiseConflict(name, first.get(), reader.sink.leaves[conflict.first], second.get(),
                reader.sink.leaves[conflict.second]);
}

static PyObject *setLeafNamer(PyObject *, PyObject *function) {
  Py_XSETREF(leafNamer, Py_NewRef(function));
  Py_RETURN_NONE;
}

static PyObject *addHandledType(PyObject *, PyObject *type) {
  if (!PyType_Check(type))
    return PyErr_Format(PyExc_TypeError, "add_handled_type: not a class: %R", type);
  handledTypes().push(reinterpret_cast<PyTypeObject *>(Py_NewRef(type)));
  Py_RETURN_NONE;
}

//===-- The call --------------------------------------------------------------------------------------------------===//

static PyObject *callJit(PyObject *self, PyObject *const *values, size_t flags, PyObject *names) {
  JitObject *jit = asJit(self);
  if (currentTrace)
    return PyObject_Vectorcall(jit->traced, values, flags, names);
  Arguments arguments{values, PyVectorcall_NARGS(flags), names, flags};
  CallReader reader(jit, arguments);
  if (!reader.read()) {
    if (!reader.sink.foundTracer)
      return nullptr;
    return PyObject_Vectorcall(jit->traced, values, flags, names);
  }
  if (reader.sink.foundSharded)
    return PyObject_Vectorcall(jit->sharded, values, flags, names);
  const auto &words = reader.sink.words;
  PyRef call = PyRef::borrow(jit->cache->find(words.data(), words.size(), reader.hash));
  if (!call) {
    if (PyErr_Occurred())
      return nullptr;
    call = compileCall(jit, reader, arguments);
    if (!call)
      return nullptr;
  }
  if (!isCompiledCall(call.get()))
    return PyObject_Vectorcall(call.get(), values, flags, names);
  PyObject *result = runCompiledCall(reinterpret_cast<CompiledCallObject *>(call.get()), reader.sink.leaves.data());
  if (!result)
    nameConflict(jit, reader, arguments);
  return result;
}

//===-- The type --------------------------------------------------------------------------------------------------===//

static bool readStaticNumbers(JitObject *jit, PyObject *numbers) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(numbers); ++i) {
    Py_ssize_t number = PyLong_AsSsize_t(PyTuple_GET_ITEM(numbers, i));
    if (number < 0) {
      if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "JitFunction: static_argnums must not be negative");
      return false;
    }
    jit->staticNumbers->push_back(number);
  }
  return true;
}

static PyObject *newJit(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static const char *names[] = {"fun", "miss", "traced", "static_argnums", "static_argnames", "sharded", nullptr};
  PyObject *fun, *miss, *traced, *staticNumbers = nullptr, *staticNames = nullptr, *sharded = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO|O!O!O:JitFunction", const_cast<char **>(names), &fun, &miss,
                                   &traced, &PyTuple_Type, &staticNumbers, &PyTuple_Type, &staticNames, &sharded))
    return nullptr;
  PyRef self = PyRef::steal(type->tp_alloc(type, 0));
  if (!self)
    return nullptr;
  JitObject *jit = asJit(self.get());
  jit->vectorcall = callJit;
  jit->fun = Py_NewRef(fun);
  jit->miss = Py_NewRef(miss);
  jit->traced = Py_NewRef(traced);
  jit->sharded = Py_NewRef(sharded ? sharded : traced);
  jit->staticNames = staticNames ? Py_NewRef(staticNames) : PyTuple_New(0);
  jit->staticNumbers = new std::vector<Py_ssize_t>();
  jit->cache = new CallCache();
  if (!jit->staticNames || (staticNumbers && !readStaticNumbers(jit, staticNumbers)))
    return nullptr;
  PyRef functools = PyRef::steal(PyImport_ImportModule("functools"));
  PyRef updated =
      functools ? PyRef::steal(PyObject_CallMethod(functools.get(), "update_wrapper", "OO", self.get(), fun)) : PyRef();
  return updated ? self.take() : nullptr;
}

static int traverseJit(PyObject *self, visitproc visit, void *arg) {
  JitObject *jit = asJit(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(jit->fun);
  Py_VISIT(jit->miss);
  Py_VISIT(jit->traced);
  Py_VISIT(jit->sharded);
  Py_VISIT(jit->dict);
  Py_VISIT(jit->lastMiss);
  if (!jit->cache)
    return 0;
  for (const auto &entry : jit->cache->entries()) {
    Py_VISIT(entry->key.get());
    Py_VISIT(entry->call.get());
    for (Word word : entry->words)
      if (!word.isHeader())
        Py_VISIT(word.object());
  }
  return 0;
}

static int clearJit(PyObject *self) {
  JitObject *jit = asJit(self);
  Py_CLEAR(jit->dict);
  Py_CLEAR(jit->lastMiss);
  // Still callable, for example by a finalizer: with an error.
  for (PyObject **part : {&jit->fun, &jit->miss, &jit->traced, &jit->sharded})
    if (*part)
      Py_SETREF(*part, Py_NewRef(Py_None));
  if (jit->cache)
    jit->cache->clear();
  return 0;
}

static void deallocateJit(PyObject *self) {
  PyObject_GC_UnTrack(self);
  JitObject *jit = asJit(self);
  if (jit->weakReferences)
    PyObject_ClearWeakRefs(self);
  clearJit(self);
  for (PyObject *part : {jit->fun, jit->miss, jit->traced, jit->sharded, jit->staticNames})
    Py_XDECREF(part);
  delete jit->cache;
  delete jit->staticNumbers;
  PyTypeObject *type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

static PyObject *bindJit(PyObject *self, PyObject *instance, PyObject *) {
  return !instance || instance == Py_None ? Py_NewRef(self) : PyMethod_New(self, instance);
}

static PyObject *cacheSize(PyObject *self, PyObject *) {
  return PyLong_FromSize_t(asJit(self)->cache->entries().size());
}

static PyObject *clearCache(PyObject *self, PyObject *) {
  asJit(self)->cache->clear();
  Py_RETURN_NONE;
}

static PyObject *cachedKeys(PyObject *self, PyObject *) {
  PyRef keys = PyRef::steal(PyList_New(0));
  for (const auto &entry : asJit(self)->cache->entries())
    if (!keys || PyList_Append(keys.get(), entry->key.get()) < 0)
      return nullptr;
  return keys.take();
}

/// The form of JAX, which libraries look for. A function that can't be shown is left out.
static PyObject *reprJit(PyObject *self) {
  PyRef wrapped = PyRef::steal(PyObject_GetAttrString(self, "__wrapped__"));
  PyObject *shown = wrapped ? PyUnicode_FromFormat("<PjitFunction of %R>", wrapped.get()) : nullptr;
  if (shown)
    return shown;
  PyErr_Clear();
  return PyUnicode_FromString("<PjitFunction>");
}

static PyMemberDef jitMembers[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(JitObject, vectorcall), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(JitObject, weakReferences), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(JitObject, dict), READONLY, nullptr},
    {"last_miss", T_OBJECT, offsetof(JitObject, lastMiss), READONLY, "The key of the last call that was not cached."},
    {}};

static PyGetSetDef jitProperties[] = {{"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
                                      {}};

static PyMethodDef jitMethods[] = {
    {"cache_size", cacheSize, METH_NOARGS, "How many calls are cached."},
    {"clear_cache", clearCache, METH_NOARGS, "Forget the cached calls."},
    {"cached_keys", cachedKeys, METH_NOARGS, "The keys of the cached calls, in the order of compilation."},
    {}};

static PyType_Slot jitSlots[] = {{Py_tp_doc, const_cast<char *>("A function that calls compiled code.")},
                                 {Py_tp_new, reinterpret_cast<void *>(newJit)},
                                 {Py_tp_dealloc, reinterpret_cast<void *>(deallocateJit)},
                                 {Py_tp_traverse, reinterpret_cast<void *>(traverseJit)},
                                 {Py_tp_clear, reinterpret_cast<void *>(clearJit)},
                                 {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
                                 {Py_tp_descr_get, reinterpret_cast<void *>(bindJit)},
                                 {Py_tp_repr, reinterpret_cast<void *>(reprJit)},
                                 {Py_tp_members, jitMembers},
                                 {Py_tp_getset, jitProperties},
                                 {Py_tp_methods, jitMethods},
                                 {}};

static PyType_Spec jitSpec = {
    "pycompiler._runtime.JitFunction", sizeof(JitObject), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR, jitSlots};

static PyStructSequence_Field callKeyFields[] = {
    {"in_tree", "The tree of the dynamic (args, kwargs)."},    {"avals", "Those of its leaves."},
    {"static_args", "Pairs of a position and a value."},       {"static_kwargs", "Pairs of a name and a value."},
    {"context", "The configuration that is part of the key."}, {}};

static PyStructSequence_Desc callKeySpec = {"pycompiler._runtime.CallKey", "The key of a jitted function's cache.",
                                            callKeyFields, 5};

static PyObject *setCallLimit(PyObject *, PyObject *number) {
  Py_ssize_t limit = PyLong_AsSsize_t(number);
  if (limit == -1 && PyErr_Occurred())
    return nullptr;
  CallCache::limit = static_cast<size_t>(std::max<Py_ssize_t>(limit, 1));
  Py_RETURN_NONE;
}

static PyMethodDef jitFunctions[] = {
    {"set_call_limit", setCallLimit, METH_O, "Set how many kinds of calls each jitted function keeps."},
    {"add_handled_type", addHandledType, METH_O, "Let Python handle calls with arguments of a class."},
    {"set_leaf_namer", setLeafNamer, METH_O,
     "Set the function that names the leaves of a call: namer(fun, key, static_argnums)."},
    {}};

bool pcrt::python::addJitFunctionType(PyObject *module) {
  callKeyType = PyStructSequence_NewType(&callKeySpec);
  jitType = addType(module, jitSpec);
  return callKeyType && jitType && PyModule_AddType(module, callKeyType) == 0 &&
         PyModule_AddFunctions(module, jitFunctions) == 0;
}
