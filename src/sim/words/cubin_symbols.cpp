// SPDX-License-Identifier: Apache-2.0
#include "sim/words/cubin_symbols.hpp"

#include <elf.h>

#include <cstring>

#include "sim/words/cubin_sections.hpp"

namespace ferry::sim {

namespace {

// In a symbol's st_other, as nvcc writes them.
constexpr unsigned kEntry = 0x10;
constexpr unsigned kManaged = 0x04;

class Cubin {
 public:
  explicit Cubin(ImageBytes file) : file_(file) {}

  // Nothing where it does not lie in the file.
  template <typename Part>
  [[nodiscard]] std::optional<Part> at(std::uint64_t offset) const {
    const auto bytes = stretch(offset, sizeof(Part));
    if (!bytes) return std::nullopt;
    Part part;
    std::memcpy(&part, bytes->data(), sizeof part);
    return part;
  }
  [[nodiscard]] std::optional<ImageBytes> stretch(std::uint64_t offset, std::uint64_t size) const {
    if (offset > file_.size() || size > file_.size() - offset) return std::nullopt;
    return file_.subspan(offset, size);
  }
  [[nodiscard]] std::optional<Elf64_Shdr> section(const Elf64_Ehdr& header,
                                                  std::uint64_t number) const {
    if (number == SHN_UNDEF || number >= header.e_shnum) return std::nullopt;
    return at<Elf64_Shdr>(header.e_shoff + number * header.e_shentsize);
  }
  // A name in a table of names; empty where it has no end.
  [[nodiscard]] std::string_view name(const Elf64_Shdr& table, std::uint64_t offset) const {
    const auto names = stretch(table.sh_offset, table.sh_size);
    if (!names || offset >= names->size()) return {};
    const auto* const start = reinterpret_cast<const char*>(names->data() + offset);
    const std::size_t most = names->size() - offset;
    const std::size_t length = strnlen(start, most);
    return length == most ? std::string_view{} : std::string_view(start, length);
  }

 private:
  ImageBytes file_;
};

// Before linking it is a type of the maker's own.
bool is_variable(unsigned symbol_type) {
  return symbol_type == STT_OBJECT || symbol_type == STT_LOPROC;
}

bool holds_variables(std::string_view section) {
  return section == ".nv.global" || section == ".nv.global.init" || section == ".nv.constant3";
}

// Nothing where its bytes do not lie in the file.
std::optional<ImageVariable> variable_of(const Cubin& cubin, const Elf64_Sym& symbol,
                                         const Elf64_Shdr& section, std::string_view name) {
  ImageVariable variable;
  variable.name = name;
  variable.bytes = symbol.st_size;
  variable.managed = (symbol.st_other & kManaged) != 0;
  if (is_without_bytes(section.sh_type)) return variable;
  if (symbol.st_value > section.sh_size || symbol.st_size > section.sh_size - symbol.st_value)
    return std::nullopt;
  const auto bytes = cubin.stretch(section.sh_offset + symbol.st_value, symbol.st_size);
  if (!bytes) return std::nullopt;
  variable.initial.assign(bytes->begin(), bytes->end());
  return variable;
}

ImageSymbols read_table(const Cubin& cubin, const Elf64_Ehdr& header, const Elf64_Shdr& table) {
  ImageSymbols symbols;
  const auto names = cubin.section(header, table.sh_link);
  const auto section_names = cubin.section(header, header.e_shstrndx);
  if (!names || !section_names) return symbols;
  for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
    const auto symbol = cubin.at<Elf64_Sym>(table.sh_offset + at);
    if (!symbol) break;
    const auto section = cubin.section(header, symbol->st_shndx);
    const std::string_view name = cubin.name(*names, symbol->st_name);
    if (!section || name.empty()) continue;
    const unsigned type = ELF64_ST_TYPE(symbol->st_info);
    if (type == STT_FUNC && (symbol->st_other & kEntry) != 0) {
      symbols.kernels.emplace_back(name);
    } else if (is_variable(type) && symbol->st_size > 0 &&
               holds_variables(cubin.name(*section_names, section->sh_name))) {
      if (auto variable = variable_of(cubin, *symbol, *section, name))
        symbols.variables.push_back(std::move(*variable));
    }
  }
  return symbols;
}

}  // namespace

std::optional<ImageSymbols> read_cubin_symbols(ImageBytes file) {
  const Cubin cubin(file);
  const auto header = cubin.at<Elf64_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
  for (std::uint64_t number = 1; number < header->e_shnum; ++number) {
    const auto section = cubin.section(*header, number);
    if (section && section->sh_type == SHT_SYMTAB) return read_table(cubin, *header, *section);
  }
  return std::nullopt;
}

}  // namespace ferry::sim
