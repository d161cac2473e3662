// SPDX-License-Identifier: Apache-2.0
#include "front/report/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace ferry::replay {

namespace {

std::string refused(const char* what, int error) {
  return fmt::format("{}: {}.", what, std::strerror(error));
}

// 0, or the errno of what failed. Closes the file in any case: some file systems tell of a full
// disk only then.
int write_and_close(int file, std::string_view text, bool sync) {
  int error = 0;
  while (!text.empty() && error == 0) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (written == 0 || errno != EINTR) {
      error = written == 0 ? ENOSPC : errno;
    }
  }
  if (error == 0 && sync && fsync(file) != 0) error = errno;
  if (close(file) != 0 && error == 0) error = errno;
  return error;
}

mode_t usual_mode() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

std::string write_in_place(const std::string& path, std::string_view text) {
  const int file = open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
  if (file < 0) return refused("it could not be opened", errno);
  const int error = write_and_close(file, text, false);
  return error == 0 ? "" : refused("it could not be written", error);
}

std::string no_file_beside(int error) {
  return refused("no file could be made beside it", error);
}

// What a path leads to, and how it is written.
struct Target {
  std::string trouble{};  // why it cannot be
  bool in_place = false;  // a pipe or a device
  bool exists = true;
  std::string real{};  // through links to the file itself: the link is to stay
  mode_t mode = 0;
};

Target target_of(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) {
    if (errno != ENOENT) return {.trouble = refused("it could not be opened", errno)};
    return {.exists = false, .real = path, .mode = usual_mode()};
  }
  if (S_ISDIR(found.st_mode)) return {.trouble = "it is a folder."};
  if (!S_ISREG(found.st_mode)) return {.in_place = true, .real = path};
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr),
                                                         &std::free);
  return {.real = real ? real.get() : path, .mode = found.st_mode & 07777};
}

// Puts another file in the place of the old one.
std::string replace(const Target& target, std::string_view text) {
  std::string temporary = target.real + ".XXXXXX";
  const int file = mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0) {
    return target.exists ? write_in_place(target.real, text) : no_file_beside(errno);
  }
  const bool moded = fchmod(file, target.mode) == 0;
  int error = moded ? 0 : errno;
  const int write_error = write_and_close(file, text, true);
  if (error == 0) error = write_error;
  if (error == 0 && rename(temporary.c_str(), target.real.c_str()) != 0) error = errno;
  if (error == 0) return "";
  unlink(temporary.c_str());
  if (error == EBUSY && target.exists) return write_in_place(target.real, text);  // a mount
  return refused("it could not be written", error);
}

}  // namespace

std::string write_file(const std::string& path, std::string_view text) {
  const Target target = target_of(path);
  if (!target.trouble.empty()) return target.trouble;
  return target.in_place ? write_in_place(path, text) : replace(target, text);
}

std::string write_trouble(const std::string& path) {
  const Target target = target_of(path);
  if (!target.trouble.empty()) return target.trouble;
  const auto closed_to_us = [&] {
    return access(path.c_str(), W_OK) == 0 ? "" : refused("it could not be opened", errno);
  };
  if (target.in_place) return closed_to_us();
  std::string temporary = target.real + ".XXXXXX";
  const int file = mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0) return target.exists ? closed_to_us() : no_file_beside(errno);
  close(file);
  unlink(temporary.c_str());
  return "";
}

std::string write_stream(std::FILE* stream, std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stream) == text.size() && std::fflush(stream) == 0) {
    return "";
  }
  return refused("it could not be written", errno);
}

}  // namespace ferry::replay
