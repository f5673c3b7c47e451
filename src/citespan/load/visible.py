"""Which parts of a page a reader sees, and which of those are the main text.

The rules are few and named, so that a missing paragraph can be explained: elements that hold no
text; elements that style hides; navigation, asides, footers and their ARIA roles; a short list of
class names that stand for the same; and lists that are nothing but links.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

SILENT = frozenset(
    [
        "script",
        "style",
        "noscript",
        "template",
        "svg",
        "math",
        "iframe",
        "object",
        "embed",
        "canvas",
        "audio",
        "video",
        "head",
        "select",
        "option",
        "datalist",
        "button",
        "input",
        "textarea",
        "dialog",
        "noframes",
        "frameset",
        "map",
        "area",
    ]
)
_FURNITURE_TAGS = frozenset(("nav", "aside", "footer", "menu"))
_FURNITURE_ROLES = frozenset(
    ("navigation", "banner", "contentinfo", "complementary", "search", "menu", "menubar", "dialog")
)
_FURNITURE_NAMES = frozenset(
    [
        "nav",
        "navbar",
        "navigation",
        "navbox",
        "sidebar",
        "side-bar",
        "menu",
        "topnav",
        "breadcrumb",
        "breadcrumbs",
        "pagination",
        "pager",
        "footer",
        "site-footer",
        "page-footer",
        "site-header",
        "cookie-banner",
        "cookie-notice",
        "cookie-consent",
        "cookies",
        "newsletter",
        "advert",
        "advertisement",
        "ads",
        "social-share",
        "share-buttons",
        "skip-link",
        "mw-editsection",
        "mw-jump-link",
        "noprint",
        "vector-menu",
        "printfooter",
        "catlinks",
        "toc",
        "related-posts",
        "comments-form",
    ]
)
_WHOLE = frozenset(("html", "body", "main", "article"))
_HIDING = re.compile(
    r"(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0*\.?0+(?![.\d])"
    r"|font-size\s*:\s*0(?![.\d])|(?:left|top|text-indent)\s*:\s*-\d{3,}"
    r"|clip\s*:\s*rect\(\s*0|clip-path\s*:\s*inset\(\s*(?:50|100)%)",
    re.IGNORECASE,
)
_COLOR = re.compile(r"(?:^|[;\s])(background(?:-color)?|color)\s*:\s*([^;!]+)", re.IGNORECASE)
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_SIMPLE = re.compile(r"^(?:[a-zA-Z][\w-]*)?([.#][\w-]+)$")
_WHITES = frozenset(("white", "#fff", "#ffffff", "rgb(255,255,255)"))


@dataclass(frozen=True, slots=True)
class HiddenRules:
    """The class names (``.x``) and ids (``#x``) that the page's own style sheet hides."""

    names: frozenset[str]

    def hides(self, node: Any) -> bool:
        """Whether an element is not shown to a reader."""
        attributes = node.attributes
        if not attributes:
            return False
        if "hidden" in attributes and attributes["hidden"] != "until-found":
            return True
        if (attributes.get("aria-hidden") or "").lower() == "true":
            return True
        style = attributes.get("style")
        if style and hides_text(style):
            return True
        if self.names:
            classes = (attributes.get("class") or "").split()
            if any("." + name in self.names for name in classes):
                return True
            return "#" + (attributes.get("id") or "") in self.names
        return False


def hides_text(style: str) -> bool:
    """Whether a style declaration makes text invisible.

    >>> hides_text("display: none"), hides_text("opacity:0.5"), hides_text("color:#fff")
    (True, False, True)
    """
    if _HIDING.search(style):
        return True
    colors = {k.lower(): "".join(v.lower().split()) for k, v in _COLOR.findall(style)}
    color = colors.get("color")
    ground = colors.get("background-color", colors.get("background"))
    if color is None:
        return False
    return color == ground or color == "transparent" or (ground is None and color in _WHITES)


def read_hidden_rules(tree: Any) -> HiddenRules:
    """Return what the page's ``<style>`` blocks hide by a plain class or id (no media queries)."""
    names: set[str] = set()
    for node in tree.css("style"):
        sheet = re.sub(r"/\*.*?\*/", "", node.text()[:500_000], flags=re.DOTALL)
        sheet = re.sub(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", sheet)
        for selectors, body in _RULE.findall(sheet):
            if _HIDING.search(body):
                for selector in selectors.split(","):
                    match = _SIMPLE.match(selector.strip())
                    if match:
                        names.add(match[1])
    return HiddenRules(frozenset(names))


def find_main(root: Any) -> Any:
    """Return the element that holds the main text: the one ``<main>`` or ``<article>``, or all.

    It must hold at least a quarter of what the page says, else it is taken for a teaser.
    """
    whole = len(root.text(strip=True)) - sum(
        len(node.text(strip=True)) for node in root.css("script, style, noscript, template")
    )
    for selector in ("main", '[role="main"]', "article"):
        found = root.css(selector)
        if len(found) == 1 and len(found[0].text(strip=True)) * 4 >= whole:
            return found[0]
    return root


def is_furniture(node: Any) -> bool:
    """Whether an element is navigation, an aside, a footer or the like, not main text."""
    tag = node.tag
    if tag in _WHOLE:
        return False
    if tag in _FURNITURE_TAGS:
        return not (tag == "footer" and node.parent is not None and node.parent.tag == "blockquote")
    attributes = node.attributes
    if (attributes.get("role") or "").lower() in _FURNITURE_ROLES:
        return True
    names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}".lower().split()
    if any(name in _FURNITURE_NAMES for name in names):
        return True
    if tag == "header":
        return node.css_first("h1") is None and _is_link_list(node)
    return tag in ("ul", "ol") and _is_link_list(node)


def _is_link_list(node: Any) -> bool:
    """Whether a list holds at least five short links and hardly a word beside them."""
    links = node.css("a")
    if len(links) < 5:
        return False
    whole = len(node.text(strip=True))
    linked = sum(len(link.text(strip=True)) for link in links)
    return linked > 0.9 * whole and linked < 30 * len(links)


def gather_text(node: Any, rules: HiddenRules) -> str:
    """Return the visible text under a node as one run, without recursion."""
    pieces: list[str] = []
    current, depth = node, 0
    while True:
        tag = current.tag
        visit = False
        if tag == "-text":
            pieces.append(current.text_content or "")
        elif not (tag in SILENT or tag.startswith("-") or (depth and _is_extra(current, rules))):
            visit = True
            if tag in ("br", "p", "div", "li"):
                pieces.append(" ")
        if visit and current.child is not None:
            current, depth = current.child, depth + 1
            continue
        while depth and current.next is None:
            current, depth = current.parent, depth - 1
        if not depth:
            return "".join(pieces)
        current = current.next


def _is_extra(node: Any, rules: HiddenRules) -> bool:
    return rules.hides(node) or is_furniture(node)
