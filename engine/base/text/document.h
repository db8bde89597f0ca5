// SPDX-License-Identifier: Apache-2.0
// The only reader of YAML: a tree of nodes that know their line and column. Refuses duplicate keys, aliases,
// tags and second documents where they stand.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/base/wording.h"
#include "tilewalk/bounds.h"
#include "tilewalk/error.h"

namespace tilewalk::config {

// A value in a YAML file. Knows its place and its path of keys, for error messages.
class node {
  public:
    enum class shape : std::uint8_t { null, scalar, sequence, mapping };
    struct member;

    shape kind() const { return kind_; }
    bool is_scalar() const { return kind_ == shape::scalar; }
    bool is_sequence() const { return kind_ == shape::sequence; }
    bool is_mapping() const { return kind_ == shape::mapping; }
    bool is_quoted() const { return style_ != style::plain; }
    bool is_literal() const { return style_ == style::literal; }  // a block scalar written with '|'
    location where() const;
    // Place of a scalar's first character: after the quote, or the indented column below a '|'.
    location content_start() const;
    std::string key_path() const;  // "trades[3].strike"

    // Scalars. Throw tilewalk::error (input) with what was found and what was expected.
    const std::string& text() const;
    double number() const;  // finite, plain decimal
    std::int64_t integer() const;
    bool boolean() const;  // true or false, nothing else

    // true or false, nothing else
    const std::vector<node>& items() const;

    const std::vector<member>& members() const;
    const node* find(std::string_view key) const;
    const node& at(std::string_view key) const;  // throws if missing, naming the mapping's place
    // Refuses members not in `known` and suggests the nearest known one.
    void only(const std::vector<std::string>& known) const;

    // Copies of a mapping without a member, or with one added or replaced in place. Parts keep their places.
    node without(std::string_view key) const;
    node with(std::string_view key, node value) const;

    const node& descendant(std::span<const std::size_t> place) const;
    node& descendant(std::span<const std::size_t> place);
    // Makes a scalar say something else, and keep its place. The text of a number is made once somebody asks,
    // who is alone with the node then.
    void write(double number);
    void write(std::string text);
    // Keeps the number that the text of a scalar says beside it, so that it is not parsed again.
    void keep_number();

    [[noreturn]] void fail(const std::string& message) const;  // an input error at this place
    // an input error at this place
    [[noreturn]] void fail_word(const std::vector<std::string>& known) const;
    // The message adds that the file may be cut short if the mapping ends it.
    [[noreturn]] void fail_missing(const std::string& what) const;
    [[noreturn]] void fail_incomplete(const std::string& message) const;
    // Whether a cut file might end with this value: nothing follows or closes it, and the file has no "...".
    bool may_be_cut() const;
    std::string found() const;  // "'abc'", "a list", "nothing", ... for messages
    // Quotes nothing: a file that was taken for ours may be anybody's.
    std::string found_kind() const;

  private:
    friend class builder;
    friend class entry_tree;
    struct source;  // shared by all nodes of a file
    struct scope;   // a sequence or mapping, as its members see it
    enum class style : std::uint8_t { plain, quoted, literal, folded };
    struct kept_number {
        double value = 0;
        mutable std::shared_ptr<const std::string> text{};  // null: nobody has asked
    };
    const std::string& said() const;  // by a scalar

    // No path per node, since a book has millions: a node knows its container's scope and its place there.
    shape kind_ = shape::null;
    style style_ = style::plain;
    bool is_closed_ = false;  // by a quote or a bracket
    int line_ = 0, column_ = 0;
    int content_column_ = 0;            // block scalars only
    int index_ = -1;                    // in a sequence
    const std::string* key_ = nullptr;  // in a mapping; owned by the source
    std::shared_ptr<const scope> scope_;
    std::variant<std::string, std::vector<node>, std::vector<member>, kept_number> content_;
};
struct node::member {
    std::string key;
    node value;
    location where() const;  // the key's place
    // Throws at the key, not at its value.
    [[noreturn]] void fail(const std::string& message) const;

    int line = 0, column = 0;
};

// All but the first three keep the memory before a refusal within a few tens of megabytes.
struct limits {
    std::size_t bytes = bounds::file_bytes;
    std::size_t nodes = bounds::file_values;
    std::size_t entries = bounds::entries;
    std::size_t part_nodes = bounds::part_values;
    int depth = bounds::nesting;
    std::size_t line_bytes = bounds::line_bytes;
    std::size_t scalar_bytes = bounds::text_bytes;
    std::size_t key_bytes = bounds::key_bytes;
    // Bytes and YAML signs from one value to the next: more means an unclosed bracket or quote.
    std::size_t gap_bytes = std::size_t{1} << 20;
    std::size_t gap_signs = 131'072;
    // Reads plain entries without yaml-cpp, in long lists by several threads. Changes only the time.
    bool reads_entries = true;
    int threads = 1;
};

struct document {
    node root;
    std::string hash;                         // SHA-256 of the bytes
    bool has_end_marker = false;              // ends with "..."
    location end;                             // the text's end
    std::shared_ptr<const std::string> text;  // the whole text
};
// Folder that file names in this file are relative to.
std::filesystem::path folder_of_file(const std::filesystem::path& file);
// Throws tilewalk::error (input) unless the document ends with "...": it may have been cut short.
void demand_end(const document& read);

// `name` is the text's name in errors.
document read_document(std::string_view text, const std::string& name, const limits& within = {});
// Reads a regular file, which must be below `inside` (empty: anywhere) once links are followed.
document read_document(const std::filesystem::path& file, const limits& within = {},
                       const std::filesystem::path& inside = {});
node parse(std::string_view text, const std::string& name, const limits& within = {});
node load(const std::filesystem::path& file, const limits& within = {});

}  // namespace tilewalk::config
