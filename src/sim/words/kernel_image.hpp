// SPDX-License-Identifier: Apache-2.0
// What a program loads as a module: PTX text, a cubin (an ELF file) or a fatbin, also in the
// wrapper that nvcc makes. Tells how long it is and whether a word is in it; what it declares:
// image_symbols.hpp. The code in it is never looked at. Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ferry::sim {

using ImageBytes = std::span<const std::byte>;

// The image that `start` points to, as long as its own header says; nothing where it is none of the
// known kinds. Requires: readable for as long as that.
[[nodiscard]] std::optional<ImageBytes> find_image(const void* start);

// The same in a file, which may be cut off or hostile: nothing beyond it is read. No wrapper, which
// is a thing of memory.
[[nodiscard]] std::optional<ImageBytes> find_image_in(ImageBytes file);

// The contents of a fatbin, one for each kind of device, as far as they lie within it; any other
// image is its own and only part. What is compressed looks like nothing known.
[[nodiscard]] std::vector<ImageBytes> parts_of(ImageBytes image);

// A file, read whole, and the image in it.
class ImageFile {
 public:
  explicit ImageFile(const char* path);
  [[nodiscard]] bool exists() const { return content_.has_value(); }
  [[nodiscard]] std::optional<ImageBytes> image() const;

 private:
  std::optional<std::string> content_;
};

// The name stands in the image as a word of its own. Names stay readable in fatbins, compressed or
// not.
[[nodiscard]] bool has_name(ImageBytes image, std::string_view name);

}  // namespace ferry::sim
