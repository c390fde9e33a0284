// For tests that use up every descriptor of their process.
//
// clang's check of virtual calls looks at memory through a pipe of its own, and takes a call for
// undefined where it cannot make one. Such a test cannot run under it; it does in the other builds.
#pragma once

#include <gtest/gtest.h>

#if defined(__has_feature)
#if __has_feature(undefined_behavior_sanitizer)
#define CORDON_SKIP_IF_SANITIZER_NEEDS_DESCRIPTORS() \
  GTEST_SKIP() << "no descriptors left for the undefined-behaviour sanitizer itself"
#endif
#endif
#ifndef CORDON_SKIP_IF_SANITIZER_NEEDS_DESCRIPTORS
#define CORDON_SKIP_IF_SANITIZER_NEEDS_DESCRIPTORS() static_cast<void>(0)
#endif
