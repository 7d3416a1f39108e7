/* SPDX-License-Identifier: BSD-3-Clause */
/* test_text.c - cutting between characters, and what of a URL may be written down.
 *
 * Nothing that opens a door may pass roast_str_redact(): where a case could be read two
 * ways, the reading that takes away more is the right one. */
#include "support.h"

#include "roast/text.h"

static void cutting_never_splits_a_character(void **state)
{
    static const char text[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z"; /* a é € 😀 z */
    static const size_t kept[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
    (void)state;

    for (size_t max = 0; max < COUNT_OF(kept); max++) {
        struct roast_str cut = roast_str_cut(roast_str_of(text), max);
        assert_ptr_equal(cut.data, text);
        assert_int_equal(cut.size_bytes, kept[max]);
    }
}

static void cutting_bytes_that_are_no_text_ends(void **state)
{
    static const char tails[] = "\x80\x80\x80\x80\x80";
    (void)state;

    assert_int_equal(roast_str_cut(roast_str_of(tails), 3).size_bytes, 0);
    assert_null(roast_str_cut((struct roast_str){NULL, 0}, 3).data);
}

static void an_absent_text_is_not_an_empty_one(void **state)
{
    (void)state;

    assert_null(roast_str_of(NULL).data);
    assert_non_null(roast_str_of("").data);
    assert_int_equal(roast_str_of("jets").size_bytes, 4);
}

struct redaction {
    const char *text;
    const char *kept;
};

static void check_redactions(const struct redaction *rows, size_t count)
{
    char out[512];

    for (size_t i = 0; i < count; i++) {
        char *text = tight_copy(rows[i].text, strlen(rows[i].text));
        size_t size = roast_str_redact(out, sizeof(out),
                                       str_from(text, strlen(rows[i].text)));
        assert_str_is(str_from(out, size), rows[i].kept);
        free(text);
    }
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
    check_redactions(rows, COUNT_OF(rows));
}

static void an_at_sign_in_the_path_is_no_user_information(void **state)
{
    static const struct redaction rows[] = {
        {"root://host//store/user@home/f.root", "root://host//store/user@home/f.root"},
        {"mail me@home.org about it", "mail me@home.org about it"},
    };
    (void)state;
    check_redactions(rows, COUNT_OF(rows));
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
        {"root://host//f.root?xrd.wantprot=unix&authz=Bearer%20x", "root://host//f.root"},
    };
    (void)state;
    check_redactions(rows, COUNT_OF(rows));
}

/* A blank ends a URL and nothing else does: a bracket too many goes with a query rather
 * than half a secret stays. */
static void words_around_urls_stay(void **state)
{
    static const struct redaction rows[] = {
        {"tried root://u:p@a//f?x, root://b//g#y and gave up",
         "tried root://a//f root://b//g and gave up"},
        {"OSError: 'https://u:p@a/f?t=1' (HTTP 403)", "OSError: 'https://a/f (HTTP 403)"},
        {"see <https://u:p@a/f>; or (https://b/g).", "see <https://a/f>; or (https://b/g)."},
        {"first\nhttps://a/f?t=1\n\tlast", "first\nhttps://a/f\n\tlast"},
    };
    (void)state;
    check_redactions(rows, COUNT_OF(rows));
}

/* Caches of XRootD take the origin's URL as their path. */
static void a_url_inside_a_url_is_one_too(void **state)
{
    static const struct redaction rows[] = {
        {"root://cache//root://u:p@origin//f.root?x", "root://cache//root://origin//f.root"},
        {"root://u:p@cache//https://v:q@origin/f", "root://cache//https://origin/f"},
        {"root://u:p@a//f.root,root://v:q@b//g.root?x", "root://a//f.root,root://b//g.root"},
        {"['https://u:p@a/f','https://v:q@b/g']", "['https://a/f','https://b/g']"},
    };
    (void)state;
    check_redactions(rows, COUNT_OF(rows));
}

static void an_address_in_brackets_is_a_host(void **state)
{
    static const struct redaction rows[] = {
        {"root://[2001:db8::1]:1094//f.root", "root://[2001:db8::1]:1094//f.root"},
        {"https://[::1]:8443/f?authz=token", "https://[::1]:8443/f"},
        {"https://u:p@[::1]/f?authz=token", "https://[::1]/f"},
    };
    (void)state;
    check_redactions(rows, COUNT_OF(rows));
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
    check_redactions(rows, COUNT_OF(rows));
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

static void what_does_not_fit_is_cut_at_any_size(void **state)
{
    static const char text[] = "see https://u:p@host/f?t=1 and root://v@b//g.";
    static const char kept[] = "see https://host/f and root://b//g.";
    (void)state;

    for (size_t room = 1; room <= sizeof(text); room++) {
        char *out = malloc(room); /* one byte too many is one past the block */
        size_t expected = room < sizeof(kept) - 1 ? room : sizeof(kept) - 1;
        assert_int_equal(roast_str_redact(out, room, roast_str_of(text)), expected);
        assert_memory_equal(out, kept, expected);
        free(out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cutting_never_splits_a_character),
        cmocka_unit_test(cutting_bytes_that_are_no_text_ends),
        cmocka_unit_test(an_absent_text_is_not_an_empty_one),
        cmocka_unit_test(user_information_goes),
        cmocka_unit_test(an_at_sign_in_the_path_is_no_user_information),
        cmocka_unit_test(query_and_fragment_go),
        cmocka_unit_test(words_around_urls_stay),
        cmocka_unit_test(a_url_inside_a_url_is_one_too),
        cmocka_unit_test(an_address_in_brackets_is_a_host),
        cmocka_unit_test(what_is_no_url_is_copied_as_it_is),
        cmocka_unit_test(a_nul_byte_is_text_like_any_other),
        cmocka_unit_test(what_does_not_fit_is_cut_at_any_size),
    };
    return cmocka_run_group_tests_name("base/text", tests, NULL, NULL);
}
