// The kernels and the memory (the host's) of a CPU device.
#include "runtime/CpuDevice.h"

#include "collective/RemoteCollective.h"
#include "runtime/HostLibrary.h"
#include "runtime/KernelImage.h"

#include <cstring>

using namespace pcrt;

const PcrtTable &CpuDevice::table() const { return libraryTable(); }

std::unique_ptr<CollectiveWork> CpuDevice::collectiveWork() { return std::make_unique<CollectiveJob>(); }

std::unique_ptr<CollectiveWork> CpuDevice::collectiveWork(SharedLaunch &launch, const std::vector<int64_t> &members) {
  return std::make_unique<RemoteCollective>(launch, members);
}

Result<std::unique_ptr<LoadedKernels>> CpuDevice::load(const KernelImage &image) {
  std::string first = image.kernels().empty() ? "" : " (" + image.kernels().front() + ", ...)";
  return Status(Code::InvalidArgument, name() + " can't launch the kernels of a program that was compiled for a GPU" +
                                           first + "; compile it for the device that it runs on");
}

Result<std::string> CpuDevice::assemble(const std::string &) {
  return Status(Code::InvalidArgument, name() + " has no assembler: its programs are machine code");
}

Status CpuDevice::read(const void *source, void *target, size_t bytes) {
  std::memcpy(target, source, bytes);
  return Status::ok();
}

Status CpuDevice::write(void *target, const void *source, size_t bytes) {
  std::memcpy(target, source, bytes);
  return Status::ok();
}
