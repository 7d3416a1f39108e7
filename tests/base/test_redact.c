/* SPDX-License-Identifier: BSD-3-Clause */
/* test_redact.c - secrets are removed from texts and names, and nothing else is.
 *
 * tests/fixtures/secrets has the texts: the secrets in leaking.txt are in {{ }}. No
 * secret may pass; where a text is ambiguous, more is removed. */
#include "support.h"

#include <stdio.h>

#include "base/redact.h"
#include "draw.h"

enum { TEXT_BYTES = 1024, MOST_SECRETS = 4 };

static const unsigned char key[ROAST_NAME_KEY_BYTES] = {1, 2, 3, 4, 5, 6, 7};

struct redaction {
    const char *text;
    const char *kept;
};

/* A line of a file: its text, and the secrets in it. */
struct sample {
    char text[TEXT_BYTES];
    char secrets[MOST_SECRETS][128];
    int count;
};

/* ---- the files ------------------------------------------------------------------- */

static void read_sample(struct sample *sample, const char *line)
{
    size_t size = 0;
    size_t secret_bytes = 0;
    bool inside = false;

    *sample = (struct sample){.count = 0};
    for (const char *at = line; *at && *at != '\n'; at++) {
        char c = *at;
        if (strncmp(at, "{{", 2) == 0 && !inside) {
            at++;
            inside = true;
            secret_bytes = 0;
            assert_true(sample->count < MOST_SECRETS);
            continue;
        }
        if (strncmp(at, "}}", 2) == 0 && inside) {
            at++;
            inside = false;
            sample->count++;
            continue;
        }
        if (strncmp(at, "<NL>", 4) == 0) {
            at += 3;
            c = '\n';
        }
        sample->text[size++] = c;
        if (inside)
            sample->secrets[sample->count][secret_bytes++] = c;
    }
    sample->count += inside;
    assert_true(size < sizeof(sample->text));
}

typedef void line_check(const struct sample *sample);

/* Returns how many lines there are. */
static int for_each_line(const char *name, line_check *check)
{
    char line[TEXT_BYTES];
    int count = 0;

    (void)snprintf(line, sizeof(line), "%s/secrets/%s", ROAST_FIXTURES, name);
    FILE *file = fopen(line, "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file)) {
        struct sample sample;
        if (line[0] == '#')
            continue;
        read_sample(&sample, line);
        check(&sample);
        count++;
    }
    (void)fclose(file);
    return count;
}

/* ---- redacting ------------------------------------------------------------------- */

enum way { MESSAGE, NAME };

/* In memory of exactly the stated size; for free(). */
static struct roast_str redacted(struct roast_str text, enum way way)
{
    char *copy = tight_copy(text.data, text.size_bytes);
    size_t room = roast_str_redact_bound(text.size_bytes);
    char *out = malloc(room);

    assert_non_null(out);
    struct roast_str whole = str_from(copy, text.size_bytes);
    size_t size = way == NAME ? roast_str_redact_name(out, room, whole, key)
                              : roast_str_redact(out, room, whole);
    assert_true(size < room); /* else it may have been cut */
    free(copy);
    return str_from(out, size);
}

static void free_text(struct roast_str text)
{
    free((char *)(uintptr_t)text.data);
}

static void fail_with(const struct sample *sample, struct roast_str clean,
                      const char *what)
{
    print_error("%s: \"%s\" became \"%.*s\"\n", what, sample->text,
                (int)clean.size_bytes, clean.data);
    fail();
}

/* Redacting again changes nothing, as a name or as a message. */
static void check_again(const struct sample *sample, struct roast_str clean)
{
    for (enum way way = MESSAGE; way <= NAME; way++) {
        struct roast_str again = redacted(clean, way);
        if (way == MESSAGE && !str_equal(again, clean))
            fail_with(sample, again, "redacting again changes");
        free_text(again);
    }
}

static void check_hidden(const struct sample *sample, struct roast_str clean)
{
    for (int i = 0; i < sample->count; i++) {
        if (memmem(clean.data, clean.size_bytes, sample->secrets[i],
                   strlen(sample->secrets[i])))
            fail_with(sample, clean, "leaks");
    }
}

static void check_leaking(const struct sample *sample)
{
    struct roast_str text = roast_str_of(sample->text);

    assert_true(sample->count > 0);
    assert_true(roast_str_may_hold_secret(text));
    for (enum way way = MESSAGE; way <= NAME; way++) {
        struct roast_str clean = redacted(text, way);
        check_hidden(sample, clean);
        if (!memmem(clean.data, clean.size_bytes, "***", 3))
            fail_with(sample, clean, "shows no mask");
        if (way == NAME && !memmem(clean.data, clean.size_bytes, "***~", 4))
            fail_with(sample, clean, "has no mark");
        check_again(sample, clean);
        free_text(clean);
    }
}

static void check_innocent(const struct sample *sample)
{
    struct roast_str clean = redacted(roast_str_of(sample->text), MESSAGE);

    if (!str_is(clean, sample->text))
        fail_with(sample, clean, "is changed");
    free_text(clean);
}

static void no_secret_of_the_corpus_is_kept(void **state)
{
    (void)state;
    assert_true(for_each_line("leaking.txt", check_leaking) >= 80);
}

static void innocent_texts_are_unchanged(void **state)
{
    (void)state;
    assert_true(for_each_line("innocent.txt", check_innocent) >= 60);
}

/* ---- in other texts -------------------------------------------------------------- */

static uint64_t dice = 1;

/* 0 <= number < limit. */
static size_t drawn(size_t limit)
{
    return (size_t)(draw_share(&dice) * (double)limit);
}

static size_t add_noise(char *out, size_t size)
{
    static const char alphabet[] = "abct  ..,;:=()[]{}'\"\\/@?&#-_<>%012\n\t\xc3\xa4";

    for (size_t i = 0; i < size; i++)
        out[i] = alphabet[drawn(sizeof(alphabet) - 1)];
    return size;
}

/* Quotes before a text may end inside of it: only secrets without blanks are searched,
 * and a text that is in quotes itself is not put into others. */
static void check_surrounded(const struct sample *sample)
{
    char text[2 * TEXT_BYTES];

    for (int round = 0; round < 200; round++) {
        size_t size = add_noise(text, drawn(40));
        for (size_t i = 0; i < size; i++) {
            if (strchr("'\"\\", text[i]))
                text[i] = ' ';
        }
        text[size++] = '\n';
        memcpy(text + size, sample->text, strlen(sample->text));
        size += strlen(sample->text);
        text[size++] = '\n';
        size += add_noise(text + size, drawn(40));
        struct roast_str clean = redacted(str_from(text, size), MESSAGE);
        check_hidden(sample, clean);
        check_again(sample, clean);
        free_text(clean);
    }
}

static void no_secret_is_kept_in_any_other_text(void **state)
{
    (void)state;
    (void)for_each_line("leaking.txt", check_surrounded);
}

static void any_text_is_redacted_once(void **state)
{
    static const char *const pieces[] = {"pwd",
                                         "token",
                                         "=",
                                         ":",
                                         " ",
                                         "a",
                                         "'",
                                         "\"",
                                         "\\",
                                         "://",
                                         "--",
                                         "-p",
                                         "?",
                                         "@",
                                         "#",
                                         "(",
                                         ")",
                                         ",",
                                         "pass",
                                         "***",
                                         "~01234567",
                                         "\n",
                                         "ghp_abcdefgh",
                                         "x1",
                                         "is",
                                         "<",
                                         ">",
                                         "-----BEGIN PRIVATE KEY-----",
                                         "-----END",
                                         "Authorization",
                                         "%3D",
                                         "|"};
    struct sample sample = {.count = 0};
    (void)state;

    for (int round = 0; round < 300000; round++) {
        size_t size = 0;
        for (size_t count = drawn(10); count > 0; count--) {
            const char *piece = pieces[drawn(COUNT_OF(pieces))];
            memcpy(sample.text + size, piece, strlen(piece));
            size += strlen(piece);
        }
        sample.text[size] = '\0';
        for (enum way way = MESSAGE; way <= NAME; way++) {
            struct roast_str clean = redacted(str_from(sample.text, size), way);
            struct roast_str again = redacted(clean, way);
            if (!str_equal(clean, again))
                fail_with(&sample, clean, "is not redacted at once");
            if (!roast_str_may_hold_secret(str_from(sample.text, size)))
                assert_true(str_is(clean, sample.text));
            free_text(again);
            free_text(clean);
        }
    }
}

/* Of a megabyte each: a time that grows with the square would not end. */
static void hostile_texts_take_linear_time(void **state)
{
    static const char *const units[] = {"token(",
                                        "token=(",
                                        "token='",
                                        "a:b@",
                                        "://",
                                        "://u:p@",
                                        "x?a=",
                                        "ghp_",
                                        "sk-",
                                        "-",
                                        "token ",
                                        "token=",
                                        "token=: ",
                                        "\\",
                                        "\"a\":",
                                        "token \\\"",
                                        "-----BEGIN PRIVATE KEY-----",
                                        "-----BEGIN ",
                                        "<token>",
                                        "key ",
                                        "token is ",
                                        "a",
                                        "pass=[",
                                        "://[",
                                        "Authorization: ",
                                        "'token', ",
                                        "=\"",
                                        "@",
                                        "://a:b/",
                                        "'token'] = ",
                                        "token: str = "};
    enum { SIZE = 1 << 20 };
    char *text = malloc(SIZE);
    (void)state;

    assert_non_null(text);
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        size_t unit_bytes = strlen(units[i]);
        for (size_t at = 0; at < SIZE; at++)
            text[at] = units[i][at % unit_bytes];
        for (enum way way = MESSAGE; way <= NAME; way++)
            free_text(redacted(str_from(text, SIZE), way));
    }
    free(text);
}

static void what_does_not_fit_is_cut_at_any_size(void **state)
{
    static const char text[] = "see https://u:p@host/f?t=1 and token=abc.";
    static const char kept[] = "see https://***@host/f?*** and token=***";
    (void)state;

    for (size_t room = 1; room <= sizeof(text); room++) {
        char *out = malloc(room); /* one byte too many would be past the block */
        size_t expected = room < sizeof(kept) - 1 ? room : sizeof(kept) - 1;
        assert_int_equal(roast_str_redact(out, room, roast_str_of(text)), expected);
        assert_memory_equal(out, kept, expected);
        free(out);
    }
}

static void a_nul_byte_is_text_like_any_other(void **state)
{
    static const char text[] = "a\0https://u:p@host/f?t\0b";
    static const char kept[] = "a\0https://***@host/f?***\0b";
    (void)state;

    struct roast_str clean = redacted(str_from(text, sizeof(text) - 1), MESSAGE);
    assert_int_equal(clean.size_bytes, sizeof(kept) - 1);
    assert_memory_equal(clean.data, kept, clean.size_bytes);
    free_text(clean);
}

/* ---- what is shown --------------------------------------------------------------- */

static void the_text_around_a_secret_is_kept(void **state)
{
    static const struct redaction rows[] = {
        {"https://user:secret@host/f.root", "https://***@host/f.root"},
        {"https://a@b:c@d@host:443/f", "https://***@host:443/f"},
        {"https://user:pa/ss@host/f", "https://***@host/f"},
        {"https://[::1]:8443/f?authz=t", "https://[::1]:8443/f?***"},
        {"https://host/f.root#secret", "https://host/f.root#***"},
        {"root://cache//root://u:p@origin//f.root?x",
         "root://cache//root://***@origin//f.root?***"},
        {"root://u:p@a//f.root,root://v:q@b//g.root?x",
         "root://***@a//f.root,root://***@b//g.root?***"},
        {"tried root://u:p@a//f?x, root://b//g#y and gave up",
         "tried root://***@a//f?*** root://b//g#*** and gave up"},
        {"login(user=me, password='two words') failed",
         "login(user=me, password='***') failed"},
        {"('Authorization', 'Bearer abc')", "('Authorization', '***')"},
        {"Token(value='abc') is old", "Token(***) is old"},
        {"{\\\"password\\\": \\\"abc\\\"}", "{\\\"password\\\": \\\"***\\\"}"},
        {"token abc1de is old", "token *** is old"},
        {"me:abc@host is closed", "me:***@host is closed"},
        {"run --user me:abc --n 3", "run --user me:*** --n 3"},
        {"run --db-pass=abc -p def", "run --db-pass=*** -p ***"},
        {"found ghp_abcdefgh01 here", "found *** here"},
        {"-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----",
         "-----BEGIN PRIVATE KEY-----***-----END PRIVATE KEY-----"},
    };
    (void)state;

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct roast_str clean = redacted(roast_str_of(rows[i].text), MESSAGE);
        assert_str_is(clean, rows[i].kept);
        free_text(clean);
    }
}

static void check_name(const char *name, const char *before, const char *after)
{
    struct roast_str clean = redacted(roast_str_of(name), NAME);
    size_t from = strlen(before);

    assert_true(clean.size_bytes == from + 3 + ROAST_NAME_MARK_BYTES + strlen(after));
    assert_memory_equal(clean.data, before, from);
    assert_memory_equal(clean.data + from, "***~", 4);
    assert_memory_equal(clean.data + from + 3 + ROAST_NAME_MARK_BYTES, after,
                        strlen(after));
    free_text(clean);
}

static void names_that_differ_in_a_secret_stay_two(void **state)
{
    static const char *const names[] = {"ttbar password=one", "ttbar password=two",
                                        "root://u:a@host//f.root",
                                        "root://u:b@host//f.root"};
    struct roast_str clean[4];
    unsigned char other[ROAST_NAME_KEY_BYTES] = {9};
    char out[64];
    (void)state;

    check_name("ttbar password=one", "ttbar password=", "");
    check_name("root://u:p w@host//my file.root?a b", "root://",
               "@host//my file.root?***");
    check_name("/store/f.root?authz=token", "/store/f.root?", "");
    for (int i = 0; i < 4; i++)
        clean[i] = redacted(roast_str_of(names[i]), NAME);
    assert_false(str_equal(clean[0], clean[1]));
    assert_false(str_equal(clean[2], clean[3]));
    struct roast_str same = redacted(roast_str_of(names[0]), NAME);
    assert_true(str_equal(clean[0], same));
    size_t size =
        roast_str_redact_name(out, sizeof(out), roast_str_of(names[0]), other);
    assert_false(str_equal(clean[0], str_from(out, size)));
    for (int i = 0; i < 4; i++)
        free_text(clean[i]);
    free_text(same);
}

/* The first vector of the authors' reference: 15 bytes under the key 00 01 .. 0f. */
static void the_keyed_hash_is_siphash(void **state)
{
    unsigned char sip_key[ROAST_NAME_KEY_BYTES];
    char text[15];
    (void)state;

    for (int i = 0; i < ROAST_NAME_KEY_BYTES; i++)
        sip_key[i] = (unsigned char)i;
    for (int i = 0; i < 15; i++)
        text[i] = (char)i;
    assert_true(roast__keyed_hash(sip_key, str_from(text, 15)) ==
                UINT64_C(0xa129ca6149be45e5));
}

static void ordinary_names_are_unchanged(void **state)
{
    static const char *const names[] = {
        "ttbar_2018",
        "/store/my file.root",
        "root://host:1094//my file.root",
        "",
        "/TTTo2L2Nu_TuneCP5_13TeV-powheg-pythia8/RunIISummer20UL18-v2/NANOAODSIM",
        "tight pass: signal region",
        "QCD HT 100 to 200"};
    (void)state;

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct roast_str clean = redacted(roast_str_of(names[i]), NAME);
        if (i != 5) /* a text under the name `pass` may be a password */
            assert_str_is(clean, names[i]);
        free_text(clean);
    }
}

/* ---- commands and values --------------------------------------------------------- */

static void values_of_options_are_hidden(void **state)
{
    static const struct redaction rows[] = {
        {"python", "python"},
        {"run.py", "run.py"},
        {"-p", "-p"},
        {"hunter2", "***"},
        {"--pass", "--pass"},
        {"two words", "***"},
        {"--db-pass=a b", "--db-pass=***"},
        {"--user", "--user"},
        {"me:a b", "me:***"},
        {"--key", "--key"},
        {"abc", "***"},
        {"-u", "-u"},
        {"me", "me"},
        {"--token", "--token"},
        {"--n", "--n"},
        {"3", "3"},
        {"--chunksize", "--chunksize"},
        {"1000", "1000"},
        {"-p", "-p"},
        {"8786", "8786"},
        {"https://u:p@host/f", "https://***@host/f"},
        {"-H", "-H"},
        {"Cookie: a b", "Cookie: ***"},
        {"sample=ttbar", "sample=ttbar"},
    };
    struct roast_redact_arguments arguments = {0};
    char out[128];
    (void)state;

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t size = roast_str_redact_argument(&arguments, out, sizeof(out),
                                                roast_str_of(rows[i].text));
        assert_str_is(str_from(out, size), rows[i].kept);
    }
}

static void values_are_secret_for_their_names(void **state)
{
    static const char *const always[] = {"password",   "X-Auth-Token", "AWS_SECRET",
                                         "my api-key", "auth",         "apiToken"};
    static const char *const never[] = {"",       "author", "passing",  "tok en",
                                        "events", "key",    "n_tokens", "token_file"};
    struct roast_str absent = {NULL, 0};
    (void)state;

    for (size_t i = 0; i < COUNT_OF(always); i++)
        assert_true(roast_str_is_secret(roast_str_of(always[i]), absent));
    for (size_t i = 0; i < COUNT_OF(never); i++)
        assert_false(roast_str_is_secret(roast_str_of(never[i]), roast_str_of("abc1")));
    assert_false(roast_str_is_secret(absent, absent));
    assert_false(roast_str_is_secret(roast_str_of("pass"), absent));
    assert_false(roast_str_is_secret(roast_str_of("pass"), roast_str_of("120")));
    assert_true(roast_str_is_secret(roast_str_of("pass"), roast_str_of("hunter2")));
    assert_false(roast_str_is_secret(roast_str_of("PWD"), roast_str_of("/home/me")));
    assert_true(roast_str_is_secret(roast_str_of("PWD"), roast_str_of("hunter2")));
}

static void plain_names_are_known_at_once(void **state)
{
    static const char *const plain[] = {"", "jets", "ttbar_2018", "/data/a.root", "ey"};
    (void)state;

    for (size_t i = 0; i < COUNT_OF(plain); i++)
        assert_false(roast_str_may_hold_secret(roast_str_of(plain[i])));
    assert_false(roast_str_may_hold_secret((struct roast_str){NULL, 0}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_secret_of_the_corpus_is_kept),
        cmocka_unit_test(innocent_texts_are_unchanged),
        cmocka_unit_test(no_secret_is_kept_in_any_other_text),
        cmocka_unit_test(any_text_is_redacted_once),
        cmocka_unit_test(hostile_texts_take_linear_time),
        cmocka_unit_test(what_does_not_fit_is_cut_at_any_size),
        cmocka_unit_test(a_nul_byte_is_text_like_any_other),
        cmocka_unit_test(the_text_around_a_secret_is_kept),
        cmocka_unit_test(names_that_differ_in_a_secret_stay_two),
        cmocka_unit_test(the_keyed_hash_is_siphash),
        cmocka_unit_test(ordinary_names_are_unchanged),
        cmocka_unit_test(values_of_options_are_hidden),
        cmocka_unit_test(values_are_secret_for_their_names),
        cmocka_unit_test(plain_names_are_known_at_once),
    };
    return cmocka_run_group_tests_name("base/redact", tests, NULL, NULL);
}
