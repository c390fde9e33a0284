// How fast output is cut: 64 KiB blocks, frames pushed into a vector that is reused, as the event
// queue does. A second thread makes shared_ptr count atomically, as in a real supervisor.
#include <benchmark/benchmark.h>

#include <semaphore>
#include <string>
#include <thread>

#include "supervise/framing/framer.h"

namespace cordon::supervise {
namespace {

constexpr std::size_t kBlock = std::size_t{64} * 1024;

// `unit` over and over, cut into blocks, through a framer.
void cut(benchmark::State& state, const Framing& framing, const std::string& unit) {
  std::binary_semaphore over(0);
  const std::jthread second([&over] { over.acquire(); });
  std::string text;
  while (text.size() < kBlock) text += unit;
  text.resize(kBlock);
  const auto memory = std::make_shared<const std::string>(text);
  const Bytes block(memory, *memory);
  const auto framer = make_framer(framing);
  std::vector<Event> out;
  std::size_t bytes = 0;
  for (auto step : state) {
    bytes += framer->feed(block, block.size(), out);
    benchmark::DoNotOptimize(out.data());
    out.clear();
  }
  over.release();
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}

std::string line_of(std::size_t length) { return std::string(length - 1, 'x') + "\n"; }

void lines(benchmark::State& state) {
  cut(state, {.mode = OutputMode::line}, line_of(static_cast<std::size_t>(state.range(0))));
}
BENCHMARK(lines)->Arg(10)->Arg(100)->Arg(1000);

void json(benchmark::State& state) {
  cut(state, {.mode = OutputMode::json},
      R"({"id":17,"method":"tools/call","params":{"name":"read_file","path":"/tmp/x","ok":true}})"
      "\n");
}
BENCHMARK(json);

void json_garbage(benchmark::State& state) {
  cut(state, {.mode = OutputMode::json}, "x" + line_of(99));
}
BENCHMARK(json_garbage);

void chunks(benchmark::State& state) {
  cut(state, {.mode = OutputMode::chunked, .chunk_size = 4000}, line_of(100));
}
BENCHMARK(chunks);

}  // namespace
}  // namespace cordon::supervise
