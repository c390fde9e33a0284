#include <cerrno>
#include <utility>

#include "backend/memory/start_error.h"
#include "backend/memory/step.h"
#include "cordon/memory.h"

namespace cordon::memory {
namespace {

SharedProgram share(Program program) { return std::make_shared<const Program>(std::move(program)); }

Write write_to(Stream stream, std::string bytes) {
  return {stream, std::make_shared<const std::string>(std::move(bytes))};
}

}  // namespace

Program& Program::add(Step step) {
  steps_.push_back(std::make_shared<const Step>(std::move(step)));
  return *this;
}

Program& Program::out(std::string bytes) { return add({write_to(Stream::out, std::move(bytes))}); }
Program& Program::err(std::string bytes) { return add({write_to(Stream::err, std::move(bytes))}); }
Program& Program::flood(std::uint64_t total) { return add({Flood{Stream::out, total}}); }
Program& Program::flood_err(std::uint64_t total) { return add({Flood{Stream::err, total}}); }

Program& Program::sleep(Duration duration) { return add({Sleep{duration}}); }
Program& Program::hang() { return add({Hang{}}); }

Program& Program::read_line(Reader read) { return add({ReadLines{std::move(read), true}}); }
Program& Program::each_line(Reader read) { return add({ReadLines{std::move(read), false}}); }
Program& Program::each_block(Reader read) { return add({ReadBlocks{std::move(read)}}); }
Program& Program::echo() { return add({Echo{}}); }
Program& Program::drain_stdin() { return add({DrainStdin{}}); }
Program& Program::close_stdin() { return add({CloseStdin{}}); }

Program& Program::exit(int code) { return add({Exit{code}}); }
Program& Program::die(int signal) { return add({Die{signal}}); }

Program& Program::fail_start(int os_error) { return fail_start(exec_error(os_error)); }
Program& Program::fail_start(Error error) {
  start_error_ = std::move(error);
  return *this;
}

Program& Program::ignore(int signal) {
  return add({OnSignal{signal, OnSignal::Reaction::ignore, nullptr}});
}
Program& Program::default_action(int signal) {
  return add({OnSignal{signal, OnSignal::Reaction::standard, nullptr}});
}
Program& Program::on_signal(int signal, int exit_code) {
  return on_signal(signal, Program().exit(exit_code));
}
Program& Program::on_signal(int signal, Program steps) {
  return add({OnSignal{signal, OnSignal::Reaction::handle, share(std::move(steps))}});
}

Program& Program::fork(Program child) { return add({Fork{1, share(std::move(child)), nullptr}}); }
Program& Program::fork(std::uint64_t count, Program child, Program refused) {
  return add({Fork{count, share(std::move(child)), share(std::move(refused))}});
}
Program& Program::wait_children() { return add({WaitChildren{}}); }

Program& Program::use_cpu(Duration user, Duration system) { return add({UseCpu{user, system}}); }
Program& Program::use_memory(std::uint64_t bytes) { return add({UseMemory{bytes}}); }
Program& Program::write_file(std::uint64_t bytes) { return add({WriteFile{bytes}}); }
Program& Program::open_files(std::uint64_t count) { return add({OpenFiles{count, nullptr}}); }
Program& Program::open_files(std::uint64_t count, Program refused) {
  return add({OpenFiles{count, share(std::move(refused))}});
}

Program& Program::then(Program steps) { return repeat(1, std::move(steps)); }
Program& Program::repeat(std::uint64_t times, Program steps) {
  return add({Repeat{times, share(std::move(steps))}});
}
Program& Program::forever(Program steps) { return repeat(kEndless, std::move(steps)); }
Program& Program::step(Action action) { return add({Call{std::move(action)}}); }

}  // namespace cordon::memory
