// DLPack: arrays to and from other libraries without a copy. The structures are those of the specification, version 1.0
// (https://dmlc.github.io/dlpack/latest/c_api.html), and the unversioned one for older consumers.
#include "array/Parts.h"

#include "array/Copies.h"
#include "array/Pending.h"
#include "array/TransferGuard.h"
#include "runtime/Devices.h"
#include "support/Gil.h"
#include "support/Wait.h"

#include <memory>
#include <vector>

using namespace pcrt;
using namespace pcrt::python;

namespace {

struct DlDevice {
  int32_t type, id;
};
struct DlDataType {
  uint8_t code, bits;
  uint16_t lanes;
};
struct DlTensor {
  void *data;
  DlDevice device;
  int32_t rank;
  DlDataType dtype;
  int64_t *shape, *strides; // in elements; null strides: row-major
  uint64_t byteOffset;
};
struct DlManaged {
  DlTensor tensor;
  void *context;
  void (*deleter)(DlManaged *);
};
struct DlManagedVersioned {
  uint32_t major, minor;
  void *context;
  void (*deleter)(DlManagedVersioned *);
  uint64_t flags;
  DlTensor tensor;
};

constexpr int32_t cpuDevice = 1, cudaDevice = 2;
constexpr uint64_t readOnlyFlag = 1, copiedFlag = 2;

/// Indexed by dtype; a type without lanes has no code. Sub-byte types are packed there and are not here.
constexpr DlDataType dlTypes[] = {{6, 8, 1},
                                  {0, 8, 1},
                                  {0, 16, 1},
                                  {0, 32, 1},
                                  {0, 64, 1},
                                  {1, 8, 1},
                                  {1, 16, 1},
                                  {1, 32, 1},
                                  {1, 64, 1},
                                  {2, 16, 1},
                                  {4, 16, 1},
                                  {2, 32, 1},
                                  {2, 64, 1},
                                  {5, 64, 1},
                                  {5, 128, 1},
                                  // float8_e4m3fn, float8_e5m2, int4, uint4, the other floats of 8 bits, narrower ones
                                  {10, 8, 1},
                                  {12, 8, 1},
                                  {},
                                  {},
                                  {7, 8, 1},
                                  {8, 8, 1},
                                  {9, 8, 1},
                                  {11, 8, 1},
                                  {13, 8, 1},
                                  {14, 8, 1},
                                  {},
                                  {},
                                  {},
                                  {},
                                  {},
                                  {},
                                  {},
                                  // keys
                                  {}};
static_assert(sizeof(dlTypes) / sizeof(dlTypes[0]) == dtypeCount, "give every dtype its DLPack code");

template <typename Managed> constexpr const char *capsuleName = "dltensor";
template <> constexpr const char *capsuleName<DlManagedVersioned> = "dltensor_versioned";
template <typename Managed> constexpr const char *usedName = "used_dltensor";
template <> constexpr const char *usedName<DlManagedVersioned> = "used_dltensor_versioned";

//===-- Export
//------------------------------------------------------------------------------------------------------===//

/// The objects that an exported tensor keeps alive.
template <typename Managed> struct Exported {
  Managed managed{};
  RefPtr<Buffer> buffer;
  std::vector<int64_t> dims; // the shape, then the strides

  ~Exported() {
    if (buffer)
      buffer->exports.fetch_sub(1, std::memory_order_relaxed);
  }
};

template <typename Managed> void deleteExported(Managed *managed) {
  delete static_cast<Exported<Managed> *>(managed->context);
}

/// An unused capsule is destroyed with its tensor.
template <typename Managed> void destroyCapsule(PyObject *capsule) {
  if (!PyCapsule_IsValid(capsule, capsuleName<Managed>))
    return;
  auto *managed = static_cast<Managed *>(PyCapsule_GetPointer(capsule, capsuleName<Managed>));
  if (managed->deleter)
    managed->deleter(managed);
}

DlDevice placeOf(const Buffer &buffer) {
  return buffer.isHostReadable() ? DlDevice{cpuDevice, 0} : DlDevice{cudaDevice, buffer.device()->localId()};
}

/// Waits for the elements, so that a consumer may read them on any stream; false with an exception.
bool waitForElements(Buffer &buffer) {
  if (!waitFor(&buffer))
    return false;
  if (buffer.isHostReadable() || buffer.token() || buffer.size() == 0)
    return true;
  // Without a token, a copy from the host fills the buffer: reads are ordered after it.
  Status status;
  char last;
  {
    WithoutGil released;
    status = buffer.device()->read(buffer.data(), &last, 1);
  }
  if (!status.isOk())
    raise(status, "");
  return status.isOk();
}

template <typename Managed> PyObject *exportAs(AvalObject *aval, RefPtr<Buffer> buffer, uint64_t flags) {
  auto exported = std::make_unique<Exported<Managed>>();
  exported->dims.assign(aval->dims, aval->dims + aval->rank());
  exported->dims.resize(2 * aval->rank(), 1);
  for (Py_ssize_t axis = aval->rank() - 2; axis >= 0; --axis)
    exported->dims[aval->rank() + axis] = exported->dims[aval->rank() + axis + 1] * exported->dims[axis + 1];
  Managed &managed = exported->managed;
  managed.tensor = {buffer->data(),
                    placeOf(*buffer),
                    static_cast<int32_t>(aval->rank()),
                    dlTypes[static_cast<int>(aval->code)],
                    exported->dims.data(),
                    exported->dims.data() + aval->rank(),
                    0};
  managed.context = exported.get();
  managed.deleter = deleteExported<Managed>;
  if constexpr (std::is_same_v<Managed, DlManagedVersioned>) {
    managed.major = 1;
    managed.flags = flags;
  }
  exported->buffer = std::move(buffer);
  exported->buffer->exports.fetch_add(1, std::memory_order_relaxed);
  PyObject *capsule = PyCapsule_New(&managed, capsuleName<Managed>, destroyCapsule<Managed>);
  if (capsule)
    exported.release();
  return capsule;
}

/// dlpack_capsule(array, versioned, copy)
PyObject *dlpackCapsule(PyObject *, PyObject *args) {
  PyObject *object;
  int isVersioned, isCopied;
  if (!PyArg_ParseTuple(args, "O!pp:dlpack_capsule", arrayType, &object, &isVersioned, &isCopied))
    return nullptr;
  ArrayObject *array = asArray(object);
  if (dlTypes[static_cast<int>(array->aval->code)].lanes == 0)
    return PyErr_Format(PyExc_BufferError, "__dlpack__: DLPack has no dtype %s", name(array->aval->code));
  if (!ensureElements(array))
    return nullptr;
  RefPtr<Buffer> buffer(array->buffer);
  if (isCopied)
    buffer = copyTo(*buffer->device(), array->aval, *buffer);
  if (!buffer || !waitForElements(*buffer))
    return nullptr;
  if (isVersioned)
    return exportAs<DlManagedVersioned>(array->aval, std::move(buffer), isCopied ? copiedFlag : readOnlyFlag);
  return exportAs<DlManaged>(array->aval, std::move(buffer), 0);
}

//===-- Import
//------------------------------------------------------------------------------------------------------===//

/// The bytes that a kernel of a GPU accesses at once (docs/gpu.md).
constexpr int kernelAlignment = 16;

bool dtypeOf(DlDataType type, DType &dtype) {
  for (int i = 0; i < dtypeCount; ++i) {
    if (dlTypes[i].lanes == 1 && type.lanes == 1 && dlTypes[i].code == type.code && dlTypes[i].bits == type.bits) {
      dtype = static_cast<DType>(i);
      return true;
    }
  }
  PyErr_Format(PyExc_BufferError, "from_dlpack: no dtype for DLPack's type code %d with %d bits and %d lanes",
               int(type.code), int(type.bits), int(type.lanes));
  return false;
}

bool isRowMajor(const DlTensor &tensor) {
  if (!tensor.strides)
    return true;
  int64_t expected = 1;
  for (int32_t axis = tensor.rank - 1; axis >= 0; --axis) {
    if (tensor.shape[axis] == 0)
      return true;
    if (tensor.shape[axis] != 1 && tensor.strides[axis] != expected)
      return false;
    expected *= tensor.shape[axis];
  }
  return true;
}

/// Copies the elements of `tensor` from `source` on, axis by axis, and returns the end of its output.
char *copyStrided(const DlTensor &tensor, int32_t axis, const char *source, size_t bytes, char *target) {
  if (axis == tensor.rank) {
    std::memcpy(target, source, bytes);
    return target + bytes;
  }
  for (int64_t i = 0; i < tensor.shape[axis]; ++i)
    target =
        copyStrided(tensor, axis + 1, source + i * tensor.strides[axis] * static_cast<int64_t>(bytes), bytes, target);
  return target;
}

/// The device of a tensor; null if it is not one of this process.
Device *deviceAt(DlDevice place) {
  if (place.type == cpuDevice)
    return &Devices::cpu();
  for (Device *device : Devices::all())
    if (place.type == cudaDevice && !device->hasHostMemory() && device->localId() == place.id)
      return device;
  return nullptr;
}

template <typename Managed> void releaseManaged(void *owner) {
  auto *managed = static_cast<Managed *>(owner);
  if (managed->deleter)
    managed->deleter(managed);
}

/// Takes the tensor of a capsule. If `copy` is 0, the tensor must be usable in place. If `copy` is 1, the tensor is
/// copied. If `copy` is -1, it is copied if necessary.
template <typename Managed> PyObject *import(PyObject *capsule, int copy) {
  auto *managed = static_cast<Managed *>(PyCapsule_GetPointer(capsule, capsuleName<Managed>));
  const DlTensor &tensor = managed->tensor;
  if constexpr (std::is_same_v<Managed, DlManagedVersioned>)
    if (managed->major != 1)
      return PyErr_Format(PyExc_BufferError, "from_dlpack: version %u.%u of DLPack is not known, only 1.x",
                          managed->major, managed->minor);
  Device *device = deviceAt(tensor.device);
  if (!device)
    return PyErr_Format(PyExc_BufferError,
                        "from_dlpack: the array is on device %d of DLPack type %d, which this process does not have",
                        int(tensor.device.id), int(tensor.device.type));
  DType dtype;
  if (!dtypeOf(tensor.dtype, dtype))
    return nullptr;
  std::vector<Py_ssize_t> dims(tensor.shape, tensor.shape + tensor.rank);
  PyRef avalRef = PyRef::steal(reinterpret_cast<PyObject *>(internAval(dims.data(), tensor.rank, dtype, false)));
  if (!avalRef)
    return nullptr;
  auto *aval = reinterpret_cast<AvalObject *>(avalRef.get());
  char *data = static_cast<char *>(tensor.data) + tensor.byteOffset;
  auto bytes = static_cast<size_t>(aval->nbytes), itemBytes = byteSize(dtype);
  bool isUsable = bytes > 0 && isRowMajor(tensor) && reinterpret_cast<uintptr_t>(data) % itemBytes == 0;
  if (!isUsable && bytes > 0 && (copy == 0 || !device->hasHostMemory())) {
    PyErr_Format(PyExc_BufferError, "from_dlpack: the array is not row-major in memory, so it can't be shared; %s",
                 device->hasHostMemory() ? "leave out copy=False" : "make it contiguous on its device");
    return nullptr;
  }
  // Kernels of a GPU access 16 bytes at once: a part of another library's array that begins in between is copied.
  bool isPlaced = device->hasHostMemory() || reinterpret_cast<uintptr_t>(data) % kernelAlignment == 0;
  if (isUsable && !isPlaced && copy == 0)
    return PyErr_Format(PyExc_BufferError,
                        "from_dlpack: the array begins at an address that is not a multiple of %d bytes, which kernels "
                        "need; leave out copy=False",
                        kernelAlignment);
  // A GPU computes with operands in its own memory: elements of the host are copied there if it is the default device.
  Device &target = device->hasHostMemory() ? defaultDevice() : *device;
  bool isShared = isUsable && (!device->hasHostMemory() || (copy != 1 && target.hasHostMemory()));
  if (isShared) {
    PyCapsule_SetName(capsule, usedName<Managed>);
    PyCapsule_SetDestructor(capsule, nullptr);
    RefPtr<Buffer> shared = Buffer::wrap(&target, data, bytes, releaseManaged<Managed>, managed);
    RefPtr<Buffer> own = copy == 1 || !isPlaced ? copyTo(target, aval, *shared) : shared;
    return own ? newArray(aval, std::move(own)) : nullptr;
  }
  if (copy == 0 && bytes > 0)
    return PyErr_Format(PyExc_BufferError,
                        "from_dlpack: the array is on the host and has to be copied to %s; leave out "
                        "copy=False, or give device=devices(\"cpu\")[0]",
                        target.name().c_str());
  RefPtr<Buffer> buffer = allocateBuffer(target.hasHostMemory() ? target : Devices::cpu(), aval, "from_dlpack");
  if (!buffer)
    return nullptr;
  if (isRowMajor(tensor))
    std::memcpy(buffer->data(), data, bytes);
  else
    copyStrided(tensor, 0, data, itemBytes, static_cast<char *>(buffer->data()));
  if (!target.hasHostMemory())
    buffer = copyTo(target, aval, *buffer);
  if (!buffer)
    return nullptr;
  return newArray(aval, std::move(buffer)); // the capsule ends the tensor's life
}

/// array_from_dlpack(capsule, copy)
PyObject *arrayFromDlpack(PyObject *, PyObject *args) {
  PyObject *capsule, *copy;
  if (!PyArg_ParseTuple(args, "OO:array_from_dlpack", &capsule, &copy))
    return nullptr;
  int asked = copy == Py_None ? -1 : PyObject_IsTrue(copy);
  if (PyCapsule_IsValid(capsule, capsuleName<DlManagedVersioned>))
    return import<DlManagedVersioned>(capsule, asked);
  if (PyCapsule_IsValid(capsule, capsuleName<DlManaged>))
    return import<DlManaged>(capsule, asked);
  return PyErr_Format(PyExc_TypeError, "from_dlpack: %R is no DLPack capsule, or it was used already", capsule);
}

PyMethodDef functions[] = {{"dlpack_capsule", dlpackCapsule, METH_VARARGS, "The elements as a DLPack capsule."},
                           {"array_from_dlpack", arrayFromDlpack, METH_VARARGS, "An array over a DLPack capsule."},
                           {}};

} // namespace

bool pcrt::python::addDlpackFunctions(PyObject *module) { return PyModule_AddFunctions(module, functions) == 0; }
