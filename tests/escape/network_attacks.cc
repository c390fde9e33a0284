#include <sys/socket.h>

#include "escape/attacks.h"

namespace cordon::escape {
namespace {

void host_network(Request& request, const Bait& /*bait*/) { request.network = Network::host; }
void own_loopback(Request& request, const Bait& /*bait*/) { request.network = Network::loopback; }
void no_unix(Request& request, const Bait& /*bait*/) { request.unix_sockets = false; }
void with_unix(Request& request, const Bait& /*bait*/) { request.unix_sockets = true; }

const Unguarded kHostNetwork{.asked = host_network};

Command to_port(std::string what) {
  return [what = std::move(what)](const Bait& b) -> Words { return {what, b.port()}; };
}

Command make_socket(int family, int type, int protocol) {
  return told({"socket", std::to_string(family), std::to_string(type), std::to_string(protocol)});
}

}  // namespace

std::vector<Attack> network_attacks() {
  constexpr int kAlg = 38;
  constexpr int kVsock = 40;
  constexpr int kXdp = 44;
  constexpr int kIcmp = 1;
  return {
      {"CannotReachHostLoopback", to_port("connect-tcp"), kHostNetwork},
      {"CannotReachHostLoopbackByIpv6", to_port("connect-tcp6"), kHostNetwork},
      {"CannotReachHostLoopbackByMptcp",
       to_port("connect-mptcp"),
       {.asked = host_network, .may_be_missing = "this kernel has no MPTCP"}},
      {"CannotReachHostLoopbackByFastOpen", to_port("fast-open"), kHostNetwork},
      {"CannotReachHostLoopbackByUdp",
       [](const Bait& b) -> Words { return {"send-udp", b.udp_port()}; }, kHostNetwork},
      {"LoopbackOfItsOwnDoesNotReachTheHosts", to_port("connect-tcp"), kHostNetwork, own_loopback},
      {"OnlyLoopbackInterfaceExists",
       told({"other-interface"}),
       {.asked = host_network, .may_be_missing = "this host has no other interface"}},
      {"CannotUseLoopbackThatIsDown", told({"talk-to-oneself"}), {.asked = own_loopback}},
      {"CannotConnectToAbstractSocketOfHost",
       [](const Bait& b) -> Words { return {"connect-unix", b.abstract()}; },
       {.no_sandbox = true}},
      {.name = "CannotConnectToAbstractSocketOnHostNetwork",
       .command = [](const Bait& b) -> Words { return {"connect-unix", b.abstract()}; },
       .unguarded = {.without = {"landlock"}},
       .given = host_network,
       .landlock_abi = 6},
      {"CannotConnectToPathnameSocketOutsideGrant",
       [](const Bait& b) -> Words { return {"connect-unix", b.outside("socket")}; },
       {.without = {"pivot_root", "host root", "landlock"}, .needs_public_tree = true}},
      {"CannotConnectToSocketBelowGrantWithNoUnix",
       [](const Bait& b) -> Words { return {"connect-unix", b.granted("socket")}; },
       {.asked = with_unix,
        .may_be_missing = "Landlock's ABI 9 stops it even where unix sockets are allowed"},
       no_unix},
      {"CannotOpenAlgorithmSocket",
       make_socket(kAlg, SOCK_SEQPACKET, 0),
       {.without = {"seccomp"}, .may_be_missing = "this kernel has no AF_ALG"}},
      {"CannotOpenVsock",
       make_socket(kVsock, SOCK_STREAM, 0),
       {.without = {"seccomp"}, .may_be_missing = "this kernel has no AF_VSOCK"}},
      {"CannotOpenXdpSocket",
       make_socket(kXdp, SOCK_RAW, 0),
       {.without = {"seccomp"}, .may_be_missing = "this kernel has no AF_XDP"}},
      {"CannotOpenPacketSocket",
       make_socket(AF_PACKET, SOCK_RAW, 0),
       {.without = {"seccomp"}, .may_be_missing = "this kernel has no AF_PACKET"}},
      {"CannotOpenRawSocket", make_socket(AF_INET, SOCK_RAW, kIcmp), {.without = {"seccomp"}}},
  };
}

}  // namespace cordon::escape
