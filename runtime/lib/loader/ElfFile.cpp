// Reads a relocatable ELF64 file. The bytes may be arbitrary: every offset is checked before use.
#include "loader/ElfFile.h"

using namespace pcrt;

static Status malformed(const std::string &what) { return Status(Code::InvalidArgument, "malformed object: " + what); }

/// The string at `offset` of a string table; empty if it is not terminated inside the table.
std::string_view ElfFile::stringAt(std::string_view table, size_t offset) {
  if (offset >= table.size())
    return {};
  size_t end = table.find('\0', offset);
  return end == std::string_view::npos ? std::string_view() : table.substr(offset, end - offset);
}

std::string_view ElfFile::sectionName(size_t index) const {
  return stringAt(sectionNames, sectionHeaders[index].sh_name);
}

std::string_view ElfFile::symbolName(const Elf64_Sym &symbol) const { return stringAt(symbolNames, symbol.st_name); }

Result<ElfFile> ElfFile::parse(std::string_view bytes, uint16_t machine) {
  Elf64_Ehdr header;
  if (bytes.size() < sizeof(header) || bytes.substr(0, SELFMAG) != ELFMAG)
    return malformed("not an ELF file");
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_REL)
    return malformed("not a little-endian 64-bit relocatable file");
  if (header.e_machine != machine)
    return Status(Code::InvalidArgument, "object for another machine (ELF machine " + std::to_string(header.e_machine) +
                                             ", this one is " + std::to_string(machine) + ")");
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shnum == 0 || header.e_shoff > bytes.size() ||
      (bytes.size() - header.e_shoff) / sizeof(Elf64_Shdr) < header.e_shnum)
    return malformed("section headers outside the file");

  ElfFile file;
  file.bytes = bytes;
  file.sectionHeaders.resize(header.e_shnum);
  std::memcpy(file.sectionHeaders.data(), bytes.data() + header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr));
  if (Status status = file.checkSections(); !status.isOk())
    return status;
  if (header.e_shstrndx >= header.e_shnum)
    return malformed("no section names");
  file.sectionNames = file.contents(file.sectionHeaders[header.e_shstrndx]);
  if (Status status = file.readSymbols(); !status.isOk())
    return status;
  return file;
}

Status ElfFile::checkSections() const {
  for (const Elf64_Shdr &section : sectionHeaders) {
    if (isInFile(section) && (section.sh_offset > bytes.size() || section.sh_size > bytes.size() - section.sh_offset))
      return malformed("a section lies outside the file");
    if (section.sh_addralign & (section.sh_addralign - 1))
      return malformed("a section's alignment is not a power of two");
  }
  return Status::ok();
}

Status ElfFile::readSymbols() {
  for (const Elf64_Shdr &section : sectionHeaders) {
    if (section.sh_type != SHT_SYMTAB)
      continue;
    if (!symbolTable.empty())
      return malformed("more than one symbol table");
    if (section.sh_link >= sectionHeaders.size())
      return malformed("symbol table without names");
    symbolNames = contents(sectionHeaders[section.sh_link]);
    symbolTable = entries<Elf64_Sym>(section);
  }
  for (const Elf64_Sym &symbol : symbolTable)
    if (symbol.st_shndx != SHN_UNDEF && symbol.st_shndx < SHN_LORESERVE && symbol.st_shndx >= sectionHeaders.size())
      return malformed("a symbol lies in no section");
  return Status::ok();
}
