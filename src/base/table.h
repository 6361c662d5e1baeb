// A hash table that never pauses: linear hashing over intrusive chains.
//
// A table that doubles at once moves every entry while the authority's mutex is held: seconds at ten million entries.
// Here each insertion beyond the load of one entry a bucket splits just one bucket, so the cost of growth is spread
// evenly, and an entry costs eight bytes beside its own link. Buckets lie in fixed segments that never move; the table
// does not shrink.
//
// Scanning goes by bucket number. A split moves entries only to a higher bucket, so a scan that is continued later
// misses nothing that was there all the time (it may see an entry twice).
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

namespace tenure {

// What an entry of a Table carries; derive from it.
template <class T>
struct TableLink {
  T* table_next = nullptr;
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
    for (T* entry = bucket(index_of(hash)); entry != nullptr; entry = entry->table_next) {
      if (entry->table_hash == hash && matches(static_cast<const T&>(*entry))) return entry;
    }
    return nullptr;
  }

  // Grows at once for so many entries; quick while there are few.
  void reserve(std::uint64_t entries) {
    while (buckets_ < entries) split_one();
  }

  void insert(T& entry, std::uint32_t hash) {
    entry.table_hash = hash;
    push(index_of(hash), entry);
    if (++size_ > buckets_) split_one();
  }

  void remove(T& entry) {
    T** link = &bucket(index_of(entry.table_hash));
    while (*link != &entry) link = &(*link)->table_next;
    *link = entry.table_next;
    --size_;
  }

  [[nodiscard]] std::uint64_t bucket_count() const { return buckets_; }

  // Visits the entries of one bucket; visit(T&) may delete its argument.
  template <class Visit>
  void visit_bucket(std::uint64_t index, const Visit& visit) const {
    for (T* entry = bucket(index); entry != nullptr;) {
      T* const next = entry->table_next;
      visit(*entry);
      entry = next;
    }
  }

  template <class Visit>
  void visit_all(const Visit& visit) const {
    for (std::uint64_t index = 0; index < buckets_; ++index) visit_bucket(index, visit);
  }

 private:
  static constexpr std::uint64_t kSegmentBuckets = 512;
  using Segment = std::array<T*, kSegmentBuckets>;

  [[nodiscard]] T*& bucket(std::uint64_t index) const {
    return (*segments_[index / kSegmentBuckets])[index % kSegmentBuckets];
  }

  // Buckets below `buckets_ - floor` have been split in this round and are addressed with one bit more.
  [[nodiscard]] std::uint64_t index_of(std::uint32_t hash) const {
    const std::uint64_t floor = std::bit_floor(buckets_);
    const std::uint64_t wide = hash & (2 * floor - 1);
    return wide < buckets_ ? wide : wide - floor;
  }

  void push(std::uint64_t index, T& entry) {
    entry.table_next = bucket(index);
    bucket(index) = &entry;
  }

  void split_one() {
    const std::uint64_t from = buckets_ - std::bit_floor(buckets_);
    if (buckets_ % kSegmentBuckets == 0) segments_.push_back(std::make_unique<Segment>());
    ++buckets_;
    T* entry = bucket(from);
    bucket(from) = nullptr;
    while (entry != nullptr) {
      T* const next = entry->table_next;
      push(index_of(entry->table_hash), *entry);
      entry = next;
    }
  }

  std::vector<std::unique_ptr<Segment>> segments_;
  std::uint64_t buckets_ = 1;
  std::uint64_t size_ = 0;
};

}  // namespace tenure
