// The functions of Additions.h.
#include "pjrt/Additions.h"

#include "pjrt/Objects.h"

using namespace pcrt;
using namespace pcrt::pjrt;

PJRT_Error *pcrt::pjrt::deviceAttributes(DeviceAttributesArgs *args) {
  const Attributes &attributes = args->device->description.attributes;
  args->attributes = attributes.data();
  args->num_attributes = attributes.size();
  args->kept = nullptr;
  args->deleter = [](void *) {};
  return nullptr;
}

namespace {

PJRT_Error *shardingsOf(const Strings &shardings, ShardingsArgs *args) {
  args->count = shardings.sizes.size();
  args->shardings = shardings.data.empty() ? nullptr : shardings.data.data();
  args->sizes = shardings.sizes.data();
  return nullptr;
}

PJRT_Error *ofParameters(ShardingsArgs *args) { return shardingsOf(args->executable->facts->parameterShardings, args); }
PJRT_Error *ofResults(ShardingsArgs *args) { return shardingsOf(args->executable->facts->resultShardings, args); }

} // namespace

PJRT_Extension_Base *pcrt::pjrt::shardingsExtension() {
  static ShardingsExtension extension = {
      {sizeof(ShardingsExtension), typeOfShardings, nullptr}, ofParameters, ofResults};
  return &extension.base;
}
