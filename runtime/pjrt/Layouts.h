// The extension of the API for layouts, in the form of jaxlib 0.10. The vendored header has its number alone.
#ifndef PYCOMPILER_RUNTIME_PJRT_LAYOUTS_H
#define PYCOMPILER_RUNTIME_PJRT_LAYOUTS_H

#include "pjrt/Program.h"

#include "xla/pjrt/c/pjrt_c_api.h"

#include <string>

namespace pcrt::pjrt {

/// A layout as XLA writes it, "{1,0}": the dimensions from the minor one.
std::string layoutOf(const ArrayType &type);

/// Lives forever.
PJRT_Extension_Base *layoutsExtension();

} // namespace pcrt::pjrt

#endif // PYCOMPILER_RUNTIME_PJRT_LAYOUTS_H
