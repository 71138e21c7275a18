"""The wing `slack`: the parts that it brings."""

from argot.wings import Wing

WING = Wing(
    name="slack",
    use_cases=("argot.slack.usecases.slack_channels",),
    commands=("argot.slack.commands:register",),
    pages=("argot.slack.app.slack_routes:build_slack_routes",),
    services=("argot.slack.app.lifecycle:slack",),
    doctor_checks=("argot.slack.slack_check:check_slack",),
    personal_data=("argot.slack.personal_data:KEEPER",),
)
