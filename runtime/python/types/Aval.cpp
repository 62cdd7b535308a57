// ShapedArray: construction, interning, comparison, printing.
#include "types/Aval.h"

#include <string>
#include <structmember.h>
#include <unordered_map>

using namespace pcrt;
using namespace pcrt::python;

PyTypeObject *pcrt::python::avalType = nullptr;

PyTypeObject *pcrt::python::addType(PyObject *module, PyType_Spec &spec) {
  PyObject *type = PyType_FromSpec(&spec);
  if (!type || PyModule_AddType(module, reinterpret_cast<PyTypeObject *>(type)) < 0)
    return nullptr;
  return reinterpret_cast<PyTypeObject *>(type);
}

//===-- Element types
//-----------------------------------------------------------------------------------------------===//

static PyObject *numpyDTypes[dtypeCount];

PyObject *pcrt::python::numpyDType(DType dtype) {
  PyObject *object = numpyDTypes[static_cast<int>(dtype)];
  if (!object)
    PyErr_Format(PyExc_TypeError, "no NumPy dtype was registered for %s", name(dtype));
  return object;
}

bool pcrt::python::knownDType(PyObject *dtype, DType &code) {
  for (int i = 0; i < dtypeCount; ++i) {
    if (numpyDTypes[i] == dtype) {
      code = static_cast<DType>(i);
      return true;
    }
  }
  // An equal dtype in another object, such as np.longlong's.
  for (int i = 0; i < dtypeCount; ++i) {
    if (!numpyDTypes[i] || Py_TYPE(numpyDTypes[i]) != Py_TYPE(dtype))
      continue;
    int equal = PyObject_RichCompareBool(numpyDTypes[i], dtype, Py_EQ);
    if (equal < 0)
      PyErr_Clear();
    if (equal == 1) {
      code = static_cast<DType>(i);
      return true;
    }
  }
  return false;
}

static PyObject *numpyAttribute(const char *attribute) {
  PyRef numpy = PyRef::steal(PyImport_ImportModule("numpy"));
  return numpy ? PyObject_GetAttrString(numpy.get(), attribute) : nullptr;
}

bool pcrt::python::dtypeCode(PyObject *dtype, DType &code) {
  if (knownDType(dtype, code))
    return true;
  static PyObject *const toDType = numpyAttribute("dtype");
  if (!toDType)
    return false;
  PyRef converted = PyRef::steal(dtype == Py_None ? nullptr : PyObject_CallOneArg(toDType, dtype));
  if (converted && knownDType(converted.get(), code))
    return true;
  PyErr_Clear();
  PyErr_Format(PyExc_TypeError, "%R is not an element type of arrays", converted ? converted.get() : dtype);
  return false;
}

bool pcrt::python::registerDType(PyObject *dtype, int code, const char *name) {
  if (code < 0 || code >= dtypeCount || std::strcmp(dtypeNames[code], name) != 0) {
    PyErr_Format(PyExc_ValueError, "register_dtype: code %d is not that of %s", code, name);
    return false;
  }
  Py_XSETREF(numpyDTypes[code], Py_NewRef(dtype));
  return true;
}

//===-- Interning
//---------------------------------------------------------------------------------------------------===//

namespace {
struct AvalKey {
  const Py_ssize_t *dims;
  Py_ssize_t rank;
  DType code;
  bool weakType;
  PyObject *sharding;

  size_t hash() const {
    size_t result = static_cast<size_t>(code) * 2 + weakType + 0x9e3779b97f4a7c15u;
    result ^= reinterpret_cast<size_t>(sharding) >> 4;
    for (Py_ssize_t i = 0; i < rank; ++i)
      result = (result ^ static_cast<size_t>(dims[i])) * 0xff51afd7ed558ccdu + (result >> 29);
    return result;
  }
};
} // namespace

/// Every interned aval by its hash, not owned: dealloc removes it.
static std::unordered_multimap<Py_hash_t, AvalObject *> &internTable() {
  static auto *const table = new std::unordered_multimap<Py_hash_t, AvalObject *>();
  return *table;
}

static Py_hash_t hashOf(const AvalKey &key) {
  auto hash = static_cast<Py_hash_t>(key.hash());
  return hash == -1 ? -2 : hash;
}

static AvalObject *findInterned(const AvalKey &key, Py_hash_t hash) {
  auto range = internTable().equal_range(hash);
  for (auto it = range.first; it != range.second; ++it) {
    AvalObject *aval = it->second;
    if (aval->code == key.code && aval->weakType == key.weakType && aval->rank() == key.rank &&
        aval->sharding == key.sharding &&
        std::memcmp(aval->dims, key.dims, static_cast<size_t>(key.rank) * sizeof(Py_ssize_t)) == 0)
      return aval;
  }
  return nullptr;
}

/// The number of elements and bytes of the array; false with an exception if they overflow, or a dimension is negative.
static bool measure(const AvalKey &key, Py_ssize_t &size, Py_ssize_t &nbytes) {
  size = 1;
  bool empty = false, overflow = false;
  for (Py_ssize_t i = 0; i < key.rank; ++i) {
    if (key.dims[i] < 0) {
      PyErr_Format(PyExc_ValueError, "ShapedArray: dimension %zd is negative (%zd)", i, key.dims[i]);
      return false;
    }
    empty |= key.dims[i] == 0;
    overflow |= !empty && __builtin_mul_overflow(size, key.dims[i], &size);
  }
  if (empty)
    size = nbytes = 0;
  else
    overflow |= __builtin_mul_overflow(size, static_cast<Py_ssize_t>(byteSize(key.code)), &nbytes);
  if (overflow)
    PyErr_SetString(PyExc_OverflowError, "ShapedArray: more bytes than can be addressed");
  return !overflow;
}

static AvalObject *allocateAval(Py_ssize_t rank) {
  return reinterpret_cast<AvalObject *>(avalType->tp_alloc(avalType, 2 * rank));
}

AvalObject *pcrt::python::internAval(const Py_ssize_t *dims, Py_ssize_t rank, DType dtype, bool weakType,
                                     PyObject *sharding) {
  AvalKey key{dims, rank, dtype, weakType, sharding};
  Py_hash_t hash = hashOf(key);
  if (AvalObject *found = findInterned(key, hash)) {
    Py_INCREF(found);
    return found;
  }
  Py_ssize_t size, nbytes;
  PyObject *dtypeObject = numpyDType(dtype);
  if (!dtypeObject || !measure(key, size, nbytes))
    return nullptr;
  PyRef shape = PyRef::steal(PyTuple_New(rank));
  PyRef owner = PyRef::steal(reinterpret_cast<PyObject *>(allocateAval(rank)));
  if (!shape || !owner)
    return nullptr;
  auto *aval = reinterpret_cast<AvalObject *>(owner.get());
  Py_ssize_t stride = static_cast<Py_ssize_t>(byteSize(dtype));
  for (Py_ssize_t i = rank; i-- > 0;) {
    aval->dims[i] = dims[i];
    aval->dims[rank + i] = stride;
    // An empty array's strides are never used; keep them from overflowing.
    stride = size ? stride * dims[i] : stride;
    PyObject *dimension = PyLong_FromSsize_t(dims[i]);
    if (!dimension)
      return nullptr;
    PyTuple_SET_ITEM(shape.get(), i, dimension);
  }
  aval->hash = hash;
  aval->dtype = Py_NewRef(dtypeObject);
  aval->shape = shape.take();
  aval->size = size;
  aval->nbytes = nbytes;
  aval->code = dtype;
  aval->weakType = weakType;
  aval->sharding = Py_XNewRef(sharding);
  internTable().emplace(hash, aval);
  return reinterpret_cast<AvalObject *>(owner.take());
}

static void deallocateAval(PyObject *self) {
  auto *aval = reinterpret_cast<AvalObject *>(self);
  if (aval->isConcrete() && aval->shape) {
    auto range = internTable().equal_range(aval->hash);
    for (auto it = range.first; it != range.second; ++it) {
      if (it->second == aval) {
        internTable().erase(it);
        break;
      }
    }
  }
  Py_XDECREF(aval->dtype);
  Py_XDECREF(aval->shape);
  Py_XDECREF(aval->row);
  Py_XDECREF(aval->sharding);
  PyTypeObject *type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

//===-- Construction
//------------------------------------------------------------------------------------------------===//

static AvalObject *makeSymbolic(PyObject *shape, DType code, bool weakType) {
  Py_hash_t shapeHash = PyObject_Hash(shape);
  PyObject *dtypeObject = numpyDType(code);
  if (shapeHash == -1 || !dtypeObject)
    return nullptr;
  AvalObject *aval = allocateAval(PyTuple_GET_SIZE(shape));
  if (!aval)
    return nullptr;
  Py_hash_t hash = shapeHash * 1000003 + static_cast<int>(code) * 2 + weakType;
  aval->hash = hash == -1 ? -2 : hash;
  aval->dtype = Py_NewRef(dtypeObject);
  aval->shape = Py_NewRef(shape);
  aval->size = aval->nbytes = -1;
  aval->code = code;
  aval->weakType = weakType;
  return aval;
}

AvalObject *pcrt::python::avalOfRows(const AvalObject *aval, Py_ssize_t count) {
  SmallVector<Py_ssize_t, 8> dims;
  dims.push(count);
  for (Py_ssize_t i = 1; i < aval->rank(); ++i)
    dims.push(aval->dims[i]);
  return internAval(dims.data(), aval->rank(), aval->code, aval->weakType);
}

/// The functions of `setTypeShardings`.
static PyObject *internSharding = nullptr, *standardSharding = nullptr;

bool pcrt::python::setTypeShardings(PyObject *intern, PyObject *standard) {
  if (!PyCallable_Check(intern) || !PyCallable_Check(standard)) {
    PyErr_SetString(PyExc_TypeError, "set_type_shardings: not callable");
    return false;
  }
  Py_XSETREF(internSharding, Py_NewRef(intern));
  Py_XSETREF(standardSharding, Py_NewRef(standard));
  return true;
}

AvalObject *pcrt::python::makeAval(PyObject *shape, PyObject *dtype, bool weakType, PyObject *sharding) {
  DType code;
  if (!dtypeCode(dtype, code))
    return nullptr;
  PyRef tuple = PyRef::steal(PySequence_Tuple(shape));
  if (!tuple)
    return nullptr;
  SmallVector<Py_ssize_t, 8> dims;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple.get()); ++i) {
    PyObject *item = PyTuple_GET_ITEM(tuple.get(), i);
    if (!PyIndex_Check(item))
      return makeSymbolic(tuple.get(), code, weakType);
    Py_ssize_t dimension = PyNumber_AsSsize_t(item, PyExc_OverflowError);
    if (dimension == -1 && PyErr_Occurred())
      return nullptr;
    dims.push(dimension);
  }
  PyRef interned;
  if (sharding && sharding != Py_None) {
    if (!internSharding) {
      PyErr_SetString(PyExc_RuntimeError, "ShapedArray: a sharding was given before set_type_shardings");
      return nullptr;
    }
    interned = PyRef::steal(PyObject_CallFunctionObjArgs(internSharding, sharding, tuple.get(), nullptr));
    if (!interned)
      return nullptr;
  }
  PyObject *known = interned.get() == Py_None ? nullptr : interned.get();
  return internAval(dims.data(), static_cast<Py_ssize_t>(dims.size()), code, weakType, known);
}

static PyObject *newAval(PyTypeObject *, PyObject *args, PyObject *kwargs) {
  static const char *names[] = {"shape", "dtype", "weak_type", "sharding", nullptr};
  PyObject *shape, *dtype, *sharding = nullptr;
  int weakType = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|pO:ShapedArray", const_cast<char **>(names), &shape, &dtype,
                                   &weakType, &sharding))
    return nullptr;
  return reinterpret_cast<PyObject *>(makeAval(shape, dtype, weakType != 0, sharding));
}

static PyObject *updateAval(PyObject *self, PyObject *args, PyObject *kwargs) {
  auto *aval = reinterpret_cast<AvalObject *>(self);
  static const char *names[] = {"shape", "dtype", "weak_type", "sharding", nullptr};
  PyObject *shape = nullptr, *dtype = aval->dtype, *sharding = nullptr;
  int weakType = aval->weakType;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOpO:update", const_cast<char **>(names), &shape, &dtype, &weakType,
                                   &sharding))
    return nullptr;
  if (!sharding && !shape)
    sharding = aval->sharding;
  return reinterpret_cast<PyObject *>(makeAval(shape ? shape : aval->shape, dtype, weakType != 0, sharding));
}

static PyObject *reduceAval(PyObject *self, PyObject *) {
  auto *aval = reinterpret_cast<AvalObject *>(self);
  PyObject *weak = aval->weakType ? Py_True : Py_False;
  if (aval->sharding)
    return Py_BuildValue("O(OOOO)", avalType, aval->shape, aval->dtype, weak, aval->sharding);
  return Py_BuildValue("O(OOO)", avalType, aval->shape, aval->dtype, weak);
}

//===-- Reading
//-----------------------------------------------------------------------------------------------------===//

static PyObject *compareAvals(PyObject *self, PyObject *other, int operation) {
  if ((operation != Py_EQ && operation != Py_NE) || !isAval(other))
    Py_RETURN_NOTIMPLEMENTED;
  auto *a = reinterpret_cast<AvalObject *>(self), *b = reinterpret_cast<AvalObject *>(other);
  int equal = a == b;
  if (!equal && !a->isConcrete() && !b->isConcrete() && a->code == b->code && a->weakType == b->weakType)
    equal = PyObject_RichCompareBool(a->shape, b->shape, Py_EQ);
  if (equal < 0)
    return nullptr;
  return PyBool_FromLong(equal == (operation == Py_EQ));
}

static Py_hash_t hashAval(PyObject *self) { return reinterpret_cast<AvalObject *>(self)->hash; }

/// float32[3,4]
static PyObject *strAval(PyObject *self) {
  auto *aval = reinterpret_cast<AvalObject *>(self);
  std::string text = std::string(name(aval->code)) + "[";
  for (Py_ssize_t i = 0; i < aval->rank(); ++i) {
    PyRef dimension = PyRef::steal(PyObject_Str(PyTuple_GET_ITEM(aval->shape, i)));
    const char *utf8 = dimension ? PyUnicode_AsUTF8(dimension.get()) : nullptr;
    if (!utf8)
      return nullptr;
    text += (i ? "," : "") + std::string(utf8);
  }
  return PyUnicode_FromString((text + "]").c_str());
}

static PyObject *reprAval(PyObject *self) {
  PyRef text = PyRef::steal(strAval(self));
  if (!text)
    return nullptr;
  bool weak = reinterpret_cast<AvalObject *>(self)->weakType;
  return PyUnicode_FromFormat("ShapedArray(%U%s)", text.get(), weak ? ", weak_type=True" : "");
}

static PyObject *countOf(PyObject *self, Py_ssize_t count, const char *what) {
  if (count >= 0)
    return PyLong_FromSsize_t(count);
  PyErr_Format(PyExc_ValueError, "%s of %S is not known: a dimension is a symbol", what, self);
  return nullptr;
}

static PyObject *shardingOf(PyObject *self, void *) {
  if (PyObject *sharding = reinterpret_cast<AvalObject *>(self)->sharding)
    return Py_NewRef(sharding);
  if (!standardSharding)
    Py_RETURN_NONE;
  return PyObject_CallOneArg(standardSharding, self);
}

static PyGetSetDef avalProperties[] = {
    {"sharding", shardingOf, nullptr, "The mesh and the spec of the type: a NamedSharding over an AbstractMesh.",
     nullptr},
    {"ndim", [](PyObject *self, void *) { return PyLong_FromSsize_t(reinterpret_cast<AvalObject *>(self)->rank()); },
     nullptr, "Number of dimensions.", nullptr},
    {"size", [](PyObject *self, void *) { return countOf(self, reinterpret_cast<AvalObject *>(self)->size, "size"); },
     nullptr, "Number of elements.", nullptr},
    {"nbytes",
     [](PyObject *self, void *) { return countOf(self, reinterpret_cast<AvalObject *>(self)->nbytes, "nbytes"); },
     nullptr, "Bytes of the elements.", nullptr},
    {"is_concrete",
     [](PyObject *self, void *) { return PyBool_FromLong(reinterpret_cast<AvalObject *>(self)->isConcrete()); },
     nullptr, "Every dimension is an int.", nullptr},
    {}};

static PyMemberDef avalMembers[] = {
    {"shape", T_OBJECT_EX, offsetof(AvalObject, shape), READONLY, "The dimensions, a tuple."},
    {"dtype", T_OBJECT_EX, offsetof(AvalObject, dtype), READONLY, "The element type, an np.dtype."},
    {"explicit_sharding", T_OBJECT, offsetof(AvalObject, sharding), READONLY,
     "The sharding, if an explicit axis of a mesh divides a dimension, else None."},
    {"weak_type", T_BOOL, offsetof(AvalObject, weakType), READONLY, "Whether the element type gives way to others."},
    {}};

static PyMethodDef avalMethods[] = {{"update", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(updateAval)),
                                     METH_VARARGS | METH_KEYWORDS,
                                     "The same aval with another shape, dtype, weak_type or sharding. Another shape "
                                     "has no sharding unless one is given."},
                                    {"__reduce__", reduceAval, METH_NOARGS, nullptr},
                                    {}};

static PyType_Slot avalSlots[] = {
    {Py_tp_doc,
     const_cast<char *>("ShapedArray(shape, dtype, weak_type=False, sharding=None)\n--\n\nShape, dtype, weak "
                        "type and sharding of an array; interned when every dimension is an int.")},
    {Py_tp_new, reinterpret_cast<void *>(newAval)},
    {Py_tp_dealloc, reinterpret_cast<void *>(deallocateAval)},
    {Py_tp_repr, reinterpret_cast<void *>(reprAval)},
    {Py_tp_str, reinterpret_cast<void *>(strAval)},
    {Py_tp_hash, reinterpret_cast<void *>(hashAval)},
    {Py_tp_richcompare, reinterpret_cast<void *>(compareAvals)},
    {Py_tp_getset, avalProperties},
    {Py_tp_members, avalMembers},
    {Py_tp_methods, avalMethods},
    {}};

static PyType_Spec avalSpec = {"pycompiler._runtime.ShapedArray", offsetof(AvalObject, dims), sizeof(Py_ssize_t),
                               Py_TPFLAGS_DEFAULT, avalSlots};

bool pcrt::python::addAvalType(PyObject *module) {
  avalType = addType(module, avalSpec);
  if (!avalType)
    return false;
  static PyObject *const toDType = numpyAttribute("dtype");
  if (!toDType)
    return false;
  for (int i = 0; i < dtypeCount; ++i) {
    if (static_cast<DType>(i) == DType::BFloat16) // unknown to NumPy: registered from Python
      continue;
    if (static_cast<DType>(i) > DType::Complex128) // nor of these
      break;
    PyRef dtype = PyRef::steal(PyObject_CallFunction(toDType, "s", dtypeNames[i]));
    if (!dtype || !registerDType(dtype.get(), i, dtypeNames[i]))
      return false;
  }
  return true;
}
