// _compiler.ir: the attributes for the op builder, with the names of upstream's mlir.ir.
#include "Binding.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include <cstring>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace pycompiler {
namespace {

// One Python class for each kind; they differ in `get` only.
struct PyIntegerAttr : PyAttribute {};
struct PyFloatAttr : PyAttribute {};
struct PyBoolAttr : PyAttribute {};
struct PyStringAttr : PyAttribute {};
struct PyUnitAttr : PyAttribute {};
struct PyTypeAttr : PyAttribute {};
struct PyArrayAttr : PyAttribute {};
struct PyDenseI32ArrayAttr : PyAttribute {};
struct PyDenseI64ArrayAttr : PyAttribute {};
struct PyFlatSymbolRefAttr : PyAttribute {};
struct PyDenseElementsAttr : PyAttribute {};

/// The bytes of an array, held until the end of the scope. NumPy cannot describe bfloat16 in the buffer protocol, but
/// it exports the bytes.
struct BufferView {
  nb::object source;
  Py_buffer view;
  explicit BufferView(nb::object array) : source(std::move(array)) {
    if (PyObject_GetBuffer(source.ptr(), &view, PyBUF_C_CONTIGUOUS) == 0)
      return;
    if (!nb::hasattr(source, "tobytes"))
      throw nb::python_error();
    PyErr_Clear();
    source = source.attr("tobytes")();
    if (PyObject_GetBuffer(source.ptr(), &view, PyBUF_C_CONTIGUOUS) != 0)
      throw nb::python_error();
  }
  BufferView(const BufferView &) = delete;
  ~BufferView() { PyBuffer_Release(&view); }
  llvm::ArrayRef<char> bytes() const { return {static_cast<const char *>(view.buf), static_cast<size_t>(view.len)}; }
};

mlir::RankedTensorType staticTensor(const PyType &type) {
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type.type);
  bool isComplex = tensor && mlir::isa<mlir::ComplexType>(tensor.getElementType());
  if (!tensor || !tensor.hasStaticShape() || !(isComplex || tensor.getElementType().isIntOrFloat()))
    throw nb::value_error(("not a tensor of numbers with a static shape: " + printed(type.type)).c_str());
  return tensor;
}

/// The bytes of `array` as the elements of a tensor. Equal elements are stored as one.
mlir::DenseElementsAttr denseElements(nb::object array, mlir::RankedTensorType type) {
  BufferView source(std::move(array));
  llvm::ArrayRef<char> bytes = source.bytes();
  mlir::Type element = type.getElementType();
  auto complex = mlir::dyn_cast<mlir::ComplexType>(element);
  size_t width = complex ? complex.getElementType().getIntOrFloatBitWidth() / 4
                         : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  size_t expected = width * type.getNumElements();
  if (bytes.size() != expected) {
    std::string message = "the array holds " + std::to_string(bytes.size()) + " bytes, but " + printed(type) +
                          " takes " + std::to_string(expected);
    throw nb::value_error(message.c_str());
  }
  bool isSplat = expected > width && std::memcmp(bytes.data(), bytes.data() + width, expected - width) == 0;
  if (isSplat)
    bytes = bytes.take_front(width);
  // MLIR packs single bits; a NumPy bool is a byte.
  if (element.isIntOrFloat() && element.getIntOrFloatBitWidth() == 1) {
    const bool *bools = reinterpret_cast<const bool *>(bytes.data());
    return mlir::DenseElementsAttr::get(type, llvm::ArrayRef<bool>(bools, bytes.size()));
  }
  return mlir::DenseElementsAttr::getFromRawBuffer(type, bytes);
}

mlir::Attribute parseAttribute(const PyContext &context, const std::string &text) {
  DiagnosticCollector diagnostics(context.context.get());
  mlir::Attribute attribute = mlir::parseAttribute(text, context.context.get());
  if (!attribute)
    diagnostics.raise("can't parse the attribute '" + text + "'");
  return attribute;
}

/// The numbers or the string of an attribute; lists and dictionaries of values. A map is the list of its expressions.
nb::object valueOf(const PyAttribute &self) {
  mlir::Attribute attribute = self.attribute;
  auto inner = [&](mlir::Attribute part) { return valueOf(PyAttribute{self.context, part}); };
  if (auto flag = mlir::dyn_cast<mlir::BoolAttr>(attribute))
    return nb::cast(flag.getValue());
  if (auto number = mlir::dyn_cast<mlir::IntegerAttr>(attribute))
    return nb::cast(number.getType().isUnsignedInteger() ? static_cast<int64_t>(number.getUInt())
                                                         : number.getValue().getSExtValue());
  if (auto number = mlir::dyn_cast<mlir::FloatAttr>(attribute))
    return nb::cast(number.getValueAsDouble());
  if (auto text = mlir::dyn_cast<mlir::StringAttr>(attribute))
    return nb::cast(text.getValue().str());
  if (auto symbol = mlir::dyn_cast<mlir::FlatSymbolRefAttr>(attribute))
    return nb::cast(symbol.getValue().str());
  if (auto numbers = mlir::dyn_cast<mlir::DenseI64ArrayAttr>(attribute))
    return nb::cast(numbers.asArrayRef().vec());
  if (auto numbers = mlir::dyn_cast<mlir::DenseI32ArrayAttr>(attribute))
    return nb::cast(numbers.asArrayRef().vec());
  if (auto type = mlir::dyn_cast<mlir::TypeAttr>(attribute))
    return nb::cast(PyType{self.context, type.getValue()});
  if (mlir::isa<mlir::UnitAttr>(attribute))
    return nb::cast(true);
  if (auto list = mlir::dyn_cast<mlir::ArrayAttr>(attribute)) {
    nb::list found;
    for (mlir::Attribute part : list)
      found.append(inner(part));
    return found;
  }
  if (auto entries = mlir::dyn_cast<mlir::DictionaryAttr>(attribute)) {
    nb::dict found;
    for (mlir::NamedAttribute entry : entries)
      found[nb::str(entry.getName().data(), entry.getName().size())] = inner(entry.getValue());
    return found;
  }
  if (auto map = mlir::dyn_cast<mlir::AffineMapAttr>(attribute)) {
    nb::list found;
    for (mlir::AffineExpr expression : map.getValue().getResults()) {
      std::string text;
      llvm::raw_string_ostream(text) << expression;
      found.append(nb::cast(text));
    }
    return found;
  }
  throw nb::value_error(("an attribute without a value in Python: " + printed(attribute)).c_str());
}

/// Binds a kind of attribute whose `get` takes one value and a context.
template <typename Kind, typename Value, typename Make>
void bindKind(nb::module_ &module, const char *name, Make make) {
  nb::class_<Kind, PyAttribute>(module, name)
      .def_static(
          "get",
          [make](const Value &value, const PyContext *context) {
            const ContextRef &owner = resolve(context, "context").context;
            return Kind{{owner, make(owner, value)}};
          },
          nb::arg("value"), nb::arg("context") = nb::none());
}

void bindNumbers(nb::module_ &module) {
  nb::class_<PyIntegerAttr, PyAttribute>(module, "IntegerAttr")
      .def_static(
          "get",
          [](const PyType &type, int64_t value) {
            if (!type.type.isIntOrIndex())
              throw nb::value_error(("not an integer type: " + printed(type.type)).c_str());
            return PyIntegerAttr{{type.context, mlir::IntegerAttr::get(type.type, value)}};
          },
          nb::arg("type"), nb::arg("value"));
  nb::class_<PyFloatAttr, PyAttribute>(module, "FloatAttr")
      .def_static(
          "get",
          [](const PyType &type, double value) {
            if (!mlir::isa<mlir::FloatType>(type.type))
              throw nb::value_error(("not a float type: " + printed(type.type)).c_str());
            return PyFloatAttr{{type.context, mlir::FloatAttr::get(type.type, value)}};
          },
          nb::arg("type"), nb::arg("value"));
}

void bindDenseElements(nb::module_ &module) {
  nb::class_<PyDenseElementsAttr, PyAttribute>(module, "DenseElementsAttr")
      .def_static(
          "get",
          [](nb::object array, const PyType &type) {
            return PyDenseElementsAttr{{type.context, denseElements(std::move(array), staticTensor(type))}};
          },
          nb::arg("array"), nb::arg("type"))
      .def_static(
          "get_splat",
          [](const PyType &shaped, const PyAttribute &element) {
            checkContext(shaped.context, element.context, "attribute");
            mlir::RankedTensorType type = staticTensor(shaped);
            auto typed = mlir::dyn_cast<mlir::TypedAttr>(element.attribute);
            if (!typed || typed.getType() != type.getElementType())
              throw nb::value_error(("the element is not of type " + printed(type.getElementType())).c_str());
            return PyDenseElementsAttr{{shaped.context, mlir::DenseElementsAttr::get(type, element.attribute)}};
          },
          nb::arg("shaped_type"), nb::arg("element_attr"));
}

} // namespace

void bindAttributes(nb::module_ &module) {
  nb::class_<PyAttribute>(module, "Attribute")
      .def_static(
          "parse",
          [](const std::string &text, const PyContext *context) {
            const PyContext &owner = resolve(context, "context");
            return PyAttribute{owner.context, parseAttribute(owner, text)};
          },
          nb::arg("asm"), nb::arg("context") = nb::none())
      .def("__eq__",
           [](const PyAttribute &self, const PyAttribute &other) { return self.attribute == other.attribute; })
      .def(
          "__eq__", [](const PyAttribute &, nb::handle) { return false; }, nb::arg().none())
      .def("__hash__", [](const PyAttribute &self) { return static_cast<size_t>(hash_value(self.attribute)); })
      .def_prop_ro(
          "value", valueOf,
          "A number, a string, a type, True for a unit, a list or a dict of those, the expressions of a map as text; "
          "ValueError for any other attribute.")
      .def("__str__", [](const PyAttribute &self) { return printed(self.attribute); });

  bindNumbers(module);
  bindDenseElements(module);
  bindKind<PyBoolAttr, bool>(module, "BoolAttr", [](const ContextRef &context, bool value) {
    return mlir::BoolAttr::get(context.get(), value);
  });
  bindKind<PyStringAttr, std::string>(module, "StringAttr", [](const ContextRef &context, const std::string &value) {
    return mlir::StringAttr::get(context.get(), value);
  });
  bindKind<PyFlatSymbolRefAttr, std::string>(module, "FlatSymbolRefAttr",
                                             [](const ContextRef &context, const std::string &value) {
                                               return mlir::FlatSymbolRefAttr::get(context.get(), value);
                                             });
  bindKind<PyDenseI32ArrayAttr, std::vector<int32_t>>(module, "DenseI32ArrayAttr",
                                                      [](const ContextRef &context, const std::vector<int32_t> &value) {
                                                        return mlir::DenseI32ArrayAttr::get(context.get(), value);
                                                      });
  bindKind<PyDenseI64ArrayAttr, std::vector<int64_t>>(module, "DenseI64ArrayAttr",
                                                      [](const ContextRef &context, const std::vector<int64_t> &value) {
                                                        return mlir::DenseI64ArrayAttr::get(context.get(), value);
                                                      });
  bindKind<PyArrayAttr, std::vector<PyAttribute>>(
      module, "ArrayAttr", [](const ContextRef &context, const std::vector<PyAttribute> &values) {
        llvm::SmallVector<mlir::Attribute> attributes;
        for (const PyAttribute &value : values) {
          checkContext(context, value.context, "attribute");
          attributes.push_back(value.attribute);
        }
        return mlir::ArrayAttr::get(context.get(), attributes);
      });
  nb::class_<PyTypeAttr, PyAttribute>(module, "TypeAttr")
      .def_static(
          "get", [](const PyType &type) { return PyTypeAttr{{type.context, mlir::TypeAttr::get(type.type)}}; },
          nb::arg("value"));
  nb::class_<PyUnitAttr, PyAttribute>(module, "UnitAttr")
      .def_static(
          "get",
          [](const PyContext *context) {
            const ContextRef &owner = resolve(context, "context").context;
            return PyUnitAttr{{owner, mlir::UnitAttr::get(owner.get())}};
          },
          nb::arg("context") = nb::none());
}

} // namespace pycompiler
