// SPDX-License-Identifier: Apache-2.0
#include "conformance/peer_process.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace ferry::conformance {

namespace {

std::map<std::string, Role>& roles() {
  static std::map<std::string, Role> all;
  return all;
}

// Nothing is left to test once the other side is gone.
[[noreturn]] void end_here(const char* what) {
  std::fprintf(stderr, "the other process has gone: %s: %s\n", what, std::strerror(errno));
  std::exit(1);
}

// One byte with room for a descriptor beside it.
struct DescriptorMessage {
  DescriptorMessage() {
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
  }
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header{};
};

}  // namespace

void Channel::send_bytes(const void* bytes, std::size_t count) const {
  if (::send(socket_, bytes, count, MSG_NOSIGNAL) != static_cast<ssize_t>(count)) end_here("send");
}

void Channel::receive_bytes(void* bytes, std::size_t count) const {
  if (recv(socket_, bytes, count, 0) != static_cast<ssize_t>(count)) end_here("receive");
}

void Channel::send_descriptor(int descriptor) const {
  DescriptorMessage message;
  cmsghdr* const beside = CMSG_FIRSTHDR(&message.header);
  beside->cmsg_level = SOL_SOCKET;
  beside->cmsg_type = SCM_RIGHTS;
  beside->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(beside), &descriptor, sizeof descriptor);
  if (sendmsg(socket_, &message.header, MSG_NOSIGNAL) != 1) end_here("send a descriptor");
}

int Channel::receive_descriptor() const {
  DescriptorMessage message;
  const ssize_t received = recvmsg(socket_, &message.header, MSG_CMSG_CLOEXEC);
  const cmsghdr* const beside = CMSG_FIRSTHDR(&message.header);
  if (received != 1 || beside == nullptr) end_here("receive a descriptor");
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(beside), sizeof descriptor);
  return descriptor;
}

RegisterRole::RegisterRole(const std::string& name, Role role) {
  roles()[name] = std::move(role);
}

PeerProcess::Ends PeerProcess::connect() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  return {ends[0], ends[1]};
}

PeerProcess::PeerProcess(const std::string& role) : PeerProcess(role, connect()) {}

PeerProcess::PeerProcess(const std::string& role, const Ends& ends)
    : socket_(ends.own), channel_(socket_) {
  process_ = fork();
  if (process_ == 0) {
    const int passed = dup(ends.theirs);  // without the flag that closes it
    const std::string number = std::to_string(passed);
    execl("/proc/self/exe", "ferry_conformance", "--role", role.c_str(), number.c_str(), nullptr);
    _exit(127);
  }
  EXPECT_GT(process_, 0);
  close(ends.theirs);
}

PeerProcess::~PeerProcess() {
  close(socket_);
  int status = 0;
  EXPECT_EQ(waitpid(process_, &status, 0), process_);
  if (!killed_) {
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
        << "the second process ended with " << status;
  }
}

void PeerProcess::kill() {
  killed_ = true;
  EXPECT_EQ(::kill(process_, SIGKILL), 0);
}

int run_role(int argc, char** argv) {
  if (argc != 4 || std::strcmp(argv[1], "--role") != 0) return -1;
  const auto found = roles().find(argv[2]);
  if (found == roles().end()) return 1;
  found->second(Channel(std::atoi(argv[3])));
  return testing::Test::HasFailure() ? 1 : 0;
}

}  // namespace ferry::conformance
