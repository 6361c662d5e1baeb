// What nearly every test includes, parsed once: see precompiled.h.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "precompiled.h"
