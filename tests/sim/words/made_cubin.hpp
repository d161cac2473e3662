// SPDX-License-Identifier: Apache-2.0
// A cubin put together by hand, with what a reader of symbols looks for and no code: a kernel
// `scale`, a function `helper` that is none, the variables `plain` (8 bytes), `begun` (4 bytes that
// begin as 1 2 3 4), `fixed` (2 constant bytes, 5 6), `everywhere` (managed, 7 0 0 0), and things
// that are none. One that is still to be linked says so of variables by types of its maker.
#pragma once

#include <elf.h>

#include <cstring>
#include <string>
#include <vector>

namespace ferry::sim {

class MadeCubin {
 public:
  explicit MadeCubin(bool linked = true) {
    const unsigned zeros = linked ? SHT_NOBITS : SHT_LOPROC + 0x7;
    const unsigned shared = linked ? SHT_NOBITS : SHT_LOPROC + 0xa;
    const unsigned values = linked ? SHT_PROGBITS : SHT_LOPROC + 0x8;
    const unsigned constants = linked ? SHT_PROGBITS : SHT_LOPROC + 0x67;
    const unsigned variable = linked ? STT_OBJECT : STT_LOPROC;
    add_section(".shstrtab", SHT_STRTAB, 0);
    add_section(".strtab", SHT_STRTAB, 0);
    add_section(".symtab", SHT_SYMTAB, kNames);
    add_section(".text.scale", SHT_PROGBITS, 0, std::string(16, '\0'));
    add_section(".nv.global.init", values, 0, std::string("\1\2\3\4\7\0\0\0", 8));
    add_section(".nv.global", zeros, 0);
    add_section(".nv.constant3", constants, 0, std::string("\0\0\5\6", 4));
    add_section(".nv.shared.scale", shared, 0);
    sections_[6].sh_size = 8;
    sections_[8].sh_size = 4000;
    add_symbol("scale", STB_GLOBAL, STT_FUNC, 0x10, 4, 0, 16);
    add_symbol("helper", STB_GLOBAL, STT_FUNC, 0, 4, 8, 8);
    add_symbol("plain", STB_LOCAL, variable, 0, 6, 0, 8);
    add_symbol("begun", STB_GLOBAL, variable, 0, 5, 0, 4);
    add_symbol("everywhere", STB_GLOBAL, variable, 4, 5, 4, 4);
    add_symbol("fixed", STB_LOCAL, variable, 0, 7, 2, 2);
    add_symbol("beyond", STB_LOCAL, variable, 0, 5, 6, 4);
    add_symbol("undefined", STB_GLOBAL, variable, 0, SHN_UNDEF, 0, 4);
    add_symbol("shared", STB_LOCAL, variable, 0, 8, 0, 4);
  }

  [[nodiscard]] std::string file() {
    contents_[1] = section_names_;
    contents_[kNames] = names_;
    contents_[3].assign(reinterpret_cast<const char*>(symbols_.data()),
                        symbols_.size() * sizeof(Elf64_Sym));
    std::string body(sizeof(Elf64_Ehdr), '\0');
    for (std::size_t i = 1; i < sections_.size(); ++i) {
      sections_[i].sh_offset = body.size();
      if (sections_[i].sh_size == 0) sections_[i].sh_size = contents_[i].size();
      body += contents_[i];
      body.resize((body.size() + 7) / 8 * 8);
    }
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_machine = 190;  // CUDA
    header.e_shoff = body.size();
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<Elf64_Half>(sections_.size());
    header.e_shstrndx = 1;
    std::memcpy(body.data(), &header, sizeof header);
    body.append(reinterpret_cast<const char*>(sections_.data()),
                sections_.size() * sizeof(Elf64_Shdr));
    return body;
  }

 private:
  static constexpr std::size_t kNames = 2;

  void add_section(const std::string& name, unsigned type, unsigned link,
                   const std::string& content = {}) {
    Elf64_Shdr section{};
    section.sh_name = static_cast<Elf64_Word>(section_names_.size());
    section.sh_type = type;
    section.sh_link = link;
    section_names_ += name + '\0';
    sections_.push_back(section);
    contents_.push_back(content);
  }
  void add_symbol(const std::string& name, unsigned binding, unsigned type, unsigned other,
                  unsigned section, unsigned value, unsigned size) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<Elf64_Word>(names_.size());
    symbol.st_info = static_cast<unsigned char>(ELF64_ST_INFO(binding, type));
    symbol.st_other = static_cast<unsigned char>(other);
    symbol.st_shndx = static_cast<Elf64_Section>(section);
    symbol.st_value = value;
    symbol.st_size = size;
    names_ += name + '\0';
    symbols_.push_back(symbol);
  }

  std::string section_names_ = std::string(1, '\0');
  std::string names_ = std::string(1, '\0');
  std::vector<Elf64_Shdr> sections_ = std::vector<Elf64_Shdr>(1);
  std::vector<std::string> contents_ = std::vector<std::string>(1);
  std::vector<Elf64_Sym> symbols_ = std::vector<Elf64_Sym>(1);
};

// A fatbin of these parts, as nvcc lays it out.
[[nodiscard]] inline std::string made_fatbin(const std::vector<std::string>& parts) {
  std::string body;
  for (const std::string& part : parts) {
    const std::uint64_t bytes = (part.size() + 7) / 8 * 8;
    std::string header(64, '\0');
    header[0] = 2;
    header[3] = 1;
    header[4] = 64;
    std::memcpy(&header[8], &bytes, sizeof bytes);
    body += header + part;
    body.resize(body.size() + bytes - part.size());
  }
  const std::uint64_t bytes = body.size();
  std::string file("\x50\xed\x55\xba\1\0\x10\0", 8);
  file.append(reinterpret_cast<const char*>(&bytes), sizeof bytes);
  return file + body;
}

}  // namespace ferry::sim
