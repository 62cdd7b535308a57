// The table of the API. Each entry checks the size of the caller's struct, and lets no exception out. Structs of older
// callers are shorter: they are refused only if a field is missing that cannot be left out.
#include "pjrt/Additions.h"
#include "pjrt/Functions.h"
#include "pjrt/Layouts.h"
#include "pjrt/Objects.h"

#include <exception>

using namespace pcrt;
using namespace pcrt::pjrt;

namespace {

template <typename Args> PJRT_Error *tooSmall(const Args *args, size_t least, const char *name) {
  return failure(PJRT_Error_Code_INVALID_ARGUMENT, std::string("PJRT_") + name + ": its arguments have " +
                                                       std::to_string(args->struct_size) +
                                                       " bytes, expected at least " + std::to_string(least));
}

template <typename Args, PJRT_Error *(*function)(Args *)>
PJRT_Error *call(Args *args, size_t least, const char *name) noexcept {
  if (args->struct_size < least)
    return tooSmall(args, least, name);
  try {
    return function(args);
  } catch (const std::bad_alloc &) {
    return failure(PJRT_Error_Code_RESOURCE_EXHAUSTED, std::string("PJRT_") + name + ": out of memory");
  } catch (const std::exception &error) {
    return failure(PJRT_Error_Code_INTERNAL, std::string("PJRT_") + name + ": " + error.what());
  }
}

void destroyError(PJRT_Error_Destroy_Args *args) { delete args->error; }

void errorMessage(PJRT_Error_Message_Args *args) {
  args->message = args->error->message.data();
  args->message_size = args->error->message.size();
}

Api makeApi() {
  Api made = {};
  PJRT_Api &api = made.vendored;
  api.struct_size = sizeof(Api);
  api.extension_start = layoutsExtension();
  api.extension_start->next = shardingsExtension();
  api.pjrt_api_version = {PJRT_Api_Version_STRUCT_SIZE, nullptr, PJRT_API_MAJOR, minorVersion};
  made.deviceAttributes = [](DeviceAttributesArgs *args) {
    return call<DeviceAttributesArgs, deviceAttributes>(args, sizeof(DeviceAttributesArgs), "Device_GetAttributes");
  };
  api.PJRT_Error_Destroy = destroyError;
  api.PJRT_Error_Message = errorMessage;
#define TAKEN(name, field)                                                                                             \
  api.PJRT_##name = [](PJRT_##name##_Args *args) {                                                                     \
    return call<PJRT_##name##_Args, name>(args, PJRT_STRUCT_SIZE(PJRT_##name##_Args, field), #name);                   \
  };
#define LACKING(name) api.PJRT_##name = [](PJRT_##name##_Args *) { return unimplemented(#name); };
#include "pjrt/Functions.def"
#undef TAKEN
#undef LACKING
  return made;
}

} // namespace

const PJRT_Api *pcrt::pjrt::api() {
  static const Api table = makeApi();
  return &table.vendored;
}

/// For the library that exports GetPjrtApi (Plugin.cpp).
extern "C" __attribute__((visibility("default"))) const PJRT_Api *pycompiler_pjrt_api() { return pcrt::pjrt::api(); }

static std::atomic<Compiler *> registered{nullptr};
void pcrt::pjrt::setCompiler(Compiler *compiler) { registered.store(compiler); }
Compiler *pcrt::pjrt::compiler() { return registered.load(); }

PJRT_Error *pcrt::pjrt::Plugin_Initialize(PJRT_Plugin_Initialize_Args *) { return nullptr; }

PJRT_Error *pcrt::pjrt::Plugin_Attributes(PJRT_Plugin_Attributes_Args *args) {
  static const Attributes *const attributes = [] {
    auto *made = new Attributes();
    made->add("xla_version", int64_t(0));
    if (const Compiler *found = compiler()) {
      made->add("stablehlo_current_version", found->newestStablehlo());
      made->add("stablehlo_minimum_version", found->oldestStablehlo());
    }
    return made;
  }();
  args->attributes = attributes->data();
  args->num_attributes = attributes->size();
  return nullptr;
}
