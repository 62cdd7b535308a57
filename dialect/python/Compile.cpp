// _compiler.compile_to_object, compile_for_gpu and module_at: the C++ API of array/Target/Compile.h.
#include "Gil.h"
#include "Interruptible.h"
#include "array/Target/BuiltFunctions.h"
#include "array/Target/ModuleAt.h"
#include "array/Target/Remarks.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

namespace pycompiler {

using mlir::array::CollectRemarks;
using mlir::array::CompileOptions;

namespace {
/// With the remarks of the passes, in order, each once.
struct CompiledObject : mlir::array::CompiledObject {
  std::vector<mlir::array::GivenUp> givenUp;
};
} // namespace

/// Compiles, and collects the remarks of passes.
template <typename Compile> static mlir::FailureOr<CompiledObject> listening(mlir::ModuleOp op, Compile compile) {
  CompiledObject result;
  CollectRemarks remarks(op.getContext(), result.givenUp);
  mlir::FailureOr<mlir::array::CompiledObject> code = compile();
  if (mlir::failed(code))
    return mlir::failure();
  static_cast<mlir::array::CompiledObject &>(result) = std::move(*code);
  return result;
}

static CompiledObject compile(const PyModule &module, const std::string &cpu, const std::string &features, int optLevel,
                              const std::string &triple) {
  return compileInterruptibly(module, "compilation failed", [=](mlir::ModuleOp op) {
    return listening(op,
                     [&] { return mlir::array::compileToObject(op, CompileOptions{cpu, features, optLevel, triple}); });
  });
}

static CompiledObject compileForGpu(const PyModule &module, const std::string &capability, bool isEmulated,
                                    const std::vector<std::string> &libraries, bool hasLines) {
  return compileInterruptibly(module, "compilation for a GPU failed", [=](mlir::ModuleOp op) {
    return listening(op, [&] { return mlir::array::compileForGpu(op, {capability, isEmulated, libraries, hasLines}); });
  });
}

static std::string moduleAt(const PyModule &module, const std::string &stage, const std::string &cpu,
                            const std::string &features, int optLevel, const std::string &triple, bool hasLines) {
  return compileInterruptibly(module, "compilation up to the stage '" + stage + "' failed", [=](mlir::ModuleOp op) {
    return mlir::array::moduleAt(op, stage, CompileOptions{cpu, features, optLevel, triple}, hasLines);
  });
}

static std::string reproducer(const PyModule &module, const std::string &capability,
                              const std::vector<std::string> &libraries) {
  return compileInterruptibly(module, "there is nothing to reproduce", [=](mlir::ModuleOp op) {
    return capability.empty()
               ? mlir::array::reproducerFor(op, CompileOptions())
               : mlir::array::reproducerFor(op, mlir::array::GpuOptions{capability, false, libraries, false});
  });
}

/// (offset, bytes, first, last, type, place) of each temporary.
static nb::list memoryPlan(const PyModule &module, const std::string &capability,
                           const std::vector<std::string> &libraries) {
  auto plan = compileInterruptibly(module, "planning the memory failed", [=](mlir::ModuleOp op) {
    return capability.empty()
               ? mlir::array::memoryPlan(op, CompileOptions())
               : mlir::array::memoryPlan(op, mlir::array::GpuOptions{capability, false, libraries, false});
  });
  nb::list rows;
  for (const mlir::array::PlannedBuffer &buffer : plan)
    rows.append(nb::make_tuple(buffer.offset, buffer.bytes, buffer.first, buffer.last, buffer.type, buffer.place));
  return rows;
}

static nb::list matmulPlans(const PyModule &module, const std::string &cpu, const std::string &features, int optLevel) {
  auto plans = compileInterruptibly(module, "listing the plans failed", [=](mlir::ModuleOp op) {
    return mlir::array::matmulPlans(op, CompileOptions{cpu, features, optLevel, ""});
  });
  nb::list found;
  for (const mlir::array::MatmulPlan &plan : plans) {
    nb::dict entries;
    for (const auto &[key, value] : plan)
      entries[key.c_str()] = value;
    found.append(entries);
  }
  return found;
}

void bindCompile(nb::module_ &module) {
  const CompileOptions defaults;
  nb::class_<CompiledObject>(module, "CompiledObject", "Object code in memory, with its description for the runtime.")
      .def_prop_ro("object",
                   [](const CompiledObject &self) { return nb::bytes(self.object.data(), self.object.size()); })
      .def_ro("entry", &CompiledObject::entry)
      .def_ro("arena_bytes", &CompiledObject::arenaBytes)
      .def_ro("flops", &CompiledObject::flops, "Estimated scalar operations of one call.")
      .def_ro("is_unbounded", &CompiledObject::isUnbounded, "How long a call takes depends on data.")
      .def_ro("has_loop_budget", &CompiledObject::hasLoopBudget,
              "A speculative run stops when the budget of its frame is used up.")
      .def_ro("sites", &CompiledObject::sites,
              "(primitive, \"file:line\") of operations that can fail, by call-site id - 1.")
      .def_prop_ro(
          "image", [](const CompiledObject &self) { return nb::bytes(self.image.data(), self.image.size()); },
          "For a GPU: its kernels, as the driver takes them.")
      .def_ro("kernels", &CompiledObject::kernels, "Their names, by number.")
      .def_ro("waits", &CompiledObject::waits, "Whether a call waits for values that the GPU computes.")
      .def_prop_ro(
          "remarks",
          [](const CompiledObject &self) {
            std::vector<std::tuple<std::string, std::string, std::string>> rows;
            for (const mlir::array::GivenUp &given : self.givenUp)
              rows.emplace_back(given.kind, given.place, given.text);
            return rows;
          },
          "(kind, \"file:line\" or nothing, text) of the remarks of passes, in order.")
      .def_ro("timings", &CompiledObject::timings, "(stage, milliseconds), in order.")
      .def_ro("passes", &CompiledObject::passes, "(pass, milliseconds), in order, of the stages before LLVM's.");

  module.def(
      "compile_to_object", compile, nb::arg("module"), nb::arg("cpu") = defaults.cpu,
      nb::arg("features") = defaults.features, nb::arg("opt_level") = defaults.optLevel,
      nb::arg("triple") = defaults.triple,
      "Compile @main of a module of the array dialect for a CPU; empty strings mean this machine's, and with a\n"
      "triple the least one of its kind.\n\n"
      "The module does not change. Raises MLIRError. Releases the GIL; an exception of a signal is raised at once.");
  module.def(
      "compile_for_gpu", compileForGpu, nb::arg("module"), nb::arg("capability"), nb::arg("emulated") = false,
      nb::arg("libraries") = std::vector<std::string>(), nb::arg("lines") = false,
      "Compile @main of a module of the array dialect for this machine, and the kernels that it launches for the\n"
      "GPUs of a compute capability (\"9.0\"): PTX, or an object of this machine for the emulated GPU of the tests.\n"
      "Large products and routines become calls of `libraries` (\"cublaslt\"). With `lines` PTX names the user's.\n\n"
      "The module does not change. Raises MLIRError. Releases the GIL; an exception of a signal is raised at once.");
  module.def("forget_objects", mlir::array::forgetObjects,
             "Forget the code of kernels that is kept for other modules.");
  module.def(
      "built_functions", mlir::array::builtFunctions, nb::arg("cpu") = defaults.cpu,
      "The names of the functions of programs that the build has compiled for a CPU, this machine's by default.");
  module.def(
      "module_at", moduleAt, nb::arg("module"), nb::arg("stage"), nb::arg("cpu") = defaults.cpu,
      nb::arg("features") = defaults.features, nb::arg("opt_level") = defaults.optLevel,
      nb::arg("triple") = defaults.triple, nb::arg("lines") = false,
      "The text of the module after one of `stage_names()`; with `lines` each operation, or instruction, names the\n"
      "file and line that it comes from.");
  module.def("stage_names", mlir::array::shownStages, "The stages of `module_at`, in order.");
  module.def("reproducer", reproducer, nb::arg("module"), nb::arg("capability") = "",
             nb::arg("libraries") = std::vector<std::string>(),
             "The module as text, with the passes that compile it for this machine, or for the GPUs of a compute\n"
             "capability, in the form that `array-opt --run-reproducer` takes.");
  module.def("product_plans", matmulPlans, nb::arg("module"), nb::arg("cpu") = defaults.cpu,
             nb::arg("features") = defaults.features, nb::arg("opt_level") = defaults.optLevel,
             "The entries of the plans (array.plan) that are worth measuring for the one product of the module.");
  module.def(
      "memory_plan", memoryPlan, nb::arg("module"), nb::arg("capability") = "",
      nb::arg("libraries") = std::vector<std::string>(),
      "(offset, bytes, first, last, type, place) of each temporary of the module compiled for this machine, or for a\n"
      "GPU of a compute capability (\"9.0\"), by offset: it is used from the operation `first` to the operation\n"
      "`last`; place is \"file:line\", or empty.");
}

} // namespace pycompiler
