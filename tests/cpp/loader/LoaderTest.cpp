// The object loader: runs a C compiler's output, refuses unsupported contents by name, and survives any bytes.
#include "Check.h"
#include "runtime/Devices.h"
#include "runtime/Executable.h"

#include <cmath>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <vector>

using namespace pcrt;

static std::string readFile(const char *path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

static Result<RefPtr<Executable>> load(const std::string &object, const char *entry, uint64_t arenaBytes = 64) {
  return Executable::load(object, entry, arenaBytes, "fixture", 0);
}

static Status run(Executable &executable, const void *const *args, void *const *results) {
  return executable.run({Devices::cpu(), executable}, args, results);
}

static void loadsAndRuns() {
  auto loaded = load(readFile(FIXTURE_plain), "pcrt_main");
  REQUIRE(loaded.isOk());
  float x = 0.75f;
  int64_t wide[4] = {2, 77, 123456789012345, -1000003};
  double out[8];
  int64_t quotients[2];
  const void *args[] = {&x, wide};
  void *results[] = {out, quotients};
  CHECK(run(*loaded.value(), args, results).isOk());
  CHECK(run(*loaded.value(), args, results).isOk());
  CHECK(out[0] == std::exp(x) || std::fabs(out[0] - std::exp(x)) < 1e-6);
  CHECK(std::fabs(out[1] - std::sin(x)) < 1e-6 && std::fabs(out[2] - std::tanh(x)) < 1e-6);
  CHECK(std::fabs(out[3] - (0.421875 + 3.5)) < 1e-6 && std::fabs(out[4] - std::cos(x)) < 1e-6);
  CHECK(out[5] == 42 && out[6] == 4 && out[7] == 6);
  __int128 big = static_cast<__int128>(wide[2]) * 1000000007 * 1000000007;
  CHECK(quotients[0] == static_cast<int64_t>(big / wide[3]) && quotients[1] == static_cast<int64_t>(big % wide[3]));
}

static void reportsStatus() {
  auto loaded = load(readFile(FIXTURE_plain), "failing");
  REQUIRE(loaded.isOk());
  CHECK(run(*loaded.value(), nullptr, nullptr).code() == Code::LibraryFailed);
  auto hungry = load(readFile(FIXTURE_plain), "failing", uint64_t(1) << 60);
  REQUIRE(hungry.isOk());
  Status status = run(*hungry.value(), nullptr, nullptr);
  CHECK(status.code() == Code::OutOfMemory && status.message().find("temporaries") != std::string::npos);
}

static bool refuses(const char *path, const char *entry, const char *text) {
  auto loaded = load(readFile(path), entry);
  bool named = !loaded.isOk() && loaded.status().message().find(text) != std::string::npos;
  if (!named)
    std::fprintf(stderr, "message: %s\n", loaded.status().message().c_str());
  return named;
}

static void refusesByName() {
  CHECK(refuses(FIXTURE_unknown_symbol, "pcrt_main", "undefined symbol 'puts'"));
  CHECK(refuses(FIXTURE_thread_local, "pcrt_main", "thread-local"));
  CHECK(refuses(FIXTURE_constructor, "pcrt_main", "constructors"));
  CHECK(refuses(FIXTURE_plain, "nothing", "no function 'nothing'"));
  CHECK(refuses(FIXTURE_plain, "coefficients", "no function 'coefficients'"));
}

static void refusesUnknownRelocation() {
  // Change every relocation of the text to an unused type.
  std::string object = readFile(FIXTURE_unknown_symbol);
  Elf64_Ehdr header;
  std::memcpy(&header, object.data(), sizeof(header));
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, object.data() + header.e_shoff + i * sizeof(section), sizeof(section));
    if (section.sh_type != SHT_RELA)
      continue;
    for (uint64_t at = 0; at < section.sh_size; at += sizeof(Elf64_Rela)) {
      Elf64_Rela relocation;
      std::memcpy(&relocation, object.data() + section.sh_offset + at, sizeof(relocation));
      // Without a symbol, so that the type is refused.
      relocation.r_info = ELF64_R_INFO(0, 0xfff);
      std::memcpy(&object[section.sh_offset + at], &relocation, sizeof(relocation));
    }
  }
  auto loaded = load(object, "pcrt_main");
  CHECK(!loaded.isOk() && loaded.status().message().find("of type 4095") != std::string::npos);
}

/// The object with its sections and symbols changed.
static std::string changed(std::string object, const std::function<void(Elf64_Shdr &)> &section,
                           const std::function<void(Elf64_Sym &, const std::string &name)> &symbol) {
  Elf64_Ehdr header;
  std::memcpy(&header, object.data(), sizeof(header));
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  std::memcpy(sections.data(), object.data() + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  for (const Elf64_Shdr &table : sections)
    for (uint64_t at = 0; table.sh_type == SHT_SYMTAB && at < table.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym one;
      std::memcpy(&one, object.data() + table.sh_offset + at, sizeof(one));
      symbol(one, object.data() + sections[table.sh_link].sh_offset + one.st_name);
      std::memcpy(&object[table.sh_offset + at], &one, sizeof(one));
    }
  for (Elf64_Shdr &one : sections)
    section(one);
  std::memcpy(&object[header.e_shoff], sections.data(), sections.size() * sizeof(Elf64_Shdr));
  return object;
}

static void symbolsAndSectionsOfOtherKinds() {
  std::string object = readFile(FIXTURE_unknown_symbol);
  auto sameSections = [](Elf64_Shdr &) {};
  auto sameSymbols = [](Elf64_Sym &, const std::string &) {};
  auto messageOf = [](const std::string &object) { return load(object, "pcrt_main").status().message(); };
  auto withSymbol = [&](const char *name, uint16_t section, int type) {
    return changed(object, sameSections, [=](Elf64_Sym &symbol, const std::string &each) {
      if (each != name)
        return;
      symbol.st_shndx = section;
      symbol.st_value = 0x1000;
      symbol.st_info = static_cast<unsigned char>(ELF64_ST_INFO(STB_GLOBAL, type));
    });
  };
  // An absolute address is known, but not within reach of a call.
  CHECK(messageOf(withSymbol("puts", SHN_ABS, STT_NOTYPE)).find("too far away (symbol 'puts'") != std::string::npos);
  CHECK(messageOf(withSymbol("puts", SHN_UNDEF, STT_TLS)).find("symbol 'puts' is thread-local") != std::string::npos);
  CHECK(messageOf(withSymbol("puts", 0xff10, STT_NOTYPE)).find("symbol 'puts' lies in an unknown section") !=
        std::string::npos);
  auto withSections = [&](const std::function<void(Elf64_Shdr &)> &section) {
    return changed(object, section, sameSymbols);
  };
  CHECK(messageOf(withSections([](Elf64_Shdr &section) {
          if (section.sh_flags & SHF_EXECINSTR)
            section.sh_addralign = 8192;
        })).find("asks for an alignment of 8192") != std::string::npos);
}

static void refusesEveryPrefix() {
  std::string object = readFile(FIXTURE_plain);
  for (size_t length = 0; length < object.size(); ++length)
    CHECK(!load(object.substr(0, length), "pcrt_main").isOk());
}

static void survivesDamage() {
  std::string object = readFile(FIXTURE_plain);
  std::mt19937 random(1);
  int loads = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string damaged = object;
    // Mostly in the headers and tables: a random byte of the code would only change the code.
    for (unsigned flips = 1 + random() % 4; flips > 0; --flips) {
      size_t place = random() % 2 ? random() % 64 : random() % damaged.size();
      damaged[place] = static_cast<char>(random() % 3 ? damaged[place] ^ (1 << random() % 8) : random());
    }
    loads += load(damaged, "pcrt_main").isOk();
  }
  CHECK(loads > 0 && loads < 20000);
}

static void findsEverySymbol() {
  const char *const names[] = {
#define PCRT_SYMBOL(name) #name,
#include "runtime/Symbols.def"
  };
  for (const char *name : names)
    CHECK(findSymbol(name) != nullptr);
  CHECK(findSymbol("system") == nullptr && findSymbol("") == nullptr);
}

int main() {
  RUN(loadsAndRuns);
  RUN(reportsStatus);
  RUN(refusesByName);
  RUN(refusesUnknownRelocation);
  RUN(symbolsAndSectionsOfOtherKinds);
  RUN(refusesEveryPrefix);
  RUN(survivesDamage);
  RUN(findsEverySymbol);
  return test::failures() != 0;
}
