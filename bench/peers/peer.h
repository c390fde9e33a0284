// Commands that run one program in isolation, and the ways they are asked to do so here.
#pragma once

#include <string>
#include <vector>

#include "peers/bundle.h"

namespace cordon::bench {

struct Peer {
  std::string name;
  std::string file{};  // the command's; empty: not installed
  std::vector<std::string> args{};
  std::string note{};        // what it keeps less than `cordon run` does here
  bool needs_space = false;  // runs only where the v2 hierarchy of a hybrid host is not mounted
};

// All of them run `program`: bare first, then `cordon run`, then its peers, installed or not.
[[nodiscard]] std::vector<Peer> all_peers(const std::string& program, const Bundle& bundle);

// Runs the peer once. Empty: it works; else why it does not, in one line.
[[nodiscard]] std::string try_once(const Peer& peer);

}  // namespace cordon::bench
