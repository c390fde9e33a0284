// StepRunner: functions of the script, stdin, stdout and stderr.
#include <algorithm>
#include <cerrno>
#include <exception>
#include <optional>
#include <utility>

#include "backend/memory/real_fd.h"
#include "backend/memory/step_runner.h"
#include "backend/memory/tree.h"

namespace cordon::memory {

using namespace std::chrono_literals;

void StepRunner::call_out(const std::function<void(Self&)>& function) {
  Self self(tree_.owner().facts(task_));
  auto keep = tree_.owner().keep();
  std::optional<std::string> thrown;
  lock_.outside([&] {
    try {
      function(self);
    } catch (const std::exception& e) {
      thrown = e.what();
    } catch (...) {
      thrown = "an unknown exception";
    }
  });
  lock_.drop_later(std::move(keep));
  if (!task_.alive()) return;
  if (thrown) {
    task_.push(std::make_shared<const Program>(
        Program().err("uncaught exception: " + *thrown + "\n").die(SIGABRT)));
  } else if (!self.steps().empty()) {
    task_.push(std::make_shared<const Program>(static_cast<Program&&>(self)));
  }
}

// --- Input.

bool StepRunner::input_at_hand() {
  StdinPipe& in = tree_.input();
  if (!in.at_hand().empty() || in.ended()) return true;
  const auto real = in.real();
  if (!real) {
    task_.waiting_for_ = WaitingFor::input;
    return false;
  }
  std::string data;
  call_out([&](Self&) { data = read_some(real->get()); });
  in.feed(data);
  return true;
}

void StepRunner::input_taken() { tree_.simulation().changed(); }

Next StepRunner::operator()(const ReadLines& step) {
  std::optional<std::string> line = tree_.input().take_line();
  if (!line) {
    input_taken();
    if (tree_.input().ended()) return done();
    return input_at_hand() ? Next::go_on : Next::blocked;
  }
  input_taken();
  if (step.once) task_.next_step();
  call_out([&](Self& self) { step.read(self, *line); });
  return Next::go_on;
}

Next StepRunner::operator()(const ReadBlocks& step) {
  if (!tree_.input().has_unused() && !input_at_hand()) return Next::blocked;
  const std::string block = tree_.input().take_all();
  input_taken();
  if (!block.empty()) {
    call_out([&](Self& self) { step.read(self, block); });
    return Next::go_on;
  }
  return tree_.input().ended() ? done() : Next::go_on;
}

Next StepRunner::operator()(const Echo&) {
  if (!tree_.input().has_unused() && !input_at_hand()) return Next::blocked;
  std::string block = tree_.input().take_all();
  input_taken();
  if (!block.empty()) {
    task_.push(std::make_shared<const Program>(Program().out(std::move(block))));
    return Next::go_on;
  }
  return tree_.input().ended() ? done() : Next::go_on;
}

Next StepRunner::operator()(const DrainStdin&) {
  if (!tree_.input().has_unused() && !input_at_hand()) return Next::blocked;
  (void)tree_.input().take_all();
  input_taken();
  return tree_.input().ended() ? done() : Next::go_on;
}

Next StepRunner::operator()(const CloseStdin&) {
  tree_.input().close_reader();
  input_taken();
  return done();
}

// --- Output.

bool StepRunner::write(Stream stream, const std::shared_ptr<const std::string>& owner,
                       std::string_view bytes, std::uint64_t& written) {
  const OutputPipes::Target& target = tree_.output().target(stream);
  if (target.kind != Output::Kind::events) {
    if (const auto real = target.real) write_real(real->get(), bytes);
    written += bytes.size();
    return true;
  }
  const std::size_t taken = tree_.write(lock_, stream, owner, bytes);
  written += taken;
  if (taken == bytes.size()) return true;
  task_.waiting_for_ = WaitingFor::output;
  return false;
}

void StepRunner::write_real(int fd, std::string_view bytes) {
  int error = 0;
  call_out([&](Self&) { error = write_all(fd, bytes); });
  if (error == EPIPE) task_.deliver(lock_, SIGPIPE);
}

Next StepRunner::operator()(const Write& step) {
  const auto rest = std::string_view(*step.bytes).substr(frame().progress);
  std::uint64_t written = 0;
  const bool all = write(step.stream, step.bytes, rest, written);
  if (!task_.alive()) return Next::blocked;
  frame().progress += written;
  return all ? done() : Next::blocked;
}

Next StepRunner::operator()(const Flood& step) {
  constexpr std::size_t kBlock = 64 * 1024;
  constexpr std::size_t kLine = 64;
  static const auto kText = [] {
    std::string text(kBlock, 'x');
    for (std::size_t i = kLine - 1; i < text.size(); i += kLine) text[i] = '\n';
    return std::make_shared<const std::string>(std::move(text));
  }();

  if (frame().progress >= step.total) return done();
  if (frame().begun && now() < frame().until) return wait_until(frame().until);
  const std::size_t begin = frame().progress % kBlock;
  const std::size_t size = std::min<std::uint64_t>(kBlock - begin, step.total - frame().progress);
  std::uint64_t written = 0;
  const bool all = write(step.stream, kText, std::string_view(*kText).substr(begin, size), written);
  if (!task_.alive()) return Next::blocked;
  frame().progress += written;
  if (!all) return Next::blocked;
  frame().begun = true;
  frame().until = now() + 1ms;
  return Next::go_on;
}

}  // namespace cordon::memory
