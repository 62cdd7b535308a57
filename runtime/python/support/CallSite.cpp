// The call site of an execution: the innermost Python frame outside of this package.
#include "support/CallSite.h"

#include <frameobject.h>
#include <map>
#include <string>

using namespace pcrt::python;

/// The directory of the package, with a separator at the end; empty if unknown.
static const std::string &packageDirectory() {
  static const std::string *const directory = [] {
    auto *result = new std::string();
    PyRef module = PyRef::steal(PyImport_ImportModule("pycompiler._runtime"));
    PyRef file = module ? PyRef::steal(PyModule_GetFilenameObject(module.get())) : PyRef();
    if (const char *path = file ? PyUnicode_AsUTF8(file.get()) : nullptr) {
      *result = path;
      result->resize(result->rfind('/') + 1);
    }
    PyErr_Clear();
    return result;
  }();
  return *directory;
}

static bool isInPackage(PyCodeObject *code) {
  const char *path = PyUnicode_AsUTF8(code->co_filename);
  const std::string &directory = packageDirectory();
  return path && !directory.empty() && std::strncmp(path, directory.c_str(), directory.size()) == 0;
}

/// The text for an instruction, made once. The code objects are kept alive, so that an address identifies one function.
static const char *placeOf(PyCodeObject *code, int instruction, PyFrameObject *frame) {
  static auto *const places = new std::map<std::pair<PyCodeObject *, int>, std::string>();
  auto found = places->find({code, instruction});
  if (found != places->end())
    return found->second.c_str();
  const char *path = PyUnicode_AsUTF8(code->co_filename);
  std::string text = std::string(path ? path : "?") + ":" + std::to_string(PyFrame_GetLineNumber(frame));
  PyErr_Clear();
  Py_INCREF(code);
  return places->emplace(std::make_pair(code, instruction), std::move(text)).first->second.c_str();
}

const char *pcrt::python::callSite() {
  PyRef frame = PyRef::borrow(reinterpret_cast<PyObject *>(PyEval_GetFrame()));
  while (frame) {
    auto *current = reinterpret_cast<PyFrameObject *>(frame.get());
    PyRef code = PyRef::steal(reinterpret_cast<PyObject *>(PyFrame_GetCode(current)));
    auto *codeObject = reinterpret_cast<PyCodeObject *>(code.get());
    if (!isInPackage(codeObject))
      return placeOf(codeObject, PyFrame_GetLasti(current), current);
    frame = PyRef::steal(reinterpret_cast<PyObject *>(PyFrame_GetBack(current)));
  }
  return nullptr;
}
