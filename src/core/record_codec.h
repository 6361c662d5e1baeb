// Records as bytes and as JSON, derived from the tables in record.h.
//
//   record  = type:varint  length:varint  body                 (length of the body in bytes)
//   body    = { field }
//   field   = tag:varint  value                                tag = number << 3 | required << 2 | kind
//   value   = varint                                           kind 0: integers (signed ones zigzagged), instants,
//   words
//           | length:varint bytes                              kind 1: texts, tokens, digests, nested structs
//   token   = fence:fixed64 secret:fixed64
//   digest  = high:fixed64 low:fixed64
//
// A field that is absent is not written. Fields may come in any order, each at most once. What is decoded views the
// bytes.
//
// Downsides: names are repeated in every record (a journal compresses well, but lies uncompressed), and numbering
// fields by hand can go wrong; record_codec_test.cc checks that every member has a number and that no number is used
// twice.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "core/record.h"

namespace tenure {

void encode(const Record& record, std::string& out);

// Takes one record off the front. The failure says what was expected and what was found.
Result<Record> decode(ByteReader& in);

// One line, the record's name first: {"record":"TaskCreated","task_id":"T1",...}. Bytes that are not UTF-8 are shown in
// base64 under the field's name with `_base64` behind it.
std::string to_json(const Record& record);

std::string_view name_of(const Record& record);

// All record names, in the order in which they came.
const std::vector<std::string_view>& record_names();

}  // namespace tenure
