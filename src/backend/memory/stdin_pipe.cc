#include "backend/memory/stdin_pipe.h"

#include <utility>

namespace cordon::memory {

void StdinPipe::open(Input& input, std::shared_ptr<const base::Fd> real) {
  writable_ = input.kind == Input::Kind::pipe;
  if (input.kind == Input::Kind::bytes) data_ = std::move(input.data);
  real_ = std::move(real);
}

std::size_t StdinPipe::room() const {
  return data_.size() < kCapacity ? kCapacity - data_.size() : 0;
}

std::size_t StdinPipe::write(std::string_view data) {
  const std::string_view fits = data.substr(0, room());
  data_.append(fits);
  return fits.size();
}

std::string StdinPipe::take_all() {
  if (!readable_) data_.clear();
  std::string all = std::exchange(unused_, {});
  if (all.empty()) {
    all.swap(data_);
  } else {
    all.append(data_);
    data_.clear();
  }
  return all;
}

std::optional<std::string> StdinPipe::take_line() {
  std::size_t end = unused_.find('\n');
  if (end == std::string::npos) {
    const std::size_t before = unused_.size();
    unused_ = take_all();
    end = unused_.find('\n', before);
  }
  if (end == std::string::npos) {
    if (!ended() || unused_.empty()) return std::nullopt;
    return std::exchange(unused_, {});
  }
  std::string line = unused_.substr(0, end);
  unused_.erase(0, end + 1);
  return line;
}

void StdinPipe::close_reader() {
  readable_ = false;
  real_.reset();
}

void StdinPipe::feed(std::string_view data) {
  if (data.empty()) {
    real_.reset();
  } else {
    data_.append(data);
  }
}

}  // namespace cordon::memory
