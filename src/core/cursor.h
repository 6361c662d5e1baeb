// Cursors of listings: "0" for the beginning and the end, else a few numbers joined by dots.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <absl/container/inlined_vector.h>

#include <tenure/types.h>
#include "base/result.h"
#include "base/table.h"
#include "base/text.h"

namespace tenure {

template <std::size_t N>
using CursorKey = std::array<std::uint64_t, N>;

inline tl::unexpected<Failure> unknown_cursor(std::string_view text) {
  return fail_with(ErrorCode::kInvalid, "cursor: expected 0 or one that a listing gave, found '{}'", text);
}

// nullopt: start at the beginning.
template <std::size_t N>
Result<std::optional<CursorKey<N>>> parse_cursor(std::string_view text) {
  if (text == "0") return std::nullopt;
  CursorKey<N> key{};
  std::string_view left = text;
  for (std::size_t i = 0; i < N; ++i) {
    const bool is_last = i + 1 == N;
    const std::size_t dot = left.find('.');
    const auto number = parse_decimal(left.substr(0, dot));
    if (!number || is_last != (dot == std::string_view::npos)) return unknown_cursor(text);
    key[i] = *number;
    if (!is_last) left.remove_prefix(dot + 1);
  }
  return key;
}

template <std::size_t N>
std::string cursor_text(const CursorKey<N>& key) {
  std::string text;
  for (const std::uint64_t number : key) {
    if (!text.empty()) text.push_back('.');
    text.append(std::to_string(number));
  }
  return text;
}

// One page of a table, bucket by bucket and within a bucket by hash, so that a table that grows meanwhile hides
// nothing. show(const T&) adds an entry to the page, or answers false to pass over it. The cursor is where to go on.
template <class T, class Show>
Result<std::string> scan_page(const Table<T>& table, const Paging& paging, const Show& show) {
  constexpr std::uint64_t kBucketsPerPage = 1024;
  const auto cursor = parse_cursor<2>(paging.cursor);
  if (!cursor) return tl::unexpected(cursor.error());
  auto [bucket, hash] = cursor->value_or(CursorKey<2>{0, 0});
  std::int64_t shown = 0;
  for (std::uint64_t looked = 0; bucket < table.bucket_count(); ++bucket, ++looked, hash = 0) {
    if (looked == kBucketsPerPage) return cursor_text<2>({bucket, 0});
    absl::InlinedVector<const T*, 8> entries;
    table.visit_bucket(bucket, [&](const T& entry) { entries.push_back(&entry); });
    std::sort(entries.begin(), entries.end(), [](const T* a, const T* b) { return a->table_hash < b->table_hash; });
    for (const T* entry : entries) {
      if (entry->table_hash < hash) continue;
      if (shown >= paging.count && entry->table_hash != hash) return cursor_text<2>({bucket, entry->table_hash});
      if (show(*entry)) ++shown;
      hash = entry->table_hash;
    }
  }
  return std::string("0");
}

}  // namespace tenure
