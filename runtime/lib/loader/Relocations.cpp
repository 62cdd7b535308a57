// Patches instructions and data. Types and formulas: the System V ABI's supplements for x86-64 and for aarch64.
#include "loader/Relocations.h"

#include <cstring>
#include <elf.h>

using namespace pcrt;

static Status unknownRelocation(const std::string &type) {
  return Status(Code::InvalidArgument, "relocation " + type + ", which the loader does not know");
}

static Status outOfRange() { return Status(Code::InvalidArgument, "a relocation's target is too far away"); }

static Status outside() {
  return Status(Code::InvalidArgument, "malformed object: a relocation lies outside its section");
}

template <typename T> static void put(char *place, T value) { std::memcpy(place, &value, sizeof(value)); }

static uint32_t instructionAt(const char *place) {
  uint32_t word;
  std::memcpy(&word, place, sizeof(word));
  return word;
}

static Status putRelative32(const RelocationSite &site, uint64_t target) {
  auto distance =
      static_cast<int64_t>(target + static_cast<uint64_t>(site.addend) - reinterpret_cast<uint64_t>(site.place));
  if (distance != static_cast<int32_t>(distance))
    return outOfRange();
  put(site.place, static_cast<int32_t>(distance));
  return Status::ok();
}

//===-- x86-64
//------------------------------------------------------------------------------------------------------===//

static std::string nameX86(uint32_t type) {
  switch (type) {
#define PCRT_NAME(name)                                                                                                \
  case name:                                                                                                           \
    return #name;
    PCRT_NAME(R_X86_64_32)
    PCRT_NAME(R_X86_64_32S)
    PCRT_NAME(R_X86_64_16)
    PCRT_NAME(R_X86_64_8)
    PCRT_NAME(R_X86_64_TLSGD)
    PCRT_NAME(R_X86_64_TLSLD)
    PCRT_NAME(R_X86_64_DTPOFF32)
    PCRT_NAME(R_X86_64_GOTTPOFF)
    PCRT_NAME(R_X86_64_TPOFF32)
    PCRT_NAME(R_X86_64_GOTPC32)
    PCRT_NAME(R_X86_64_GOTOFF64)
    PCRT_NAME(R_X86_64_GOTPC64)
#undef PCRT_NAME
  default:
    return "of type " + std::to_string(type);
  }
}

Status pcrt::relocateX86(const RelocationSite &site) {
  size_t width = site.type == R_X86_64_64 || site.type == R_X86_64_PC64 ? 8 : 4;
  if (site.type == R_X86_64_NONE)
    return Status::ok();
  if (site.room < width)
    return outside();
  auto addend = static_cast<uint64_t>(site.addend);
  switch (site.type) {
  case R_X86_64_64:
    put(site.place, site.symbol + addend);
    return Status::ok();
  case R_X86_64_PC64:
    put(site.place, site.symbol + addend - reinterpret_cast<uint64_t>(site.place));
    return Status::ok();
  case R_X86_64_PC32:
  case R_X86_64_PLT32:
    return putRelative32(site, site.branch);
  case R_X86_64_GOTPCREL:
  case R_X86_64_GOTPCRELX:
  case R_X86_64_REX_GOTPCRELX:
    return putRelative32(site, site.gotSlot);
  default:
    return unknownRelocation(nameX86(site.type));
  }
}

void pcrt::writeStubX86(char *place, uint64_t target) {
  static const unsigned char jumpThroughNext8[] = {0xff, 0x25, 0, 0, 0, 0};
  std::memcpy(place, jumpThroughNext8, sizeof(jumpThroughNext8));
  put(place + sizeof(jumpThroughNext8), target);
}

//===-- aarch64
//-----------------------------------------------------------------------------------------------------===//

static uint64_t page(uint64_t address) { return address & ~uint64_t(0xfff); }

static Status putBranch26(const RelocationSite &site) {
  auto distance =
      static_cast<int64_t>(site.branch + static_cast<uint64_t>(site.addend) - reinterpret_cast<uint64_t>(site.place));
  if (distance < -(int64_t(1) << 27) || distance >= int64_t(1) << 27)
    return outOfRange();
  put(site.place, (instructionAt(site.place) & 0xfc000000u) | (static_cast<uint32_t>(distance >> 2) & 0x03ffffffu));
  return Status::ok();
}

static Status putPage21(const RelocationSite &site, uint64_t target) {
  auto pages = static_cast<int64_t>(page(target) - page(reinterpret_cast<uint64_t>(site.place))) >> 12;
  if (pages < -(int64_t(1) << 20) || pages >= int64_t(1) << 20)
    return outOfRange();
  auto bits = static_cast<uint32_t>(pages);
  put(site.place, (instructionAt(site.place) & 0x9f00001fu) | ((bits & 3) << 29) | (((bits >> 2) & 0x7ffffu) << 5));
  return Status::ok();
}

/// The low 12 bits of an address as the immediate of an add, or of a load or store of `1 << scale` bytes.
static Status putLow12(const RelocationSite &site, uint64_t target, unsigned scale) {
  uint32_t low = static_cast<uint32_t>(target) & 0xfffu;
  if (low & ((1u << scale) - 1))
    return Status(Code::InvalidArgument, "malformed object: a relocated access is not aligned");
  put(site.place, (instructionAt(site.place) & ~(0xfffu << 10)) | ((low >> scale) << 10));
  return Status::ok();
}

Status pcrt::relocateAArch64(const RelocationSite &site) {
  size_t width = site.type == R_AARCH64_ABS64 || site.type == R_AARCH64_PREL64 ? 8 : 4;
  if (site.type == R_AARCH64_NONE)
    return Status::ok();
  if (site.room < width)
    return outside();
  uint64_t target = site.symbol + static_cast<uint64_t>(site.addend);
  switch (site.type) {
  case R_AARCH64_ABS64:
    put(site.place, target);
    return Status::ok();
  case R_AARCH64_PREL64:
    put(site.place, target - reinterpret_cast<uint64_t>(site.place));
    return Status::ok();
  case R_AARCH64_PREL32:
    return putRelative32(site, site.symbol);
  case R_AARCH64_CALL26:
  case R_AARCH64_JUMP26:
    return putBranch26(site);
  case R_AARCH64_ADR_PREL_PG_HI21:
    return putPage21(site, target);
  case R_AARCH64_ADR_GOT_PAGE:
    return putPage21(site, site.gotSlot);
  case R_AARCH64_ADD_ABS_LO12_NC:
  case R_AARCH64_LDST8_ABS_LO12_NC:
    return putLow12(site, target, 0);
  case R_AARCH64_LDST16_ABS_LO12_NC:
    return putLow12(site, target, 1);
  case R_AARCH64_LDST32_ABS_LO12_NC:
    return putLow12(site, target, 2);
  case R_AARCH64_LDST64_ABS_LO12_NC:
    return putLow12(site, target, 3);
  case R_AARCH64_LDST128_ABS_LO12_NC:
    return putLow12(site, target, 4);
  case R_AARCH64_LD64_GOT_LO12_NC:
    return putLow12(site, site.gotSlot, 3);
  default:
    return unknownRelocation("of type " + std::to_string(site.type));
  }
}

void pcrt::writeStubAArch64(char *place, uint64_t target) {
  put(place, uint32_t(0x58000050));     // ldr x16, #8
  put(place + 4, uint32_t(0xd61f0200)); // br x16
  put(place + 8, target);
}
