// Loading MPI, and telling its ABI.
#include "distributed/MpiLibrary.h"

#include <dlfcn.h>
#include <memory>
#include <mutex>
#include <vector>

using namespace pcrt;

/// More than the longest text of a version among the ABIs.
static constexpr size_t versionBytes = 16384;

static std::mutex loading;
static MpiLibrary *found = nullptr;

MpiLibrary *MpiLibrary::loaded() {
  std::lock_guard<std::mutex> guard(loading);
  return found;
}

Result<MpiLibrary *> MpiLibrary::open(const std::string &path) {
  std::lock_guard<std::mutex> guard(loading);
  if (found)
    return found;
  std::unique_ptr<MpiLibrary> made(new MpiLibrary());
  if (Status status = made->load(path); !status.isOk())
    return status;
  found = made.release();
  return found;
}

Status MpiLibrary::load(const std::string &path) {
  // The library's names must not reach the program's other libraries, which may have another MPI.
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Status(Code::LibraryFailed, dlerror());
  auto find = [&](const std::string &name) { return dlsym(library, name.c_str()); };
#define PCRT_MPI_LOAD(name, parameters)                                                                                \
  if (void *entry = find("MPI_" #name))                                                                                \
    name = reinterpret_cast<int(*) parameters>(entry);                                                                 \
  else                                                                                                                 \
    return Status(Code::LibraryFailed, path + " has no MPI_" #name ": it is no MPI 3.1 or later");
  PCRT_MPI_FUNCTIONS(PCRT_MPI_LOAD)
#undef PCRT_MPI_LOAD
  std::vector<char> text(versionBytes);
  int length = 0;
  // One of the calls that are allowed before the start.
  if (Get_library_version(text.data(), &length) == 0)
    version.assign(text.data(), static_cast<size_t>(length));
  version = version.substr(0, version.find('\n'));

  int major = 0, minor = 0;
  auto abiVersion = reinterpret_cast<int (*)(int *, int *)>(find("MPI_Abi_get_version"));
  auto address = [&](const char *name) { return reinterpret_cast<MpiHandle>(find(name)); };
  if (abiVersion && abiVersion(&major, &minor) == 0 && major > 0)
    constants = {"standard ABI", 0x101, 0x247, 0x143, 0x180, 0x130, -1, 2048, 4096, 221, nullptr};
  else if (find("ompi_mpi_comm_world"))
    constants = {"Open MPI's ABI",
                 address("ompi_mpi_comm_world"),
                 address("ompi_mpi_byte"),
                 address("ompi_mpi_errors_return"),
                 address("ompi_request_null"),
                 address("ompi_mpi_info_null"),
                 -1,
                 2,
                 3,
                 0,
                 nullptr};
  else
    constants = {"MPICH's ABI",
                 0x44000000,
                 0x4c00010d,
                 0x54000001,
                 0x2c000000,
                 0x1c000000,
                 -2,
                 2,
                 3,
                 1,
                 reinterpret_cast<void *>(1)};
  return Status::ok();
}

Status MpiLibrary::failed(const char *function, int code) const {
  std::vector<char> text(versionBytes);
  int length = 0;
  if (Error_string(code, text.data(), &length) != 0)
    length = 0;
  return Status(Code::LibraryFailed,
                std::string(function) + ": " + std::string(text.data(), static_cast<size_t>(length)));
}
