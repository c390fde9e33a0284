// One connection to the supervisor of a sandbox.
#pragma once

#include <functional>

#include "sandbox_image.h"
#include "sandbox_messages.h"
#include "sandbox_programs.h"
#include "service_peer.h"
#include "wake.h"

namespace cordon::app::sandbox {

// What the conversations of a supervisor share. Everything in it is thread-safe.
struct Shared {
  Sandbox& sandbox;
  Programs& programs;
  const service::Surroundings& own;
  const ImageRequest& image;  // goes with an image
  const Wake& end_now;        // whoever is still attached has to go
  // Puts what is about to be done into the record of the run. Error: do not do it.
  std::function<Result<void>(const std::string& operation)> about_to;
  // A program has ended after the command that had started it was gone; `record` is what that has
  // called it in its audit log.
  std::function<void(ProcessId number, const std::string& record, const Outcome& outcome)> ended;
  // The state has changed, or a checkpoint was written.
  std::function<void(const std::string& image)> changed;
  // The supervisor is to end; the channel is closed when nothing of it is left.
  std::function<void(Channel channel)> finish;
};

// Talks until the connection ends. Never fails: what goes wrong is told to the client.
void converse(Channel channel, Shared& shared);

}  // namespace cordon::app::sandbox
