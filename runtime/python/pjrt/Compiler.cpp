// Calls the package's compiler for the plugin, and reads the programs that it gives (pycompiler/pjrt/program.py).
#include "pjrt/Compiler.h"

#include "call/ExecutableType.h"
#include "pjrt/Program.h"
#include "support/Gil.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace pcrt;
using namespace pcrt::python;

namespace {

/// A Python object that threads without the GIL hold and release.
class Shared {
public:
  explicit Shared(nb::object object) : object(object.release().ptr(), giveUp) {}
  nb::handle get() const { return object.get(); }

private:
  std::shared_ptr<PyObject> object;
};

/// The message of the current exception, which is cleared: that of the package's own errors as it is.
Status statusOfError(nb::python_error &error) {
  nb::object value = nb::borrow(error.value());
  std::string text = nb::cast<std::string>(nb::str(value));
  bool isMemory = PyErr_GivenExceptionMatches(value.ptr(), PyExc_MemoryError);
  bool isOurs = nb::hasattr(value.type(), "__module__") &&
                nb::cast<std::string>(nb::str(value.type().attr("__module__"))).rfind("pycompiler", 0) == 0;
  if (!isOurs)
    text = nb::cast<std::string>(nb::str(value.type().attr("__name__"))) + ": " + text;
  return Status(isMemory ? Code::OutOfMemory : Code::InvalidArgument, std::move(text));
}

std::string textOf(nb::handle bytes) {
  if (nb::isinstance<nb::bytes>(bytes)) {
    auto given = nb::borrow<nb::bytes>(bytes);
    return std::string(given.c_str(), given.size());
  }
  return nb::cast<std::string>(bytes);
}

/// A function of Python that gives text, called later.
std::function<Result<std::string>()> later(nb::object function) {
  return [shared = Shared(std::move(function))]() -> Result<std::string> {
    WithGil gil;
    try {
      return textOf(nb::object(shared.get()()));
    } catch (nb::python_error &error) {
      return statusOfError(error);
    }
  };
}

std::vector<std::string> textsOf(nb::handle list) {
  std::vector<std::string> texts;
  for (nb::handle text : list)
    texts.push_back(textOf(text));
  return texts;
}

std::vector<pjrt::ArrayType> typesOf(nb::handle list) {
  std::vector<pjrt::ArrayType> types;
  for (nb::handle entry : list) {
    auto [code, dims, order] = nb::cast<std::tuple<int, std::vector<int64_t>, std::vector<int64_t>>>(entry);
    types.push_back({static_cast<DType>(code), std::move(dims), {}});
    types.back().setOrder(std::move(order));
  }
  return types;
}

pjrt::Program programOf(nb::handle given) {
  pjrt::Program program;
  program.name = nb::cast<std::string>(given.attr("name"));
  program.fingerprint = nb::cast<std::string>(given.attr("fingerprint"));
  LoadedExecutable *loaded = loadedExecutable(nb::object(given.attr("executable")).ptr());
  if (!loaded)
    throw nb::python_error();
  program.executable = loaded->executable;
  program.parameters = typesOf(given.attr("parameters"));
  program.results = typesOf(given.attr("results"));
  program.resultKinds = nb::cast<std::vector<std::string>>(given.attr("result_kinds"));
  program.parameterShardings = textsOf(given.attr("argument_shardings"));
  program.resultShardings = textsOf(given.attr("result_shardings"));
  for (auto [donated, result] : nb::cast<std::vector<std::pair<bool, int>>>(given.attr("donations")))
    program.donations.push_back({donated, result});
  program.devices = nb::cast<std::vector<int>>(given.attr("devices"));
  program.replicas = nb::cast<int>(given.attr("replicas"));
  program.partitions = nb::cast<int>(given.attr("partitions"));
  program.flops = nb::cast<double>(given.attr("flops"));
  program.options = textOf(given.attr("options"));
  program.serialize = later(given.attr("serialize"));
  program.text = later(given.attr("text"));
  return program;
}

class PythonCompiler final : public pjrt::Compiler {
public:
  PythonCompiler(nb::object compile, nb::object load, std::vector<int64_t> oldest, std::vector<int64_t> newest)
      : compileFunction(compile.release()), loadFunction(load.release()), oldest(std::move(oldest)),
        newest(std::move(newest)) {}

  Result<pjrt::Program> compile(std::string_view code, std::string_view format, std::string_view options) override {
    return made([&] {
      return compileFunction(nb::bytes(code.data(), code.size()), nb::str(format.data(), format.size()),
                             nb::bytes(options.data(), options.size()));
    });
  }
  Result<pjrt::Program> load(std::string_view bytes, std::string_view options) override {
    return made(
        [&] { return loadFunction(nb::bytes(bytes.data(), bytes.size()), nb::bytes(options.data(), options.size())); });
  }
  std::vector<int64_t> oldestStablehlo() const override { return oldest; }
  std::vector<int64_t> newestStablehlo() const override { return newest; }

private:
  template <typename Function> static Result<pjrt::Program> made(Function function) {
    if (isFinalizing())
      return Status(Code::Unknown, "the program has ended");
    WithGil gil;
    try {
      nb::object program = function();
      return programOf(program);
    } catch (nb::python_error &error) {
      return statusOfError(error);
    } catch (nb::cast_error &) {
      return Status(Code::Unknown, "the compiler of the plugin gave no program");
    }
  }

  /// They live as long as the process.
  nb::handle compileFunction, loadFunction;
  const std::vector<int64_t> oldest, newest;
};

} // namespace

void pcrt::python::addPjrtFunctions(nb::module_ &module) {
  // Once, before the plugin is loaded. The functions give objects with the attributes of pjrt/program.py.
  module.def(
      "set_pjrt_compiler",
      [](nb::object compile, nb::object load, std::vector<int64_t> oldest, std::vector<int64_t> newest) {
        if (pjrt::compiler())
          throw nb::value_error("set_pjrt_compiler: there is one already");
        pjrt::setCompiler(
            new PythonCompiler(std::move(compile), std::move(load), std::move(oldest), std::move(newest)));
      },
      nb::arg("compile"), nb::arg("load"), nb::arg("oldest"), nb::arg("newest"));
}
