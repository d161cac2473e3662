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

TEST(KernelImage, AnElfFileReachesToTheEndOfItsLastSection) {
  std::vector<unsigned char> file(4096, 0);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_shoff = 64;
  header.e_shnum = 2;
  header.e_shentsize = sizeof(Elf64_Shdr);
  Elf64_Shdr sections[2] = {};
  sections[0].sh_type = SHT_PROGBITS;
  sections[0].sh_offset = 1000;
  sections[0].sh_size = 234;
  sections[1].sh_type = SHT_NOBITS;
  sections[1].sh_offset = 1000;
  sections[1].sh_size = 100'000;
  std::memcpy(file.data(), &header, sizeof header);
  std::memcpy(file.data() + 64, sections, sizeof sections);
  EXPECT_EQ(find_image(file.data())->size(), 1234U);
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
