// Relocations and stubs of both machines, on bytes: the encodings are those of the ABI supplements.
#include "loader/Relocations.h"
#include "Check.h"

#include <cstring>
#include <elf.h>
#include <initializer_list>
#include <utility>

using namespace pcrt;

template <typename T> static T at(const char *place) {
  T value;
  std::memcpy(&value, place, sizeof(value));
  return value;
}

/// Patches an instruction at `place` and returns it.
static uint32_t patched(uint32_t instruction, uint32_t type, int64_t distance, int64_t addend = 0) {
  alignas(4096) static char page[4096];
  std::memcpy(page, &instruction, sizeof(instruction));
  RelocationSite site{};
  site.type = type;
  site.place = page;
  site.room = sizeof(page);
  site.symbol = site.branch = site.gotSlot = reinterpret_cast<uint64_t>(page) + static_cast<uint64_t>(distance);
  site.addend = addend;
  Status status = relocateAArch64(site);
  if (!status.isOk())
    std::fprintf(stderr, "%s\n", status.message().c_str());
  CHECK(status.isOk());
  return at<uint32_t>(page);
}

static void aarch64() {
  CHECK(patched(0x94000000, R_AARCH64_CALL26, 0x1000) == 0x94000400);           // bl +0x1000
  CHECK(patched(0x14000000, R_AARCH64_JUMP26, -4) == 0x17ffffff);               // b -4
  CHECK(patched(0x90000000, R_AARCH64_ADR_PREL_PG_HI21, 0x3008) == 0xf0000000); // adrp x0, 3 pages on
  CHECK(patched(0x90000001, R_AARCH64_ADR_GOT_PAGE, -0x1000) == 0xf0ffffe1);
  CHECK(patched(0x91000000, R_AARCH64_ADD_ABS_LO12_NC, 0x3008, 4) == 0x91003000); // add x0, x0, #12
  CHECK(patched(0x3d400000, R_AARCH64_LDST8_ABS_LO12_NC, 0x5) == 0x3d401400);
  CHECK(patched(0x7d400000, R_AARCH64_LDST16_ABS_LO12_NC, 0x6) == 0x7d400c00);
  CHECK(patched(0xbd400000, R_AARCH64_LDST32_ABS_LO12_NC, 0x8) == 0xbd400800);
  CHECK(patched(0xfd400000, R_AARCH64_LDST64_ABS_LO12_NC, 0x10) == 0xfd400800);
  CHECK(patched(0x3dc00000, R_AARCH64_LDST128_ABS_LO12_NC, 0x20) == 0x3dc00800);
  CHECK(patched(0xf9400000, R_AARCH64_LD64_GOT_LO12_NC, 0x18) == 0xf9400c00);
  CHECK(patched(0, R_AARCH64_PREL32, -8) == static_cast<uint32_t>(-8));
}

static void aarch64Data() {
  alignas(8) char place[8];
  RelocationSite site{};
  site.place = place;
  site.room = sizeof(place);
  site.symbol = reinterpret_cast<uint64_t>(place) + 0x100;
  site.addend = -4;
  site.type = R_AARCH64_ABS64;
  CHECK(relocateAArch64(site).isOk() && at<uint64_t>(place) == site.symbol - 4);
  site.type = R_AARCH64_PREL64;
  CHECK(relocateAArch64(site).isOk() && at<int64_t>(place) == 0xfc);
  site.type = R_AARCH64_NONE;
  site.room = 0;
  CHECK(relocateAArch64(site).isOk() && at<int64_t>(place) == 0xfc);
}

static void aarch64Refuses() {
  char word[16] = {};
  RelocationSite site{};
  site.place = word;
  site.room = 4;
  site.type = R_AARCH64_CALL26;
  site.branch = reinterpret_cast<uint64_t>(word) + (uint64_t(1) << 27);
  CHECK(relocateAArch64(site).message().find("too far") != std::string::npos);
  site.type = R_AARCH64_ADR_PREL_PG_HI21;
  site.symbol = reinterpret_cast<uint64_t>(word) + (uint64_t(1) << 33);
  CHECK(relocateAArch64(site).message().find("too far") != std::string::npos);
  site.type = R_AARCH64_LDST64_ABS_LO12_NC;
  site.symbol = 0x1004;
  CHECK(relocateAArch64(site).message().find("not aligned") != std::string::npos);
  site.type = R_AARCH64_ABS64;
  CHECK(relocateAArch64(site).message().find("outside its section") != std::string::npos);
  site.type = R_AARCH64_TLSDESC_CALL;
  CHECK(relocateAArch64(site).message().find("of type 569") != std::string::npos);
}

static void x86() {
  char bytes[16] = {};
  RelocationSite site{};
  site.place = bytes;
  site.room = sizeof(bytes);
  site.symbol = site.branch = site.gotSlot = reinterpret_cast<uint64_t>(bytes) + 0x100;
  site.addend = -4;
  for (uint32_t type : {R_X86_64_PC32, R_X86_64_PLT32, R_X86_64_GOTPCREL, R_X86_64_GOTPCRELX, R_X86_64_REX_GOTPCRELX}) {
    site.type = type;
    CHECK(relocateX86(site).isOk() && at<int32_t>(bytes) == 0xfc);
  }
  site.type = R_X86_64_PC64;
  CHECK(relocateX86(site).isOk() && at<int64_t>(bytes) == 0xfc);
  site.type = R_X86_64_64;
  CHECK(relocateX86(site).isOk() && at<uint64_t>(bytes) == site.symbol - 4);
  // Code that was compiled for a fixed address, or with thread-local variables.
  for (auto [type, name] :
       std::initializer_list<std::pair<uint32_t, const char *>>{{R_X86_64_TPOFF32, "R_X86_64_TPOFF32"},
                                                                {R_X86_64_32S, "R_X86_64_32S"},
                                                                {R_X86_64_16, "R_X86_64_16"},
                                                                {R_X86_64_8, "R_X86_64_8"},
                                                                {R_X86_64_TLSGD, "R_X86_64_TLSGD"},
                                                                {R_X86_64_TLSLD, "R_X86_64_TLSLD"},
                                                                {R_X86_64_DTPOFF32, "R_X86_64_DTPOFF32"},
                                                                {R_X86_64_GOTTPOFF, "R_X86_64_GOTTPOFF"},
                                                                {R_X86_64_GOTPC32, "R_X86_64_GOTPC32"},
                                                                {R_X86_64_GOTOFF64, "R_X86_64_GOTOFF64"},
                                                                {R_X86_64_GOTPC64, "R_X86_64_GOTPC64"}}) {
    site.type = type;
    CHECK(relocateX86(site).message().find(name) != std::string::npos);
  }
  site.type = R_X86_64_PC32;
  site.branch += uint64_t(1) << 32;
  CHECK(relocateX86(site).message().find("too far") != std::string::npos);
  site.type = R_X86_64_64;
  site.room = 7;
  CHECK(relocateX86(site).message().find("outside its section") != std::string::npos);
}

static void stubs() {
  char bytes[stubBytes];
  writeStubX86(bytes, 0x1122334455667788);
  CHECK(at<uint16_t>(bytes) == 0x25ff && at<uint32_t>(bytes + 2) == 0 && at<uint64_t>(bytes + 6) == 0x1122334455667788);
  writeStubAArch64(bytes, 0x1122334455667788);
  CHECK(at<uint32_t>(bytes) == 0x58000050 && at<uint32_t>(bytes + 4) == 0xd61f0200 &&
        at<uint64_t>(bytes + 8) == 0x1122334455667788);
}

int main() {
  RUN(aarch64);
  RUN(aarch64Data);
  RUN(aarch64Refuses);
  RUN(x86);
  RUN(stubs);
  return test::failures() != 0;
}
