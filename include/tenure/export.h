// What libtenure.so shows of itself: the classes and functions marked with this, and nothing else.
#pragma once

#define TENURE_API __attribute__((visibility("default")))
