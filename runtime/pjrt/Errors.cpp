// Errors of the API from the runtime's.
#include "pjrt/Functions.h"
#include "pjrt/Objects.h"
#include "runtime/EffectfulLaunch.h"

using namespace pcrt;
using namespace pcrt::pjrt;

static PJRT_Error_Code codeOf(Code code) {
  switch (code) {
  case Code::InvalidArgument:
    return PJRT_Error_Code_INVALID_ARGUMENT;
  case Code::OutOfMemory:
    return PJRT_Error_Code_RESOURCE_EXHAUSTED;
  default:
    return PJRT_Error_Code_INTERNAL;
  }
}

PJRT_Error *pcrt::pjrt::failure(PJRT_Error_Code code, std::string message) {
  return new PJRT_Error{code, std::move(message)};
}

PJRT_Error *pcrt::pjrt::failure(const Status &status) {
  return status.isOk() ? nullptr : failure(codeOf(status.code()), status.message());
}

/// The caller raises it: the end of the process does not report it again.
PJRT_Error *pcrt::pjrt::failure(const Error &error) {
  EffectfulLaunch::wasTold(error);
  return failure(codeOf(error.code), error.text());
}

PJRT_Error *pcrt::pjrt::unimplemented(const char *name) {
  return failure(PJRT_Error_Code_UNIMPLEMENTED, std::string("PJRT_") + name + ": pycompiler does not implement it");
}

PJRT_Error *pcrt::pjrt::Error_GetCode(PJRT_Error_GetCode_Args *args) {
  args->code = args->error->code;
  return nullptr;
}
