// SPDX-License-Identifier: Apache-2.0
#include "sim/words/kernel_image.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>
#include <utility>

#include "sim/words/cubin_sections.hpp"
#include "sim/words/ptx_words.hpp"

namespace ferry::sim {

namespace {

// As nvcc writes them (fatbinary_section.h and fatbinary.h of the toolkit).
constexpr std::uint32_t kElfMagic = 0x464c457f;
constexpr std::uint32_t kWrapperMagic = 0x466243b1;
constexpr std::uint32_t kFatbinMagic = 0xba55ed50;

struct FatbinWrapper {
  std::uint32_t magic = 0;
  std::uint32_t version = 0;
  const void* image = nullptr;
  void* unused = nullptr;
};

// Before each part of a fatbin.
struct PartHeader {
  std::uint16_t kind = 0;
  std::uint16_t version = 0;
  std::uint32_t header_bytes = 0;
  std::uint64_t content_bytes = 0;
};

struct FatbinHeader {
  std::uint32_t magic = 0;
  std::uint16_t version = 0;
  std::uint16_t header_bytes = 0;
  std::uint64_t content_bytes = 0;
};

// Images need not be aligned.
template <typename Header>
Header read(const void* start) {
  Header header;
  std::memcpy(&header, start, sizeof header);
  return header;
}

ImageBytes bytes_at(const void* start, std::size_t count) {
  return {static_cast<const std::byte*>(start), count};
}

// Takes stretches of an image, which lie within `most` bytes or are refused.
class Extent {
 public:
  explicit Extent(std::uint64_t most) : most_(most) {}
  [[nodiscard]] bool reaches(std::uint64_t offset, std::uint64_t bytes) {
    std::uint64_t its_end = 0;
    if (__builtin_add_overflow(offset, bytes, &its_end)) return false;
    end_ = std::max(end_, its_end);
    return its_end <= most_;
  }
  [[nodiscard]] std::uint64_t end() const { return end_; }

 private:
  std::uint64_t most_;
  std::uint64_t end_ = 0;
};

// To the end of its last section, or of its tables. Nothing where they cannot lie within `most`
// bytes.
std::optional<std::size_t> elf_bytes(const void* start, std::size_t most) {
  if (most < sizeof(Elf64_Ehdr)) return std::nullopt;
  const auto header = read<Elf64_Ehdr>(start);
  Extent extent(most);
  if (header.e_shnum > 0 && header.e_shentsize < sizeof(Elf64_Shdr)) return std::nullopt;
  if (!extent.reaches(header.e_shoff, std::uint64_t{header.e_shnum} * header.e_shentsize) ||
      !extent.reaches(header.e_phoff, std::uint64_t{header.e_phnum} * header.e_phentsize)) {
    return std::nullopt;
  }
  std::vector<std::uint64_t> starts{header.e_shoff, header.e_phoff};
  std::vector<Elf64_Shdr> sections;
  const auto* const table = static_cast<const std::byte*>(start) + header.e_shoff;
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    sections.push_back(read<Elf64_Shdr>(table + i * header.e_shentsize));
    starts.push_back(sections.back().sh_offset);
  }
  std::ranges::sort(starts);
  for (Elf64_Shdr& section : sections) {
    if (is_without_bytes(section.sh_type)) continue;
    // No two have the same bytes: what lies across the next start is memory of a kind that is not
    // known here.
    const auto next = std::ranges::upper_bound(starts, section.sh_offset);
    if (is_of_its_maker(section.sh_type) && next != starts.end())
      section.sh_size = std::min(section.sh_size, *next - section.sh_offset);
    if (!extent.reaches(section.sh_offset, section.sh_size)) return std::nullopt;
  }
  return extent.end();
}

std::optional<std::size_t> fatbin_bytes(const void* start, std::size_t most) {
  if (most < sizeof(FatbinHeader)) return std::nullopt;
  const auto header = read<FatbinHeader>(start);
  std::uint64_t end = 0;
  const bool wraps =
      __builtin_add_overflow(std::uint64_t{header.header_bytes}, header.content_bytes, &end);
  return wraps || end > most ? std::nullopt : std::optional<std::size_t>(end);
}

bool may_be_text(std::byte first) {
  const auto letter = static_cast<unsigned char>(first);
  return letter == '/' || letter == '.' || std::isspace(letter) != 0;
}

// Reads no further than the first byte that differs: what is not an image may be shorter than any.
bool begins_with(const void* start, std::uint32_t magic) {
  const auto wanted = std::bit_cast<std::array<std::byte, sizeof magic>>(magic);
  return std::equal(wanted.begin(), wanted.end(), static_cast<const std::byte*>(start));
}

// A cubin or a fatbin.
std::optional<ImageBytes> find_binary(const void* start, std::size_t most) {
  if (most < sizeof kElfMagic) return std::nullopt;
  std::optional<std::size_t> bytes;
  if (begins_with(start, kElfMagic)) {
    bytes = elf_bytes(start, most);
  } else if (begins_with(start, kFatbinMagic)) {
    bytes = fatbin_bytes(start, most);
  }
  return bytes ? std::optional(bytes_at(start, *bytes)) : std::nullopt;
}

bool is_of_a_name(std::byte byte) {
  const auto letter = static_cast<unsigned char>(byte);
  return std::isalnum(letter) != 0 || letter == '_' || letter == '$';
}

}  // namespace

std::optional<ImageBytes> find_image(const void* start) {
  if (start == nullptr) return std::nullopt;
  if (may_be_text(read<std::byte>(start))) {
    const std::string_view text(static_cast<const char*>(start));
    return is_ptx(text) ? std::optional(bytes_at(start, text.size())) : std::nullopt;
  }
  if (begins_with(start, kWrapperMagic)) {
    start = read<FatbinWrapper>(start).image;
    if (start == nullptr) return std::nullopt;
  }
  return find_binary(start, std::numeric_limits<std::size_t>::max());
}

std::optional<ImageBytes> find_image_in(ImageBytes file) {
  if (file.empty()) return std::nullopt;
  if (!may_be_text(file.front())) return find_binary(file.data(), file.size());
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  return is_ptx(text) ? std::optional(file) : std::nullopt;
}

std::vector<ImageBytes> parts_of(ImageBytes image) {
  if (image.size() < sizeof(FatbinHeader) || !begins_with(image.data(), kFatbinMagic))
    return {image};
  std::vector<ImageBytes> parts;
  ImageBytes rest = image.subspan(
      std::min<std::size_t>(read<FatbinHeader>(image.data()).header_bytes, image.size()));
  while (rest.size() >= sizeof(PartHeader)) {
    const auto header = read<PartHeader>(rest.data());
    if (header.header_bytes < sizeof header || header.header_bytes > rest.size() ||
        header.content_bytes > rest.size() - header.header_bytes) {
      break;
    }
    parts.push_back(rest.subspan(header.header_bytes, header.content_bytes));
    rest = rest.subspan(header.header_bytes + header.content_bytes);
  }
  return parts;
}

ImageFile::ImageFile(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return;
  file.peek();  // notes what a directory answers; copying the stream's buffer would not tell
  if (file.bad()) return;
  std::ostringstream content;
  content << file.rdbuf();
  content_ = std::move(content).str();
}

std::optional<ImageBytes> ImageFile::image() const {
  return content_ ? find_image_in(std::as_bytes(std::span(*content_))) : std::nullopt;
}

bool has_name(ImageBytes image, std::string_view name) {
  if (name.empty()) return false;
  const auto* const letters = reinterpret_cast<const std::byte*>(name.data());
  auto from = image.begin();
  while (true) {
    const auto found = std::search(from, image.end(), letters, letters + name.size());
    if (found == image.end()) return false;
    const auto after = found + static_cast<std::ptrdiff_t>(name.size());
    const bool begins = found == image.begin() || !is_of_a_name(*(found - 1));
    const bool ends = after == image.end() || !is_of_a_name(*after);
    if (begins && ends) return true;
    from = found + 1;
  }
}

}  // namespace ferry::sim
