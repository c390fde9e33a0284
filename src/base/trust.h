// Who else could change a file, or put another in its place: the one rule for policies, programs,
// audit logs, caches and keys. Root and the caller are trusted, nobody else.
//
// Only by owner and mode. Access lists count as far as the kernel shows them in the mode: what they
// let anybody write appears as the group's right.
#pragma once

#include <sys/stat.h>

#include <cstdint>

namespace cordon::base {

// Whether it belongs to root or the caller. Where only the caller's own will do, the places
// themselves say so.
[[nodiscard]] bool owner_is_trusted(const struct stat& info);

// What a sticky directory such as /tmp is, though others may write to it. There only the owner of
// an entry (and of the directory) can rename or remove it; but anybody can make a new one.
enum class Sticky : std::uint8_t {
  is_open,    // like any other: where names are made or looked for that may not be there yet
  is_closed,  // where what is next on the way is there and is checked just as well
};

// Whether others than the owner may write to it: its group, or everybody.
[[nodiscard]] bool others_may_write(const struct stat& info, Sticky sticky = Sticky::is_open);

}  // namespace cordon::base
