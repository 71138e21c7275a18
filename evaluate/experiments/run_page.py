"""A run as one self-contained page: tables, plots, and the run's models and data. No script; all text is escaped."""

from __future__ import annotations

from html import escape

from argot.evaluate.experiments.experiment import Experiment, PaperColumn
from argot.evaluate.experiments.experiment_runs import ExperimentRun
from argot.evaluate.experiments.run_tables import format_figure, format_published, list_columns
from argot.evaluate.experiments.score_tables import build_score_tables
from argot.evaluate.experiments.svg_plots import PlottedRow, draw_dot_plot
from argot.evaluate.reports import Table

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: #1d2433; }
h1 { font-size: 1.5rem; margin-bottom: 0; } h2 { font-size: 1.1rem; margin-top: 2rem; }
p.about { color: #4a5468; margin-top: .25rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; } th, td { padding: .3rem .7rem; text-align: left; border-bottom: 1px solid #dde2ea; }
td.figure { font-variant-numeric: tabular-nums; white-space: nowrap; } td .paper { color: #a8480f; }
td .none { color: #7a8496; } tr.not-run td { color: #7a8496; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(34rem, 1fr)); gap: 1rem; }
figure { margin: 0; } figcaption { font-weight: 600; } svg { width: 100%; height: auto; }
svg .grid { stroke: #e3e7ee; } svg .tick { font-size: 12px; text-anchor: middle; fill: #4a5468; }
svg .row { font-size: 13px; text-anchor: end; fill: #1d2433; } svg .interval { stroke: #1f5fbf; stroke-width: 3; opacity: .45; }
svg .ours { fill: #1f5fbf; } svg .paper { fill: none; stroke: #a8480f; stroke-width: 2; }
.key .ours { color: #1f5fbf; } .key .paper { color: #a8480f; }
@media (prefers-color-scheme: dark) {
  body { background: #12161f; color: #e6e9f0; } p.about, svg .tick { color: #aab3c5; fill: #aab3c5; }
  th, td { border-color: #2b3345; } svg .row { fill: #e6e9f0; } svg .grid { stroke: #2b3345; }
  td .paper, .key .paper { color: #f0a36e; } svg .paper { stroke: #f0a36e; }
  svg .ours { fill: #7fb0ff; } svg .interval { stroke: #7fb0ff; } .key .ours { color: #7fb0ff; }
}
"""  # noqa: E501


def build_run_page(experiment: Experiment, run: ExperimentRun) -> str:
    """Return the complete page as HTML."""
    columns = list_columns(experiment, run)
    title = escape(f"{experiment.paper}, {experiment.table}")
    return "\n".join([
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        # The page loads nothing, whatever a label says.
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        f"<title>{title}: {escape(run.id)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>",
        f'<h1>{title}</h1>\n<p class="about">{escape(experiment.about)}</p>',
        '<p class="key"><span class="ours">● ours, with its 95 % interval</span> &nbsp; '
        '<span class="paper">◇ the paper reports</span></p>',
        _render_table(experiment, run, columns),
        *map(_render_scores, build_score_tables(experiment, run)),
        _render_plots(experiment, run, columns),
        _render_setting(experiment, run),
        "</body>\n</html>\n",
    ])  # fmt: skip


def _render_table(experiment: Experiment, run: ExperimentRun, columns: list[PaperColumn]) -> str:
    head = "".join(f'<th scope="col">{escape(column.title)}</th>' for column in columns)
    body = []
    for result in run.rows:
        row = experiment.find_row(result.label)
        cells = []
        for column in columns:
            published = row.paper.get(column.key) if row else None
            ours = escape(format_figure(result.figures.get(column.key), column)) or '<span class="none">–</span>'
            theirs = (
                "" if published is None else f'<br><span class="paper">{format_published(published, column)}</span>'
            )
            cells.append(f'<td class="figure">{ours}{theirs}</td>')
        kind = ' class="not-run"' if result.state == "not run" else ""
        label = f'<th scope="row">{escape(result.label)}</th>'
        body.append(f"<tr{kind}>{label}{''.join(cells)}<td>{escape(result.reason)}</td></tr>")
    return (
        f'<div class="wide"><table><thead><tr><th scope="col">Row</th>{head}<th scope="col"></th></tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def _render_scores(table: Table) -> str:
    head = "".join(f'<th scope="col">{escape(one)}</th>' for one in table.columns)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in table.rows)
    return (
        f'<h2>{escape(table.title)}</h2>\n<div class="wide"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _render_plots(experiment: Experiment, run: ExperimentRun, columns: list[PaperColumn]) -> str:
    figures = []
    for column in columns:
        rows = []
        for result in run.rows:
            row, figure = experiment.find_row(result.label), result.figures.get(column.key)
            published = row.paper.get(column.key) if row else None
            if figure is not None or published is not None:
                ours, interval = (figure.mean, figure.interval95) if figure else (None, None)
                rows.append(PlottedRow(result.label, ours, interval, published))
        if plot := draw_dot_plot(column.title, rows):
            figures.append(f"<figure><figcaption>{escape(column.title)}</figcaption>{plot}</figure>")
    return f'<h2>Plots</h2>\n<div class="plots">{"".join(figures)}</div>' if figures else ""


def _render_setting(experiment: Experiment, run: ExperimentRun) -> str:
    limited = f", the first {run.limit} of each part" if run.limit else ""
    rows = [
        ("Run", run.id),
        ("Started", run.started),
        ("Finished", run.finished or "not yet"),
        ("Argot", run.version),
        ("Data", f"{run.data}: {run.questions} questions{limited} (fingerprint {run.fingerprint})"),
        *((name.capitalize(), value) for name, value in run.models.items()),
        ("The paper ran with", experiment.published_with),
        *(("Note", note) for note in (*experiment.notes, *run.notes)),
    ]
    body = "".join(f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}</td></tr>' for name, value in rows)
    return f"<h2>Data and models</h2>\n<table><tbody>{body}</tbody></table>"
