// SPDX-License-Identifier: Apache-2.0
// The only reader of YAML. Makes a tree of nodes that know their line and column. Refuses duplicate keys,
// aliases, tags and second documents where they stand.
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

// A value in a YAML file, which knows its place and its path of keys for error messages.
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
    // Place of a scalar's first character: after the quote, or at the indentation of lines below a '|'.
    location content_start() const;
    std::string key_path() const;  // "trades[3].strike"

    // Return a scalar's value. Throw tilewalk::error (input) with what was found and what was expected.
    const std::string& text() const;
    double number() const;  // expects a plain finite decimal
    std::int64_t integer() const;
    bool boolean() const;  // accepts only true and false, unquoted

    const std::vector<node>& items() const;

    const std::vector<member>& members() const;
    const node* find(std::string_view key) const;
    const node& at(std::string_view key) const;  // throws at the mapping if the key is missing
    // Refuses keys that are not in `known`, and suggests the nearest known one.
    void only(const std::vector<std::string>& known) const;

    // Return a mapping's copy without a member, or with one added or replaced. Other parts keep their places.
    node without(std::string_view key) const;
    node with(std::string_view key, node value) const;

    const node& descendant(std::span<const std::size_t> place) const;
    node& descendant(std::span<const std::size_t> place);
    // Replace a scalar's content; its place stays. A number becomes text when first asked for, which only one
    // thread may do at a time.
    void write(double number);
    void write(std::string text);
    // Keeps a scalar's number beside its text, so that the text is not parsed again.
    void keep_number();

    [[noreturn]] void fail(const std::string& message) const;  // throws an input error at this place
    [[noreturn]] void fail_word(const std::vector<std::string>& known) const;
    // Throw for a mapping that lacks something. The message says if the file may be cut short there.
    [[noreturn]] void fail_missing(const std::string& what) const;
    [[noreturn]] void fail_incomplete(const std::string& message) const;
    // True if a cut file could end with this value: nothing follows or closes it, not even "...".
    bool may_be_cut() const;
    std::string found() const;  // for messages: "'abc'", "a list", "nothing"
    // Says what was found without quoting it: a file that is no input of ours may be private.
    std::string found_kind() const;

  private:
    friend class builder;
    friend class entry_tree;
    struct source;  // shared by all nodes of a file
    struct scope;   // a sequence or mapping, as its members refer to it
    enum class style : std::uint8_t { plain, quoted, literal, folded };
    struct kept_number {
        double value = 0;
        mutable std::shared_ptr<const std::string> text{};  // null until asked for
    };
    const std::string& said() const;  // the scalar's text

    // A book has millions of nodes: each keeps its container's scope and its place there, but no path.
    shape kind_ = shape::null;
    style style_ = style::plain;
    bool is_closed_ = false;  // a quote or a bracket ends the value
    int line_ = 0, column_ = 0;
    int content_column_ = 0;            // column of a block scalar's text
    int index_ = -1;                    // within a sequence, else -1
    const std::string* key_ = nullptr;  // within a mapping; owned by the source
    std::shared_ptr<const scope> scope_;
    std::variant<std::string, std::vector<node>, std::vector<member>, kept_number> content_;
};
struct node::member {
    std::string key;
    node value;
    location where() const;  // place of the key
    // Throws an input error at the key, not at the value.
    [[noreturn]] void fail(const std::string& message) const;

    int line = 0, column = 0;
};

// Limits on a document. All but the first three bound the memory before a refusal to some tens of megabytes.
struct limits {
    std::size_t bytes = bounds::file_bytes;
    std::size_t nodes = bounds::file_values;
    std::size_t entries = bounds::entries;
    std::size_t part_nodes = bounds::part_values;
    int depth = bounds::nesting;
    std::size_t line_bytes = bounds::line_bytes;
    std::size_t scalar_bytes = bounds::text_bytes;
    std::size_t key_bytes = bounds::key_bytes;
    // Bytes and YAML signs between two values. More mean that a bracket or quote was left open.
    std::size_t gap_bytes = std::size_t{1} << 20;
    std::size_t gap_signs = 131'072;
    // Reads plain entries without yaml-cpp, and long lists by several threads. Only the time differs.
    bool reads_entries = true;
    int threads = 1;
};

struct document {
    node root;
    std::string hash;                         // SHA-256 of the bytes
    bool has_end_marker = false;              // the text ends with the line "..."
    location end;                             // where the text ends
    std::shared_ptr<const std::string> text;  // all of the text read
};
// Returns the folder that file names written in `file` are relative to.
std::filesystem::path folder_of_file(const std::filesystem::path& file);
// Throws tilewalk::error (input) unless the document ends with "...": without, it may have been cut short.
void demand_end(const document& read);

// Reads a text; `name` names it in messages.
document read_document(std::string_view text, const std::string& name, const limits& within = {});
// Reads a regular file. Its path after links must lie within `inside` (empty: anywhere).
document read_document(const std::filesystem::path& file, const limits& within = {},
                       const std::filesystem::path& inside = {});
node parse(std::string_view text, const std::string& name, const limits& within = {});
node load(const std::filesystem::path& file, const limits& within = {});

}  // namespace tilewalk::config
