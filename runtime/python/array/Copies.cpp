// Copies of elements between memories.
#include "array/Copies.h"

#include "array/Launch.h"
#include "support/Wait.h"

using namespace pcrt;
using namespace pcrt::python;

RefPtr<Buffer> pcrt::python::copyTo(Device &target, AvalObject *aval, Buffer &source) {
  RefPtr<Buffer> held(&source);
  if (isDeleted(&source)) {
    raise(*source.error());
    return nullptr;
  }
  RefPtr<Buffer> made = allocateBuffer(target, aval, "copying to another device");
  if (!made)
    return nullptr;
  Buffer *args[] = {&source}, *results[] = {made.get()};
  Launch copy = {nullptr, args, 1, results, 1, nullptr};
  return launchOn(target, copy, made->size()) ? made : nullptr;
}
