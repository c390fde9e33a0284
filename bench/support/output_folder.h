// Where a benchmark leaves pictures and tables for documents: the folder that BENCH_OUT names.
#pragma once

#include <string>

namespace cordon::bench {

class OutputFolder {
 public:
  // Make it first: a benchmark goes on to change its environment and its working directory.
  OutputFolder();
  // Nothing, when there is no folder.
  void write(const std::string& name, const std::string& text) const;

 private:
  std::string path_;  // absolute; empty: none
};

// How busy the machine was in the last minute.
[[nodiscard]] std::string load_average();

}  // namespace cordon::bench
