// SPDX-License-Identifier: Apache-2.0
#include "front/traces/byte_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

namespace ferry::replay {
namespace {

constexpr std::size_t kChunk = 256 * 1024;
constexpr std::string_view kGzipMagic = "\x1f\x8b";

std::string system_text(int error) {
  return std::generic_category().message(error);
}

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd = -1) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

class Inflater {
 public:
  Inflater() { ready_ = ::inflateInit2(&stream_, 15 + 16) == Z_OK; }  // 16: the gzip wrapper
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() {
    if (ready_) ::inflateEnd(&stream_);
  }
  [[nodiscard]] bool ready() const { return ready_; }
  [[nodiscard]] z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
  bool ready_ = false;
};

}  // namespace

struct ByteSource::State {
  using Chunk = Result<std::string_view, TraceError>;

  ByteLimits limits;
  std::optional<FileDescriptor> file;  // without one, `raw` is all there is
  std::string_view raw;                // stored bytes that are not used yet
  std::string raw_buffer;
  std::uint64_t raw_total = 0;
  std::uint64_t size_hint = 0;

  bool started = false;
  std::unique_ptr<Inflater> inflater;
  bool member_done = false;  // the last gzip member has ended
  std::string out_buffer;
  std::string_view peeked;
  bool has_peeked = false;
  std::uint64_t produced = 0;

  [[nodiscard]] TraceError broken(std::string message) const {
    return {std::move(message), produced};
  }

  std::optional<TraceError> fill();
  std::optional<TraceError> start();
  std::optional<TraceError> next_member();
  Chunk unpack();
  Chunk produce();
};

// Reads stored bytes when none are left; `raw` stays empty at the end of the file.
std::optional<TraceError> ByteSource::State::fill() {
  if (!raw.empty() || !file) return std::nullopt;
  raw_buffer.resize(kChunk);
  std::size_t got = 0;
  // Short reads are joined, so that two bytes of magic are never split by a slow pipe.
  while (got < raw_buffer.size()) {
    const ssize_t n = ::read(file->get(), raw_buffer.data() + got, raw_buffer.size() - got);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return broken(fmt::format("cannot be read: {}", system_text(errno)));
    if (n == 0) break;
    got += static_cast<std::size_t>(n);
  }
  raw = std::string_view(raw_buffer).substr(0, got);
  raw_total += got;
  if (raw_total > limits.file.count) {
    return broken(
        fmt::format("is larger than {}, the most that is read", format_bytes(limits.file)));
  }
  return std::nullopt;
}

std::optional<TraceError> ByteSource::State::start() {
  started = true;
  if (auto error = fill()) return error;
  if (!raw.starts_with(kGzipMagic)) return std::nullopt;
  inflater = std::make_unique<Inflater>();
  if (!inflater->ready()) return broken("cannot be unpacked: no memory for the decompressor");
  out_buffer.resize(kChunk);
  return std::nullopt;
}

// After one gzip member: another may follow, or zeros that some tools pad with.
std::optional<TraceError> ByteSource::State::next_member() {
  while (true) {
    if (auto error = fill()) return error;
    if (raw.empty()) return std::nullopt;
    const std::size_t used = raw.find_first_not_of('\0');
    raw.remove_prefix(std::min(used, raw.size()));
    if (!raw.empty()) break;
  }
  if (raw.front() != kGzipMagic.front()) {
    return broken("has bytes after its compressed data that belong to nothing");
  }
  ::inflateReset(&inflater->stream());
  member_done = false;
  return std::nullopt;
}

ByteSource::State::Chunk ByteSource::State::unpack() {
  z_stream& z = inflater->stream();
  z.next_out = reinterpret_cast<Bytef*>(out_buffer.data());
  z.avail_out = static_cast<uInt>(out_buffer.size());
  while (z.avail_out == out_buffer.size()) {
    if (member_done) {
      if (auto error = next_member()) return *std::move(error);
      if (member_done) break;
    }
    if (auto error = fill()) return *std::move(error);
    if (raw.empty()) return broken("is cut off: its compressed data ends too early");
    const std::size_t offered = std::min<std::size_t>(raw.size(), kChunk);
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(raw.data()));  // zlib does not write
    z.avail_in = static_cast<uInt>(offered);
    const int code = ::inflate(&z, Z_NO_FLUSH);
    raw.remove_prefix(offered - z.avail_in);
    if (code == Z_STREAM_END) {
      member_done = true;
    } else if (code != Z_OK) {
      return broken(
          fmt::format("has damaged compressed data ({})", z.msg != nullptr ? z.msg : "unreadable"));
    }
  }
  return std::string_view(out_buffer).substr(0, out_buffer.size() - z.avail_out);
}

ByteSource::State::Chunk ByteSource::State::produce() {
  if (!started) {
    if (auto error = start()) return *std::move(error);
  }
  if (!inflater) {
    if (auto error = fill()) return *std::move(error);
    produced += raw.size();
    return std::exchange(raw, {});
  }
  Chunk chunk = unpack();
  if (!chunk) return chunk;
  produced += chunk->size();
  if (produced > limits.stream.count) {
    return broken(
        fmt::format("unpacks to more than {}, the most that is read", format_bytes(limits.stream)));
  }
  if (produced > limits.free_growth.count && produced / limits.growth > raw_total) {
    return broken(fmt::format("unpacks to more than {} times its size, as no real trace does",
                              limits.growth));
  }
  return chunk;
}

ByteSource::ByteSource(std::unique_ptr<State> state) : state_(std::move(state)) {}
ByteSource::ByteSource(ByteSource&&) noexcept = default;
ByteSource& ByteSource::operator=(ByteSource&&) noexcept = default;
ByteSource::~ByteSource() = default;

Result<ByteSource, TraceError> ByteSource::open(const std::string& path, ByteLimits limits) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) {
    if (errno == ENOENT) return TraceError{"does not exist", std::nullopt};
    return TraceError{fmt::format("cannot be opened: {}", system_text(errno)), std::nullopt};
  }
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) {
    return TraceError{fmt::format("cannot be examined: {}", system_text(errno)), std::nullopt};
  }
  if (S_ISDIR(info.st_mode)) return TraceError{"is a directory, not a trace", std::nullopt};
  if (!S_ISREG(info.st_mode) && !S_ISFIFO(info.st_mode)) {
    return TraceError{"is neither a file nor a pipe", std::nullopt};
  }
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (size > limits.file.count) {
    return TraceError{fmt::format("holds {}, more than the {} that are read at most",
                                  format_bytes(Bytes{size}), format_bytes(limits.file)),
                      std::nullopt};
  }
  auto state = std::make_unique<State>();
  state->limits = limits;
  state->file = std::move(file);
  state->size_hint = size;
  return ByteSource(std::move(state));
}

ByteSource ByteSource::over(std::string_view bytes, ByteLimits limits) {
  auto state = std::make_unique<State>();
  state->limits = limits;
  state->raw = bytes;
  state->raw_total = bytes.size();
  state->size_hint = bytes.size();
  return ByteSource(std::move(state));
}

Result<std::string_view, TraceError> ByteSource::next() {
  if (std::exchange(state_->has_peeked, false)) return state_->peeked;
  return state_->produce();
}

Result<std::string_view, TraceError> ByteSource::peek() {
  if (!state_->has_peeked) {
    auto chunk = state_->produce();
    if (!chunk) return chunk;
    state_->peeked = *chunk;
    state_->has_peeked = true;
  }
  return state_->peeked;
}

Result<std::string, TraceError> ByteSource::rest() {
  std::string all;
  if (!state_->inflater) all.reserve(state_->size_hint);
  while (true) {
    auto chunk = next();
    if (!chunk) return std::move(chunk).error();
    if (chunk->empty()) return all;
    all += *chunk;
  }
}

}  // namespace ferry::replay
