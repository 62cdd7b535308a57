// The objects behind the opaque pointers of the PJRT C API. Before it: Program. After it: the functions of the API.
#ifndef PYCOMPILER_RUNTIME_PJRT_OBJECTS_H
#define PYCOMPILER_RUNTIME_PJRT_OBJECTS_H

#include "pjrt/Program.h"
#include "runtime/Device.h"
#include "runtime/Token.h"

#include "xla/pjrt/c/pjrt_c_api.h"

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

struct PJRT_Error {
  PJRT_Error_Code code;
  std::string message;
};

/// Ready when its token is done; without a token it is ready.
struct PJRT_Event {
  pcrt::RefPtr<pcrt::Token> token;
  /// For an event that the caller sets: the code of its error.
  std::atomic<int> setCode{0};
};

struct PJRT_Memory {
  int id = 0, kindId = 0;
  std::string kind, text;
  std::vector<PJRT_Device *> devices;
};

/// The attributes of an object, which keeps their names and values.
class Attributes {
public:
  void add(std::string name, std::string value);
  void add(std::string name, int64_t value);
  void add(std::string name, std::vector<int64_t> values);
  void add(std::string name, float value);
  const PJRT_NamedValue *data() const { return values.data(); }
  size_t size() const { return values.size(); }

private:
  PJRT_NamedValue &named(std::string name);
  std::deque<std::string> strings;
  std::deque<std::vector<int64_t>> lists;
  std::vector<PJRT_NamedValue> values;
};

struct PJRT_DeviceDescription {
  int id = 0;
  std::string kind, text;
  Attributes attributes;
};

struct PJRT_Device {
  pcrt::Device *device = nullptr;
  PJRT_DeviceDescription description;
  /// The first is the default one.
  std::vector<PJRT_Memory *> memories;
};

struct PJRT_TopologyDescription {
  std::string platform, version, text;
  std::vector<PJRT_DeviceDescription *> descriptions;
  Attributes attributes;
};

/// The devices of the runtime; there is one client in a process, which is never destroyed, because the runtime's
/// devices are not.
struct PJRT_Client {
  PJRT_Client();
  std::deque<PJRT_Device> devices;
  std::deque<PJRT_Memory> memories;
  std::vector<PJRT_Device *> deviceList;
  std::vector<PJRT_Memory *> memoryList;
  PJRT_TopologyDescription topology;

  PJRT_Device *deviceOf(int id) { return id >= 0 && size_t(id) < deviceList.size() ? deviceList[id] : nullptr; }
};

/// An array on a device. Other threads may delete it while it is read: they take the runtime's buffer first.
struct PJRT_Buffer {
  PJRT_Buffer(PJRT_Device *device, PJRT_Memory *memory, pcrt::pjrt::ArrayType type, pcrt::RefPtr<pcrt::Buffer> buffer)
      : device(device), memory(memory), type(std::move(type)), bytes(buffer->size()),
        minorToMajor(this->type.order.rbegin(), this->type.order.rend()), content(std::move(buffer)) {}

  /// The runtime's buffer; null after it was deleted.
  pcrt::RefPtr<pcrt::Buffer> take() const {
    std::lock_guard<std::mutex> guard(lock);
    return content;
  }
  bool isDeleted() const {
    std::lock_guard<std::mutex> guard(lock);
    return !content;
  }
  /// Gives the buffer away: the array is deleted then.
  pcrt::RefPtr<pcrt::Buffer> release() {
    std::lock_guard<std::mutex> guard(lock);
    return std::move(content);
  }
  void hold();
  void unhold();
  bool isHeld() const {
    std::lock_guard<std::mutex> guard(lock);
    return holders != 0;
  }

  PJRT_Device *const device;
  PJRT_Memory *const memory;
  const pcrt::pjrt::ArrayType type;
  const size_t bytes;
  /// The order of the type as the API has it; empty for row-major.
  const std::vector<int64_t> minorToMajor;

private:
  mutable std::mutex lock;
  pcrt::RefPtr<pcrt::Buffer> content;
  /// The number of external references, which keep the memory, and that memory.
  unsigned holders = 0;
  pcrt::RefPtr<pcrt::Buffer> held;
};

/// The description of a program, in the form of the API. It is shared by a loaded executable and its descriptions.
/// Texts as the API hands them out. They point to those of the program.
struct Strings {
  explicit Strings(const std::vector<std::string> &texts);
  std::vector<const char *> data;
  std::vector<size_t> sizes;
};

struct ProgramFacts {
  explicit ProgramFacts(pcrt::pjrt::Program made);
  pcrt::pjrt::Program program;
  std::vector<PJRT_Buffer_Type> resultTypes;
  std::vector<int64_t> resultDims;
  std::vector<size_t> resultRanks;
  Strings kinds, parameterShardings, resultShardings;
  uint64_t argumentBytes = 0, resultBytes = 0, aliasBytes = 0;
  Attributes costs;
};

struct PJRT_Executable {
  std::shared_ptr<const ProgramFacts> facts;
};

struct PJRT_LoadedExecutable {
  PJRT_Client *client;
  std::shared_ptr<const ProgramFacts> facts;
  std::vector<PJRT_Device *> devices;
  std::atomic<bool> isDeleted{false};
};

struct PJRT_ExecuteContext {};

namespace pcrt::pjrt {

PJRT_Error *failure(PJRT_Error_Code code, std::string message);
PJRT_Error *failure(const Status &status);
PJRT_Error *failure(const Error &error);
PJRT_Error *unimplemented(const char *name);

/// An event for the end of `token`, which may be null.
PJRT_Event *eventOf(RefPtr<Token> token);

/// The type of the API; INVALID if it has none.
PJRT_Buffer_Type typeOf(DType dtype);
/// False if the runtime has no such type.
bool dtypeOf(PJRT_Buffer_Type type, DType &dtype);

/// A buffer of the device's memory; waits for memory of work in flight before it fails.
Result<RefPtr<Buffer>> allocate(Device &device, uint64_t bytes);
/// Copies a buffer to another device, or within its own.
Result<RefPtr<Buffer>> copyTo(Device &device, Buffer &source);

/// Whether the caller's struct has the field.
#define PJRT_HAS(args, field)                                                                                          \
  ((args)->struct_size >= offsetof(std::remove_pointer_t<decltype(args)>, field) + sizeof((args)->field))

} // namespace pcrt::pjrt

#endif // PYCOMPILER_RUNTIME_PJRT_OBJECTS_H
