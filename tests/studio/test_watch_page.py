"""The page on which an agent is watched, driven by keyboard and mouse in a browser."""

import pytest

pytest.importorskip("starlette", reason="needs the extra 'studio'")
pytest.importorskip("vizdoom", reason="needs the extra 'doom'")

TEXT = "return document.querySelector(arguments[0]).textContent"
NUMBER = "return Number(document.querySelector('#number').textContent)"


def test_an_agent_is_watched_paused_stepped_looked_back_upon_and_asked_why_not(studio, browser, until):
    browser.go(studio.base)  # the bare address leads to the agent in the box
    until("return document.querySelector('#cover').hidden && Watch.state.drawn > 20")
    assert browser("return location.pathname + location.search") == "/watch/DTC?seed=7"
    assert browser("return document.querySelectorAll('#values .value-bar').length") == 8
    fired = browser("return [...document.querySelectorAll('.fired-rule')].map((card) => card.innerText)")
    assert len(fired) == 6
    assert all("IF feature" in text for text in fired)

    browser.press(" ")
    until("return Watch.state.paused && document.querySelector('#pause').textContent === 'Play'")
    until(
        "const seen = Watch.state.drawn;"
        "return new Promise((tell) => setTimeout(() => tell(Watch.state.drawn === seen), 400))"
    )
    before = browser(NUMBER)
    browser.press(".")
    until(f"{NUMBER} === arguments[0]", before + 1)
    browser.press("\ue012", "\ue012")  # the arrow to the left, twice
    until(f"{NUMBER} === arguments[0]", before - 1)
    assert browser(TEXT, "#back-value") == "2 back"
    browser.press("\ue014", "\ue014")
    until("return document.querySelector('#back-value').textContent === 'now'")

    # The strip of decisions: a button's name leads to the last time that it was pressed.
    button = browser("return Trail.state.rows[Trail.state.pressed[Trail.state.trail[0][0]][0]]")
    browser(
        f"[...document.querySelectorAll('.trail-name')].find((it) => it.textContent === '{button}').click()"
    )
    until(
        "const { ready, facts } = Watch.state;"
        "return ready.actions[facts.action].split(' + ').includes(arguments[0])",
        button,
    )
    browser("Trail.state.go(0)")
    until("return document.querySelector('#back-value').textContent === 'now'")

    browser("document.querySelector('.value-bar:not(.best)').click()")
    why = until("const it = document.querySelector('#why'); return !it.hidden && it.textContent")
    assert "is valued" in why
    assert "rule" in why
    assert browser("return !document.querySelector('#why details').open")  # features without names are folded

    # The answer goes with its decision, and whoever has gone back stays there when the places are asked for.
    browser.press("\ue012")
    until("return document.querySelector('#back-value').textContent === '1 back'")
    assert browser("return document.querySelector('#why').hidden")
    browser.press("h")
    until("return !document.querySelector('#heat').hidden")
    assert browser(TEXT, "#back-value") == "1 back"
    assert browser("""const layer = document.querySelector('#heat');
        const data = layer.getContext('2d').getImageData(0, 0, layer.width, layer.height).data;
        return data.some((value, k) => k % 4 === 3 && value > 0)""")
    assert browser.complaints() == []


def test_an_agent_that_is_not_there_is_said_so_on_the_page(studio, browser, until):
    browser.go(f"{studio.base}/watch/%3Cimg%20src=x%20onerror=document.title='hit'%3E")
    said = until("const it = document.querySelector('#cover.problem'); return it && it.innerText")
    assert "<img src=x" in said
    assert browser("return document.title") == "Watch · neuroplastic studio"
    assert browser("return document.querySelectorAll('main img').length") == 0


PAGES = {
    "/watch/DTC": "return Watch.state.drawn > 0",
    "/table": "return true",
    "/rules/DTC-student?agent=1": "return Rules.state.view !== null",
    "/train": "return Train.state.told !== null",
    "/studies": "return document.querySelector('main').innerText.length > 40",
}
# What can be worked with, and is to be seen.
WORKABLE = """const kinds = 'a[href], button, select, input, summary, [tabindex="0"]';
return [...document.querySelectorAll(kinds)].filter((it) =>
  !it.disabled && it.getClientRects().length && getComputedStyle(it).visibility !== 'hidden').length"""


# Those that start a game take as long as that.
@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[pytest.mark.slow] if "DTC" in page else []) for page in PAGES]
)
def test_a_page_fits_a_phone_at_twice_the_text_and_is_reached_by_the_keyboard(studio, browser, until, page):
    browser.go(studio.base + page)
    until(PAGES[page])
    browser.resize(390, 844)
    try:
        browser("document.documentElement.style.fontSize = '200%'")
        # Not window.innerWidth: a phone's grows with what is too wide for it.
        assert browser("return document.documentElement.scrollWidth") <= 390
    finally:
        browser.resize(1400, 1000)
        browser("document.documentElement.style.fontSize = ''")
    reached = []
    for _ in range(min(browser(WORKABLE), 25)):
        browser.press("\ue004")
        found = browser("""const it = document.activeElement, style = getComputedStyle(it);
            return [[...document.querySelectorAll('*')].indexOf(it), it.matches('body'),
              parseFloat(style.outlineWidth) > 0 || parseFloat(style.strokeWidth) > 2]""")
        reached.append(found[0])
        assert found[2] or found[1], "what has the focus must show it"
    assert len(set(reached)) >= len(reached) - 1  # the browser itself may come in between
