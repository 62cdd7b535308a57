// From a Python call to the enqueued execution. The arguments are flattened straight into the words of the key; a cache
// hit builds nothing else.
#include "array/Borrow.h"
#include "call/Call.h"
#include "call/JitMiss.h"
#include "call/JitObject.h"
#include "types/Ndarray.h"

using namespace pcrt;
using namespace pcrt::python;

//===-- The arguments of one call ---------------------------------------------------------------------------------===//

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

//===-- The call --------------------------------------------------------------------------------------------------===//

PyObject *pcrt::python::callJit(PyObject *self, PyObject *const *values, size_t flags, PyObject *names) {
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
