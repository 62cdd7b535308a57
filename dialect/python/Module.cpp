// pycompiler._compiler: the MLIR part of pycompiler, loaded at the first compilation. Upstream's Python bindings cannot
// be used: no package has them for the MLIR version of the array dialect. So this module binds the required classes
// under the same names.
#include "Binding.h"
#include "Gil.h"
#include "array/IR/Bytecode.h"
#include "array/Target/BuiltFunctions.h"

#include <nanobind/stl/string.h>

namespace nb = nanobind;

/// Makes `name` importable as a separate module.
static nb::module_ addSubmodule(nb::module_ &parent, const char *name, const char *doc) {
  nb::module_ submodule = parent.def_submodule(name, doc);
  std::string qualified = nb::cast<std::string>(parent.attr("__name__")) + "." + name;
  nb::module_::import_("sys").attr("modules")[qualified.c_str()] = submodule;
  return submodule;
}

NB_MODULE(_compiler, module) {
  module.attr("__doc__") = "The array dialect, its passes, and the compilation to object code.";
  module.attr("dialect_version") = mlir::array::kBytecodeVersion;
  nb::module_ ir = addSubmodule(module, "ir", "The part of mlir.ir that an op builder needs.");
  pycompiler::bindDiagnostics(ir);
  pycompiler::bindTypes(ir);
  pycompiler::bindAttributes(ir);
  pycompiler::bindOperations(ir);
  nb::module_ passes = addSubmodule(module, "passmanager", "mlir.passmanager for the passes of the array dialect.");
  pycompiler::bindPassManager(passes);
  nb::module_ rewriting = addSubmodule(module, "rewrite", "Patterns that are written in Python.");
  pycompiler::bindRewriting(rewriting);
  pycompiler::bindCompile(module);
  pycompiler::bindStablehlo(module);
  mlir::array::useFunctionsOfBuild();
  pycompiler::endProcessAtWork();
}
