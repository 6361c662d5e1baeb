// Maps in an order in which most entries come behind all others, and go from the front.
#pragma once

#include <utility>

namespace tenure {

// Puts in an entry whose key is not there.
template <class Map>
void put_in_order(Map& map, const typename Map::key_type& key, typename Map::mapped_type value) {
  map.emplace_hint(map.end(), key, value);
}

// Takes out the entry of a key that is there: found by its place, or it would be looked for twice.
template <class Map>
void take_from_order(Map& map, const typename Map::key_type& key) {
  const auto first = map.begin();
  map.erase(first->first == key ? first : map.find(key));
}

}  // namespace tenure
