// MLIRError: MLIR's diagnostics as a Python exception, with the file and line of the user's program.
#include "Binding.h"

#include <nanobind/stl/string.h>

namespace pycompiler {

/// The exception class, owned by the module.
static PyObject *errorClass = nullptr;

DiagnosticCollector::DiagnosticCollector(mlir::MLIRContext *context)
    : handler(context, [this](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
          errors.push_back(describe(diagnostic));
        return mlir::success();
      }) {}

DiagnosticCollector::Entry DiagnosticCollector::describe(mlir::Diagnostic &diagnostic) {
  Entry entry;
  entry.message = diagnostic.str();
  // Call sites, fused and named locations hold a file and line inside.
  diagnostic.getLocation()->walk([&](mlir::Location inner) {
    auto place = mlir::dyn_cast<mlir::FileLineColLoc>(inner);
    if (!place)
      return mlir::WalkResult::advance();
    entry.file = place.getFilename().str();
    entry.line = place.getLine();
    entry.column = place.getColumn();
    return mlir::WalkResult::interrupt();
  });
  for (mlir::Diagnostic &note : diagnostic.getNotes())
    entry.notes.push_back(describe(note));
  return entry;
}

nb::object DiagnosticCollector::toPython(const Entry &entry) {
  nb::object diagnostic = nb::module_::import_("types").attr("SimpleNamespace")();
  nb::list notes;
  for (const Entry &note : entry.notes)
    notes.append(toPython(note));
  bool placed = !entry.file.empty();
  diagnostic.attr("message") = entry.message;
  diagnostic.attr("file") = placed ? nb::cast(entry.file) : nb::none();
  diagnostic.attr("line") = placed ? nb::cast(entry.line) : nb::none();
  diagnostic.attr("column") = placed ? nb::cast(entry.column) : nb::none();
  diagnostic.attr("notes") = notes;
  return diagnostic;
}

void DiagnosticCollector::raise(const std::string &summary) const {
  std::string text = summary;
  nb::list diagnostics;
  auto append = [&](const Entry &entry, const char *kind) {
    text += "\n";
    if (!entry.file.empty())
      text += entry.file + ":" + std::to_string(entry.line) + ":" + std::to_string(entry.column) + ": ";
    text += kind + entry.message;
  };
  for (const Entry &error : errors) {
    append(error, "error: ");
    for (const Entry &note : error.notes)
      append(note, "note: ");
    diagnostics.append(toPython(error));
  }
  nb::object exception = nb::steal(PyObject_CallFunction(errorClass, "s", text.c_str()));
  if (!exception.is_valid())
    throw nb::python_error();
  // Show the first error; the others often follow from it.
  nb::object first = errors.empty() ? toPython(Entry{summary, "", 0, 0, {}}) : toPython(errors.front());
  for (const char *name : {"message", "file", "line", "column", "notes"})
    exception.attr(name) = first.attr(name);
  exception.attr("error_diagnostics") = diagnostics;
  PyErr_SetObject(errorClass, exception.ptr());
  throw nb::python_error();
}

void bindDiagnostics(nb::module_ &module) {
  // The class is defined with the package's other errors, which refer to pages of the documentation.
  nb::object kind = nb::module_::import_("pycompiler.core.errors").attr("MLIRError");
  errorClass = kind.release().ptr();
  module.attr("MLIRError") = nb::borrow(errorClass);
}

} // namespace pycompiler
