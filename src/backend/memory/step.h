// The steps a script is made of. Plain data; what they do is in step_runner.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "cordon/memory.h"

namespace cordon::memory {

using SharedProgram = std::shared_ptr<const Program>;
enum class Stream : std::uint8_t { out, err };

struct Write {
  Stream stream;
  std::shared_ptr<const std::string> bytes;
};
struct Flood {
  Stream stream;
  std::uint64_t total;
};
struct Sleep {
  Duration duration;
};
struct Hang {};

struct ReadLines {
  Program::Reader read;
  bool once;
};
struct ReadBlocks {
  Program::Reader read;
};
struct Echo {};
struct DrainStdin {};
struct CloseStdin {};

struct Exit {
  int code;
};
struct Die {
  int signal;
};
struct OnSignal {
  int signal;
  enum class Reaction : std::uint8_t { standard, ignore, handle } reaction;
  SharedProgram steps;  // handle
};

struct Fork {
  std::uint64_t count;
  SharedProgram child;
  SharedProgram refused;  // may be null
};
struct WaitChildren {};

struct UseCpu {
  Duration user;
  Duration system;
};
struct UseMemory {
  std::uint64_t bytes;
};
struct WriteFile {
  std::uint64_t bytes;
};
struct OpenFiles {
  std::uint64_t count;
  SharedProgram refused;  // may be null
};

struct Repeat {
  std::uint64_t times;  // kEndless: for ever
  SharedProgram steps;
};
struct Call {
  Program::Action action;
};

struct Step {
  std::variant<Write, Flood, Sleep, Hang, ReadLines, ReadBlocks, Echo, DrainStdin, CloseStdin, Exit,
               Die, OnSignal, Fork, WaitChildren, UseCpu, UseMemory, WriteFile, OpenFiles, Repeat,
               Call>
      what;
};

}  // namespace cordon::memory
