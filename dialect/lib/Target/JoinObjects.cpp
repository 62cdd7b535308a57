// Joins relocatable ELF64 objects to one, like `ld -r`, but without merging sections: the sections of all objects
// follow each other, and a symbol that one object defines and another one needs becomes one symbol. LLVM has just
// written the inputs.
#include "Units.h"

#include "llvm/ADT/StringMap.h"
#include <cstring>
#include <elf.h>

namespace mlir::array {

namespace {

/// One object, as its tables.
struct Input {
  explicit Input(llvm::ArrayRef<char> bytes) : bytes(bytes) {
    auto header = read<Elf64_Ehdr>(0, 1).front();
    sections = read<Elf64_Shdr>(header.e_shoff, header.e_shnum);
    names = sections[header.e_shstrndx].sh_offset;
    for (const Elf64_Shdr &section : sections)
      if (section.sh_type == SHT_SYMTAB) {
        symbols = read<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym));
        symbolNames = sections[section.sh_link].sh_offset;
      }
    newSections.assign(sections.size(), 0);
    newSymbols.assign(symbols.size(), 0);
  }

  template <typename Entry> std::vector<Entry> read(size_t offset, size_t count) const {
    std::vector<Entry> entries(count);
    if (count > 0)
      std::memcpy(entries.data(), bytes.data() + offset, count * sizeof(Entry));
    return entries;
  }
  llvm::StringRef nameOf(const Elf64_Shdr &section) const { return bytes.data() + names + section.sh_name; }
  llvm::StringRef nameOf(const Elf64_Sym &symbol) const { return bytes.data() + symbolNames + symbol.st_name; }

  llvm::ArrayRef<char> bytes;
  std::vector<Elf64_Shdr> sections;
  std::vector<Elf64_Sym> symbols;
  size_t names = 0, symbolNames = 0;
  std::vector<uint32_t> newSections, newSymbols; ///< Numbers in the result; 0 if it is omitted.
};

class Joiner {
public:
  explicit Joiner(llvm::ArrayRef<llvm::ArrayRef<char>> objects) : result(sizeof(Elf64_Ehdr)) {
    for (llvm::ArrayRef<char> object : objects)
      inputs.emplace_back(object);
    addSection("", Elf64_Shdr());
  }

  std::vector<char> join() {
    for (Input &input : inputs)
      copySections(input);
    // Local symbols come before global ones.
    symbols.emplace_back();
    for (Input &input : inputs)
      copyLocals(input);
    size_t firstGlobal = symbols.size();
    for (Input &input : inputs)
      copyDefinitions(input);
    for (Input &input : inputs)
      copyNeeds(input);
    uint32_t table = newSections.size();
    for (Input &input : inputs)
      copyRelocations(input, table + countRelocated());
    writeTables(firstGlobal);
    return std::move(result);
  }

private:
  /// The sections that the loader reads: code, data, and their relocations.
  static bool isKept(const Input &input, const Elf64_Shdr &section) {
    return (section.sh_flags & SHF_ALLOC) && section.sh_type != SHT_RELA && input.nameOf(section) != ".eh_frame";
  }
  static bool isKeptRelocation(const Input &input, const Elf64_Shdr &section) {
    return section.sh_type == SHT_RELA && input.newSections[section.sh_info] != 0;
  }

  size_t countRelocated() const {
    size_t count = 0;
    for (const Input &input : inputs)
      for (const Elf64_Shdr &section : input.sections)
        count += isKeptRelocation(input, section);
    return count;
  }

  uint32_t addName(std::string &names, llvm::StringRef name) {
    uint32_t offset = names.size();
    names.append(name.data(), name.size());
    names.push_back('\0');
    return offset;
  }

  uint32_t addSection(llvm::StringRef name, Elf64_Shdr section) {
    section.sh_name = addName(sectionNames, name);
    newSections.push_back(section);
    return newSections.size() - 1;
  }

  /// Appends contents at an aligned offset, and returns the offset.
  size_t write(const void *data, size_t size, size_t alignment) {
    result.resize(llvm::alignTo(result.size(), std::max<size_t>(alignment, 1)));
    size_t offset = result.size();
    auto *bytes = static_cast<const char *>(data);
    result.insert(result.end(), bytes, bytes + size);
    return offset;
  }

  void copySections(Input &input) {
    for (auto [index, section] : llvm::enumerate(input.sections)) {
      if (!isKept(input, section))
        continue;
      Elf64_Shdr copy = section;
      copy.sh_link = 0;
      if (section.sh_type != SHT_NOBITS)
        copy.sh_offset = write(input.bytes.data() + section.sh_offset, section.sh_size, section.sh_addralign);
      input.newSections[index] = addSection(input.nameOf(section), copy);
    }
  }

  static bool isLocal(const Elf64_Sym &symbol) { return ELF64_ST_BIND(symbol.st_info) == STB_LOCAL; }

  uint32_t addSymbol(const Input &input, Elf64_Sym symbol) {
    symbol.st_name = addName(symbolNames, input.nameOf(symbol));
    if (symbol.st_shndx != SHN_UNDEF && symbol.st_shndx < SHN_LORESERVE)
      symbol.st_shndx = input.newSections[symbol.st_shndx];
    symbols.push_back(symbol);
    return symbols.size() - 1;
  }

  void copyLocals(Input &input) {
    for (auto [index, symbol] : llvm::enumerate(input.symbols))
      if (index > 0 && isLocal(symbol) && symbol.st_shndx < SHN_LORESERVE && input.newSections[symbol.st_shndx] != 0)
        input.newSymbols[index] = addSymbol(input, symbol);
  }

  void copyDefinitions(Input &input) {
    for (auto [index, symbol] : llvm::enumerate(input.symbols))
      if (!isLocal(symbol) && symbol.st_shndx != SHN_UNDEF)
        globals[input.nameOf(symbol)] = input.newSymbols[index] = addSymbol(input, symbol);
  }

  void copyNeeds(Input &input) {
    for (auto [index, symbol] : llvm::enumerate(input.symbols)) {
      if (index == 0 || isLocal(symbol) || symbol.st_shndx != SHN_UNDEF)
        continue;
      auto [known, isNew] = globals.try_emplace(input.nameOf(symbol), 0);
      if (isNew)
        known->second = addSymbol(input, symbol);
      input.newSymbols[index] = known->second;
    }
  }

  void copyRelocations(Input &input, uint32_t symbolTable) {
    for (const Elf64_Shdr &section : input.sections) {
      if (!isKeptRelocation(input, section))
        continue;
      auto entries = input.read<Elf64_Rela>(section.sh_offset, section.sh_size / sizeof(Elf64_Rela));
      for (Elf64_Rela &entry : entries)
        entry.r_info = ELF64_R_INFO(uint64_t(input.newSymbols[ELF64_R_SYM(entry.r_info)]), ELF64_R_TYPE(entry.r_info));
      Elf64_Shdr copy = section;
      copy.sh_link = symbolTable;
      copy.sh_info = input.newSections[section.sh_info];
      copy.sh_offset = write(entries.data(), section.sh_size, alignof(Elf64_Rela));
      addSection(input.nameOf(section), copy);
    }
  }

  void writeTables(size_t firstGlobal) {
    auto table = [&](llvm::StringRef name, uint32_t type, const void *data, size_t size, size_t entry) {
      Elf64_Shdr section = {};
      section.sh_type = type;
      section.sh_addralign = entry ? alignof(Elf64_Sym) : 1;
      section.sh_offset = write(data, size, section.sh_addralign);
      section.sh_size = size;
      section.sh_entsize = entry;
      section.sh_info = entry ? firstGlobal : 0;
      section.sh_link = entry ? newSections.size() + 1 : 0;
      addSection(name, section);
    };
    table(".symtab", SHT_SYMTAB, symbols.data(), symbols.size() * sizeof(Elf64_Sym), sizeof(Elf64_Sym));
    table(".strtab", SHT_STRTAB, symbolNames.data(), symbolNames.size(), 0);
    // Its own name is in it.
    std::string names = sectionNames + ".shstrtab";
    table(".shstrtab", SHT_STRTAB, names.c_str(), names.size() + 1, 0);

    auto header = inputs.front().read<Elf64_Ehdr>(0, 1).front();
    header.e_shnum = newSections.size();
    header.e_shstrndx = newSections.size() - 1;
    header.e_shoff = write(newSections.data(), newSections.size() * sizeof(Elf64_Shdr), alignof(Elf64_Shdr));
    std::memcpy(result.data(), &header, sizeof(header));
  }

  std::vector<Input> inputs;
  std::vector<char> result;
  std::vector<Elf64_Shdr> newSections;
  std::vector<Elf64_Sym> symbols;
  std::string sectionNames, symbolNames = std::string(1, '\0');
  llvm::StringMap<uint32_t> globals;
};

} // namespace

std::vector<char> joinObjects(llvm::ArrayRef<llvm::ArrayRef<char>> objects) {
  if (objects.size() == 1)
    return std::vector<char>(objects.front().begin(), objects.front().end());
  return Joiner(objects).join();
}

} // namespace mlir::array
