// _compiler.ir: contexts, locations and types, under the names of upstream's mlir.ir.
#include "Interruptible.h"
#include "array/Pipelines/Cpu.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinTypes.h"
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace pycompiler {
namespace {

struct PyRankedTensorType : PyType {};
struct PyFunctionType : PyType {};

PyContext makeContext() {
  mlir::DialectRegistry registry;
  mlir::array::registerPipelineDialects(registry);
  // One thread works on a context at a time: a thread pool for each context would cost more than it gains.
  auto context = std::make_shared<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  // An error shows the user's line; printing the whole operation, with its nested regions, would hide it.
  context->printOpOnDiagnostic(false);
  return {context};
}

mlir::Type parseType(const PyContext &context, const std::string &text) {
  DiagnosticCollector diagnostics(context.context.get());
  mlir::Type type = mlir::parseType(text, context.context.get());
  if (!type)
    diagnostics.raise("can't parse the type '" + text + "'");
  return type;
}

std::vector<mlir::Type> unwrap(const ContextRef &context, const std::vector<PyType> &types) {
  std::vector<mlir::Type> result;
  for (const PyType &type : types) {
    checkContext(context, type.context, "type");
    result.push_back(type.type);
  }
  return result;
}

/// A ranked tensor; None or a negative dimension is dynamic.
mlir::Type rankedTensor(nb::sequence shape, const PyType &element) {
  llvm::SmallVector<int64_t> dims;
  for (nb::handle dim : shape) {
    int64_t size = dim.is_none() ? -1 : nb::cast<int64_t>(dim);
    dims.push_back(size < 0 ? mlir::ShapedType::kDynamic : size);
  }
  if (!mlir::RankedTensorType::isValidElementType(element.type))
    throw nb::value_error(("a tensor can't hold elements of type " + printed(element.type)).c_str());
  return mlir::RankedTensorType::get(dims, element.type);
}

/// The sizes of a ranked tensor; None for one that is dynamic.
nb::list shapeOf(const PyRankedTensorType &type) {
  nb::list sizes;
  for (int64_t size : mlir::cast<mlir::RankedTensorType>(type.type).getShape())
    sizes.append(mlir::ShapedType::isDynamic(size) ? nb::none() : nb::object(nb::int_(size)));
  return sizes;
}

nb::list wrapTypes(const ContextRef &context, mlir::TypeRange types) {
  nb::list wrapped;
  for (mlir::Type type : types)
    wrapped.append(wrapType(context, type));
  return wrapped;
}

void bindLocation(nb::module_ &module) {
  auto location = nb::class_<PyLocation>(module, "Location")
                      .def_static(
                          "file",
                          [](const std::string &file, unsigned line, unsigned column, const PyContext *context) {
                            const ContextRef &owner = resolve(context, "context").context;
                            return PyLocation{owner, mlir::FileLineColLoc::get(owner.get(), file, line, column)};
                          },
                          nb::arg("filename"), nb::arg("line"), nb::arg("col"), nb::arg("context") = nb::none())
                      .def_static(
                          "unknown",
                          [](const PyContext *context) {
                            const ContextRef &owner = resolve(context, "context").context;
                            return PyLocation{owner, mlir::UnknownLoc::get(owner.get())};
                          },
                          nb::arg("context") = nb::none())
                      .def("__str__", [](const PyLocation &self) { return printed(self.location); });
  bindWith(location);
}

} // namespace

nb::object wrapType(const ContextRef &context, mlir::Type type) {
  if (mlir::isa<mlir::RankedTensorType>(type))
    return nb::cast(PyRankedTensorType{{context, type}});
  if (mlir::isa<mlir::FunctionType>(type))
    return nb::cast(PyFunctionType{{context, type}});
  return nb::cast(PyType{context, type});
}

void bindTypes(nb::module_ &module) {
  auto context = nb::class_<PyContext>(module, "Context", "Owns types and attributes. Use from one thread at a time.")
                     .def("__init__", [](PyContext *self) { new (self) PyContext(makeContext()); })
                     .def_prop_ro(
                         "is_left", [](const PyContext &self) { return isLeft(self.context.get()); },
                         "Whether interrupted work still runs in it. If so, use another Context instead.");
  bindWith(context);
  bindLocation(module);

  nb::class_<PyType>(module, "Type")
      .def_static(
          "parse",
          [](const std::string &text, const PyContext *context) {
            const PyContext &owner = resolve(context, "context");
            return PyType{owner.context, parseType(owner, text)};
          },
          nb::arg("asm"), nb::arg("context") = nb::none())
      .def("__eq__", [](const PyType &self, const PyType &other) { return self.type == other.type; })
      .def(
          "__eq__", [](const PyType &, nb::handle) { return false; }, nb::arg().none())
      .def("__hash__", [](const PyType &self) { return static_cast<size_t>(hash_value(self.type)); })
      .def("__str__", [](const PyType &self) { return printed(self.type); });

  nb::class_<PyRankedTensorType, PyType>(module, "RankedTensorType")
      .def_static(
          "get",
          [](nb::sequence shape, const PyType &element) {
            return PyRankedTensorType{{element.context, rankedTensor(shape, element)}};
          },
          nb::arg("shape"), nb::arg("element_type"))
      .def_prop_ro("shape", shapeOf)
      .def_prop_ro("element_type", [](const PyRankedTensorType &self) {
        return wrapType(self.context, mlir::cast<mlir::RankedTensorType>(self.type).getElementType());
      });

  nb::class_<PyFunctionType, PyType>(module, "FunctionType")
      .def_static(
          "get",
          [](const std::vector<PyType> &inputs, const std::vector<PyType> &results, const PyContext *context) {
            const ContextRef &owner = resolve(context, "context").context;
            return PyFunctionType{
                {owner, mlir::FunctionType::get(owner.get(), unwrap(owner, inputs), unwrap(owner, results))}};
          },
          nb::arg("inputs"), nb::arg("results"), nb::arg("context") = nb::none())
      .def_prop_ro("inputs",
                   [](const PyFunctionType &self) {
                     return wrapTypes(self.context, mlir::cast<mlir::FunctionType>(self.type).getInputs());
                   })
      .def_prop_ro("results", [](const PyFunctionType &self) {
        return wrapTypes(self.context, mlir::cast<mlir::FunctionType>(self.type).getResults());
      });
}

} // namespace pycompiler
