// Reads objects with the runtime's own loader.
#include "Module.h"

#include "loader/ElfFile.h"

#include <algorithm>
#include <cstring>

using namespace pcrt;

#if defined(__x86_64__)
static constexpr uint16_t hostMachine = EM_X86_64;
#else
static constexpr uint16_t hostMachine = EM_AARCH64;
#endif

static bool isKernel(const Elf64_Sym &symbol) {
  return ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && ELF64_ST_BIND(symbol.st_info) != STB_LOCAL &&
         symbol.st_shndx != SHN_UNDEF;
}

size_t CUmod_st::sizeOf(const void *image) {
  Elf64_Ehdr header;
  if (std::memcmp(image, ELFMAG, SELFMAG) != 0)
    return 0;
  std::memcpy(&header, image, sizeof(header));
  size_t end = std::max<size_t>(sizeof(header), header.e_shoff + size_t(header.e_shnum) * header.e_shentsize);
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, static_cast<const char *>(image) + header.e_shoff + i * sizeof(section), sizeof(section));
    if (section.sh_type != SHT_NOBITS)
      end = std::max<size_t>(end, section.sh_offset + section.sh_size);
  }
  return end;
}

CUresult CUmod_st::check(std::string &log) {
  if (image.empty()) {
    log = "the emulated device takes relocatable ELF objects for the host, and this is none (PTX?)";
    return CUDA_ERROR_INVALID_IMAGE;
  }
  Result<ElfFile> file = ElfFile::parse(image, hostMachine);
  if (!file.isOk()) {
    log = file.status().message();
    return CUDA_ERROR_INVALID_IMAGE;
  }
  const auto &symbols = file.value().symbols();
  auto first = std::find_if(symbols.begin(), symbols.end(), isKernel);
  if (first == symbols.end()) {
    log = "the object has no global function";
    return CUDA_ERROR_INVALID_IMAGE;
  }
  CUfunction unused;
  return find(std::string(file.value().symbolName(*first)), unused, log);
}

size_t CUmod_st::sizeOfVariable(const std::string &name) const {
  Result<ElfFile> file = ElfFile::parse(image, hostMachine);
  for (const Elf64_Sym &symbol : file.value().symbols())
    if (symbol.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT &&
        file.value().symbolName(symbol) == name)
      return symbol.st_size;
  return 0;
}

CUresult CUmod_st::find(const std::string &name, CUfunction &function, std::string &log) {
  std::lock_guard<std::mutex> guard(lock);
  std::shared_ptr<CUfunc_st> &known = functions[name];
  if (!known) {
    Result<ElfFile> file = ElfFile::parse(image, hostMachine);
    const auto &symbols = file.value().symbols();
    auto named = [&](const std::string &wanted) {
      return std::find_if(symbols.begin(), symbols.end(), [&](const Elf64_Sym &symbol) {
        return symbol.st_shndx != SHN_UNDEF && symbol.st_shndx < SHN_LORESERVE &&
               file.value().symbolName(symbol) == wanted;
      });
    };
    auto kernel = named(name);
    if (kernel == symbols.end() || !isKernel(*kernel))
      return CUDA_ERROR_NOT_FOUND;
    Result<MappedObject> code = MappedObject::load(image, name);
    if (!code.isOk()) {
      log = code.status().message();
      return CUDA_ERROR_INVALID_IMAGE;
    }
    known = std::make_shared<CUfunc_st>();
    known->self = known;
    known->name = name;
    known->code = code.take();
    auto contentsOf = [&](const std::string &symbol, std::string &contents) {
      auto found = named(symbol);
      if (found == symbols.end())
        return false;
      contents =
          file.value().contents(file.value().sections()[found->st_shndx]).substr(found->st_value, found->st_size);
      return true;
    };
    std::string shared;
    known->hasSizes = contentsOf(name + "_params", known->sizes);
    // A zero may be stored without contents in the file.
    if (contentsOf(name + "_shared", shared) && shared.size() == sizeof(uint64_t))
      std::memcpy(&known->sharedBytes, shared.data(), sizeof(known->sharedBytes));
  }
  function = known.get();
  return CUDA_SUCCESS;
}
