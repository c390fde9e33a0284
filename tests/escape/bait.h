// What an attack could reach on the host if nothing stopped it. Everything is this test's own, and
// goes with it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/fd.h"

namespace cordon::escape {

class Bait {
 public:
  Bait();
  ~Bait();
  Bait(const Bait&) = delete;
  Bait& operator=(const Bait&) = delete;

  // --- files ---
  // granted/plain, granted/link → outside/secret, granted/socket; outside/secret, outside/socket;
  // writable/.
  [[nodiscard]] std::string granted(const std::string& name = {}) const;
  [[nodiscard]] std::string outside(const std::string& name = {}) const;
  [[nodiscard]] std::string writable(const std::string& name = {}) const;
  // Outside: a copy of the program `attack` that is setuid, and root's.
  [[nodiscard]] std::string make_setuid_program() const;
  // Everything below writable/ that has a setuid or setgid bit, or is not the caller's.
  [[nodiscard]] std::vector<std::string> foreign_or_set_ids() const;
  // In the host's /dev/shm.
  [[nodiscard]] const std::string& shared_file() const { return shared_file_; }
  // Of outside/secret: {type, hex}. Empty: the file system has none.
  [[nodiscard]] std::vector<std::string> handle() const;

  // --- processes ---
  // Waits for ever, with kMark in its arguments and in its environment.
  [[nodiscard]] pid_t victim() const { return victim_; }
  static constexpr const char* kMarkFirst = "cordon-bait";
  static constexpr const char* kMarkSecond = "-canary";
  [[nodiscard]] std::string shared_memory_key() const { return std::to_string(key_); }

  // A terminal with nobody's processes.
  [[nodiscard]] int terminal() const { return terminal_.get(); }

  // --- sockets: somebody listens ---
  [[nodiscard]] const std::string& abstract() const { return abstract_; }  // "@…"
  [[nodiscard]] const std::string& port() const { return port_; }          // of 127.0.0.1
  [[nodiscard]] const std::string& udp_port() const { return udp_port_; }

 private:
  void listen_unix(const std::string& name);
  [[nodiscard]] std::string listen_inet(int type);

  std::filesystem::path root_;
  std::string shared_file_;
  pid_t victim_ = -1;
  std::int32_t key_ = 0;
  int shared_memory_ = -1;
  std::string abstract_;
  std::string port_;
  std::string udp_port_;
  std::vector<base::Fd> sockets_;
  base::Fd terminal_master_;
  base::Fd terminal_;
};

}  // namespace cordon::escape
