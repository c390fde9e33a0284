// A script on its way to the process that carries it out.
#pragma once

#include <vector>

namespace cordon::linux_backend {

// Sends what ScriptBuilder has finished, with its descriptors, in as many messages as it takes.
// False: errno says why; EPIPE and ECONNRESET mean that nobody is there.
[[nodiscard]] bool send_script(int socket, const std::vector<char>& script,
                               const std::vector<int>& fds);

}  // namespace cordon::linux_backend
