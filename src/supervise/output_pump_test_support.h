// Pipes into a pump, and what comes out of it.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/write.h"
#include "supervise/output_pump.h"

namespace cordon::supervise {

inline constexpr std::size_t kPlenty = std::size_t{1} << 30;
inline constexpr std::size_t kOut = 0;
inline constexpr std::size_t kErr = 1;

// The pump's end is non-blocking, the program's is not.
inline base::Fd connect(OutputPump& pump, std::size_t stream, const Framing& framing = {}) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return base::Fd();
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  pump.open(stream, base::Fd(ends[0]), framing);
  return base::Fd(ends[1]);
}

inline void write_all(const base::Fd& fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = base::write_without_sigpipe(fd.get(), text);
    ASSERT_GT(n, 0);
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

inline std::vector<Event> take(OutputPump& pump) {
  std::vector<Event> batch;
  pump.queue().take(batch);
  return batch;
}

inline std::vector<std::string> texts(const std::vector<Event>& events) {
  std::vector<std::string> all;
  all.reserve(events.size());
  for (const Event& event : events) all.push_back(event.data.str());
  return all;
}

inline std::string joined(const std::vector<Event>& events) {
  std::string all;
  for (const Event& event : events) all += event.data.view();
  return all;
}

// /dev/zero is a writer that is never slower than its reader. The limit bounds what is kept in
// case the pump does not stop.
inline void connect_endless(OutputPump& pump) {
  pump.set_limit(1024 * 1024);
  pump.open(kOut, base::Fd(::open("/dev/zero", O_RDONLY | O_CLOEXEC | O_NONBLOCK)), {});
}

}  // namespace cordon::supervise
