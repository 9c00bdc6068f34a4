from chalicelib.fetching.extract import Extracted, extract

RSS = """<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:media="http://search.yahoo.com/mrss/">
<channel><title>News &amp; more</title><link>http://a.example.com/</link><description>All of it</description>
<language>de</language><lastBuildDate>Mon, 30 Nov 2026 10:00:00 GMT</lastBuildDate>
<item><title>First&nbsp;post at AT&T</title><pubDate>Mon, 02 Nov 2026 10:00:00 GMT</pubDate>
<guid>http://a.example.com/1</guid>
<description>short</description>
<content:encoded><![CDATA[<p>Long &amp; <b>bold</b></p><p hidden>no</p><script>no</script>]]></content:encoded>
<media:title>no</media:title></item>
<item><title>a &lt; b</title><description>&lt;p&gt;one&lt;/p&gt;&lt;p&gt;two</description></item>
</channel></rss>"""

ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en"><title>Log</title><subtitle>What happened</subtitle>
<updated>2026-11-30T00:00:00Z</updated>
<entry><title type="html">A &amp;amp; B</title><published>2026-01-01</published><updated>2026-02-02</updated>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">zero<p>One</p><p>Two <br/>three</p></div></content>
<summary>no</summary></entry>
<entry><title>plain &lt;b&gt;</title><summary>the rest</summary></entry></feed>"""


def feed(document: str, content_type: str = "application/rss+xml") -> Extracted:
    return extract(document.encode(), content_type)


def test_rss_gives_entries_and_keeps_the_feeds_own_words_apart() -> None:
    found = feed(RSS)
    assert found.text.split("\n") == [
        "First post at AT&T", "Mon, 02 Nov 2026 10:00:00 GMT", "Long & bold", "a < b", "one", "two",
    ]  # fmt: skip
    assert (found.title, found.description, found.language) == ("News & more", "All of it", "de")
    assert found.hidden_removed == 1


def test_atom_gives_entries_and_keeps_the_feeds_own_words_apart() -> None:
    found = feed(ATOM, "application/atom+xml")
    assert found.text.split("\n") == ["A & B", "2026-01-01", "zero", "One", "Two", "three", "plain <b>", "the rest"]
    assert (found.title, found.description, found.language) == ("Log", "What happened", "en")


def test_rss_1_has_its_items_beside_the_channel() -> None:
    found = feed(
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">'
        "<channel><title>R</title></channel><item><title>i</title><description>d</description></item></rdf:RDF>",
        "text/xml",
    )
    assert (found.title, found.text) == ("R", "i\nd")


def test_dates_of_the_feed_do_not_make_a_new_text() -> None:
    assert feed(RSS).text == feed(RSS.replace("Mon, 30 Nov", "Tue, 01 Dec")).text


def test_a_broken_feed_counts_as_far_as_it_goes() -> None:
    assert feed("<rss><channel><item><title>one</title></item><item><title>two").text == "one\ntwo"
    assert feed("<rss><channel><item><title>fish & chips</title></item>").text == "fish & chips"


def test_other_xml_gives_its_text_a_line_for_each_element() -> None:
    found = feed(
        "<urlset><url><loc>http://a.example.com/</loc><b> x\n y </b></url><![CDATA[1 < 2]]></urlset>", "text/xml"
    )
    assert found.text == "http://a.example.com/\nx y\n1 < 2"


def test_declared_entities_are_neither_expanded_nor_fetched() -> None:
    bomb = "".join(f'<!ENTITY l{level} "{f"&l{level - 1};" * 10}">' for level in range(1, 10))
    found = feed(
        f'<!DOCTYPE rss [<!ENTITY l0 "lol">{bomb}]><rss><channel><item><title>x &l9;</title></item></channel></rss>'
    )
    assert len(found.text) < 20
    for document_type in (
        '<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/hostname">]>',
        '<!-- <!DOCTYPE r> --><!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/hostname"> ]  >',
        '<?pi?><!DOCTYPE r SYSTEM "http://127.0.0.1:9/x.dtd"><!DOCTYPE r [<!ENTITY e "expanded">]>',
        '<!DOCTYPE r [<!ENTITY % p SYSTEM "file:///etc/hostname"> %p;]>',
    ):
        assert feed(f"{document_type}<r>&e; data</r>", "text/xml").text == "&e; data"


def test_depth_costs_nothing() -> None:
    assert feed("<a>" * 100_000 + "deep" + "</a>" * 100_000, "application/xml").text == "deep"


def test_the_title_of_a_source_or_an_image_is_not_that_of_the_entry_or_the_feed() -> None:
    atom = (
        "<feed xmlns='http://www.w3.org/2005/Atom'><author><title>no</title></author><title>Log</title><entry>"
        "<source><title>Other</title><published>1999</published></source><title>Real</title><summary>s</summary></entry></feed>"
    )
    rss = (
        "<rss><channel><image><title>Logo</title><description>no</description></image><title>News</title>"
        "<textinput><title>no</title></textinput><item><title>a</title></item></channel></rss>"
    )
    rdf = (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">'
        "<image><title>Logo</title></image><channel><title>News</title></channel><item><title>a</title></item></rdf:RDF>"
    )
    assert [(feed(one).title, feed(one).text) for one in (atom, rss, rdf)] == [
        ("Log", "Real\ns"), ("News", "a"), ("News", "a"),
    ]  # fmt: skip
    assert feed(rss).description is None
