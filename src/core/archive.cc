#include "core/archive.h"

#include <algorithm>
#include <vector>

namespace tenure {

void Archive::sort() {
  std::vector<Keepsake*> all;
  for (Keepsake* keepsake = oldest_; keepsake != nullptr; keepsake = keepsake->newer) all.push_back(keepsake);
  std::sort(all.begin(), all.end(), [](const Keepsake* a, const Keepsake* b) { return a->kept_order < b->kept_order; });
  oldest_ = newest_ = nullptr;
  for (Keepsake* keepsake : all) link(*keepsake);
}

}  // namespace tenure
