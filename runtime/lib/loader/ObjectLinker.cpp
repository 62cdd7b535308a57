// The loader: places an object's sections in one mapping (code, constants, data), resolves symbols from the static
// table, relocates, and gives each part its final protection. Compiled code does not unwind, so its unwind tables are
// omitted.
#include "loader/ElfFile.h"
#include "loader/Relocations.h"
#include "runtime/Executable.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace pcrt;

#if defined(__x86_64__)
static constexpr uint16_t hostMachine = EM_X86_64;
static constexpr auto relocate = relocateX86;
static constexpr auto writeStub = writeStubX86;
#elif defined(__aarch64__)
static constexpr uint16_t hostMachine = EM_AARCH64;
static constexpr auto relocate = relocateAArch64;
static constexpr auto writeStub = writeStubAArch64;
#else
#error "the object loader knows x86-64 and aarch64"
#endif

/// A bound for the sizes in a damaged header: no module needs as much.
static constexpr uint64_t maxObjectBytes = uint64_t(1) << 30;
static constexpr uint64_t maxAlignment = 4096;

static Status refused(const std::string &why) { return Status(Code::InvalidArgument, why); }

static std::string quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

namespace pcrt {

class ObjectLinker {
public:
  explicit ObjectLinker(const ElfFile &file)
      : file(file), placement(file.sections().size(), notPlaced), slotOf(file.symbols().size(), noSlot),
        commonOffset(file.symbols().size(), 0) {}

  Result<MappedObject> link(const std::string &entryName);

private:
  enum Part { Code, Constants, Data };
  static constexpr uint64_t notPlaced = ~uint64_t(0);
  static constexpr uint32_t noSlot = ~uint32_t(0);

  static bool isLoaded(const Elf64_Shdr &section) { return (section.sh_flags & SHF_ALLOC) && section.sh_size != 0; }
  bool isUnwindTable(size_t index) const { return file.sectionName(index) == ".eh_frame"; }

  Status checkSections() const;
  Status findSlots();
  Status layOut();
  Status place(Part part);
  bool reserve(uint64_t bytes, uint64_t alignment, uint64_t &offset);
  void copySections();
  Status relocateSection(const Elf64_Shdr &relocations);
  Result<uint64_t> addressOf(const Elf64_Sym &symbol, size_t index) const;
  Result<uint64_t> findFunction(std::string_view name) const;
  Status protect();
  uint64_t address(uint64_t offset) const { return reinterpret_cast<uint64_t>(mapped.base) + offset; }

  const ElfFile &file;
  MappedObject mapped;
  /// Offsets into the mapping: of each section, of each common symbol, of stubs and of the table of pointers.
  std::vector<uint64_t> placement;
  std::vector<uint32_t> slotOf;
  std::vector<uint64_t> commonOffset;
  uint32_t slotCount = 0;
  uint64_t end = 0, stubs = 0, pointers = 0, constantsStart = 0, dataStart = 0;
};

} // namespace pcrt

//===-- Layout
//------------------------------------------------------------------------------------------------------===//

Status ObjectLinker::checkSections() const {
  for (size_t i = 0; i < file.sections().size(); ++i) {
    const Elf64_Shdr &section = file.sections()[i];
    if (section.sh_type == SHT_REL)
      return refused("malformed object: relocations without addends");
    if (!isLoaded(section))
      continue;
    std::string name = quoted(file.sectionName(i));
    if (section.sh_flags & SHF_TLS)
      return refused("section " + name + " holds thread-local variables, which the loader does not support");
    if (section.sh_type == SHT_INIT_ARRAY || section.sh_type == SHT_FINI_ARRAY)
      return refused("section " + name + " holds constructors or destructors, which the loader does not run");
    if (section.sh_addralign > maxAlignment)
      return refused("section " + name + " asks for an alignment of " + std::to_string(section.sh_addralign));
    if ((section.sh_flags & SHF_EXECINSTR) && (section.sh_flags & SHF_WRITE))
      return refused("section " + name + " is writable code");
  }
  return Status::ok();
}

/// A slot (a stub and a pointer) for every symbol that a relocation names.
Status ObjectLinker::findSlots() {
  for (const Elf64_Shdr &section : file.sections()) {
    if (section.sh_type != SHT_RELA)
      continue;
    for (const Elf64_Rela &relocation : file.relocations(section)) {
      size_t symbol = ELF64_R_SYM(relocation.r_info);
      if (symbol >= slotOf.size())
        return refused("malformed object: a relocation names no symbol");
      if (slotOf[symbol] == noSlot)
        slotOf[symbol] = slotCount++;
    }
  }
  return Status::ok();
}

bool ObjectLinker::reserve(uint64_t bytes, uint64_t alignment, uint64_t &offset) {
  alignment = alignment == 0 ? 1 : alignment;
  offset = (end + alignment - 1) & ~(alignment - 1);
  if (bytes > maxObjectBytes || offset > maxObjectBytes)
    return false;
  end = offset + bytes;
  return true;
}

Status ObjectLinker::place(Part part) {
  for (size_t i = 0; i < file.sections().size(); ++i) {
    const Elf64_Shdr &section = file.sections()[i];
    Part own = section.sh_flags & SHF_EXECINSTR ? Code : section.sh_flags & SHF_WRITE ? Data : Constants;
    if (!isLoaded(section) || section.sh_type == SHT_NOTE || own != part || isUnwindTable(i))
      continue;
    if (!reserve(section.sh_size, section.sh_addralign, placement[i]))
      return refused("section " + quoted(file.sectionName(i)) + " is too large");
  }
  return Status::ok();
}

Status ObjectLinker::layOut() {
  auto pageSize = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  if (Status status = place(Code); !status.isOk())
    return status;
  bool fits = reserve(slotCount * stubBytes, stubBytes, stubs) && reserve(0, pageSize, constantsStart);
  if (Status status = place(Constants); !status.isOk())
    return status;
  fits = fits && reserve(slotCount * sizeof(uint64_t), sizeof(uint64_t), pointers) && reserve(0, pageSize, dataStart);
  if (Status status = place(Data); !status.isOk())
    return status;
  for (size_t i = 0; i < file.symbols().size(); ++i) {
    const Elf64_Sym &symbol = file.symbols()[i];
    if (symbol.st_shndx != SHN_COMMON)
      continue;
    if (symbol.st_value > maxAlignment || (symbol.st_value & (symbol.st_value - 1)))
      return refused("malformed object: alignment of common symbol " + quoted(file.symbolName(symbol)));
    fits = fits && reserve(symbol.st_size, symbol.st_value, commonOffset[i]);
  }
  uint64_t unused;
  if (!fits || !reserve(0, pageSize, unused))
    return refused("the object is too large");
  return Status::ok();
}

//===-- Symbols and relocations
//-------------------------------------------------------------------------------------===//

Result<uint64_t> ObjectLinker::addressOf(const Elf64_Sym &symbol, size_t index) const {
  std::string name(file.symbolName(symbol));
  if (ELF64_ST_TYPE(symbol.st_info) == STT_TLS)
    return refused("symbol " + quoted(name) + " is thread-local, which the loader does not support");
  if (symbol.st_shndx == SHN_COMMON)
    return address(commonOffset[index]);
  if (symbol.st_shndx == SHN_ABS)
    return static_cast<uint64_t>(symbol.st_value);
  if (symbol.st_shndx == SHN_UNDEF) {
    // Index 0, the null symbol, means "no symbol".
    if (index == 0)
      return uint64_t(0);
    if (void *found = findSymbol(name))
      return reinterpret_cast<uint64_t>(found);
    return refused("undefined symbol " + quoted(name));
  }
  if (symbol.st_shndx >= SHN_LORESERVE)
    return refused("symbol " + quoted(name) + " lies in an unknown section");
  if (placement[symbol.st_shndx] == notPlaced || symbol.st_value > file.sections()[symbol.st_shndx].sh_size)
    return refused("symbol " + quoted(name) + " lies outside of the loaded sections");
  return address(placement[symbol.st_shndx] + symbol.st_value);
}

Status ObjectLinker::relocateSection(const Elf64_Shdr &relocations) {
  size_t target = relocations.sh_info;
  if (target >= file.sections().size())
    return refused("malformed object: relocations for no section");
  if (placement[target] == notPlaced)
    return Status::ok();
  const Elf64_Shdr &section = file.sections()[target];
  for (const Elf64_Rela &relocation : file.relocations(relocations)) {
    size_t index = ELF64_R_SYM(relocation.r_info);
    const Elf64_Sym &symbol = file.symbols()[index];
    if (relocation.r_offset > section.sh_size)
      return refused("malformed object: a relocation lies outside its section");
    Result<uint64_t> resolved = addressOf(symbol, index);
    if (!resolved.isOk())
      return Status(resolved.status().code(), resolved.status().message());

    uint64_t stub = address(stubs + slotOf[index] * stubBytes);
    uint64_t pointer = address(pointers + slotOf[index] * sizeof(uint64_t));
    writeStub(reinterpret_cast<char *>(stub), resolved.value());
    std::memcpy(reinterpret_cast<char *>(pointer), &resolved.value(), sizeof(uint64_t));
    RelocationSite site;
    site.type = ELF64_R_TYPE(relocation.r_info);
    site.place = mapped.base + placement[target] + relocation.r_offset;
    site.room = section.sh_size - relocation.r_offset;
    site.symbol = resolved.value();
    site.branch = symbol.st_shndx == SHN_UNDEF ? stub : resolved.value();
    site.gotSlot = pointer;
    site.addend = relocation.r_addend;
    Status status = relocate(site);
    if (!status.isOk())
      return refused(status.message() + " (symbol " + quoted(file.symbolName(symbol)) + ", section " +
                     quoted(file.sectionName(target)) + ")");
  }
  return Status::ok();
}

/// Its address, 0 if the object defines no function of the name.
Result<uint64_t> ObjectLinker::findFunction(std::string_view name) const {
  for (size_t i = 0; i < file.symbols().size(); ++i) {
    const Elf64_Sym &symbol = file.symbols()[i];
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= SHN_LORESERVE || file.symbolName(symbol) != name)
      continue;
    const Elf64_Shdr &section = file.sections()[symbol.st_shndx];
    if (!(section.sh_flags & SHF_EXECINSTR) || symbol.st_value >= section.sh_size)
      continue;
    return addressOf(symbol, i);
  }
  return uint64_t(0);
}

//===-- The mapping
//-------------------------------------------------------------------------------------------------===//

void ObjectLinker::copySections() {
  for (size_t i = 0; i < placement.size(); ++i) {
    std::string_view contents = file.contents(file.sections()[i]);
    if (placement[i] != notPlaced && !contents.empty())
      std::memcpy(mapped.base + placement[i], contents.data(), contents.size());
  }
}

/// Writable first, then executable or not: never both.
Status ObjectLinker::protect() {
  __builtin___clear_cache(mapped.base, mapped.base + constantsStart);
  bool done = mprotect(mapped.base, constantsStart, PROT_READ | PROT_EXEC) == 0;
  if (dataStart > constantsStart)
    done = done && mprotect(mapped.base + constantsStart, dataStart - constantsStart, PROT_READ) == 0;
  return done ? Status::ok() : refused("the system does not let memory become executable");
}

Result<MappedObject> ObjectLinker::link(const std::string &entryName) {
  if (Status status = checkSections(); !status.isOk())
    return status;
  if (Status status = findSlots(); !status.isOk())
    return status;
  if (Status status = layOut(); !status.isOk())
    return status;
  if (constantsStart == 0)
    return refused("the object holds no code");
  void *memory = mmap(nullptr, end, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return Status(pcrt::Code::OutOfMemory, "out of memory: cannot map " + formatBytes(end) + " of code");
  mapped.base = static_cast<char *>(memory);
  mapped.bytes = end;
  copySections();
  for (const Elf64_Shdr &section : file.sections()) {
    if (section.sh_type != SHT_RELA)
      continue;
    if (Status status = relocateSection(section); !status.isOk())
      return status;
  }
  Result<uint64_t> entry = findFunction(entryName), plan = findFunction("pcrt_plan");
  for (const Result<uint64_t> *found : {&entry, &plan})
    if (!found->isOk())
      return Status(found->status().code(), found->status().message());
  if (!entry.value())
    return refused("the object defines no function " + quoted(entryName));
  mapped.entry = reinterpret_cast<PcrtEntry>(entry.value());
  mapped.planner = reinterpret_cast<PcrtPlan>(plan.value());
  if (Status status = protect(); !status.isOk())
    return status;
  return std::move(mapped);
}

MappedObject &MappedObject::operator=(MappedObject &&other) noexcept {
  std::swap(base, other.base);
  std::swap(bytes, other.bytes);
  std::swap(entry, other.entry);
  std::swap(planner, other.planner);
  return *this;
}

MappedObject::~MappedObject() {
  if (base)
    munmap(base, bytes);
}

Result<MappedObject> MappedObject::load(std::string_view object, const std::string &entryName) {
  Result<ElfFile> file = ElfFile::parse(object, hostMachine);
  if (!file.isOk())
    return Status(file.status().code(), file.status().message());
  return ObjectLinker(file.value()).link(entryName);
}
