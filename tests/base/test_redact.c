/* SPDX-License-Identifier: BSD-3-Clause */
/* test_redact.c - which parts of a message or file name are removed.
 *
 * No secret may pass: where a text is ambiguous, more is removed. */
#include "support.h"

#include "roast/text.h"

struct redaction {
    const char *text;
    const char *kept;
};

typedef size_t redact(char *out, size_t out_bytes, struct roast_str text);

static void check_with(redact *function, const struct redaction *row)
{
    size_t size = strlen(row->text);
    char *text = tight_copy(row->text, size);
    char out[512];

    size_t kept = function(out, sizeof(out), str_from(text, size));
    assert_str_is(str_from(out, kept), row->kept);
    free(text);
}

static void check_messages(const struct redaction *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_with(roast_str_redact, &rows[i]);
}

/* A URL is treated the same as a file name and in a message. */
static void check_urls(const struct redaction *rows, size_t count)
{
    check_messages(rows, count);
    for (size_t i = 0; i < count; i++)
        check_with(roast_str_redact_file, &rows[i]);
}

static void user_information_goes(void **state)
{
    static const struct redaction rows[] = {
        {"https://user:secret@host/f.root", "https://host/f.root"},
        {"https://user@host/f.root", "https://host/f.root"},
        {"https://:secret@host", "https://host"},
        {"https://a@b:c@d@host:443/f", "https://host:443/f"},
        {"https://user:@/f", "https:///f"},
        {"root://user:s%2Fecret@eos.cern.ch:1094//eos/f.root",
         "root://eos.cern.ch:1094//eos/f.root"},
        {"https://u:!$&*+=%~-._p\xc3\xa4ss:w@host/f", "https://host/f"},
        {"https://u:a,b;c'd)e]f}g@host/f", "https://host/f"},
        {"https://u:\"<|>`@host/f", "https://host/f"},
    };
    (void)state;
    check_urls(rows, COUNT_OF(rows));
}

static void an_at_sign_in_the_path_is_no_user_information(void **state)
{
    static const struct redaction rows[] = {
        {"root://host//store/user@home/f.root", "root://host//store/user@home/f.root"},
        {"mail me@home.org about it", "mail me@home.org about it"},
    };
    (void)state;
    check_urls(rows, COUNT_OF(rows));
}

static void query_and_fragment_go(void **state)
{
    static const struct redaction rows[] = {
        {"https://host/f.root?authz=token", "https://host/f.root"},
        {"https://host/f.root#secret", "https://host/f.root"},
        {"https://host/f.root#a?b", "https://host/f.root"},
        {"https://host?authz=token", "https://host"},
        {"https://host/f?a=1;token=2,x=(3)[4]{5}6", "https://host/f"},
        {"https://host/f?to=https://u:p@other/g?h", "https://host/f"},
        {"https://bucket.s3.amazonaws.com/f.root?X-Amz-Credential=AKIA%2F20260101"
         "&X-Amz-SignedHeaders=host;range&X-Amz-Signature=00ff",
         "https://bucket.s3.amazonaws.com/f.root"},
        {"s3://key:secret@bucket/f.root?versionId=1", "s3://bucket/f.root"},
        {"root://host//f.root?xrd.wantprot=unix&authz=Bearer%20x",
         "root://host//f.root"},
    };
    (void)state;
    check_urls(rows, COUNT_OF(rows));
}

/* A blank ends a URL and nothing else does: a closing bracket is removed with the
 * query, because it may be part of a secret. */
static void words_around_urls_are_kept(void **state)
{
    static const struct redaction rows[] = {
        {"tried root://u:p@a//f?x, root://b//g#y and gave up",
         "tried root://a//f root://b//g and gave up"},
        {"OSError: 'https://u:p@a/f?t=1' (HTTP 403)",
         "OSError: 'https://a/f (HTTP 403)"},
        {"see <https://u:p@a/f>; or (https://b/g).",
         "see <https://a/f>; or (https://b/g)."},
        {"first\nhttps://a/f?t=1\n\tlast", "first\nhttps://a/f\n\tlast"},
    };
    (void)state;
    check_messages(rows, COUNT_OF(rows));
}

/* XRootD caches have the URL of the origin in their path. */
static void a_url_inside_a_url_is_one_too(void **state)
{
    static const struct redaction rows[] = {
        {"root://cache//root://u:p@origin//f.root?x",
         "root://cache//root://origin//f.root"},
        {"root://u:p@cache//https://v:q@origin/f", "root://cache//https://origin/f"},
        {"root://u:p@a//f.root,root://v:q@b//g.root?x",
         "root://a//f.root,root://b//g.root"},
        {"['https://u:p@a/f','https://v:q@b/g']", "['https://a/f','https://b/g']"},
    };
    (void)state;
    check_urls(rows, COUNT_OF(rows));
}

static void an_address_in_brackets_is_a_host(void **state)
{
    static const struct redaction rows[] = {
        {"root://[2001:db8::1]:1094//f.root", "root://[2001:db8::1]:1094//f.root"},
        {"https://[::1]:8443/f?authz=token", "https://[::1]:8443/f"},
        {"https://u:p@[::1]/f?authz=token", "https://[::1]/f"},
    };
    (void)state;
    check_urls(rows, COUNT_OF(rows));
}

static void what_is_no_url_is_copied_as_it_is(void **state)
{
    static const struct redaction rows[] = {
        {"file.root?x", "file.root?x"},
        {"/store/a:b//c?d#e", "/store/a:b//c?d#e"},
        {"KeyError: 'Jet_pt'", "KeyError: 'Jet_pt'"},
        {"ends with a colon:", "ends with a colon:"},
        {"c:/ and ://", "c:/ and ://"},
        {"", ""},
    };
    (void)state;
    check_messages(rows, COUNT_OF(rows));
}

static void a_nul_byte_is_text_like_any_other(void **state)
{
    static const char text[] = "a\0https://u:p@host/f?t\0b";
    static const char kept[] = "a\0https://host/f\0b";
    char out[64];
    (void)state;

    size_t size = roast_str_redact(out, sizeof(out), str_from(text, sizeof(text) - 1));
    assert_int_equal(size, sizeof(kept) - 1);
    assert_memory_equal(out, kept, size);
}

/* ---- messages ---------------------------------------------------------------- */

static void what_follows_a_word_for_a_secret_goes(void **state)
{
    static const struct redaction rows[] = {
        {"login(user=me, password=hunter2) failed",
         "login(user=me, password=*** failed"},
        {"HTTP 401 for Authorization: Bearer eyJhbGciOi.x-y at host",
         "HTTP 401 for Authorization: *** at host"},
        {"Authorization: Basic dXNlcjpwYXNz", "Authorization: ***"},
        {"bearer eyJhbGciOi", "bearer ***"},
        {"{'aws_secret_access_key': 'abc/def'}", "{'aws_secret_access_key': '***'}"},
        {"{\"api_key\": \"abc\", \"n\": 1}", "{\"api_key\": \"***\", \"n\": 1}"},
        {"password=\"two words\" for me", "password=\"***\" for me"},
        {"password='it\\'s mine' now", "password='***' now"},
        {"Authorization: Token abc at host", "Authorization: *** at host"},
        {"get(auth=('me','hunter2')) failed", "get(auth=*** failed"},
        {"pwd=hunter2 passphrase: abc", "pwd=*** passphrase: ***"},
        {"sent eyJhbGciOiJIUzI1NiJ9.e30.abc back", "sent *** back"},
        {"sigma = 3, author = me, eyJ is short",
         "sigma = 3, author = me, eyJ is short"},
        {"run --password hunter2 --n 3", "run --password *** --n 3"},
        {"X509_TOKEN=abc PATH=/bin", "X509_TOKEN=*** PATH=/bin"},
        {"BEARER_TOKEN : abc", "BEARER_TOKEN : ***"},
    };
    (void)state;
    check_messages(rows, COUNT_OF(rows));
}

static void a_word_for_a_secret_alone_hides_nothing(void **state)
{
    static const struct redaction rows[] = {
        {"the token has expired", "the token has expired"},
        {"KeyError: 'password'", "KeyError: 'password'"},
        {"no token=", "no token="},
        {"unexpected token", "unexpected token"},
    };
    (void)state;
    check_messages(rows, COUNT_OF(rows));
}

/* ---- files ------------------------------------------------------------------- */

static void a_file_may_hold_blanks_and_keeps_them(void **state)
{
    static const struct redaction rows[] = {
        {"root://u:p w@host//my file.root?authz=a b", "root://host//my file.root"},
        {"/store/my file.root", "/store/my file.root"},
    };
    (void)state;

    for (size_t i = 0; i < COUNT_OF(rows); i++)
        check_with(roast_str_redact_file, &rows[i]);
}

static void a_path_loses_a_query_but_no_question_mark(void **state)
{
    static const struct redaction rows[] = {
        {"/store/f.root?authz=token", "/store/f.root"},
        {"/store/what?.root", "/store/what?.root"},
        {"/store/token=1/f.root", "/store/token=1/f.root"},
        {"/store/a=1?b/f.root", "/store/a=1?b/f.root"},
        {"", ""},
    };
    (void)state;

    for (size_t i = 0; i < COUNT_OF(rows); i++)
        check_with(roast_str_redact_file, &rows[i]);
}

/* ---- both -------------------------------------------------------------------- */

static void what_does_not_fit_is_cut_at_any_size(void **state)
{
    static const char text[] = "see https://u:p@host/f?t=1 and root://v@b//g.";
    static const char kept[] = "see https://host/f and root://b//g.";
    (void)state;

    for (size_t room = 1; room <= sizeof(text); room++) {
        char *out = malloc(room); /* one byte too many would be past the block */
        size_t expected = room < sizeof(kept) - 1 ? room : sizeof(kept) - 1;
        assert_int_equal(roast_str_redact(out, room, roast_str_of(text)), expected);
        assert_memory_equal(out, kept, expected);
        assert_true(roast_str_redact_file(out, room, roast_str_of(text)) <= room);
        free(out);
    }
}

static void names_of_secrets_are_known_in_any_writing(void **state)
{
    static const char *const secret[] = {"password", "X-Auth-Token", "AWS_SECRET",
                                         "PWD",      "my api-key",   "auth"};
    static const char *const harmless[] = {"", "author", "passing", "tok en", "events"};
    (void)state;

    for (size_t i = 0; i < sizeof(secret) / sizeof(secret[0]); i++)
        assert_true(roast_str_names_secret(roast_str_of(secret[i])));
    for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
        assert_false(roast_str_names_secret(roast_str_of(harmless[i])));
    assert_false(roast_str_names_secret((struct roast_str){NULL, 0}));
}

/* Texts without secrets are not redacted, so redaction must not change them. */
static void what_may_hold_a_secret_is_seen(void **state)
{
    static const char *const some[] = {"Bearer\tx", "--password\nx",       "a:b", "a=b",
                                       "a b",       "eyJhbGciOiJIUzI1NiJ9"};
    static const char *const none[] = {"", "jets", "ttbar_2018", "/data/a.root", "eyJ"};
    (void)state;

    for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++)
        assert_true(roast_str_may_hold_secret(roast_str_of(some[i])));
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        assert_false(roast_str_may_hold_secret(roast_str_of(none[i])));
    assert_false(roast_str_may_hold_secret((struct roast_str){NULL, 0}));
}

/* All texts of up to six of these pieces. */
static void no_text_outgrows_its_bound(void **state)
{
    static const char *const pieces[] = {"pwd", "auth", "=",   " ",
                                         "a",   "'",    "://", "--"};
    enum { PIECES = sizeof(pieces) / sizeof(pieces[0]), LONGEST = 6 };
    char text[64];
    char out[256];
    (void)state;

    for (size_t code = 0; code < 1u << (3 * LONGEST); code++) {
        size_t size = 0;
        for (size_t left_code = code; left_code > 0; left_code /= PIECES) {
            size_t piece_bytes = strlen(pieces[left_code % PIECES]);
            memcpy(text + size, pieces[left_code % PIECES], piece_bytes);
            size += piece_bytes;
        }
        assert_true(roast_str_redact(out, sizeof(out), str_from(text, size)) <=
                    roast_str_redact_bound(size));
    }
}

static void what_grows_most_fits_its_bound(void **state)
{
    static const char unit[] = "pwd=a ";
    char text[600];
    char out[1024];
    (void)state;

    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = unit[i % (sizeof(unit) - 1)];
    for (size_t size = 0; size <= sizeof(text); size++) {
        size_t kept = roast_str_redact(out, sizeof(out), str_from(text, size));
        assert_true(kept <= roast_str_redact_bound(size));
        assert_true(kept + 3 >= roast_str_redact_bound(size) || size % 6 < 5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(user_information_goes),
        cmocka_unit_test(an_at_sign_in_the_path_is_no_user_information),
        cmocka_unit_test(query_and_fragment_go),
        cmocka_unit_test(words_around_urls_are_kept),
        cmocka_unit_test(a_url_inside_a_url_is_one_too),
        cmocka_unit_test(an_address_in_brackets_is_a_host),
        cmocka_unit_test(what_is_no_url_is_copied_as_it_is),
        cmocka_unit_test(a_nul_byte_is_text_like_any_other),
        cmocka_unit_test(what_follows_a_word_for_a_secret_goes),
        cmocka_unit_test(a_word_for_a_secret_alone_hides_nothing),
        cmocka_unit_test(a_file_may_hold_blanks_and_keeps_them),
        cmocka_unit_test(a_path_loses_a_query_but_no_question_mark),
        cmocka_unit_test(what_does_not_fit_is_cut_at_any_size),
        cmocka_unit_test(names_of_secrets_are_known_in_any_writing),
        cmocka_unit_test(what_may_hold_a_secret_is_seen),
        cmocka_unit_test(no_text_outgrows_its_bound),
        cmocka_unit_test(what_grows_most_fits_its_bound),
    };
    return cmocka_run_group_tests_name("base/redact", tests, NULL, NULL);
}
