// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/sealed_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace ferry::sim {

namespace {

// The description has the first page for itself.
constexpr std::uint64_t kHeadBytes = 4096;
constexpr char kMagic[16] = "ferry-sim-share";
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

struct Head {
  char magic[16];
  SharedDescription description;
};

bool is_sealed(int descriptor) {
  const int seals = fcntl(descriptor, F_GET_SEALS);
  return seals >= 0 && (seals & kSeals) == kSeals;
}

// A descriptor of its own: locks of files belong to what was opened, not to the process.
int open_again(const std::string& path) {
  return ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

struct flock stretch(short type, std::uint64_t offset, std::uint64_t bytes) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(offset);
  range.l_len = static_cast<off_t>(bytes);
  return range;
}

bool set_lock(int descriptor, short type, std::uint64_t offset, std::uint64_t bytes) {
  struct flock range = stretch(type, offset, bytes);
  while (fcntl(descriptor, F_OFD_SETLKW, &range) != 0) {
    if (errno != EINTR) return false;
  }
  return true;
}

// The system would end the process instead of refusing.
bool is_within_limit(std::uint64_t bytes) {
  rlimit largest{};
  return getrlimit(RLIMIT_FSIZE, &largest) == 0 && bytes <= largest.rlim_cur;
}

}  // namespace

MappedPart::~MappedPart() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

MappedPart::MappedPart(MappedPart&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

MappedPart& MappedPart::operator=(MappedPart&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

SealedFile::~SealedFile() {
  leave();
  close(descriptor_);
}

std::shared_ptr<SealedFile> SealedFile::create(const SharedDescription& description,
                                               std::uint64_t bytes) {
  if (!is_within_limit(kHeadBytes + bytes)) return nullptr;
  const int descriptor = memfd_create("ferry-sim-shared", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) return nullptr;
  std::shared_ptr<SealedFile> file(new SealedFile(descriptor));
  Head head{};
  std::memcpy(head.magic, kMagic, sizeof kMagic);
  head.description = description;
  const bool made = ftruncate(descriptor, static_cast<off_t>(kHeadBytes + bytes)) == 0 &&
                    pwrite(descriptor, &head, sizeof head, 0) == sizeof head &&
                    fcntl(descriptor, F_ADD_SEALS, kSeals) == 0;
  if (!made || !file->identify()) return nullptr;
  file->description_ = description;
  return file;
}

std::shared_ptr<SealedFile> SealedFile::open(int descriptor, SharedKind kind) {
  if (!is_sealed(descriptor)) return nullptr;
  const int own = open_again(fmt::format("/proc/self/fd/{}", descriptor));
  if (own < 0) return nullptr;
  std::shared_ptr<SealedFile> file(new SealedFile(own));
  return is_sealed(own) && file->read_description(kind) ? file : nullptr;
}

std::shared_ptr<SealedFile> SealedFile::open_of(pid_t process, int descriptor, const FileId& id,
                                                SharedKind kind, Opening& what) {
  what = Opening::gone;
  const std::string path = fmt::format("/proc/{}/fd/{}", process, descriptor);
  struct stat known {};
  if (stat(path.c_str(), &known) != 0) {
    if (errno == EACCES || errno == EPERM) what = Opening::refused;
    return nullptr;
  }
  // Looked at before it is opened: a number from a handle could lead to anything.
  if (!S_ISREG(known.st_mode) || known.st_dev != id.device || known.st_ino != id.inode)
    return nullptr;
  const int own = open_again(path);
  if (own < 0) {
    what = Opening::refused;
    return nullptr;
  }
  std::shared_ptr<SealedFile> file(new SealedFile(own));
  if (!is_sealed(own) || !file->read_description(kind) || file->id() != id) return nullptr;
  what = Opening::done;
  return file;
}

bool SealedFile::identify() {
  struct stat known {};
  if (fstat(descriptor_, &known) != 0 || !S_ISREG(known.st_mode)) return false;
  if (known.st_size < static_cast<off_t>(kHeadBytes)) return false;
  id_ = {known.st_dev, known.st_ino};
  bytes_ = static_cast<std::uint64_t>(known.st_size) - kHeadBytes;
  return true;
}

bool SealedFile::read_description(SharedKind kind) {
  Head head{};
  if (!identify() || pread(descriptor_, &head, sizeof head, 0) != sizeof head) return false;
  if (std::memcmp(head.magic, kMagic, sizeof kMagic) != 0) return false;
  description_ = head.description;
  return description_.kind == kind;
}

int SealedFile::give_descriptor() const {
  return fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
}

MappedPart SealedFile::map(std::uint64_t offset, std::uint64_t bytes) const {
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                            descriptor_, static_cast<off_t>(kHeadBytes + offset));
  if (mapped == MAP_FAILED) return {};
  madvise(mapped, bytes, MADV_DONTDUMP);
  return {static_cast<std::byte*>(mapped), bytes};
}

bool SealedFile::lock(std::uint64_t offset, std::uint64_t bytes) const {
  return set_lock(descriptor_, F_WRLCK, kHeadBytes + offset, bytes);
}

void SealedFile::unlock(std::uint64_t offset, std::uint64_t bytes) const {
  static_cast<void>(set_lock(descriptor_, F_UNLCK, kHeadBytes + offset, bytes));
}

bool SealedFile::hold(std::uint64_t place) {
  if (holding_ < 0) holding_ = open_again(fmt::format("/proc/self/fd/{}", descriptor_));
  if (holding_ < 0) return false;
  struct flock range = stretch(F_WRLCK, kHeadBytes + bytes_ + place, 1);
  return fcntl(holding_, F_OFD_SETLK, &range) == 0;
}

bool SealedFile::is_held(std::uint64_t place) const {
  struct flock range = stretch(F_WRLCK, kHeadBytes + bytes_ + place, 1);
  return fcntl(descriptor_, F_OFD_GETLK, &range) != 0 || range.l_type != F_UNLCK;
}

void SealedFile::leave() {
  if (holding_ >= 0) close(std::exchange(holding_, -1));
}

}  // namespace ferry::sim
