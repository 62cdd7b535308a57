// Compilation through the registered compiler, and descriptions of executables.
#include "pjrt/Functions.h"
#include "pjrt/Objects.h"

using namespace pcrt;
using namespace pcrt::pjrt;

Strings::Strings(const std::vector<std::string> &texts) {
  for (const std::string &text : texts) {
    data.push_back(text.data());
    sizes.push_back(text.size());
  }
}

static Program withKinds(Program program) {
  program.resultKinds.resize(program.results.size(), "device");
  return program;
}

ProgramFacts::ProgramFacts(Program made)
    : program(withKinds(std::move(made))), kinds(program.resultKinds), parameterShardings(program.parameterShardings),
      resultShardings(program.resultShardings) {
  for (const ArrayType &result : program.results) {
    resultTypes.push_back(typeOf(result.dtype));
    resultDims.insert(resultDims.end(), result.dims.begin(), result.dims.end());
    resultRanks.push_back(result.dims.size());
    resultBytes += result.bytes();
  }
  for (const ArrayType &parameter : program.parameters)
    argumentBytes += parameter.bytes();
  for (size_t i = 0; i < program.donations.size(); ++i)
    if (program.donations[i].result >= 0)
      aliasBytes += program.parameters[i].bytes();
  costs.add("flops", static_cast<float>(program.flops));
  costs.add("bytes accessed", static_cast<float>(argumentBytes + resultBytes));
}

/// A loaded executable of a program, or an error.
static PJRT_Error *loaded(PJRT_Client &client, Result<Program> made, PJRT_LoadedExecutable *&executable) {
  if (!made.isOk())
    return failure(made.status());
  auto result = std::make_unique<PJRT_LoadedExecutable>();
  result->client = &client;
  for (int id : made.value().devices) {
    PJRT_Device *device = client.deviceOf(id);
    if (!device)
      return failure(PJRT_Error_Code_INVALID_ARGUMENT,
                     made.value().name + ": is for the device " + std::to_string(id) + ", and there are " +
                         std::to_string(client.deviceList.size()) +
                         ". What to do: set PYCOMPILER_NUM_CPU_DEVICES before the program starts");
    result->devices.push_back(device);
  }
  result->facts = std::make_shared<const ProgramFacts>(made.take());
  executable = result.release();
  return nullptr;
}

static PJRT_Error *noCompiler() {
  return failure(PJRT_Error_Code_FAILED_PRECONDITION,
                 "the plugin has no compiler: it is a part of Python's package. What to do: import pycompiler.pjrt in "
                 "the process, and call its load()");
}

PJRT_Error *pcrt::pjrt::Client_Compile(PJRT_Client_Compile_Args *args) {
  Compiler *found = compiler();
  if (!found)
    return noCompiler();
  const PJRT_Program &program = *args->program;
  return loaded(*args->client,
                found->compile({program.code, program.code_size}, {program.format, program.format_size},
                               {args->compile_options, args->compile_options_size}),
                args->executable);
}

PJRT_Error *pcrt::pjrt::Executable_DeserializeAndLoad(PJRT_Executable_DeserializeAndLoad_Args *args) {
  Compiler *found = compiler();
  if (!found)
    return noCompiler();
  std::string_view options;
  if (PJRT_HAS(args, overridden_serialized_compile_options_size) && args->overridden_serialized_compile_options)
    options = {args->overridden_serialized_compile_options, args->overridden_serialized_compile_options_size};
  return loaded(*args->client, found->load({args->serialized_executable, args->serialized_executable_size}, options),
                args->loaded_executable);
}

//===-- Descriptions
//-------------------------------------------------------------------------------------===//

PJRT_Error *pcrt::pjrt::Executable_Destroy(PJRT_Executable_Destroy_Args *args) {
  delete args->executable;
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Executable_Name(PJRT_Executable_Name_Args *args) {
  const std::string &name = args->executable->facts->program.name;
  args->executable_name = name.data();
  args->executable_name_size = name.size();
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Executable_NumReplicas(PJRT_Executable_NumReplicas_Args *args) {
  args->num_replicas = static_cast<size_t>(args->executable->facts->program.replicas);
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Executable_NumPartitions(PJRT_Executable_NumPartitions_Args *args) {
  args->num_partitions = static_cast<size_t>(args->executable->facts->program.partitions);
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Executable_NumOutputs(PJRT_Executable_NumOutputs_Args *args) {
  args->num_outputs = args->executable->facts->program.results.size();
  return nullptr;
}

static int64_t codeBytes(const ProgramFacts &facts) {
  return static_cast<int64_t>(facts.program.executable->codeBytes());
}

PJRT_Error *pcrt::pjrt::Executable_SizeOfGeneratedCodeInBytes(PJRT_Executable_SizeOfGeneratedCodeInBytes_Args *args) {
  args->size_in_bytes = codeBytes(*args->executable->facts);
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Executable_GetCostAnalysis(PJRT_Executable_GetCostAnalysis_Args *args) {
  args->properties = args->executable->facts->costs.data();
  args->num_properties = args->executable->facts->costs.size();
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Executable_OutputMemoryKinds(PJRT_Executable_OutputMemoryKinds_Args *args) {
  const ProgramFacts &facts = *args->executable->facts;
  args->num_outputs = facts.kinds.sizes.size();
  args->memory_kinds = facts.kinds.data.data();
  args->memory_kind_sizes = facts.kinds.sizes.data();
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Executable_OutputElementTypes(PJRT_Executable_OutputElementTypes_Args *args) {
  const ProgramFacts &facts = *args->executable->facts;
  args->output_types = const_cast<PJRT_Buffer_Type *>(facts.resultTypes.data());
  args->num_output_types = facts.resultTypes.size();
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Executable_OutputDimensions(PJRT_Executable_OutputDimensions_Args *args) {
  const ProgramFacts &facts = *args->executable->facts;
  args->num_outputs = facts.resultRanks.size();
  args->dims = facts.resultDims.data();
  args->dim_sizes = facts.resultRanks.data();
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Executable_Fingerprint(PJRT_Executable_Fingerprint_Args *args) {
  const std::string &fingerprint = args->executable->facts->program.fingerprint;
  args->executable_fingerprint = fingerprint.data();
  args->executable_fingerprint_size = fingerprint.size();
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Executable_GetCompiledMemoryStats(PJRT_Executable_GetCompiledMemoryStats_Args *args) {
  const ProgramFacts &facts = *args->executable->facts;
  args->generated_code_size_in_bytes = codeBytes(facts);
  args->argument_size_in_bytes = static_cast<int64_t>(facts.argumentBytes);
  args->output_size_in_bytes = static_cast<int64_t>(facts.resultBytes);
  args->alias_size_in_bytes = static_cast<int64_t>(facts.aliasBytes);
  args->temp_size_in_bytes = static_cast<int64_t>(facts.program.executable->arenaBytes());
  if (PJRT_HAS(args, host_temp_size_in_bytes)) {
    args->host_generated_code_size_in_bytes = args->host_argument_size_in_bytes = 0;
    args->host_output_size_in_bytes = args->host_alias_size_in_bytes = args->host_temp_size_in_bytes = 0;
  }
  int64_t total =
      args->argument_size_in_bytes + args->output_size_in_bytes - args->alias_size_in_bytes + args->temp_size_in_bytes;
  if (PJRT_HAS(args, peak_memory_in_bytes))
    args->peak_memory_in_bytes = total;
  if (PJRT_HAS(args, total_size_in_bytes))
    args->total_size_in_bytes = total;
  return nullptr;
}

//===-- Bytes
//--------------------------------------------------------------------------------------------===//

/// Bytes that the caller destroys. The opaque types of the API are this one.
using Bytes = std::string;

PJRT_Error *pcrt::pjrt::Executable_Serialize(PJRT_Executable_Serialize_Args *args) {
  const Program &program = args->executable->facts->program;
  Result<std::string> bytes = program.serialize();
  if (!bytes.isOk())
    return failure(bytes.status());
  auto *kept = new Bytes(bytes.take());
  args->serialized_bytes = kept->data();
  args->serialized_bytes_size = kept->size();
  args->serialized_executable = reinterpret_cast<PJRT_SerializedExecutable *>(kept);
  args->serialized_executable_deleter = [](PJRT_SerializedExecutable *bytes) {
    delete reinterpret_cast<Bytes *>(bytes);
  };
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Executable_GetCompileOptions(PJRT_Executable_GetCompileOptions_Args *args) {
  auto *kept = new Bytes(args->executable->facts->program.options);
  args->serialized_bytes = kept->data();
  args->serialized_bytes_size = kept->size();
  args->serialized_compile_options = reinterpret_cast<PJRT_SerializedCompileOptions *>(kept);
  args->serialized_compile_options_deleter = [](PJRT_SerializedCompileOptions *bytes) {
    delete reinterpret_cast<Bytes *>(bytes);
  };
  return nullptr;
}

/// The compiled module as text: the first call gives the size, the second one fills the caller's memory.
PJRT_Error *pcrt::pjrt::Executable_OptimizedProgram(PJRT_Executable_OptimizedProgram_Args *args) {
  Result<std::string> text = args->executable->facts->program.text();
  if (!text.isOk())
    return failure(text.status());
  static constexpr char format[] = "mlir";
  PJRT_Program &program = *args->program;
  program.format = format;
  program.format_size = sizeof(format) - 1;
  if (program.code) {
    if (program.code_size < text.value().size())
      return failure(PJRT_Error_Code_INVALID_ARGUMENT, "PJRT_Executable_OptimizedProgram: too little memory is given");
    std::copy(text.value().begin(), text.value().end(), program.code);
  }
  program.code_size = text.value().size();
  return nullptr;
}

//===-- Loaded executables
//-------------------------------------------------------------------------------===//

PJRT_Error *pcrt::pjrt::LoadedExecutable_Destroy(PJRT_LoadedExecutable_Destroy_Args *args) {
  delete args->executable;
  return nullptr;
}

PJRT_Error *pcrt::pjrt::LoadedExecutable_GetExecutable(PJRT_LoadedExecutable_GetExecutable_Args *args) {
  args->executable = new PJRT_Executable{args->loaded_executable->facts};
  return nullptr;
}

PJRT_Error *pcrt::pjrt::LoadedExecutable_AddressableDevices(PJRT_LoadedExecutable_AddressableDevices_Args *args) {
  args->addressable_devices = args->executable->devices.data();
  args->num_addressable_devices = args->executable->devices.size();
  return nullptr;
}

PJRT_Error *pcrt::pjrt::LoadedExecutable_Delete(PJRT_LoadedExecutable_Delete_Args *args) {
  args->executable->isDeleted.store(true);
  return nullptr;
}

PJRT_Error *pcrt::pjrt::LoadedExecutable_IsDeleted(PJRT_LoadedExecutable_IsDeleted_Args *args) {
  args->is_deleted = args->executable->isDeleted.load();
  return nullptr;
}

PJRT_Error *pcrt::pjrt::LoadedExecutable_Fingerprint(PJRT_LoadedExecutable_Fingerprint_Args *args) {
  const std::string &fingerprint = args->executable->facts->program.fingerprint;
  args->executable_fingerprint = fingerprint.data();
  args->executable_fingerprint_size = fingerprint.size();
  return nullptr;
}

/// A number in the form of protocol buffers.
static void addVarint(std::string &bytes, uint64_t number) {
  for (; number >= 128; number >>= 7)
    bytes.push_back(static_cast<char>(number | 128));
  bytes.push_back(static_cast<char>(number));
}

/// xla.DeviceAssignmentProto: replica_count = 1, computation_count = 2, computation_devices = 3, each with the ids of
/// its replicas (replica_device_ids = 1).
PJRT_Error *pcrt::pjrt::LoadedExecutable_GetDeviceAssignment(PJRT_LoadedExecutable_GetDeviceAssignment_Args *args) {
  const Program &program = args->executable->facts->program;
  auto kept = std::make_unique<Bytes>();
  kept->push_back(1 << 3);
  addVarint(*kept, static_cast<uint64_t>(program.replicas));
  kept->push_back(2 << 3);
  addVarint(*kept, static_cast<uint64_t>(program.partitions));
  for (int partition = 0; partition < program.partitions; ++partition) {
    Bytes ids, entry;
    for (int replica = 0; replica < program.replicas; ++replica)
      addVarint(ids, static_cast<uint64_t>(program.devices[replica * program.partitions + partition]));
    entry.push_back(1 << 3 | 2);
    addVarint(entry, ids.size());
    entry += ids;
    kept->push_back(3 << 3 | 2);
    addVarint(*kept, entry.size());
    *kept += entry;
  }
  args->serialized_bytes = kept->data();
  args->serialized_bytes_size = kept->size();
  args->serialized_device_assignment = reinterpret_cast<PJRT_DeviceAssignmentSerialized *>(kept.release());
  args->serialized_device_assignment_deleter = [](PJRT_DeviceAssignmentSerialized *bytes) {
    delete reinterpret_cast<Bytes *>(bytes);
  };
  return nullptr;
}
