// SPDX-License-Identifier: Apache-2.0
#include "sim/words/kernel_image.hpp"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "sim/words/made_cubin.hpp"

namespace ferry::sim {
namespace {

constexpr const char* kPtx =
    "// made by hand\n/* twice */ .version 7.0\n.target sm_50\n.visible .entry scale_all() { ret; "
    "}\n";

ImageBytes bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

TEST(KernelImage, PtxEndsAtItsZero) {
  const auto image = find_image(kPtx);
  ASSERT_TRUE(image);
  EXPECT_EQ(image->size(), std::strlen(kPtx));
}

TEST(KernelImage, OtherTextIsNone) {
  EXPECT_FALSE(find_image(nullptr));
  EXPECT_FALSE(find_image("int main() {}"));
  EXPECT_FALSE(find_image("// only a comment"));
  EXPECT_FALSE(find_image("/* never closed .version 7.0"));
  EXPECT_FALSE(find_image(""));
}

TEST(KernelImage, AFatbinIsAsLongAsItSays) {
  std::vector<unsigned char> fatbin(200, 0);
  const std::uint32_t magic = 0xba55ed50;
  const std::uint16_t header = 16;
  const std::uint64_t content = 100;
  std::memcpy(&fatbin[0], &magic, sizeof magic);
  std::memcpy(&fatbin[6], &header, sizeof header);
  std::memcpy(&fatbin[8], &content, sizeof content);
  EXPECT_EQ(find_image(fatbin.data())->size(), 116U);

  const void* const wrapped = fatbin.data();
  unsigned char wrapper[24] = {};
  const std::uint32_t wrapper_magic = 0x466243b1;
  std::memcpy(&wrapper[0], &wrapper_magic, sizeof wrapper_magic);
  std::memcpy(&wrapper[8], &wrapped, sizeof wrapped);
  const auto image = find_image(wrapper);
  ASSERT_TRUE(image);
  EXPECT_EQ(static_cast<const void*>(image->data()), wrapped);
  EXPECT_EQ(image->size(), 116U);
}

// One that has only headers for these sections, behind the first bytes.
std::string elf_of(const std::vector<Elf64_Shdr>& sections) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_shoff = sizeof header;
  header.e_shnum = static_cast<Elf64_Half>(sections.size());
  header.e_shentsize = sizeof(Elf64_Shdr);
  std::string file(reinterpret_cast<const char*>(&header), sizeof header);
  file.append(reinterpret_cast<const char*>(sections.data()), sections.size() * sizeof(Elf64_Shdr));
  return file;
}

Elf64_Shdr section_of(unsigned type, std::uint64_t offset, std::uint64_t bytes) {
  Elf64_Shdr section{};
  section.sh_type = type;
  section.sh_offset = offset;
  section.sh_size = bytes;
  return section;
}

TEST(KernelImage, AnElfFileReachesToTheEndOfItsLastSection) {
  EXPECT_EQ(find_image(elf_of({section_of(SHT_PROGBITS, 1000, 234)}).data())->size(), 1234U);
  EXPECT_EQ(find_image(elf_of({section_of(SHT_LOPROC + 0x64, 1000, 234)}).data())->size(), 1234U);
}

TEST(KernelImage, MemoryWithoutBytesIsNoneOfTheFile) {
  const std::vector<Elf64_Shdr> bytes{section_of(SHT_PROGBITS, 1000, 234)};
  for (const unsigned type : {unsigned{SHT_NOBITS}, SHT_LOPROC + 0x7U, SHT_LOPROC + 0x9U,
                              SHT_LOPROC + 0xaU, SHT_LOPROC + 0x15U}) {
    auto sections = bytes;
    sections.push_back(section_of(type, 1234, 100'000));
    std::string file = elf_of(sections);
    EXPECT_EQ(find_image(file.data())->size(), 1234U) << type;
    file.resize(1234);
    EXPECT_EQ(find_image_in(bytes_of(file))->size(), 1234U) << "and so in a file";
    file.pop_back();
    EXPECT_FALSE(find_image_in(bytes_of(file)));
  }
}

TEST(KernelImage, AKindOfMemoryNobodyKnowsEndsBeforeTheNextSection) {
  const std::string file =
      elf_of({section_of(SHT_LOPROC + 0x55, 1000, 100'000), section_of(SHT_PROGBITS, 1000, 234)});
  EXPECT_EQ(find_image(file.data())->size(), 101'000U) << "the last one is taken at its word";
  const std::string before =
      elf_of({section_of(SHT_LOPROC + 0x55, 1000, 100'000), section_of(SHT_PROGBITS, 1001, 233)});
  EXPECT_EQ(find_image(before.data())->size(), 1234U);
}

TEST(KernelImage, AFileIsNotReadBeyondItsEnd) {
  EXPECT_TRUE(find_image_in(bytes_of(kPtx)));
  EXPECT_FALSE(find_image_in(bytes_of("")));
  EXPECT_FALSE(find_image_in(bytes_of("\x7f")));
  EXPECT_FALSE(
      find_image_in(bytes_of("\x7f"
                             "ELF" +
                             std::string(60, '\xff'))));
  EXPECT_FALSE(find_image_in(bytes_of("\xb1\x43\x62\x46" + std::string(20, '\x11'))))
      << "a wrapper's pointer is not followed";
  std::string fatbin("\x50\xed\x55\xba\1\0\x10\0", 8);
  fatbin.append("\x64\0\0\0\0\0\0\0", 8);
  fatbin.resize(116, 'x');
  EXPECT_EQ(find_image_in(bytes_of(fatbin))->size(), 116U);
  fatbin.pop_back();
  EXPECT_FALSE(find_image_in(bytes_of(fatbin)));
}

TEST(KernelImage, AFatbinHasParts) {
  const std::string fatbin = made_fatbin({"12345678", "abc"});
  const auto parts = parts_of(bytes_of(fatbin));
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].size(), 8U);
  EXPECT_EQ(parts[0].front(), std::byte{'1'});
  EXPECT_EQ(parts[1].front(), std::byte{'a'});
  EXPECT_EQ(parts_of(bytes_of(fatbin.substr(0, fatbin.size() - 1))).size(), 1U)
      << "one that does not lie within it is none";
  EXPECT_EQ(parts_of(bytes_of(kPtx)).front().size(), std::strlen(kPtx)) << "any other is its own";
}

TEST(ImageFile, WhatCannotBeReadIsNotThere) {
  EXPECT_FALSE(ImageFile("/nonexistent").exists());
  EXPECT_FALSE(ImageFile("/").exists());
  EXPECT_FALSE(ImageFile("/proc/self/mem").exists());
}

TEST(KernelImage, ANameIsAWordOfItsOwn) {
  constexpr char kNames[] = "x.text.scale\0scale_all\0rescale";
  const std::string text(kNames, sizeof kNames - 1);
  EXPECT_TRUE(has_name(bytes_of(text), "scale"));
  EXPECT_TRUE(has_name(bytes_of(text), "scale_all"));
  EXPECT_TRUE(has_name(bytes_of(text), "rescale"));
  EXPECT_FALSE(has_name(bytes_of(text), "scal"));
  EXPECT_FALSE(has_name(bytes_of(text), "cale"));
  EXPECT_FALSE(has_name(bytes_of(text), "_all"));
  EXPECT_FALSE(has_name(bytes_of(text), ""));
  EXPECT_FALSE(has_name(bytes_of("rescale scaled"), "scale"));
}

}  // namespace
}  // namespace ferry::sim
