// All calls have one form: query the workspaces, then run for each matrix. Matrices are column-major; the compiler
// ensures this.
#include "gpulibraries/Decompositions.h"

using namespace pcrt;
using namespace pcrt::cuda;

namespace {
struct Element {
  PcrtDType code;
  cudaDataType type, real;
};

/// The address of one matrix, and of its part of the other outputs.
struct Place {
  char *pointers[5];
  int *info;
};

struct Workspaces {
  size_t deviceBytes, hostBytes;
  void *device, *host;
};
} // namespace

static constexpr Element elements[] = {
    {PCRT_DTYPE_Float32, CUDA_R_32F, CUDA_R_32F},
    {PCRT_DTYPE_Float64, CUDA_R_64F, CUDA_R_64F},
    {PCRT_DTYPE_Complex64, CUDA_C_32F, CUDA_R_32F},
    {PCRT_DTYPE_Complex128, CUDA_C_64F, CUDA_R_64F},
};

static const Element *findElement(int32_t code) {
  for (const Element &element : elements)
    if (element.code == code)
      return &element;
  return nullptr;
}

static int64_t bytesOf(int32_t code) {
  switch (code) {
#define PCRT_BYTES(enumerator, number, bytes, name)                                                                    \
  case number:                                                                                                         \
    return bytes;
    PCRT_DTYPES(PCRT_BYTES)
#undef PCRT_BYTES
  default:
    return 0;
  }
}

static int64_t countOf(const PcrtTensor &tensor) {
  int64_t count = 1;
  for (int32_t i = 0; i < tensor.rank; ++i)
    count *= tensor.dims[i];
  return count;
}

static int64_t lastOf(const PcrtTensor &tensor, int32_t fromEnd = 1) { return tensor.dims[tensor.rank - fromEnd]; }

Decompositions::~Decompositions() {
  if (!handle || !resources.context().makeCurrent().isOk())
    return;
  const Cusolver *library = Cusolver::loaded();
  if (options)
    library->cusolverDnDestroyParams(options);
  library->cusolverDnDestroy(handle);
}

Result<const Cusolver *> Decompositions::begin() {
  const Cusolver *library = Cusolver::loaded();
  if (!library)
    return notLoaded("cusolver");
  if (!handle)
    if (Status status = library->check(library->cusolverDnCreate(&handle), "cusolverDnCreate"); !status.isOk())
      return status;
  if (!options)
    if (Status status = library->check(library->cusolverDnCreateParams(&options), "cusolverDnCreateParams");
        !status.isOk())
      return status;
  if (Status status = library->check(library->cusolverDnSetStream(handle, resources.stream()), "cusolverDnSetStream");
      !status.isOk())
    return status;
  return library;
}

/// `size(library, element, place, workspaces)` queries the sizes of the workspaces, and `run` decomposes with the same
/// parameters.
template <typename Size, typename Run>
Status Decompositions::runEach(const char *name, const PcrtTensor *outputs, int32_t count, Size size, Run run) {
  Result<const Cusolver *> begun = begin();
  if (!begun.isOk())
    return Status(begun.status().code(), begun.status().message());
  const Cusolver &library = *begun.value();
  const PcrtTensor &matrices = outputs[0], &infos = outputs[count - 1];
  const Element *element = findElement(matrices.dtype);
  if (!element)
    return Status(Code::InvalidArgument, "cuSOLVER takes no matrices of type " + std::to_string(matrices.dtype));
  int64_t batch = countOf(infos);
  auto placeOf = [&](int64_t index) {
    Place place = {};
    for (int32_t i = 0; i < count - 1; ++i)
      place.pointers[i] =
          static_cast<char *>(outputs[i].data) + index * (countOf(outputs[i]) / batch) * bytesOf(outputs[i].dtype);
    place.info = static_cast<int *>(infos.data) + index;
    return place;
  };
  auto describe = [&](const Status &why) {
    return Status(why.code(), std::string(name) + " of a matrix of " + std::to_string(lastOf(matrices)) + " x " +
                                  std::to_string(lastOf(matrices, 2)) + " by cuSOLVER: " + why.message());
  };
  Workspaces space = {};
  if (batch == 0)
    return Status::ok();
  if (Status status = library.check(size(library, *element, placeOf(0), space), "the size of a workspace");
      !status.isOk())
    return describe(status);
  CUdeviceptr device = 0;
  if (space.deviceBytes > 0) {
    Result<CUdeviceptr> taken = resources.memory().allocate(space.deviceBytes);
    if (!taken.isOk())
      return Status(taken.status().code(), "the workspace of cuSOLVER: " + taken.status().message());
    device = taken.value();
  }
  hostBuffer.resize(std::max(hostBuffer.size(), space.hostBytes));
  space.device = reinterpret_cast<void *>(device), space.host = hostBuffer.data();
  Status status;
  for (int64_t i = 0; i < batch && status.isOk(); ++i)
    status = library.check(run(library, *element, placeOf(i), space), name);
  // Later work on the stream may reuse it.
  if (device)
    resources.memory().free(device);
  return status.isOk() ? std::move(status) : describe(status);
}

//===-- Each of them
//------------------------------------------------------------------------------------------------===//

Status Decompositions::cholesky(const PcrtTensor *outputs, const int64_t *) {
  int64_t n = lastOf(outputs[0]);
  // The lower triangle, row by row, is the upper one column by column.
  return runEach(
      "cusolverDnXpotrf", outputs, 2,
      [&](const Cusolver &library, const Element &e, const Place &place, Workspaces &space) {
        return library.cusolverDnXpotrf_bufferSize(handle, options, CUBLAS_FILL_MODE_UPPER, n, e.type,
                                                   place.pointers[0], n, e.type, &space.deviceBytes, &space.hostBytes);
      },
      [&](const Cusolver &library, const Element &e, const Place &place, const Workspaces &space) {
        return library.cusolverDnXpotrf(handle, options, CUBLAS_FILL_MODE_UPPER, n, e.type, place.pointers[0], n,
                                        e.type, space.device, space.deviceBytes, space.host, space.hostBytes,
                                        place.info);
      });
}

Status Decompositions::lu(const PcrtTensor *outputs, const int64_t *) {
  int64_t m = lastOf(outputs[0]), n = lastOf(outputs[0], 2);
  return runEach(
      "cusolverDnXgetrf", outputs, 3,
      [&](const Cusolver &library, const Element &e, const Place &place, Workspaces &space) {
        return library.cusolverDnXgetrf_bufferSize(handle, options, m, n, e.type, place.pointers[0], m, e.type,
                                                   &space.deviceBytes, &space.hostBytes);
      },
      [&](const Cusolver &library, const Element &e, const Place &place, const Workspaces &space) {
        return library.cusolverDnXgetrf(handle, options, m, n, e.type, place.pointers[0], m,
                                        reinterpret_cast<int64_t *>(place.pointers[1]), e.type, space.device,
                                        space.deviceBytes, space.host, space.hostBytes, place.info);
      });
}

Status Decompositions::eigh(const PcrtTensor *outputs, const int64_t *params) {
  int64_t n = lastOf(outputs[0]);
  cusolverEigMode_t mode = params[0] ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
  cublasFillMode_t half = params[1] ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
  return runEach(
      "cusolverDnXsyevd", outputs, 3,
      [&](const Cusolver &library, const Element &e, const Place &place, Workspaces &space) {
        return library.cusolverDnXsyevd_bufferSize(handle, options, mode, half, n, e.type, place.pointers[0], n, e.real,
                                                   place.pointers[1], e.type, &space.deviceBytes, &space.hostBytes);
      },
      [&](const Cusolver &library, const Element &e, const Place &place, const Workspaces &space) {
        return library.cusolverDnXsyevd(handle, options, mode, half, n, e.type, place.pointers[0], n, e.real,
                                        place.pointers[1], e.type, space.device, space.deviceBytes, space.host,
                                        space.hostBytes, place.info);
      });
}

Status Decompositions::svd(const PcrtTensor *outputs, const int64_t *params) {
  int64_t m = lastOf(outputs[0]), n = lastOf(outputs[0], 2);
  bool hasVectors = params[0];
  signed char job = !hasVectors ? 'N' : params[1] ? 'A' : 'S';
  return runEach(
      "cusolverDnXgesvd", outputs, hasVectors ? 5 : 3,
      [&](const Cusolver &library, const Element &e, const Place &place, Workspaces &space) {
        return library.cusolverDnXgesvd_bufferSize(handle, options, job, job, m, n, e.type, place.pointers[0], m,
                                                   e.real, place.pointers[1], e.type, place.pointers[2], m, e.type,
                                                   place.pointers[3], n, e.type, &space.deviceBytes, &space.hostBytes);
      },
      [&](const Cusolver &library, const Element &e, const Place &place, const Workspaces &space) {
        return library.cusolverDnXgesvd(handle, options, job, job, m, n, e.type, place.pointers[0], m, e.real,
                                        place.pointers[1], e.type, place.pointers[2], m, e.type, place.pointers[3], n,
                                        e.type, space.device, space.deviceBytes, space.host, space.hostBytes,
                                        place.info);
      });
}
