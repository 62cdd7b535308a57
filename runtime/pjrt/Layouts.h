// The extension of the API for layouts, in the form of jaxlib 0.10. The vendored header has its number alone.
#ifndef PYCOMPILER_RUNTIME_PJRT_LAYOUTS_H
#define PYCOMPILER_RUNTIME_PJRT_LAYOUTS_H

#include "xla/pjrt/c/pjrt_c_api.h"

namespace pcrt::pjrt {

/// Lives forever.
PJRT_Extension_Base *layoutsExtension();

} // namespace pcrt::pjrt

#endif // PYCOMPILER_RUNTIME_PJRT_LAYOUTS_H
