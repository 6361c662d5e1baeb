// A hash table that never pauses: linear hashing over buckets of one cache line.
//
// A table that doubles at once moves every entry while the authority's mutex is held: seconds at ten million entries.
// Here each insertion beyond the load splits at most one bucket, so the cost of growth is spread evenly. A bucket has
// the hashes of its entries beside their addresses: neither a search that fails nor a split touches an entry, which in
// a large table would be a miss of the cache each. What does not fit into the line is chained behind its last place.
// Buckets lie in fixed segments that never move; the table does not shrink.
//
// Scanning goes by bucket number. A split moves entries only to a higher bucket, so a scan that is continued later
// misses nothing that was there all the time (it may see an entry twice).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace tenure {

// What an entry of a Table carries; derive from it.
template <class T>
struct TableLink {
  T* table_next = nullptr;  // of those beyond a bucket's places, and of the last place
  std::uint32_t table_hash = 0;
};

// Does not own its entries. One thread.
template <class T>
class Table {
 public:
  Table() { segments_.push_back(std::make_unique<Segment>()); }

  [[nodiscard]] std::uint64_t size() const { return size_; }

  // The entry of this hash for which matches(const T&) holds, or null.
  template <class Matches>
  [[nodiscard]] T* find(std::uint32_t hash, const Matches& matches) const {
    const Bucket& bucket = bucket_at(index_of(hash));
    for (std::uint32_t place = 0; place < bucket.places(); ++place) {
      T* const entry = bucket.entries[place];
      if (bucket.hashes[place] == hash && matches(static_cast<const T&>(*entry))) return entry;
    }
    for (T* entry = bucket.beyond(); entry != nullptr; entry = entry->table_next) {
      if (entry->table_hash == hash && matches(static_cast<const T&>(*entry))) return entry;
    }
    return nullptr;
  }

  // Entries of this hash will be looked for soon.
  void fetch(std::uint32_t hash) const { __builtin_prefetch(&bucket_at(index_of(hash))); }

  // Grows at once for so many entries; quick while there are few.
  void reserve(std::uint64_t entries) {
    while (buckets_ * kLoad < entries) split_one();
  }

  void insert(T& entry, std::uint32_t hash) {
    entry.table_hash = hash;
    bucket_at(index_of(hash)).push(entry);
    if (++size_ > buckets_ * kLoad) split_one();
  }

  void remove(T& entry) {
    bucket_at(index_of(entry.table_hash)).remove(entry);
    --size_;
  }

  [[nodiscard]] std::uint64_t bucket_count() const { return buckets_; }

  // Visits the entries of one bucket; visit(T&) may delete its argument.
  template <class Visit>
  void visit_bucket(std::uint64_t index, const Visit& visit) const {
    const Bucket& bucket = bucket_at(index);
    T* beyond = bucket.beyond();
    for (std::uint32_t place = 0; place < bucket.places(); ++place) visit(*bucket.entries[place]);
    while (beyond != nullptr) visit(*std::exchange(beyond, beyond->table_next));
  }

  template <class Visit>
  void visit_all(const Visit& visit) const {
    for (std::uint64_t index = 0; index < buckets_; ++index) visit_bucket(index, visit);
  }

 private:
  static constexpr std::uint64_t kLoad = 2;  // entries a bucket: hardly one has more than its line holds
  static constexpr std::uint32_t kPlaces = 5;

  struct alignas(64) Bucket {
    std::array<T*, kPlaces> entries{};
    std::array<std::uint32_t, kPlaces> hashes{};
    std::uint32_t count = 0;

    [[nodiscard]] std::uint32_t places() const { return std::min(count, kPlaces); }
    [[nodiscard]] T* beyond() const { return count > kPlaces ? entries.back()->table_next : nullptr; }

    void set(std::uint32_t place, T* entry, std::uint32_t hash) {
      entries[place] = entry;
      hashes[place] = hash;
    }

    void push(T& entry) {
      if (count < kPlaces) {
        set(count, &entry, entry.table_hash);
      } else {
        entry.table_next = beyond();
        entries.back()->table_next = &entry;
      }
      ++count;
    }

    // The first of those beyond, or the last one, takes the place that becomes free.
    void remove(T& entry) {
      T* const next = beyond();
      const auto place =
          static_cast<std::uint32_t>(std::find(entries.begin(), entries.begin() + places(), &entry) - entries.begin());
      if (place == places()) {
        T** link = &entries.back()->table_next;
        while (*link != &entry) link = &(*link)->table_next;
        *link = entry.table_next;
      } else if (next != nullptr) {
        T* const rest = next->table_next;
        set(place, next, next->table_hash);
        entries.back()->table_next = rest;
      } else {
        set(place, entries[count - 1], hashes[count - 1]);
      }
      --count;
    }
  };
  static_assert(sizeof(Bucket) == 64);

  static constexpr std::uint64_t kSegmentBuckets = 64;
  using Segment = std::array<Bucket, kSegmentBuckets>;

  [[nodiscard]] Bucket& bucket_at(std::uint64_t index) const {
    return (*segments_[index / kSegmentBuckets])[index % kSegmentBuckets];
  }

  // Buckets below `buckets_ - floor` have been split in this round and are addressed with one bit more.
  [[nodiscard]] std::uint64_t index_of(std::uint32_t hash) const {
    const std::uint64_t floor = std::bit_floor(buckets_);
    const std::uint64_t wide = hash & (2 * floor - 1);
    return wide < buckets_ ? wide : wide - floor;
  }

  void split_one() {
    const std::uint64_t from = buckets_ - std::bit_floor(buckets_);
    if (buckets_ % kSegmentBuckets == 0) segments_.push_back(std::make_unique<Segment>());
    ++buckets_;
    Bucket& bucket = bucket_at(from);
    const Bucket before = std::exchange(bucket, Bucket());
    T* beyond = before.beyond();
    for (std::uint32_t place = 0; place < before.places(); ++place) {
      Bucket& to = index_of(before.hashes[place]) == from ? bucket : bucket_at(buckets_ - 1);
      // At most as many as there were: each has a place, and is not touched.
      to.set(to.count++, before.entries[place], before.hashes[place]);
    }
    while (beyond != nullptr) {
      T& entry = *std::exchange(beyond, beyond->table_next);
      bucket_at(index_of(entry.table_hash)).push(entry);
    }
  }

  std::vector<std::unique_ptr<Segment>> segments_;
  std::uint64_t buckets_ = 1;
  std::uint64_t size_ = 0;
};

}  // namespace tenure
