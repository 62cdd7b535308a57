// The functions of the API that the other files of this room define, one for each TAKEN of Functions.def. They return
// null, or an error that the caller destroys.
#ifndef PYCOMPILER_RUNTIME_PJRT_FUNCTIONS_H
#define PYCOMPILER_RUNTIME_PJRT_FUNCTIONS_H

#include "xla/pjrt/c/pjrt_c_api.h"

namespace pcrt::pjrt {

#define TAKEN(name, field) PJRT_Error *name(PJRT_##name##_Args *args);
#define LACKING(name)
#include "pjrt/Functions.def"
#undef TAKEN
#undef LACKING

} // namespace pcrt::pjrt

#endif // PYCOMPILER_RUNTIME_PJRT_FUNCTIONS_H
