// Functions and structures of the API that are newer than the vendored header, up to version 0.93, in the form of
// jaxlib 0.10. Callers of that version read shardings and layouts of parameters by functions; others convert the whole
// program for them.
#ifndef PYCOMPILER_RUNTIME_PJRT_ADDITIONS_H
#define PYCOMPILER_RUNTIME_PJRT_ADDITIONS_H

#include "xla/pjrt/c/pjrt_c_api.h"

namespace pcrt::pjrt {

constexpr int minorVersion = 93;

struct DeviceAttributesArgs {
  size_t struct_size;
  PJRT_Extension_Base *extension_start;
  PJRT_Device *device;
  const PJRT_NamedValue *attributes;
  size_t num_attributes;
  void *kept;
  void (*deleter)(void *kept);
};
PJRT_Error *deviceAttributes(DeviceAttributesArgs *args);

/// The table of version 0.93.
struct Api {
  PJRT_Api vendored;
  PJRT_Error *(*deviceAttributes)(DeviceAttributesArgs *args);
};

/// PJRT_Extension_Type_Shardings.
constexpr auto typeOfShardings = static_cast<PJRT_Extension_Type>(19);

struct ShardingsArgs {
  size_t struct_size;
  PJRT_Extension_Base *extension_start;
  PJRT_Executable *executable;
  size_t count;
  const char *const *shardings; ///< Serialized OpShardings; null for none.
  const size_t *sizes;
};

struct ShardingsExtension {
  PJRT_Extension_Base base;
  PJRT_Error *(*parameters)(ShardingsArgs *);
  PJRT_Error *(*results)(ShardingsArgs *);
};

/// Lives forever.
PJRT_Extension_Base *shardingsExtension();

} // namespace pcrt::pjrt

#endif // PYCOMPILER_RUNTIME_PJRT_ADDITIONS_H
