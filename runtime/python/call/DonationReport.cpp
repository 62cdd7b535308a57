// Reports the reason why the memory of a donated array could not be used, once for each place. CompiledCall, which
// copies such an array, calls this; the function that Python registered writes the message.
#include "call/DonationReport.h"

#include "array/Borrow.h"
#include "support/CallSite.h"

#include <set>
#include <string>

using namespace pcrt;
using namespace pcrt::python;

static PyObject *reporter = nullptr;

/// Null if the program cannot change it: an execution in flight reads the array, or the array borrows a temporary of
/// NumPy, whose memory lacks the alignment of results.
static const char *reasonFor(const Buffer &buffer, bool twice) {
  if (isBorrowed(buffer))
    return nullptr;
  if (!buffer.isOurs())
    return "its memory is another library's (from_dlpack)";
  if (twice)
    return "the call has it twice";
  if (buffer.exports.load(std::memory_order_acquire) > 0)
    return "NumPy, or another library, reads its memory (np.asarray, from_dlpack)";
  if (buffer.isView())
    return "it is a part of another array's memory";
  if (buffer.viewCount() > 0)
    return "a live slice of it uses its memory";
  return isHeldByArray(&buffer) ? "another array has its memory too (the same elements, in the same or another shape)"
                                : nullptr;
}

bool pcrt::python::reportKept(const std::string &name, const Buffer &buffer, AvalObject *aval, bool twice) {
  static auto *const told = new std::set<std::pair<const char *, const char *>>();
  if (!reporter)
    return true;
  const char *place = callSite(), *reason = reasonFor(buffer, twice);
  if (!reason || !told->insert({place, reason}).second)
    return true;
  PyRef result = PyRef::steal(PyObject_CallFunction(reporter, "sOs", name.c_str(), aval, reason));
  if (!result)
    told->erase({place, reason}); // if the warning is raised as an error, report it each time
  return static_cast<bool>(result);
}

static PyObject *setDonationReporter(PyObject *, PyObject *function) {
  Py_XSETREF(reporter, function == Py_None ? nullptr : Py_NewRef(function));
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"set_donation_reporter", setDonationReporter, METH_O,
     "Set the function that gets a function's name, the aval of its donated array that was copied, and the reason."},
    {}};

bool pcrt::python::addDonationFunctions(PyObject *module) { return PyModule_AddFunctions(module, functions) == 0; }
