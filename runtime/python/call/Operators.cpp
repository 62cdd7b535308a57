// Operators on arrays, from the interpreter's slot to the enqueued execution. Each has two functions: a compiled one,
// called when nothing is traced and the operands are arrays or plain numbers, and a general one for everything else
// (tracers, NumPy's objects, other objects), which may return NotImplemented.
#include "call/Operators.h"

#include "array/Pending.h"
#include "array/Plain.h"
#include "call/Subscript.h"
#include "support/Context.h"

#include <cstring>

using namespace pcrt;
using namespace pcrt::python;

namespace {
/// Named like Python's methods, without the underscores.
enum Operator : unsigned {
  Add,
  Sub,
  Mul,
  TrueDiv,
  FloorDiv,
  Mod,
  DivMod,
  MatMul,
  And,
  Or,
  Xor,
  LShift,
  RShift,
  Pow,
  Lt,
  Le,
  Eq,
  Ne,
  Gt,
  Ge,
  Neg,
  Pos,
  Abs,
  Invert,
  GetItem,
  operatorCount
};

const char *const operatorNames[operatorCount] = {
    "add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "matmul", "and", "or",  "xor",    "lshift", "rshift",
    "pow", "lt",  "le",  "eq",      "ne",       "gt",  "ge",     "neg",    "pos", "abs", "invert", "getitem"};

struct Functions {
  PyObject *compiled, *general;
};
Functions functions[operatorCount];
} // namespace

//===-- Operands of the compiled functions
//-----------------------------------------------------------------------------------------------------===//

static bool arePlain(PyObject *a, PyObject *b) {
  if (isPlainArray(a))
    return isPlainArray(b) || isPlainNumber(b, takesInts(asArray(a)->aval->code));
  return isPlainArray(b) && isPlainNumber(a, takesInts(asArray(b)->aval->code));
}

//===-- Calls
//-------------------------------------------------------------------------------------------------------===//

static PyObject *callGeneral(Operator which, PyObject *const *operands, size_t count) {
  if (functions[which].general)
    return PyObject_Vectorcall(functions[which].general, operands, count, nullptr);
  Py_RETURN_NOTIMPLEMENTED;
}

static PyObject *binary(Operator which, PyObject *a, PyObject *b) {
  // One slot before the operands, which the callee may use.
  PyObject *operands[] = {nullptr, a, b};
  if (!currentTrace && functions[which].compiled && arePlain(a, b))
    return PyObject_Vectorcall(functions[which].compiled, operands + 1, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
  return callGeneral(which, operands + 1, 2);
}

template <Operator which> static PyObject *binarySlot(PyObject *a, PyObject *b) { return binary(which, a, b); }

template <Operator which> static PyObject *unarySlot(PyObject *a) {
  PyObject *operands[] = {nullptr, a};
  if (!currentTrace && functions[which].compiled && isPlainArray(a))
    return PyObject_Vectorcall(functions[which].compiled, operands + 1, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
  PyObject *result = callGeneral(which, operands + 1, 1);
  if (result != Py_NotImplemented)
    return result;
  Py_DECREF(result);
  PyErr_Format(PyExc_TypeError, "%s: this operator is not attached", operatorNames[which]);
  return nullptr;
}

static PyObject *power(PyObject *a, PyObject *b, PyObject *modulus) {
  PyObject *operands[] = {a, b, modulus};
  return callGeneral(Pow, operands, modulus == Py_None ? 2 : 3);
}

static PyObject *compare(PyObject *a, PyObject *b, int how) {
  static_assert(Py_LT == 0 && Py_LE == 1 && Py_EQ == 2 && Py_NE == 3 && Py_GT == 4 && Py_GE == 5);
  return binary(static_cast<Operator>(Lt + how), a, b);
}

/// Whether it is an index into the first axis that needs neither wrapping nor clamping.
static bool isPlainIndex(PyObject *array, PyObject *index) {
  AvalObject *aval = asArray(array)->aval;
  if (!PyLong_CheckExact(index) || aval->rank() == 0)
    return false;
  int overflow;
  long value = PyLong_AsLongAndOverflow(index, &overflow);
  return !overflow && value >= 0 && value < aval->dims[0] && value == static_cast<int32_t>(value);
}

static PyObject *subscript(PyObject *self, PyObject *index) {
  PyObject *operands[] = {nullptr, self, index};
  if (!ensureSize(asArray(self)))
    return nullptr;
  if (!currentTrace && isPlainArray(self)) {
    if (PyObject *result = subscriptHere(asArray(self), index))
      return result;
    if (PyErr_Occurred())
      return nullptr;
  }
  if (!currentTrace && functions[GetItem].compiled && isPlainArray(self) && isPlainIndex(self, index))
    return PyObject_Vectorcall(functions[GetItem].compiled, operands + 1, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
  PyObject *result = callGeneral(GetItem, operands + 1, 2);
  if (result != Py_NotImplemented)
    return result;
  Py_DECREF(result);
  PyErr_SetString(PyExc_TypeError, "getitem: indexing is not attached");
  return nullptr;
}

/// The sequence protocol of C code, for example in bisect.
static PyObject *item(PyObject *self, Py_ssize_t place) {
  Py_ssize_t length = PyObject_Size(self);
  if (length < 0)
    return nullptr;
  if (place < 0 || place >= length)
    return PyErr_Format(PyExc_IndexError, "index %zd is out of range for an array of %zd rows", place, length);
  PyObject *index = PyLong_FromSsize_t(place);
  if (!index)
    return nullptr;
  PyObject *result = subscript(self, index);
  Py_DECREF(index);
  return result;
}

//===-- The slots and their functions
//-------------------------------------------------------------------------------------------------------===//

template <typename Function> static void *slot(Function *function) { return reinterpret_cast<void *>(function); }

const PyType_Slot *pcrt::python::operatorSlots() {
  static const PyType_Slot slots[] = {{Py_nb_add, slot(binarySlot<Add>)},
                                      {Py_nb_subtract, slot(binarySlot<Sub>)},
                                      {Py_nb_multiply, slot(binarySlot<Mul>)},
                                      {Py_nb_true_divide, slot(binarySlot<TrueDiv>)},
                                      {Py_nb_floor_divide, slot(binarySlot<FloorDiv>)},
                                      {Py_nb_remainder, slot(binarySlot<Mod>)},
                                      {Py_nb_divmod, slot(binarySlot<DivMod>)},
                                      {Py_nb_matrix_multiply, slot(binarySlot<MatMul>)},
                                      {Py_nb_and, slot(binarySlot<And>)},
                                      {Py_nb_or, slot(binarySlot<Or>)},
                                      {Py_nb_xor, slot(binarySlot<Xor>)},
                                      {Py_nb_lshift, slot(binarySlot<LShift>)},
                                      {Py_nb_rshift, slot(binarySlot<RShift>)},
                                      {Py_nb_power, slot(power)},
                                      {Py_nb_negative, slot(unarySlot<Neg>)},
                                      {Py_nb_positive, slot(unarySlot<Pos>)},
                                      {Py_nb_absolute, slot(unarySlot<Abs>)},
                                      {Py_nb_invert, slot(unarySlot<Invert>)},
                                      {Py_tp_richcompare, slot(compare)},
                                      {Py_mp_subscript, slot(subscript)},
                                      {Py_sq_item, slot(item)},
                                      {}};
  return slots;
}

static PyObject *setOperator(PyObject *, PyObject *args) {
  const char *name;
  PyObject *general, *compiled = Py_None;
  if (!PyArg_ParseTuple(args, "sO|O:set_operator", &name, &general, &compiled))
    return nullptr;
  for (unsigned i = 0; i < operatorCount; ++i) {
    if (std::strcmp(name, operatorNames[i]) != 0)
      continue;
    Py_XSETREF(functions[i].general, Py_NewRef(general));
    Py_XSETREF(functions[i].compiled, compiled == Py_None ? nullptr : Py_NewRef(compiled));
    Py_RETURN_NONE;
  }
  return PyErr_Format(PyExc_ValueError, "set_operator: there is no operator '%s'", name);
}

static PyMethodDef methods[] = {
    {"set_operator", setOperator, METH_VARARGS,
     "set_operator(name, general, compiled=None): the functions of an operator of arrays. `general` takes any operands "
     "and "
     "may\n"
     "return NotImplemented; `compiled` is called with arrays and plain numbers while nothing is traced."},
    {}};

bool pcrt::python::addOperatorFunctions(PyObject *module) { return PyModule_AddFunctions(module, methods) == 0; }
