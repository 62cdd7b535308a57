// The objects behind the Python classes of _compiler. Each is a small value that keeps what it points into alive:
// types, attributes and locations keep their context, everything inside a module keeps the module.
#ifndef ARRAY_PYTHON_BINDING_H
#define ARRAY_PYTHON_BINDING_H

#include "mlir/IR/Block.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include <memory>
#include <nanobind/nanobind.h>
#include <string>
#include <vector>

namespace pycompiler {

namespace nb = nanobind;

using ContextRef = std::shared_ptr<mlir::MLIRContext>;

struct PyContext {
  ContextRef context;
};

struct PyLocation {
  ContextRef context;
  mlir::Location location;
};

struct PyType {
  ContextRef context;
  mlir::Type type;
};

struct PyAttribute {
  ContextRef context;
  mlir::Attribute attribute;
};

/// A module and all that is in it. Passes may replace any operation, so they start a new generation; the objects that
/// Python holds from before are refused then, where a dangling pointer would crash.
struct Tree {
  ContextRef context; // declared first: it must outlive the module
  mlir::OwningOpRef<mlir::ModuleOp> module;
  unsigned generation = 0;
};

/// A place in a module: the base of operations, regions, blocks and values.
struct Node {
  std::shared_ptr<Tree> tree;
  unsigned generation;

  explicit Node(const std::shared_ptr<Tree> &tree) : tree(tree), generation(tree->generation) {}
  void check() const {
    if (generation != tree->generation)
      throw nb::value_error("this part of the module is from before a pass manager ran on it");
  }
  mlir::MLIRContext *context() const { return tree->context.get(); }
};

struct PyModule {
  std::shared_ptr<Tree> tree;
};

struct PyOperation : Node {
  mlir::Operation *op;
  PyOperation(const std::shared_ptr<Tree> &tree, mlir::Operation *op) : Node(tree), op(op) {}
};

struct PyRegion : Node {
  mlir::Region *region;
  PyRegion(const std::shared_ptr<Tree> &tree, mlir::Region *region) : Node(tree), region(region) {}
};

struct PyBlock : Node {
  mlir::Block *block;
  PyBlock(const std::shared_ptr<Tree> &tree, mlir::Block *block) : Node(tree), block(block) {}
};

struct PyValue : Node {
  mlir::Value value;
  PyValue(const std::shared_ptr<Tree> &tree, mlir::Value value) : Node(tree), value(value) {}
};

/// The end of a block.
struct PyInsertionPoint {
  PyBlock block;
};

/// What `with` made current in this thread, newest last, for calls that name no context, location or insertion point.
template <typename T> std::vector<T> &currentStack() {
  static thread_local std::vector<T> stack;
  return stack;
}

/// The given object, or the current one.
template <typename T> const T &resolve(const T *given, const char *name) {
  if (given)
    return *given;
  if (currentStack<T>().empty())
    throw nb::value_error((std::string("no ") + name + " is given, and none is current: use `with`").c_str());
  return currentStack<T>().back();
}

/// Gives a class `__enter__` and `__exit__`.
template <typename T> void bindWith(nb::class_<T> &type) {
  type.def("__enter__", [](nb::object self) {
    currentStack<T>().push_back(nb::cast<const T &>(self));
    return self;
  });
  type.def("__exit__", [](const T &, nb::args) { currentStack<T>().pop_back(); });
}

/// Collects the diagnostics that a context emits, to raise them as one MLIRError. It needs no GIL until it raises.
class DiagnosticCollector {
public:
  explicit DiagnosticCollector(mlir::MLIRContext *context);
  /// Raises MLIRError with `summary` and what was collected.
  [[noreturn]] void raise(const std::string &summary) const;

private:
  struct Entry {
    std::string message, file;
    unsigned line = 0, column = 0;
    std::vector<Entry> notes;
  };
  static Entry describe(mlir::Diagnostic &diagnostic);
  static nb::object toPython(const Entry &entry);

  std::vector<Entry> errors;
  mlir::ScopedDiagnosticHandler handler;
};

/// A type as the class of its kind: RankedTensorType, FunctionType, or Type.
nb::object wrapType(const ContextRef &context, mlir::Type type);

/// The text that printing `printable` to a raw_ostream gives.
template <typename T> std::string printed(T &&printable) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  printable.print(stream);
  return text;
}

void bindDiagnostics(nb::module_ &module);
void bindTypes(nb::module_ &module);
void bindAttributes(nb::module_ &module);
void bindOperations(nb::module_ &module);
void bindPassManager(nb::module_ &module);
void bindCompile(nb::module_ &module);
void takeBuiltFunctions();

} // namespace pycompiler

#endif // ARRAY_PYTHON_BINDING_H
