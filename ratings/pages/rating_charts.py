"""Small pictures of ratings as inline SVG: a mean with its interval, and how often each value was given.

Each has a text alternative.
"""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from argot.languages.catalogues import format_local_decimal, translate

WIDTH, HEIGHT = 220, 18
_FRAME = Markup('<svg class="rating-bar" role="img" aria-label="{}" viewBox="0 0 {} {}">{}</svg>')


def draw_mean_bar(mean: float, interval: tuple[float, float] | None, scale: tuple[int, int]) -> Markup:
    """Draw a bar from the scale's beginning to the mean, with the interval as a line over the bar's end."""
    lowest, most = scale

    def locate(value: float) -> float:
        return round((value - lowest) / max(most - lowest, 1) * WIDTH, 1)

    drawn = Markup('<rect class="ground" width="{}" height="{}" rx="3"/>').format(WIDTH, HEIGHT)
    drawn += Markup('<rect class="mean" width="{}" height="{}" rx="3"/>').format(locate(mean), HEIGHT)
    label = translate("%(mean)s of %(most)s", mean=format_local_decimal(mean, 2), most=most)
    if interval:
        low, high = interval
        # Drawn twice, first broader, so that the line is visible both on the bar and beside it.
        for kind in ("interval under", "interval"):
            line = Markup('<path class="{}" d="M{} 9H{}M{} 5V13M{} 5V13"/>')
            # Within the picture, even at the very end of the line.
            left, right = (min(max(locate(one), 1), WIDTH - 1) for one in interval)
            drawn += line.format(kind, left, right, left, right)
        bounds = {"low": format_local_decimal(low, 2), "high": format_local_decimal(high, 2)}
        label += translate(", 95 %% interval %(low)s to %(high)s", **bounds)
    return _FRAME.format(label, WIDTH, HEIGHT, drawn)


def draw_shares_bar(counts: Sequence[int], lowest: int) -> Markup:
    """Draw as parts of one bar how often each value was given, from the lowest on."""
    total = sum(counts) or 1
    drawn, left = Markup(""), 0.0
    for value, count in enumerate(counts, lowest):
        wide = count / total * WIDTH
        if count:
            # Its strength shows the value: by opacity, so that it works on light and on dark.
            strong = round(0.2 + 0.8 * (value - lowest) / max(len(counts) - 1, 1), 2)
            part = Markup(
                '<rect class="share" opacity="{}" x="{:.1f}" width="{:.1f}" height="{}"><title>{}</title></rect>'
            )
            drawn += part.format(strong, left, wide, HEIGHT, f"{value}: {count}")
            if wide > 16:
                text = Markup('<text x="{:.1f}" y="13" class="{}">{}</text>')
                drawn += text.format(left + wide / 2, "on-strong" if strong > 0.55 else "on-faint", value)
        left += wide
    label = ", ".join(f"{value}: {count}" for value, count in enumerate(counts, lowest))
    return _FRAME.format(translate("how often each was given: %(counts)s", counts=label), WIDTH, HEIGHT, drawn)
