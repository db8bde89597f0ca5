// SPDX-License-Identifier: Apache-2.0
// The structs follow Arrow's specification. Memory for a reader lives until it calls release.
#include "python/extension/arrow.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// Names and members are those of Arrow's specification, by which other libraries read the structs.
extern "C" {
struct ArrowSchema {
    const char* format;
    const char* name;
    const char* metadata;
    std::int64_t flags;
    std::int64_t n_children;
    ArrowSchema** children;
    ArrowSchema* dictionary;
    void (*release)(ArrowSchema*);
    void* private_data;
};

struct ArrowArray {
    std::int64_t length;
    std::int64_t null_count;
    std::int64_t offset;
    std::int64_t n_buffers;
    std::int64_t n_children;
    const void** buffers;
    ArrowArray** children;
    ArrowArray* dictionary;
    void (*release)(ArrowArray*);
    void* private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
    int (*get_next)(ArrowArrayStream*, ArrowArray* out);
    const char* (*get_last_error)(ArrowArrayStream*);
    void (*release)(ArrowArrayStream*);
    void* private_data;
};
}

namespace tilewalk::python {

namespace {

constexpr std::int64_t nullable = 2;  // ARROW_FLAG_NULLABLE

// Memory that an Arrow schema or array points to; owns its children.
template <class Struct>
struct kept {
    std::string format, name;
    std::vector<Struct> children;
    std::vector<Struct*> pointers;
    Struct dictionary{};
    std::vector<const void*> buffers;
    std::vector<std::vector<std::uint8_t>> made;  // buffers that the table lacks, such as bitmaps
    texts words;
    std::shared_ptr<const table> of;

    ~kept() {
        for (Struct& child : children)
            if (child.release != nullptr) child.release(&child);
        if (dictionary.release != nullptr) dictionary.release(&dictionary);
    }
};

template <class Struct>
void release(Struct* of) {
    delete static_cast<kept<Struct>*>(of->private_data);
    of->release = nullptr;
}

const char* arrow_format_of(const column& of) {
    if (std::holds_alternative<figures>(of.data)) return "g";
    if (std::holds_alternative<counts>(of.data)) return "l";
    if (std::holds_alternative<flags>(of.data)) return "b";
    if (std::holds_alternative<texts>(of.data)) return "U";
    constexpr const char* codes[] = {"i", "c", "s"};
    return codes[std::get<coded_texts>(of.data).of().index()];
}

void hand_over(std::unique_ptr<kept<ArrowSchema>> from, ArrowSchema* out) {
    for (ArrowSchema& child : from->children) from->pointers.push_back(&child);
    *out = {from->format.c_str(),
            from->name.c_str(),
            nullptr,
            nullable,
            static_cast<std::int64_t>(from->children.size()),
            from->pointers.data(),
            from->dictionary.release != nullptr ? &from->dictionary : nullptr,
            release<ArrowSchema>,
            from.get()};
    static_cast<void>(from.release());
}

ArrowSchema schema_of(const std::string& name, const char* format, bool is_coded = false) {
    auto made = std::make_unique<kept<ArrowSchema>>();
    made->format = format;
    made->name = name;
    if (is_coded) made->dictionary = schema_of("", "U");
    ArrowSchema out{};
    hand_over(std::move(made), &out);
    return out;
}

void hand_over(std::unique_ptr<kept<ArrowArray>> from, std::size_t rows, std::int64_t nulls,
               ArrowArray* out) {
    for (ArrowArray& child : from->children) from->pointers.push_back(&child);
    *out = {static_cast<std::int64_t>(rows),
            nulls,
            0,
            static_cast<std::int64_t>(from->buffers.size()),
            static_cast<std::int64_t>(from->children.size()),
            from->buffers.data(),
            from->pointers.data(),
            from->dictionary.release != nullptr ? &from->dictionary : nullptr,
            release<ArrowArray>,
            from.get()};
    static_cast<void>(from.release());
}

template <class IsSet>
std::vector<std::uint8_t> bits_of(std::size_t rows, IsSet is_set) {
    std::vector<std::uint8_t> out((rows + 7) / 8);
    for (std::size_t row = 0; row < rows; ++row)
        if (is_set(row)) out[row / 8] = static_cast<std::uint8_t>(out[row / 8] | (1U << (row % 8)));
    return out;
}

void point_to(kept<ArrowArray>& made, const texts& of) {
    made.buffers = {nullptr, of.ends.data(), of.bytes.data()};
}

ArrowArray array_of(const std::shared_ptr<const table>& in, const column& of) {
    auto made = std::make_unique<kept<ArrowArray>>();
    made->of = in;
    std::int64_t nulls = 0;
    const std::size_t rows = in->rows;
    // Validity bitmap; null if no row is missing.
    const auto bits_of_present = [&](const auto& is_absent) -> const void* {
        for (std::size_t row = 0; row < rows; ++row) nulls += is_absent(row) ? 1 : 0;
        if (nulls == 0) return nullptr;
        made->made.push_back(bits_of(rows, [&](std::size_t row) { return !is_absent(row); }));
        return made->made.back().data();
    };
    const auto is_absent = [&](std::size_t row) { return !of.absent.empty() && of.absent[row] != 0; };
    if (const auto* numbers = std::get_if<figures>(&of.data)) {
        made->buffers = {bits_of_present([&](std::size_t row) { return std::isnan((*numbers)[row]); }),
                         numbers->data()};
    } else if (const auto* whole = std::get_if<counts>(&of.data)) {
        made->buffers = {bits_of_present(is_absent), whole->data()};
    } else if (const auto* truths = std::get_if<flags>(&of.data)) {
        const void* present = bits_of_present(is_absent);
        made->made.push_back(bits_of(rows, [&](std::size_t row) { return (*truths)[row] != 0; }));
        made->buffers = {present, made->made.back().data()};
    } else if (const auto* all = std::get_if<texts>(&of.data)) {
        point_to(*made, *all);
    } else {
        const auto& coded = std::get<coded_texts>(of.data);
        std::visit([&](const auto& codes) { made->buffers = {nullptr, codes.data()}; }, coded.of());
        auto words = std::make_unique<kept<ArrowArray>>();
        for (const std::string& word : coded.words()) words->words.add(word);
        point_to(*words, words->words);
        hand_over(std::move(words), coded.words().size(), 0, &made->dictionary);
    }
    ArrowArray out{};
    hand_over(std::move(made), rows, nulls, &out);
    return out;
}

struct stream_state {
    std::shared_ptr<const table> of;
    bool is_told = false;
    std::string failure;
};

stream_state& state_of_stream(ArrowArrayStream* stream) {
    return *static_cast<stream_state*>(stream->private_data);
}

// Called from C: no exception may leave.
template <class Make>
int told(ArrowArrayStream* stream, Make make) noexcept {
    try {
        make(state_of_stream(stream));
        return 0;
    } catch (const std::exception& e) {
        state_of_stream(stream).failure = e.what();
        return ENOMEM;
    }
}

int get_schema(ArrowArrayStream* stream, ArrowSchema* out) {
    return told(stream, [out](stream_state& state) {
        auto made = std::make_unique<kept<ArrowSchema>>();
        made->format = "+s";
        made->children.reserve(state.of->columns.size());
        for (const column& one : state.of->columns)
            made->children.push_back(
                schema_of(one.name, arrow_format_of(one), std::holds_alternative<coded_texts>(one.data)));
        hand_over(std::move(made), out);
        out->flags = 0;
    });
}

int get_next(ArrowArrayStream* stream, ArrowArray* out) {
    return told(stream, [out](stream_state& state) {
        *out = {};
        if (std::exchange(state.is_told, true)) return;  // an array whose release is null marks the end
        auto made = std::make_unique<kept<ArrowArray>>();
        made->children.reserve(state.of->columns.size());
        for (const column& one : state.of->columns) made->children.push_back(array_of(state.of, one));
        made->buffers = {nullptr};
        hand_over(std::move(made), state.of->rows, 0, out);
    });
}

const char* get_last_error(ArrowArrayStream* stream) {
    const std::string& failure = state_of_stream(stream).failure;
    return failure.empty() ? nullptr : failure.c_str();
}

void release_stream(ArrowArrayStream* stream) {
    delete static_cast<stream_state*>(stream->private_data);
    stream->release = nullptr;
}

constexpr const char* capsule_name = "arrow_array_stream";

// Destroys an unread stream too. A reader that has taken the stream over has set its release to null.
void release_capsule(PyObject* capsule) {
    auto* stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule, capsule_name));
    if (stream->release != nullptr) stream->release(stream);
    delete stream;
}

}  // namespace

nb::object arrow_stream(std::shared_ptr<const table> of) {
    auto state = std::make_unique<stream_state>();
    state->of = std::move(of);
    auto stream = std::make_unique<ArrowArrayStream>(
        ArrowArrayStream{get_schema, get_next, get_last_error, release_stream, state.get()});
    static_cast<void>(state.release());
    PyObject* capsule = PyCapsule_New(stream.get(), capsule_name, release_capsule);
    if (capsule == nullptr) {
        stream->release(stream.get());
        throw nb::python_error();
    }
    static_cast<void>(stream.release());
    return nb::steal(capsule);
}

}  // namespace tilewalk::python
