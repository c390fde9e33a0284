// What the options ask of a run's work directory and of its log.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cordon::app {

struct WorkDirAsk {
  bool wanted = false;
  std::string name;     // of what a manifest describes; empty: the program's
  std::string version;  // likewise
  bool keep = false;
  std::string cache;  // empty: the usual one
  std::vector<std::string> collect;
  std::string into;
  std::uint64_t collect_limit = 0;  // 0: the usual one
};

enum class Transport : std::uint8_t {
  stdio,  // the program talks through its streams: they are inherited or copied through
  http,   // it talks by other means: no input, and its output is a log
};

struct LogAsk {
  Transport transport = Transport::stdio;
  std::string file;  // empty: none
};

}  // namespace cordon::app
