// The objects behind the Python classes of _compiler. Each is a small value that keeps its owner alive: types,
// attributes and locations keep their context, and everything inside a module keeps the module.
#ifndef ARRAY_PYTHON_BINDING_H
#define ARRAY_PYTHON_BINDING_H

#include "mlir/IR/Block.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>
#include <nanobind/nanobind.h>
#include <optional>
#include <string>
#include <vector>

namespace pycompiler {

namespace nb = nanobind;

using ContextRef = std::shared_ptr<mlir::MLIRContext>;

struct PyContext {
  ContextRef context;
};

/// Raises ValueError if a part belongs to another context than its destination: it would dangle after that context is
/// gone. `what` is "attribute", "type" or "location".
inline void checkContext(const ContextRef &context, const ContextRef &ofPart, const char *what) {
  if (context != ofPart)
    throw nb::value_error((std::string("the ") + what + " is of another context").c_str());
}

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

/// A module and its contents. Passes may replace any operation, so they start a new generation. Python objects from an
/// earlier generation then raise an error, where a dangling pointer would crash. So do objects of operations that
/// Python erases.
struct Tree {
  ContextRef context; // declared first: it must outlive the module
  mlir::OwningOpRef<mlir::ModuleOp> module;
  unsigned generation = 0;
  /// Incremented by each erasure. The value at which an operation at an address was erased: objects with a later value
  /// belong to another operation.
  uint64_t clock = 0;
  llvm::DenseMap<mlir::Operation *, uint64_t> erased;
  /// While a pattern runs: the rewriter that must be notified of all changes.
  mlir::RewriterBase *rewriter = nullptr;
  uint64_t changes = 0;

  Tree(ContextRef context, mlir::OwningOpRef<mlir::ModuleOp> module)
      : context(std::move(context)), module(std::move(module)) {}
  void startGeneration() {
    ++generation;
    erased.clear();
  }
  /// Records that `op`, with its contents, will be erased.
  void markErased(mlir::Operation *op) {
    op->walk([&](mlir::Operation *inner) { erased[inner] = clock; });
    ++clock;
  }
};

/// A position in a module: the base of operations, regions, blocks and values.
struct Node {
  std::shared_ptr<Tree> tree;
  mlir::Operation *anchor; ///< the operation itself, or its owner
  unsigned generation;
  uint64_t born;

  Node(const std::shared_ptr<Tree> &tree, mlir::Operation *anchor)
      : tree(tree), anchor(anchor), generation(tree->generation), born(tree->clock) {}
  void check() const {
    if (generation != tree->generation)
      throw nb::value_error("this part of the module is from before a pass manager, or patterns, ran on it");
    auto found = tree->erased.find(anchor);
    if (found != tree->erased.end() && found->second >= born)
      throw nb::value_error("this part of the module was erased");
  }
  mlir::MLIRContext *context() const { return tree->context.get(); }
};

struct PyModule {
  std::shared_ptr<Tree> tree;
};

struct PyOperation : Node {
  mlir::Operation *op;
  PyOperation(const std::shared_ptr<Tree> &tree, mlir::Operation *op) : Node(tree, op), op(op) {}
};

struct PyRegion : Node {
  mlir::Region *region;
  PyRegion(const std::shared_ptr<Tree> &tree, mlir::Region *region)
      : Node(tree, region->getParentOp()), region(region) {}
};

struct PyBlock : Node {
  mlir::Block *block;
  PyBlock(const std::shared_ptr<Tree> &tree, mlir::Block *block) : Node(tree, block->getParentOp()), block(block) {}
};

struct PyValue : Node {
  mlir::Value value;
  PyValue(const std::shared_ptr<Tree> &tree, mlir::Value value)
      : Node(tree, value.getDefiningOp() ? value.getDefiningOp() : value.getParentBlock()->getParentOp()),
        value(value) {}
};

/// The end of a block, or the position before one of its operations.
struct PyInsertionPoint {
  PyBlock block;
  std::optional<PyOperation> before = std::nullopt;
};

/// `results`, `operands`, `attributes` are sequences, the last one a dict, or None. With `infersTypes` the operation
/// infers the results from its operands.
PyOperation createOperation(const std::string &name, nb::handle results, nb::handle operands, nb::handle attributes,
                            int regions, const PyLocation *location, const PyInsertionPoint *point, bool infersTypes);

/// Erases an operation without uses. Raises ValueError if it has uses.
void eraseOperation(const PyOperation &operation);

/// The objects that `with` made current in this thread, newest last, for calls that name no context, location or
/// insertion point.
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

/// Collects the diagnostics of a context, to raise them as one MLIRError. It needs no GIL until it raises.
class DiagnosticCollector {
public:
  explicit DiagnosticCollector(mlir::MLIRContext *context);
  /// Raises MLIRError with `summary` and the collected diagnostics.
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

/// The text of `printable`, printed to a raw_ostream.
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
void bindRewriting(nb::module_ &module);
void bindCompile(nb::module_ &module);
void bindStablehlo(nb::module_ &module);

} // namespace pycompiler

#endif // ARRAY_PYTHON_BINDING_H
