// SPDX-License-Identifier: Apache-2.0
// A second process of the suite, for what cuda.h promises between processes: the same program
// started afresh, because a child that was forked off a process which used the driver may not use
// it. The test owns its end of a socket and the process; both go with the object.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <map>
#include <string>

namespace ferry::conformance {

// One end of the connection. Each message is sent and received whole. A process whose other side
// has gone ends: there is nothing left to test.
class Channel {
 public:
  explicit Channel(int socket) : socket_(socket) {}

  void send_bytes(const void* bytes, std::size_t count) const;
  void receive_bytes(void* bytes, std::size_t count) const;
  template <typename Value>
  void send(const Value& value) const {
    send_bytes(&value, sizeof value);
  }
  template <typename Value>
  [[nodiscard]] Value receive() const {
    Value value{};
    receive_bytes(&value, sizeof value);
    return value;
  }
  void send_descriptor(int descriptor) const;
  [[nodiscard]] int receive_descriptor() const;
  // For a program that takes the place of this one.
  [[nodiscard]] int socket() const { return socket_; }

 private:
  int socket_;
};

// What a second process does; it fails the test by a failed expectation of GoogleTest.
using Role = std::function<void(const Channel&)>;

// Roles by name. Requires: static, before main.
struct RegisterRole {
  RegisterRole(const std::string& name, Role role);
};

class PeerProcess {
 public:
  explicit PeerProcess(const std::string& role);
  ~PeerProcess();  // waits for its end, which must be a good one
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  [[nodiscard]] const Channel& channel() const { return channel_; }
  [[nodiscard]] pid_t id() const { return process_; }
  // Ends it at once, whatever it does.
  void kill();

 private:
  struct Ends {
    int own = -1;
    int theirs = -1;
  };

  PeerProcess(const std::string& role, const Ends& ends);
  [[nodiscard]] static Ends connect();

  int socket_;
  Channel channel_;
  pid_t process_ = -1;
  bool killed_ = false;
};

// Plays the role that the command line asks for, and answers the exit status of the process; -1
// where it asks for none.
[[nodiscard]] int run_role(int argc, char** argv);

}  // namespace ferry::conformance
