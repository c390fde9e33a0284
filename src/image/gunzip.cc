#include "image/gunzip.h"

#include <zlib.h>

#include <utility>
#include <vector>

#include "base/errors.h"

namespace cordon::image {

struct Gunzip::State {
  Sink sink;
  z_stream stream{};
  bool ready = false;
  bool ended = false;  // of a member; another may follow
  std::vector<unsigned char> buffer = std::vector<unsigned char>(std::size_t{64} * 1024);
};

Gunzip::Gunzip(Sink sink) : state_(std::make_unique<State>()) {
  constexpr int kGzip = 16;  // and nothing else
  state_->sink = std::move(sink);
  state_->ready = ::inflateInit2(&state_->stream, MAX_WBITS + kGzip) == Z_OK;
}

Gunzip::~Gunzip() {
  if (state_->ready) (void)::inflateEnd(&state_->stream);
}

bool Gunzip::complete() const { return state_->ended; }

Result<void> Gunzip::feed(std::string_view bytes) {
  z_stream& stream = state_->stream;
  if (!state_->ready) {
    return base::fail(ErrorCode::resource_exhausted, "gunzip", "there is no memory to unpack with");
  }
  std::vector<unsigned char> in(bytes.begin(), bytes.end());  // zlib wants it to be writable
  stream.next_in = in.data();
  stream.avail_in = static_cast<uInt>(in.size());
  while (stream.avail_in > 0) {
    if (state_->ended) {
      if (::inflateReset(&stream) != Z_OK) break;
      state_->ended = false;
    }
    do {
      stream.next_out = state_->buffer.data();
      stream.avail_out = static_cast<uInt>(state_->buffer.size());
      const int result = ::inflate(&stream, Z_NO_FLUSH);
      if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
        return base::fail(ErrorCode::invalid_argument, "gunzip",
                          "what was packed with gzip is damaged: get the image again");
      }
      const std::size_t size = state_->buffer.size() - stream.avail_out;
      if (size > 0) {
        auto taken =
            state_->sink(std::string_view(reinterpret_cast<char*>(state_->buffer.data()), size));
        if (!taken) return taken;
      }
      state_->ended = result == Z_STREAM_END;
    } while (!state_->ended && stream.avail_out == 0);
  }
  return {};
}

}  // namespace cordon::image
