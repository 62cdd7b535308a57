// A relocatable ELF64 file, read with every offset checked: the loader's first half. Its second is ObjectLinker.cpp.
#ifndef PYCOMPILER_RUNTIME_LIB_ELFFILE_H
#define PYCOMPILER_RUNTIME_LIB_ELFFILE_H

#include "runtime/Status.h"

#include <cstring>
#include <elf.h>
#include <string_view>
#include <vector>

namespace pcrt {

class ElfFile {
public:
  /// Refuses anything but a relocatable little-endian ELF64 object for `machine`.
  static Result<ElfFile> parse(std::string_view bytes, uint16_t machine);

  const std::vector<Elf64_Shdr> &sections() const { return sectionHeaders; }
  const std::vector<Elf64_Sym> &symbols() const { return symbolTable; }

  std::string_view sectionName(size_t index) const;
  std::string_view symbolName(const Elf64_Sym &symbol) const;
  /// The contents of a section that has any; within the file, as checked by parse.
  std::string_view contents(const Elf64_Shdr &section) const {
    return isInFile(section) ? bytes.substr(section.sh_offset, section.sh_size) : std::string_view();
  }
  /// The entries of a SHT_RELA section.
  std::vector<Elf64_Rela> relocations(const Elf64_Shdr &section) const { return entries<Elf64_Rela>(section); }

  ElfFile() = default;

private:
  static bool isInFile(const Elf64_Shdr &section) {
    return section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL;
  }
  template <typename Entry> std::vector<Entry> entries(const Elf64_Shdr &section) const {
    std::string_view data = contents(section);
    std::vector<Entry> result(data.size() / sizeof(Entry));
    if (!result.empty())
      std::memcpy(result.data(), data.data(), result.size() * sizeof(Entry));
    return result;
  }
  static std::string_view stringAt(std::string_view table, size_t offset);
  Status checkSections() const;
  Status readSymbols();

  std::string_view bytes, sectionNames, symbolNames;
  std::vector<Elf64_Shdr> sectionHeaders;
  std::vector<Elf64_Sym> symbolTable;
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_LIB_ELFFILE_H
