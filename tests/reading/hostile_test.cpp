// SPDX-License-Identifier: Apache-2.0
// label: sampled (hostile input)
// label: apart (the memory of a command is counted from that of the process that starts it)
// Malicious or careless files given to the command as book, market or product: each is refused with a message
// and the right exit code, in little memory, without a crash or a hang.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/own_folder.h"
#include "tests/texts.h"

namespace hostile_test {
namespace {

namespace fs = std::filesystem;
using tilewalk::tests::repeated;
using tilewalk::tests::replaced;

// Sanitizers map more shadow memory than any limit on the program's own allows.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool is_sanitized = true;
#else
constexpr bool is_sanitized = false;
#endif

constexpr std::size_t megabyte = 1'000'000;
constexpr long most_resident_kib = 64 << 10;

void put_large(const fs::path& file, const std::string& begin, const std::string& block, std::size_t bytes,
               const std::string& end = "") {
    std::ofstream out(file, std::ios::binary);
    out << begin;
    const std::string chunk =
        repeated(block, std::max<std::size_t>(1, (std::size_t{64} << 10) / block.size()));
    for (std::size_t written = 0; written < bytes; written += chunk.size()) out << chunk;
    out << end;
    ASSERT_TRUE(out.good()) << file;
}

struct outcome {
    int code = -1;  // exit code, or 128 + the signal
    std::string out, err;
    long resident_kib = 0;
};

std::string contents(int descriptor) {
    std::string text;
    char block[4096];
    for (ssize_t n = 0, at = 0; (n = ::pread(descriptor, block, sizeof block, at)) > 0; at += n)
        text.append(block, static_cast<std::size_t>(n));
    return text;
}

outcome run(std::vector<std::string> words, const fs::path& folder) {
    words.insert(words.begin(), TILEWALK_CLI);
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const int out = ::memfd_create("out", MFD_CLOEXEC), err = ::memfd_create("err", MFD_CLOEXEC);
    const pid_t child = ::fork();
    if (child == 0) {
        // If the command hangs, either limit ends it by a signal, which no case expects.
        const rlimit cpu_seconds{60, 60};
        ::setrlimit(RLIMIT_CPU, &cpu_seconds);
        ::alarm(500);
        if (!is_sanitized) {
            const rlimit address_space{rlim_t{1} << 30, rlim_t{1} << 30};
            ::setrlimit(RLIMIT_AS, &address_space);
        }
        ::dup2(out, STDOUT_FILENO);
        ::dup2(err, STDERR_FILENO);
        if (::chdir(folder.c_str()) == 0) ::execv(argv[0], argv.data());
        ::_exit(99);
    }
    int status = 0;
    rusage used{};
    ::wait4(child, &status, 0, &used);
    outcome got{WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), contents(out),
                contents(err), used.ru_maxrss};
    ::close(out);
    ::close(err);
    return got;
}

const std::string good_market =
    "as_of: 2026-01-15\n"
    "currencies: {USD: {rate: 0.03}}\n"
    "assets: {ACME: {currency: USD, spot: 100, volatility: 0.2}, BETA: {currency: USD, spot: 50, volatility: "
    "0.3}}\n";
const std::string good_trade =
    "  - {id: call, product: european, underlying: ACME, strike: 100, maturity: 1.0}\n";
const std::string head = "market: good_market.yaml\ntrades:\n";

class hostile : public testing::Test {
  protected:
    hostile() {
        put("good_market.yaml", good_market);
        put("good_book.yaml", head + good_trade);
    }

    void put(const std::string& name, const std::string& text) const { own.write(name, text); }

    // Runs the command with `words`. Expects the exit code `code` and a message with `said` in it.
    void expect(const std::string& title, const std::vector<std::string>& words, int code,
                const std::string& said) {
        EXPECT_TRUE(titles_.insert(title).second) << "two cases are called " << title;
        const outcome got = run(words, folder);
        std::string text = title + ": tilewalk";
        for (const auto& word : words) text += " " + word;
        text += "\nexit code " + std::to_string(got.code) + ", " + std::to_string(got.resident_kib) +
                " KiB\nstdout: " + got.out.substr(0, 2000) + "\nstderr: " + got.err.substr(0, 2000);
        EXPECT_EQ(got.code, code) << text;
        const std::string& told = code == 3 ? got.out : got.err;
        EXPECT_NE(told.find(said), std::string::npos) << "expected '" << said << "'\n" << text;
        EXPECT_LT(told.size(), 20'000U) << text;
        // A refusal (exit code 2) names the book's file at most once.
        const auto named = told.find("book.yaml:");
        EXPECT_TRUE(code != 2 || named == std::string::npos ||
                    told.find("book.yaml:", named + 1) == std::string::npos)
            << text;
        EXPECT_TRUE(code != 2 || got.out.empty()) << text;
        for (const char c : told) {
            const auto byte = static_cast<unsigned char>(c);
            if ((byte < 0x20 && c != '\n') || byte == 0x7f) {
                ADD_FAILURE() << "a control character in the message\n" << text;
                break;
            }
        }
        EXPECT_TRUE(is_sanitized || got.resident_kib < most_resident_kib) << text;
    }
    void expect_book(const std::string& title, const std::string& text, int code, const std::string& said) {
        put("book.yaml", text);
        expect(title, {"validate", "book.yaml"}, code, said);
    }
    void expect_market(const std::string& title, const std::string& text, const std::string& said) {
        put("market.yaml", text);
        expect(title, {"validate", "good_book.yaml", "--market", "market.yaml"}, 2, said);
    }
    // Fails if cases were lost; to be called at the end.
    void expect_cases(std::size_t at_least) const { EXPECT_GE(titles_.size(), at_least); }

    tilewalk::tests::own_folder own;
    fs::path folder = own.path();

  private:
    std::set<std::string> titles_;
};

TEST_F(hostile, the_good_book_is_good) {
    const outcome got = run({"validate", "good_book.yaml"}, folder);
    EXPECT_EQ(got.code, 0) << got.err;
    EXPECT_EQ(got.out, "1 trade, all valid\n");
}

TEST_F(hostile, what_is_no_file) {
    const auto book = [&](const std::string& title, const std::string& name, const std::string& said) {
        expect(title, {"validate", name}, 2, said);
    };
    book("missing", "none.yaml", "none.yaml: there is no such file");
    fs::create_directory(folder / "folder.yaml");
    book("directory", "folder.yaml", "folder.yaml: found a directory, expected a file");
    ASSERT_EQ(::mkfifo((folder / "pipe.yaml").c_str(), 0600), 0);
    book("pipe that nobody writes to", "pipe.yaml", "found a pipe, expected a regular file");
    book("device without end", "/dev/zero", "found a device, expected a regular file");
    book("empty device", "/dev/null", "found a device, expected a regular file");
    book("terminal", "/dev/tty", "/dev/tty: ");
    book("memory of the program", "/proc/self/mem", "/proc/self/mem: ");
    fs::create_symlink("loop.yaml", folder / "loop.yaml");
    book("link to itself", "loop.yaml", "loop.yaml: the file can't be opened");
    fs::create_symlink("nowhere.yaml", folder / "dangling.yaml");
    book("link to nothing", "dangling.yaml", "there is no such file");
    book("below a file", "good_book.yaml/x", "the file can't be opened");
    book("name too long", std::string(300, 'x'), "the file can't be opened");
    book("name that writes on the terminal", "\x1b[2J.yaml", "there is no such file");
    const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    (folder / "socket.yaml").string().copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    book("socket", "socket.yaml", "found a device or a socket, expected a regular file");
    ::close(socket);
    std::ofstream(folder / "huge.yaml") << "x";
    fs::resize_file(folder / "huge.yaml", std::uintmax_t{1} << 40);
    book("a terabyte", "huge.yaml", "found 1099511627776 bytes, expected at most 268435456");
    fs::resize_file(folder / "huge.yaml", std::uintmax_t{200} << 20);
    book("200 MB of nothing", "huge.yaml", "huge.yaml:1:2: found the invisible character U+0000");
    expect("market is a directory", {"validate", "good_book.yaml", "--market", "folder.yaml"}, 2,
           "found a directory");
    expect("market is a pipe", {"validate", "good_book.yaml", "--market", "pipe.yaml"}, 2, "found a pipe");
    expect_book("book names a pipe", "market: pipe.yaml\ntrades: []\n", 2,
                "book.yaml:1:9: market: 'pipe.yaml': found a pipe");
    expect_book("book names a device", "market: /dev/zero\ntrades: []\n", 2, "found a device");
    expect_book("book names itself", "market: book.yaml\ntrades: []\n", 2,
                "book.yaml:1:1: found a mapping with none of the known keys: as_of, ");
    expect_book("product is a pipe", "products: [pipe.yaml]\ntrades: []\n", 2,
                "products[0]: 'pipe.yaml': found a pipe");
    expect_book("product is a book", "products: [good_book.yaml]\ntrades: []\n", 2,
                "good_book.yaml:1:1: found a mapping with none of the known keys: product, ");
    expect_cases(21);
}

TEST_F(hostile, bytes_that_are_no_text) {
    const auto bytes = [&](const std::string& title, const std::string& text, const std::string& said) {
        expect_book(title, text, 2, said);
    };
    bytes("empty", "", "book.yaml:1:1: found nothing, expected a book");
    bytes("spaces", std::string(1000, ' '), "found nothing, expected a book");
    bytes("byte order mark alone", "\xef\xbb\xbf", "found nothing, expected a book");
    bytes("two byte order marks", "\xef\xbb\xbf\xef\xbb\xbftrades: []\n",
          "book.yaml:1:1: found the invisible character U+FEFF");
    bytes("UTF-16, little end first", std::string("\xff\xfet\0r\0", 6),
          "0xFF, with which a text in UTF-16 begins");
    bytes("UTF-16, big end first", std::string("\xfe\xff\0t\0r", 6),
          "0xFE, with which a text in UTF-16 begins");
    bytes("UTF-16 without a mark", std::string("t\0r\0", 4),
          "book.yaml:1:2: found the invisible character U+0000");
    bytes("UTF-32", std::string("\xff\xfe\0\0t\0\0\0", 8), "0xFF, with which a text in UTF-16 begins");
    bytes("Latin-1", "trades:\n  - {id: caf\xe9}\n",
          "book.yaml:2:13: found the byte 0xE9, expected text in UTF-8");
    bytes("overlong", "trades: \xc0\xaf\n", "1:9: found the byte 0xC0");
    bytes("overlong NUL", "trades: \xc0\x80\n", "found the byte 0xC0");
    bytes("surrogate", "trades: \xed\xa0\x80\n", "found the byte 0xED");
    bytes("beyond Unicode", "trades: \xf4\x90\x80\x80\n", "found the byte 0xF4");
    bytes("lone continuation", "trades: \x80\n", "found the byte 0x80");
    bytes("cut character", "trades: \xe2\x82", "found the byte 0xE2");
    bytes("NUL in a key", std::string("tra\0des: []\n", 12), "1:4: found the invisible character U+0000");
    bytes("NUL after the end", std::string("trades: []\n\0", 12),
          "2:1: found the invisible character U+0000");
    bytes("bell", "trades: \x07\n", "U+0007");
    bytes("escape sequence", "trades: \x1b[31m[]\n", "U+001B");
    bytes("end of transmission", "trades: []\n\x04\n", "U+0004");
    bytes("DEL", "trades: []\x7f\n", "U+007F");
    bytes("C1 control", "trades: []\xc2\x9b\n", "U+009B");
    bytes("right to left", "trades: \xe2\x80\xae[]\n", "U+202E");
    bytes("zero width space",
          "tra\xe2\x80\x8b"
          "des: []\n",
          "1:4: found the invisible character U+200B");
    bytes("line separator", "trades: []\xe2\x80\xa8\n", "U+2028");
    bytes("tab as indentation", "trades:\n\t- {id: a}\n", "2:1: found a tab in the indentation");
    bytes("tab after spaces", "trades:\n \t - {id: a}\n", "2:2: found a tab in the indentation");
    bytes("old Mac lines", "market: x\rtrades: []\r",
          "1:10: found a carriage return with no line feed after it");
    bytes("mixed lines", "market: x\r\ntrades: []\r", "2:11: found a carriage return");
    bytes("a program",
          std::string("\x7f"
                      "ELF\x02\x01\x01\0",
                      8),
          "1:1: found the invisible character U+007F");
    bytes("gzip", "\x1f\x8b\x08", "U+001F");
    bytes("a picture", "\x89PNG\r\n", "found the byte 0x89");
    expect_cases(32);
}

TEST_F(hostile, yaml_that_is_no_book) {
    const auto book = [&](const std::string& title, const std::string& text, const std::string& said) {
        expect_book(title, text, 2, said);
    };
    book("anchor", "trades: &t []\n", "1:9: trades: found an anchor (&)");
    book("alias", "trades: *t\n", "1:9: trades: found an alias (*)");
    book("alias to itself", "trades: &t [*t]\n", "found an anchor");
    std::string laughs = "a: &a [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n";
    for (char c = 'b'; c <= 'i'; ++c) {
        laughs += std::string(1, c) + ": &" + c + " [";
        for (int i = 0; i < 9; ++i) laughs += std::string(i ? ", *" : "*") + static_cast<char>(c - 1);
        laughs += "]\n";
    }
    book("billion laughs", laughs, "1:4: a: found an anchor");
    book("billion laughs of mappings", "a: &a {x: lol}\nb: &b {x: *a, y: *a}\nc: {x: *b, y: *b}\n",
         "found an anchor");
    book("quadratic laughs",
         "a: &a " + std::string(100'000, 'x') + "\nb: [" + repeated("*a, ", 10'000) + "]\n",
         "found an anchor");
    book("merge key", "trades: []\n<<: {market: x}\n", "2:1: <<: unknown key '<<'");
    book("merge key with an alias", "trades: []\n<<: *base\n", "found an alias");
    book("merge key in a list", "<<: [*a, *b]\n", "found an alias");
    book("Python object", "trades: !!python/object/apply:os.system ['true']\n",
         "1:9: trades: found a tag (!)");
    book("Java object", "!!javax.script.ScriptEngineManager [x]\n", "found a tag");
    book("Ruby object", "--- !ruby/object:Gem::Installer\ni: x\n", "found a tag");
    book("binary", "trades: !!binary aGVsbG8=\n", "found a tag");
    book("tag that is declared", "%TAG ! tag:example.com,2026:\n---\ntrades: !x []\n", "found a tag");
    book("set", "trades: !!set {a, b}\n", "found a tag");
    book("environment", "trades: !env HOME\n", "found a tag");
    book("include", "trades: !include /etc/passwd\n", "found a tag");
    book("version of the future", "%YAML 3.0\n---\ntrades: []\n", "book.yaml:1:");
    book("second document", "trades: []\n---\ntrades: []\n", "2:1: found a second document");
    book("second document after the end", "trades: []\n...\ntrades: []\n", "3:1: found a second document");
    book("many documents", repeated("---\n", 10'000), "found a second document");
    book("duplicate key", "trades: []\ntrades: []\n",
         "2:1: duplicate key 'trades'; it was first given on line 1");
    book("duplicate key, written otherwise", "trades: []\n\"tr\\x61des\": []\n", "duplicate key 'trades'");
    book("a list", "- a\n- b\n", "1:1: found a list, expected a book");
    book("a word", "book\n", "1:1: found a text, expected a book");
    book("a web page", "<html>\n<body>no: book</body></html>\n", "book.yaml:");
    book("a market", good_market, "found a market, expected a book");
    book("list as key", "? [a]\n: 1\n", "found a list, expected a key");
    book("mapping as key", "{a: 1}: 2\n", "book.yaml:1:");
    book("no key", ": 1\n", "expected a key");
    book("open list", "trades: [\n", "trades: this is not valid YAML");
    book("open mapping", head + "  - {id: a\n",
         "book.yaml:3:5: trades[0]: found a '{' that is not closed, expected a '}'");
    book("open quote", head + "  - {id: 'a\n", "expected a '}' and a closing quote");
    book("too many brackets", head + "  - {id: a]}\n", "book.yaml:3:");
    book("escaped control character", head + "  - {id: \"a\\x1b[2J\"}\n", "escaped control character");
    book("unknown escape", head + "  - {id: \"a\\q\"}\n", "book.yaml:3:");
    book("escape beyond Unicode", head + "  - {id: \"a\\UFFFFFFFF\"}\n", "book.yaml:3:");
    book("unknown key", head + "  []\nsetings: {}\n", "4:1: setings: unknown key 'setings'");
    book("did you mean", "setings: {}\ntrades: []\n", "did you mean 'settings'?");
    book("trades are words", "trades: all\n", "trades: found 'all', expected a list");
    book("trades are missing", "market: good_market.yaml\n", "missing key 'trades'");
    book("key path of long names", "settings: {" + std::string(1000, 'p') + ": 1}\ntrades: []\n",
         "unknown key 'ppp");
    book("JSON that is cut", "{\"trades\": [{\"id\": \"a\"},", "book.yaml:");
    book("backtick", "trades: `ls`\n", "book.yaml:1:9");
    book("at sign", "trades: @x\n", "book.yaml:1:9");
    book("percent", "trades: %x\n", "book.yaml:1:9");
    expect_cases(46);
}

TEST_F(hostile, values_that_mislead) {
    const auto strike = [&](const std::string& title, const std::string& value, const std::string& said) {
        expect_book(title,
                    head + good_trade +
                        "  - {id: b, product: european, underlying: ACME, maturity: 1.0, strike: " + value +
                        "}\n",
                    3, "book.yaml:4:73: trade b: trades[1].strike: " + said);
    };
    strike("not a number", ".nan", "found '.nan', expected a number; it has to be finite");
    strike("infinite", ".inf", "found '.inf', expected a number; it has to be finite");
    strike("too large", "1e400", "found '1e400', expected a number; numbers go up to 1.797e308");
    strike("percent sign", "20%", "found '20%', expected a number; write 0.2");
    strike("hexadecimal", "0x64", "found '0x64', expected a number; write 100");
    strike("octal", "0o144", "found '0o144', expected a number; write 100");
    strike("old octal", "0144", "found '0144', expected a number; write 144, or 100 if it is in base 8");
    strike("underscore", "1_000", "found '1_000', expected a number; write 1000");
    strike("truth", "True", "found 'True', expected a number");
    strike("yes", "yes", "found 'yes', expected a number");
    strike("quoted", "'100'", "found the quoted text '100', expected a number; write 100");
    strike("nothing", "~", "found nothing, expected a number");
    strike("no plain digits", "\xd9\xa1\xd9\xa0\xd9\xa0",
           "found '\xd9\xa1\xd9\xa0\xd9\xa0', expected a number");
    strike("a list for a number", "[100]", "found a list, expected a number");
    strike("a thousand digits", std::string(1000, '9'), "found '9999");
    strike("below 0", "-1e-300", "found '-1e-300', expected a number at least 0");
    const auto block = [&](const std::string& title, const std::string& line, const std::string& said) {
        expect_book(title,
                    head + "  - id: b\n    product: european\n    underlying: ACME\n    " + line + "\n", 3,
                    said);
    };
    block("sexagesimal", "strike: 1:30:00\n    maturity: 1",
          "found '1:30:00', expected a number; write 5400 if it is in base 60");
    block("decimal comma", "strike: 0,2\n    maturity: 1", "found '0,2', expected a number; write 0.2");
    block("months", "strike: 1\n    maturity: 6m",
          "found '6m', expected a date as YYYY-MM-DD or a number of years, such as 2026-03-31 or 0.25; write "
          "0.5");
    block("a day that is none", "strike: 1\n    maturity: 2026-02-30", "there is no day '2026-02-30'");
    block("American date", "strike: 1\n    maturity: 12/31/2026",
          "found '12/31/2026', expected a date as YYYY-MM-DD");
    block("date as a number", "strike: 1\n    maturity: 20261231", "a date is written YYYY-MM-DD");
    block("a thousand years", "strike: 1\n    maturity: 1000", "must be between -200 and 200");
    const auto setting = [&](const std::string& title, const std::string& text, const std::string& said) {
        expect_book(title, "settings: {" + text + "}\n" + head + good_trade, 2, said);
    };
    setting("no paths", "paths: 0", "settings.paths: found '0', expected a whole number from 1 to 2^40");
    setting("too many paths", "paths: 1e30", "settings.paths: found '1e30', expected a whole number");
    setting("negative threads", "threads: -1", "settings.threads: found '-1', expected");
    setting("a million threads", "threads: 1000000", "settings.threads: found '1000000', expected");
    setting("quoted number", "paths: '5'", "settings.paths: found the quoted text '5'");
    setting("unknown setting", "path: 5", "did you mean 'paths'?");
    const auto market = [&](const std::string& title, const std::string& from, const std::string& to,
                            const std::string& said) {
        expect_market(title, replaced(good_market, from, to), said);
    };
    market("spot not a number", "spot: 100", "spot: .nan",
           "market.yaml:3:38: assets.ACME.spot: found '.nan', expected a number");
    market("rate in percent", "rate: 0.03", "rate: 3%",
           "currencies.USD.rate: found '3%', expected a number; write 0.03");
    market("rate as percent", "rate: 0.03", "rate: 3", "found the rate 3, expected one between -1 and 1");
    market("volatility as percent", "volatility: 0.2", "volatility: 20", "found the volatility 20");
    market("misspelt key", "volatility: 0.2", "volatlity: 0.2", "did you mean 'volatility'?");
    market("market with an anchor", "USD: {", "USD: &u {", "found an anchor");
    market("market twice", "as_of: 2026-01-15\n", "as_of: 2026-01-15\nas_of: 2026-01-16\n",
           "duplicate key 'as_of'");
    market("the 30th of February", "2026-01-15", "2026-02-30", "there is no day '2026-02-30'");
    market("a book for a market", good_market, head + good_trade,
           "found a mapping with none of the known keys");
    expect_cases(38);
}

TEST_F(hostile, more_than_there_is_room_for) {
    const auto book = [&](const std::string& title, const std::string& said) {
        expect(title, {"validate", "large.yaml"}, 2, said);
    };
    const auto large = [&](const std::string& title, const std::string& begin, const std::string& block,
                           const std::string& said, const std::string& end = "",
                           std::size_t bytes = 100 * megabyte) {
        put_large(folder / "large.yaml", begin, block, bytes, end);
        book(title, said);
    };
    large("100 MB on a line", "trades: ", "x",
          "large.yaml:1:1048577: found a line of more than 1048576 bytes");
    large("100 MB of digits", head + "  - {id: a, strike: ", "9", "found a line of more than");
    large("100 MB in a quote", "market: \"", "x\n", "1:", "\"\n");
    large("100 MB in a block", "market: |\n", "  a line\n", "no value ends within 1048576 bytes from here");
    large("100 MB in a folded block", "market: >\n", "  a line\n", "no value ends within 1048576 bytes");
    large("100 MB in a plain text", "market: a\n", "  line\n", "no value ends within 1048576 bytes");
    large("100 MB of comments", "trades: []\n", "# nothing\n", "no value ends within 1048576 bytes");
    large("100 MB of empty lines", "trades: []\n", "\n", "no value ends within 1048576 bytes");
    large("100 MB of open lists", "", "[", "no value ends within 131072 signs");
    large("100 MB of open mappings", "", "{", "no value ends within 131072 signs");
    large("100 MB of open mappings with keys", "", "{a: ", "found more than 64 levels of nesting");
    large("100 MB of open lists, a line each", "trades:\n", "[\n", "no value ends within 131072 signs");
    large("100 MB of entries in entries", "trades: ", "- ", "large.yaml:1:");
    large("100 MB of questions", "", "? ", "found a mapping, expected a key");
    large("100 MB of commas", "trades: [", ",", "large.yaml:1:");
    large("100 MB of colons", "trades: ", ":", "no value ends within 131072 signs");
    large("100 MB of anchors", "trades: [\n", "&a ", "no value ends within 131072 signs");
    large("100 MB of aliases", "trades: [\n", "*a, ", "found an alias");
    large("100 MB of tags", "trades: [\n", "!a ", "no value ends within 131072 signs");
    large("100 MB of exclamation marks", "trades: ", "!", "large.yaml:1:");
    large("100 MB of quotes", "trades: [\n", "'', '", "large.yaml:", "", 2 * megabyte);
    large("a bad byte after a good megabyte", "trades:\n", "  - {id: a, product: european}\n",
          "found the byte 0xFF", "\xff", megabyte);
    large("a key of 100 MB", "", "k", "found a line of more than", ": 1\n");
    large("a key of 10 kB", "? ", "k", "found a key of", "\n: 1\n", 10'000);
    large("a list in a trade without end", head + "  - id: a\n    dates:\n", "      - 1\n",
          "more than 200000 values in one part");
    large("a list on the line of its key", head + "  - id: a\n    dates: [\n", "1,\n",
          "more than 200000 values in one part");
    large("lists in lists", "settings:\n  paths:\n", "  - [[1]]\n", "large.yaml:", "", 10 * megabyte);
    std::string keys = "settings:\n  paths:\n";
    {
        std::ofstream out(folder / "large.yaml");
        out << keys;
        for (int i = 0; i < 1'000'000; ++i) out << "    k" << i << ": 1\n";
    }
    book("a million keys", "more than 200000 values in one part");
    {
        std::ofstream out(folder / "large.yaml");
        for (int i = 0; i < 100'000; ++i) out << "k" << i << ": 1\n";
        out << "k0: 1\n";
    }
    book("a key twice among 100,000",
         "large.yaml:100001:1: duplicate key 'k0'; it was first given on line 1");
    std::string deep;
    for (int i = 0; i < 1000; ++i) deep += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
    put("large.yaml", deep);
    book("a thousand levels by indentation", "found more than 64 levels of nesting");
    put("large.yaml", head + "  - " + repeated("[", 10'000) + repeated("]", 10'000) + "\n");
    book("a trade of brackets", "found more than 64 levels of nesting");
    put_large(folder / "market.yaml", "as_of: 2026-01-15\ncurrencies:\n", "  XXX: {rate: 0.01}\n",
              10 * megabyte);
    expect("a market without end", {"validate", "good_book.yaml", "--market", "market.yaml"}, 2,
           "duplicate key 'XXX'");
    put("product.yaml",
        "product: p\nsummary: s\nparameters: {m: {type: date, help: h}}\nexample: {m: 1}\nscript: |\n  on "
        "m:\n    pay " +
            repeated("(", 10'000) + "1" + repeated(")", 10'000) + "\n");
    expect_book("a script of brackets", "products: [product.yaml]\ntrades: []\n", 2, "nested deeper than 64");
    put("product.yaml",
        "product: p\nsummary: s\nparameters: {m: {type: date, help: h}}\nexample: {m: 1}\nscript: |\n  on "
        "m:\n" +
            repeated("    pay 1\n", 9000));
    expect_book("a long script", "products: [product.yaml]\ntrades: []\n", 2, "at most 65536");
    expect_cases(34);
}

TEST_F(hostile, books_that_are_cut_short) {
    const std::string book =
        "market: good_market.yaml\ntrades:\n" + good_trade +
        "  - id: b\n    product: european\n    underlying: ACME\n    strike: 10.25\n    maturity: 1.5\n";
    put("good_market.yaml", good_market + "...\n");
    put("whole.yaml", book + "...\n");
    EXPECT_EQ(run({"validate", "whole.yaml", "--strict"}, folder).code, 0);
    put("whole.yaml", "trade_count: 2\n" + book);
    EXPECT_EQ(run({"validate", "whole.yaml", "--strict"}, folder).code, 0);
    put("bare.yaml", "trades:\n" + good_trade + "...\n");
    put("book.yaml", book);
    for (const char* command : {"validate", "price", "explain"})
        expect(std::string("neither a count nor an end, ") + command, {command, "book.yaml", "--strict"}, 2,
               "book.yaml:9:1: found neither trade_count nor a last line '...'");
    put("book.yaml", book.substr(0, book.find("  - id: b")) + "...\n");
    EXPECT_EQ(run({"validate", "book.yaml", "--strict"}, folder).code, 0);
    put("good_market.yaml", good_market);
    for (const char* command : {"validate", "price", "explain"}) {
        expect(std::string("a market that the book names, ") + command, {command, "book.yaml", "--strict"}, 2,
               "good_market.yaml:4:1: found no last line '...'");
        expect(std::string("a market of the command, ") + command,
               {command, "bare.yaml", "--market", "good_market.yaml", "--strict"}, 2,
               "good_market.yaml:4:1: found no last line '...'");
    }
    expect_book("too few trades", "trade_count: 2\n" + book.substr(0, book.find("  - id: b")), 2,
                "book.yaml:1:14: trade_count: found '2' beside 1 trade, expected the number of trades; the "
                "file may be cut short");
    expect_book("too many trades", "trade_count: 1\n" + book, 2, "found '1' beside 2 trades");
}

}  // namespace

}  // namespace hostile_test
