// What crun and runc run: a folder with a root file system, which holds the program alone, and a
// config.json. It is removed when this ends.
#pragma once

#include <string>

namespace cordon::bench {

class Bundle {
 public:
  explicit Bundle(const std::string& program);
  ~Bundle();
  Bundle(const Bundle&) = delete;
  Bundle& operator=(const Bundle&) = delete;

  [[nodiscard]] const std::string& folder() const { return folder_; }
  // Each runtime keeps its records in a folder of its own, and has a name of its own for the run.
  [[nodiscard]] std::string state(const std::string& runtime) const;
  [[nodiscard]] std::string container(const std::string& runtime) const;

 private:
  std::string folder_;
};

}  // namespace cordon::bench
