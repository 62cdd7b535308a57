// An ELF object in memory, relocated and executable. After Status; Executable and BlockKernel hold them.
#ifndef PYCOMPILER_RUNTIME_MAPPEDOBJECT_H
#define PYCOMPILER_RUNTIME_MAPPEDOBJECT_H

#include "runtime/Abi.h"
#include "runtime/Status.h"

#include <string>
#include <string_view>

namespace pcrt {

/// Memory with an object's sections: code is executable, data is writable.
class MappedObject {
public:
  MappedObject() = default;
  MappedObject(MappedObject &&other) noexcept
      : base(other.base), bytes(other.bytes), entry(other.entry), planner(other.planner) {
    other.base = nullptr;
  }
  MappedObject &operator=(MappedObject &&other) noexcept;
  ~MappedObject();

  /// InvalidArgument for anything that is not a well-formed object for this machine, for an unsupported relocation, and
  /// for an undefined symbol that is not in Symbols.def, each by name.
  static Result<MappedObject> load(std::string_view object, const std::string &entryName);

  PcrtEntry entryPoint() const { return entry; }
  /// Its `pcrt_plan`; null for a program without symbols.
  PcrtPlan plan() const { return planner; }
  size_t size() const { return bytes; }

private:
  friend class ObjectLinker;
  char *base = nullptr;
  size_t bytes = 0;
  PcrtEntry entry = nullptr;
  PcrtPlan planner = nullptr;
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_MAPPEDOBJECT_H
