// How fast output is cut into frames, without the pipes: blocks as the supervisor reads them, into
// a vector that is reused, as its event queue does.
#include <fmt/format.h>

#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "supervise/framing/framer.h"
#include "support/figure.h"
#include "support/samples.h"

namespace {

using namespace cordon::bench;  // NOLINT(google-build-using-namespace)
using cordon::Framing;
using cordon::OutputMode;

constexpr std::size_t kBlock = std::size_t{128} * 1024;
constexpr std::size_t kBlocks = 100;  // a run
constexpr std::size_t kRuns = 20;
constexpr double kGiga = 1e9;

std::string line_of(std::size_t length) { return std::string(length - 1, 'x') + "\n"; }

// `unit` over and over, cut into blocks, through a framer.
void cut(const std::string& name, const Framing& framing, const std::string& unit) {
  std::string text;
  while (text.size() < kBlock) text += unit;
  text.resize(kBlock);
  const auto memory = std::make_shared<const std::string>(std::move(text));
  const cordon::Bytes block(memory, *memory);
  const auto framer = cordon::supervise::make_framer(framing);
  std::vector<cordon::Event> out;
  Samples rate;
  for (std::size_t run = 0; run < kRuns; ++run) {
    const double before = processor_seconds();
    for (std::size_t i = 0; i < kBlocks; ++i) {
      if (framer->feed(block, kBlock, out) != kBlock) give_up("a block was not consumed");
      out.clear();
    }
    rate.add(static_cast<double>(kBlocks * kBlock) / (processor_seconds() - before));
  }
  report({.name = "framing, " + name + ", by processor time",
          .measured = fmt::format("{:.2f} GB/s", rate.p50() / kGiga),
          .samples = rate.size()});
}

}  // namespace

int main() {
  // A second thread makes shared_ptr count atomically, as in a real supervisor.
  std::binary_semaphore over(0);
  const std::jthread second([&over] { over.acquire(); });

  cut("lines of 10 bytes", {.mode = OutputMode::line}, line_of(10));
  cut("lines of 100 bytes", {.mode = OutputMode::line}, line_of(100));
  cut("lines of 1000 bytes", {.mode = OutputMode::line}, line_of(1000));
  cut("JSON values a line", {.mode = OutputMode::json},
      R"({"id":17,"method":"tools/call","params":{"name":"read_file","path":"/tmp/x","ok":true}})"
      "\n");
  cut("lines that are no JSON", {.mode = OutputMode::json}, "x" + line_of(99));
  cut("chunks of 4000 bytes", {.mode = OutputMode::chunked, .chunk_size = 4000}, line_of(100));
  over.release();
}
