#include "support/output_folder.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "support/figure.h"

namespace cordon::bench {

OutputFolder::OutputFolder() {
  const char* const asked = std::getenv("BENCH_OUT");
  if (asked != nullptr && *asked != '\0') path_ = std::filesystem::absolute(asked).string();
}

void OutputFolder::write(const std::string& name, const std::string& text) const {
  if (path_.empty()) return;
  std::filesystem::create_directories(path_);
  const std::string path = path_ + "/" + name;
  std::ofstream file(path);
  file << text;
  if (!file.flush()) give_up("cannot write " + path);
}

std::string load_average() {
  std::string load;
  std::ifstream("/proc/loadavg") >> load;
  return load;
}

}  // namespace cordon::bench
