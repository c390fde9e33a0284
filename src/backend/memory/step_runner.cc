#include "backend/memory/step_runner.h"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <optional>
#include <utility>
#include <variant>

#include "backend/memory/real_fd.h"
#include "backend/memory/tree.h"

namespace cordon::memory {

using namespace std::chrono_literals;

Next StepRunner::run(const Step& step) {
  return std::visit([this](const auto& what) { return (*this)(what); }, step.what);
}

TimePoint StepRunner::now() const { return tree_.simulation().now(); }

Next StepRunner::done() {
  if (task_.alive()) task_.next_step();
  return Next::go_on;
}

Next StepRunner::done_then(const SharedProgram& steps) {
  task_.next_step();
  if (steps) task_.push(steps);
  return Next::go_on;
}

Next StepRunner::wait_until(TimePoint at) {
  task_.wake_at(at);
  return Next::blocked;
}

Next StepRunner::wait_for(WaitingFor what) {
  task_.waiting_for_ = what;
  return Next::blocked;
}

// --- Time and the end.

Next StepRunner::operator()(const Sleep& step) {
  if (!frame().begun) {
    frame().begun = true;
    frame().until = tree_.simulation().after(step.duration);
  }
  return now() >= frame().until ? done() : wait_until(frame().until);
}

Next StepRunner::operator()(const Hang&) { return Next::blocked; }

Next StepRunner::operator()(const Exit& step) {
  constexpr int kByte = 0xff;  // as the OS: only the low byte reaches the parent
  task_.end(lock_, step.code & kByte, 0);
  return Next::blocked;
}

Next StepRunner::operator()(const Die& step) {
  task_.end(lock_, 0, step.signal);
  return Next::blocked;
}

Next StepRunner::operator()(const OnSignal& step) {
  if (can_be_changed(step.signal)) {
    switch (step.reaction) {
      case OnSignal::Reaction::standard:
        task_.reactions_.erase(step.signal);
        break;
      case OnSignal::Reaction::ignore:
        task_.reactions_[step.signal] = {true, nullptr};
        break;
      case OnSignal::Reaction::handle:
        task_.reactions_[step.signal] = {false, step.steps};
        break;
    }
  }
  return done();
}

// --- Descendants.

Next StepRunner::operator()(const Fork& step) {
  for (std::uint64_t i = 0; i < step.count; ++i) {
    if (!tree_.fork(task_, step.child)) return done_then(step.refused);
  }
  return done();
}

Next StepRunner::operator()(const WaitChildren&) {
  return tree_.has_children(task_) ? wait_for(WaitingFor::children) : done();
}

// --- Resources.

Next StepRunner::operator()(const UseCpu& step) {
  if (!frame().begun) {
    frame().begun = true;
    frame().cpu_user = step.user;
    frame().cpu_system = step.system;
  }
  tree_.settle_cpu();
  tree_.check_cpu(lock_);
  if (!task_.alive()) return Next::blocked;

  const Duration left = frame().cpu_user + frame().cpu_system;
  if (left <= Duration{0}) {
    task_.burst_from_.reset();
    return done();
  }
  task_.burst_from_ = now();
  constexpr std::int64_t kOneCore = 1000;
  const auto share =
      std::min<std::int64_t>(tree_.limits().cpu_millicores.value_or(kOneCore), kOneCore);
  const Duration slice = std::min(left, tree_.cpu_left());
  return wait_until(now() + (slice * kOneCore + Duration(share - 1)) / share);
}

Next StepRunner::operator()(const UseMemory& step) {
  task_.memory_ = step.bytes;
  tree_.check_memory(lock_);
  return done();
}

Next StepRunner::operator()(const WriteFile& step) {
  const auto& limit = tree_.limits().file_size_bytes;
  if (!limit || step.bytes <= *limit) return done();
  tree_.note_hit("file_size", *limit, step.bytes, "SIGXFSZ");
  task_.next_step();
  task_.deliver(lock_, SIGXFSZ);
  return Next::go_on;
}

Next StepRunner::operator()(const OpenFiles& step) {
  constexpr std::uint64_t kStandardStreams = 3;
  const auto& limit = tree_.limits().open_files;
  const std::uint64_t wanted = step.count + kStandardStreams;
  if (!limit || wanted <= *limit) return done();
  tree_.note_hit("open_files", *limit, wanted, "EMFILE");
  return done_then(step.refused);
}

// --- Composition.

Next StepRunner::operator()(const Repeat& step) {
  if (frame().progress == step.times) return done();
  if (step.times == kEndless) {
    if (frame().begun && frame().until == now()) {
      frame().begun = false;
      return wait_until(now() + 1ms);
    }
    frame().begun = true;
    frame().until = now();
  } else {
    ++frame().progress;
  }
  task_.push(step.steps);
  return Next::go_on;
}

template <typename Function>
void StepRunner::call_out(const Function& function) {
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

Next StepRunner::operator()(const Call& step) {
  task_.next_step();
  call_out(step.action);
  return Next::go_on;
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
  static const auto block = [] {
    std::string text(kBlock, 'x');
    for (std::size_t i = kLine - 1; i < text.size(); i += kLine) text[i] = '\n';
    return std::make_shared<const std::string>(std::move(text));
  }();

  if (frame().progress >= step.total) return done();
  if (frame().begun && now() < frame().until) return wait_until(frame().until);
  const std::size_t begin = frame().progress % kBlock;
  const std::size_t size = std::min<std::uint64_t>(kBlock - begin, step.total - frame().progress);
  std::uint64_t written = 0;
  const bool all = write(step.stream, block, std::string_view(*block).substr(begin, size), written);
  if (!task_.alive()) return Next::blocked;
  frame().progress += written;
  if (!all) return Next::blocked;
  frame().begun = true;
  frame().until = now() + 1ms;
  return Next::go_on;
}

}  // namespace cordon::memory
