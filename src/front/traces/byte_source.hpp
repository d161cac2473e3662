// SPDX-License-Identifier: Apache-2.0
// A file, or bytes in memory, as one stream of decompressed bytes in chunks: gzip is recognised by
// its first two bytes and unpacked on the way. Owns the open file; the readers above never see
// whether their input was compressed, and every offset they name is one of this stream.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "front/traces/trace.hpp"

namespace ferry::replay {

struct ByteLimits {
  Bytes file = kMaxTraceFile;      // bytes as stored
  Bytes stream = kMaxTraceStream;  // bytes after decompression
  // Beyond the first `free_growth`, no more than so many bytes for each that is stored: traces of
  // real programs shrink to a thirtieth, files made to exhaust memory to a thousandth.
  Bytes free_growth = 64_MiB;
  std::uint64_t growth = 250;
};

class ByteSource {
 public:
  // Opens a regular file or a pipe.
  [[nodiscard]] static Result<ByteSource, TraceError> open(const std::string& path,
                                                           ByteLimits limits = {});
  // Reads from memory, which must outlive the source.
  [[nodiscard]] static ByteSource over(std::string_view bytes, ByteLimits limits = {});

  ByteSource(ByteSource&&) noexcept;
  ByteSource& operator=(ByteSource&&) noexcept;
  ~ByteSource();

  // The next chunk; empty at the end of the stream. Valid until the next call.
  [[nodiscard]] Result<std::string_view, TraceError> next();

  // The chunk that `next` will return, left in place.
  [[nodiscard]] Result<std::string_view, TraceError> peek();

  // Everything that is left, in one piece.
  [[nodiscard]] Result<std::string, TraceError> rest();

 private:
  struct State;
  explicit ByteSource(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace ferry::replay
