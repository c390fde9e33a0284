// Who is at the other end of a connection, and whether a run of the service would be a run of the
// client's own.
//
// The service works for the processes of its own user, in its own user and pid namespace: a
// sandboxed program is in others, and is refused even if it gets at the socket. And whatever of the
// client's surroundings a program would have inherited from it must be the service's, too, or a
// limit that somebody has set for the client would be lost on the way.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "cordon/error.h"

namespace cordon::app::service {

// What a program inherits, as /proc tells it.
struct Surroundings {
  struct Fact {
    std::string name;   // "umask", "resource limits"
    std::string value;  // as the kernel writes it
  };
  std::string user_namespace;
  std::string pid_namespace;
  std::vector<Fact> facts;           // to be the same
  std::vector<std::string> cgroups;  // "HIERARCHY:PATH"
};

// Of this process. Error: /proc cannot be read.
[[nodiscard]] Result<Surroundings> own_surroundings();

// Of the process that made this connection to a `what` ("pool"): nobody else can take its place
// while it is looked at. Errors: not_permitted (another user's, not visible from here, or gone).
[[nodiscard]] Result<Surroundings> surroundings_of_peer(int connection, std::string_view what);

// Error: not_permitted, when the peer is in another user or pid namespace.
[[nodiscard]] Result<void> check_permitted(const Surroundings& peer, const Surroundings& own);
// What is not the same, for a message; empty: nothing. A control group may differ if the service's
// is below the peer's, whose limits then hold for both.
[[nodiscard]] std::string difference(const Surroundings& peer, const Surroundings& own);

}  // namespace cordon::app::service
