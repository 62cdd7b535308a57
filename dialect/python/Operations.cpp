// _compiler.ir: modules, operations, blocks and values, under the names of upstream's mlir.ir. Building an operation
// only checks that it exists; Module.verify checks the whole.
#include "Binding.h"
#include "Gil.h"
#include "array/Entry/Link.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Parser/Parser.h"
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace pycompiler {
namespace {

PyModule parseModule(const std::string &text, const PyContext *given) {
  const PyContext &context = resolve(given, "context");
  DiagnosticCollector diagnostics(context.context.get());
  mlir::OwningOpRef<mlir::ModuleOp> module;
  {
    ReleasedGil released;
    module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(context.context.get()));
  }
  if (!module)
    diagnostics.raise("can't parse the module");
  return {std::shared_ptr<Tree>(new Tree{context.context, std::move(module)})};
}

PyModule parseBytes(nb::bytes bytes, const PyContext *given) {
  // The reader of bytecode wants its buffer aligned, as this one's is.
  return parseModule(std::string(bytes.c_str(), bytes.size()), given);
}

nb::bytes writeBytecode(const PyOperation &operation) {
  operation.check();
  DiagnosticCollector diagnostics(operation.context());
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  if (mlir::failed(mlir::writeBytecodeToFile(operation.op, stream)))
    diagnostics.raise("can't write bytecode");
  return nb::bytes(bytes.data(), bytes.size());
}

nb::object functionType(const PyModule &module, const std::string &name) {
  DiagnosticCollector diagnostics(module.tree->context.get());
  auto type = mlir::array::functionTypeOf(*module.tree->module, name);
  if (mlir::failed(type))
    diagnostics.raise("looking for a function failed");
  return wrapType(module.tree->context, *type);
}

std::string linkModule(const PyModule &module, const PyModule &other, const std::string &entry) {
  if (module.tree->context != other.tree->context)
    throw nb::value_error("the modules are of two contexts");
  DiagnosticCollector diagnostics(module.tree->context.get());
  auto name = mlir::array::linkFunctions(*module.tree->module, *other.tree->module, entry);
  if (mlir::failed(name))
    diagnostics.raise("linking the modules failed");
  return name->str();
}

PyModule createModule(const PyLocation *given) {
  const PyLocation &location = resolve(given, "location");
  mlir::OwningOpRef<mlir::ModuleOp> module(mlir::ModuleOp::create(location.location));
  return {std::shared_ptr<Tree>(new Tree{location.context, std::move(module)})};
}

bool verify(const PyOperation &operation) {
  operation.check();
  DiagnosticCollector diagnostics(operation.context());
  if (mlir::failed(mlir::verify(operation.op)))
    diagnostics.raise("verification failed");
  return true;
}

PyOperation topOperation(const PyModule &module) { return {module.tree, module.tree->module->getOperation()}; }

/// Adds every element of a Python sequence, unwrapped, to `out`.
template <typename Wrapper, typename Out, typename Unwrap> void append(nb::handle sequence, Out &out, Unwrap unwrap) {
  if (!sequence.is_none())
    for (nb::handle element : sequence)
      out.push_back(unwrap(nb::cast<const Wrapper &>(element)));
}

/// The result types that an operation infers.
void inferTypes(mlir::OperationState &state, mlir::MLIRContext *context) {
  auto *rule = state.name.getInterface<mlir::InferTypeOpInterface>();
  if (!rule)
    throw nb::value_error(
        ("'" + state.name.getStringRef() + "' does not say its results' types: give them").str().c_str());
  DiagnosticCollector diagnostics(context);
  if (mlir::failed(rule->inferReturnTypes(context, state.location, state.operands,
                                          state.attributes.getDictionary(context), state.getRawProperties(),
                                          state.regions, state.types)))
    diagnostics.raise("no types follow for the results of '" + state.name.getStringRef().str() + "'");
}

} // namespace

PyOperation createOperation(const std::string &name, nb::handle results, nb::handle operands, nb::handle attributes,
                            int regions, const PyLocation *location, const PyInsertionPoint *given, bool infersTypes) {
  const PyInsertionPoint &point = resolve(given, "insertion point");
  const PyBlock &block = point.block;
  block.check();
  if (point.before)
    point.before->check();
  const ContextRef &context = block.tree->context;
  const PyLocation &place = resolve(location, "location");
  checkContext(context, place.context, "location");
  mlir::OperationState state(place.location, name);
  if (!state.name.isRegistered())
    throw nb::value_error(("there is no operation '" + name + "'").c_str());
  append<PyType>(results, state.types, [&](const PyType &type) {
    checkContext(context, type.context, "type");
    return type.type;
  });
  append<PyValue>(operands, state.operands, [&](const PyValue &value) {
    value.check();
    if (value.tree != block.tree)
      throw nb::value_error("an operand is of another module");
    return value.value;
  });
  if (!attributes.is_none())
    for (auto [key, value] : nb::cast<nb::dict>(attributes)) {
      const auto &attribute = nb::cast<const PyAttribute &>(value);
      checkContext(context, attribute.context, "attribute");
      state.addAttribute(nb::cast<const char *>(key), attribute.attribute);
    }
  for (int i = 0; i < regions; ++i)
    state.addRegion();
  if (infersTypes)
    inferTypes(state, block.context());
  mlir::Operation *op = mlir::Operation::create(state);
  auto position = point.before ? mlir::Block::iterator(point.before->op) : block.block->end();
  ++block.tree->changes;
  if (mlir::RewriterBase *rewriter = block.tree->rewriter) {
    mlir::OpBuilder::InsertionGuard guard(*rewriter);
    rewriter->setInsertionPoint(block.block, position);
    rewriter->insert(op);
  } else {
    block.block->getOperations().insert(position, op);
  }
  return {block.tree, op};
}

void eraseOperation(const PyOperation &operation) {
  operation.check();
  Tree &tree = *operation.tree;
  if (operation.op == tree.module->getOperation())
    throw nb::value_error("a module can't be erased from itself");
  if (!operation.op->use_empty())
    throw nb::value_error(
        ("the results of '" + operation.op->getName().getStringRef() + "' are used: replace them first").str().c_str());
  tree.markErased(operation.op);
  ++tree.changes;
  if (tree.rewriter)
    tree.rewriter->eraseOp(operation.op);
  else
    operation.op->erase();
}

namespace {

/// Changes an operation in place, and notifies the rewriter, if any.
template <typename Change> void modify(const PyOperation &operation, Change change) {
  operation.check();
  ++operation.tree->changes;
  if (operation.tree->rewriter)
    operation.tree->rewriter->modifyOpInPlace(operation.op, change);
  else
    change();
}

void replaceUses(const PyValue &value, const PyValue &with) {
  value.check();
  with.check();
  if (value.tree != with.tree)
    throw nb::value_error("the value is of another module");
  // Each use would be moved to the end of the list during the iteration.
  if (value.value == with.value)
    return;
  ++value.tree->changes;
  if (value.tree->rewriter)
    value.tree->rewriter->replaceAllUsesWith(value.value, with.value);
  else
    mlir::Value(value.value).replaceAllUsesWith(with.value);
}

nb::dict attributesOf(const PyOperation &operation) {
  operation.check();
  nb::dict found;
  for (mlir::NamedAttribute entry : operation.op->getAttrDictionary())
    found[nb::str(entry.getName().data(), entry.getName().size())] =
        nb::cast(PyAttribute{operation.tree->context, entry.getValue()});
  return found;
}

void setAttribute(const PyOperation &operation, const std::string &name, const PyAttribute &value) {
  checkContext(operation.tree->context, value.context, "attribute");
  modify(operation, [&] { operation.op->setAttr(name, value.attribute); });
}

void removeAttribute(const PyOperation &operation, const std::string &name) {
  operation.check();
  if (!operation.op->hasAttr(name))
    throw nb::key_error(name.c_str());
  modify(operation, [&] { operation.op->removeAttr(name); });
}

void setOperand(const PyOperation &operation, unsigned index, const PyValue &value) {
  operation.check();
  value.check();
  if (index >= operation.op->getNumOperands())
    throw nb::index_error("the operation has fewer operands");
  if (value.tree != operation.tree)
    throw nb::value_error("the value is of another module");
  modify(operation, [&] { operation.op->setOperand(index, value.value); });
}

/// An operation and all operations inside it, inner ones first.
nb::list walk(const PyOperation &operation) {
  operation.check();
  nb::list found;
  operation.op->walk([&](mlir::Operation *inner) { found.append(PyOperation(operation.tree, inner)); });
  return found;
}

nb::object ownerOf(const PyValue &value) {
  value.check();
  if (mlir::Operation *op = value.value.getDefiningOp())
    return nb::cast(PyOperation(value.tree, op));
  return nb::cast(PyBlock(value.tree, mlir::Value(value.value).getParentBlock()));
}

nb::object parentOf(const PyOperation &operation) {
  operation.check();
  mlir::Operation *parent = operation.op->getParentOp();
  return parent ? nb::cast(PyOperation(operation.tree, parent)) : nb::none();
}

PyBlock createBlock(const PyRegion &region, nb::handle types, nb::handle locations) {
  region.check();
  llvm::SmallVector<mlir::Type> argumentTypes;
  append<PyType>(types, argumentTypes, [&](const PyType &type) {
    checkContext(region.tree->context, type.context, "type");
    return type.type;
  });
  llvm::SmallVector<mlir::Location> argumentLocations;
  append<PyLocation>(locations, argumentLocations, [&](const PyLocation &location) {
    checkContext(region.tree->context, location.context, "location");
    return location.location;
  });
  if (argumentLocations.empty())
    argumentLocations.assign(argumentTypes.size(), mlir::UnknownLoc::get(region.context()));
  if (argumentLocations.size() != argumentTypes.size())
    throw nb::value_error("a block needs one location for each argument");
  auto *block = new mlir::Block();
  block->addArguments(argumentTypes, argumentLocations);
  region.region->push_front(block);
  return {region.tree, block};
}

/// A list of the items of `range`, each wrapped with the module that holds it.
template <typename Wrapper, typename Range> nb::list wrapAll(const Node &node, Range &&range) {
  nb::list result;
  for (auto &&element : range) {
    if constexpr (std::is_constructible_v<Wrapper, std::shared_ptr<Tree>, decltype(&element)>)
      result.append(Wrapper(node.tree, &element));
    else
      result.append(Wrapper(node.tree, element));
  }
  return result;
}

std::string assembly(const PyOperation &operation, bool debugInfo, std::optional<int64_t> elementsLimit) {
  operation.check();
  mlir::OpPrintingFlags flags;
  if (debugInfo)
    flags.enableDebugInfo(/*enable=*/true, /*prettyForm=*/false);
  if (elementsLimit)
    flags.elideLargeElementsAttrs(*elementsLimit);
  std::string text;
  llvm::raw_string_ostream stream(text);
  operation.op->print(stream, flags);
  return text;
}

void bindModule(nb::module_ &module) {
  nb::class_<PyModule>(module, "Module")
      .def_static("parse", parseModule, nb::arg("asm"), nb::arg("context") = nb::none())
      .def_static("parse", parseBytes, nb::arg("asm"), nb::arg("context") = nb::none())
      .def_static("create", createModule, nb::arg("loc") = nb::none())
      .def("function_type", functionType, nb::arg("name"),
           nb::sig("def function_type(self, name: str) -> FunctionType"),
           "The FunctionType of a function of the module.")
      .def("link", linkModule, nb::arg("module"), nb::arg("entry"),
           "Take in a copy of the functions of another module, private and under names that are free. Returns that of\n"
           "`entry`. Raises MLIRError.")
      .def_prop_ro("operation", topOperation)
      .def_prop_ro("body", [](const PyModule &self) { return PyBlock(self.tree, self.tree->module->getBody()); })
      .def_prop_ro("context", [](const PyModule &self) { return PyContext{self.tree->context}; })
      .def("verify", [](const PyModule &self) { return verify(topOperation(self)); })
      .def("walk", [](const PyModule &self) { return walk(topOperation(self)); })
      .def("__str__", [](const PyModule &self) { return assembly(topOperation(self), false, std::nullopt); });
}

void bindOperation(nb::module_ &module) {
  nb::class_<PyOperation>(module, "Operation")
      .def_static("create", createOperation, nb::arg("name"), nb::arg("results").none() = nb::none(),
                  nb::arg("operands").none() = nb::none(), nb::arg("attributes").none() = nb::none(),
                  nb::arg("regions") = 0, nb::arg("loc") = nb::none(), nb::arg("ip") = nb::none(),
                  nb::arg("infer_type") = false)
      .def_prop_ro("attributes", attributesOf)
      .def("set_attribute", setAttribute, nb::arg("name"), nb::arg("value"))
      .def("remove_attribute", removeAttribute, nb::arg("name"))
      .def("set_operand", setOperand, nb::arg("index"), nb::arg("value"))
      .def("erase", eraseOperation)
      .def("walk", walk)
      .def_prop_ro("parent", parentOf)
      .def_prop_ro("location",
                   [](const PyOperation &self) {
                     self.check();
                     return PyLocation{self.tree->context, self.op->getLoc()};
                   })
      .def("__eq__", [](const PyOperation &self, const PyOperation &other) { return self.op == other.op; })
      .def(
          "__eq__", [](const PyOperation &, nb::handle) { return false; }, nb::arg().none())
      .def("__hash__", [](const PyOperation &self) { return static_cast<size_t>(hash_value(self.op)); })
      .def_prop_ro("name",
                   [](const PyOperation &self) {
                     self.check();
                     return self.op->getName().getStringRef().str();
                   })
      .def_prop_ro("results",
                   [](const PyOperation &self) {
                     self.check();
                     return wrapAll<PyValue>(self, self.op->getResults());
                   })
      .def_prop_ro("result",
                   [](const PyOperation &self) {
                     self.check();
                     if (self.op->getNumResults() != 1)
                       throw nb::value_error("the operation has not one result");
                     return PyValue(self.tree, self.op->getResult(0));
                   })
      .def_prop_ro("operands",
                   [](const PyOperation &self) {
                     self.check();
                     return wrapAll<PyValue>(self, self.op->getOperands());
                   })
      .def_prop_ro("regions",
                   [](const PyOperation &self) {
                     self.check();
                     return wrapAll<PyRegion>(self, self.op->getRegions());
                   })
      .def("verify", verify)
      .def("write_bytecode", writeBytecode, "MLIR's bytecode of it, which Module.parse takes.")
      .def("get_asm", assembly, nb::arg("enable_debug_info") = false, nb::arg("large_elements_limit") = nb::none())
      .def("__str__", [](const PyOperation &self) { return assembly(self, false, std::nullopt); });
}

} // namespace

void bindOperations(nb::module_ &module) {
  bindModule(module);
  bindOperation(module);

  nb::class_<PyRegion>(module, "Region").def_prop_ro("blocks", [](const PyRegion &self) {
    self.check();
    return wrapAll<PyBlock>(self, *self.region);
  });

  nb::class_<PyBlock>(module, "Block")
      .def_static("create_at_start", createBlock, nb::arg("parent"), nb::arg("arg_types") = nb::make_tuple(),
                  nb::arg("arg_locs").none() = nb::none())
      .def_prop_ro("arguments",
                   [](const PyBlock &self) {
                     self.check();
                     return wrapAll<PyValue>(self, self.block->getArguments());
                   })
      .def_prop_ro("operations", [](const PyBlock &self) {
        self.check();
        return wrapAll<PyOperation>(self, *self.block);
      });

  nb::class_<PyValue>(module, "Value")
      .def_prop_ro("type",
                   [](const PyValue &self) {
                     self.check();
                     return PyType{self.tree->context, self.value.getType()};
                   })
      .def_prop_ro("owner", ownerOf)
      .def_prop_ro("users",
                   [](const PyValue &self) {
                     self.check();
                     nb::list users;
                     for (mlir::Operation *user : self.value.getUsers())
                       users.append(PyOperation(self.tree, user));
                     return users;
                   })
      .def("replace_all_uses_with", replaceUses, nb::arg("value"))
      .def("__eq__", [](const PyValue &self, const PyValue &other) { return self.value == other.value; })
      .def(
          "__eq__", [](const PyValue &, nb::handle) { return false; }, nb::arg().none())
      .def("__hash__", [](const PyValue &self) { return static_cast<size_t>(hash_value(self.value)); })
      .def("__str__", [](const PyValue &self) {
        self.check();
        return printed(self.value);
      });

  auto point =
      nb::class_<PyInsertionPoint>(module, "InsertionPoint")
          .def("__init__", [](PyInsertionPoint *self, const PyBlock &block) { new (self) PyInsertionPoint{block}; })
          .def("__init__", [](PyInsertionPoint *self, const PyOperation &before) {
            before.check();
            if (!before.op->getBlock())
              throw nb::value_error("nothing can be inserted before a module");
            new (self) PyInsertionPoint{PyBlock(before.tree, before.op->getBlock()), before};
          });
  bindWith(point);
}

} // namespace pycompiler
