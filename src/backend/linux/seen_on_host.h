// What views were opened from, to be compared with the host later, when somebody waits.
//
// To look at every file again takes a system call for each. But as long as the times of a directory
// have not changed, none of its entries was added, removed or replaced: so mostly it is enough to
// look at the directories. What is mounted over an entry does not change its directory; who asks
// must know of mounts from elsewhere. Used by one thread at a time.
#pragma once

#include <sys/stat.h>

#include <string>
#include <vector>

#include "backend/linux/views.h"
#include "plan/sandbox_plan.h"

namespace cordon::linux_backend {

class SeenOnHost {
 public:
  SeenOnHost() = default;
  // `opened` are those of `asked` that the host had.
  SeenOnHost(const std::vector<plan::View>& asked, const std::vector<OpenView>& opened);

  // Whether the host has the same files in these places, and none where it had none.
  [[nodiscard]] bool still_true() const;

 private:
  struct Directory {
    std::string path{};
    struct stat seen{};
    std::vector<OpenView> shown{};
    std::vector<plan::View> absent{};
  };

  Directory& directory_of(const plan::View& view);
  [[nodiscard]] static bool same_entries(const Directory& directory);

  std::vector<Directory> directories_;
  // Where a directory's times say nothing: everything is looked at.
  Directory others_;
  bool true_at_first_ = true;
};

}  // namespace cordon::linux_backend
