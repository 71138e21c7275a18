"""The wing `ratings`: the parts that it brings."""

from argot.wings import Wing

WING = Wing(
    name="ratings",
    use_cases=(
        "argot.ratings.usecases.answers",
        "argot.ratings.usecases.questions",
        "argot.ratings.usecases.studies",
    ),
    commands=("argot.ratings.commands:register",),
    pages=("argot.ratings.pages.study_pages:build_study_pages", "argot.ratings.pages.rating_pages:build_rating_pages"),
    addresses=("argot.ratings.addresses:ADDRESSES",),
    templates=("argot.ratings.pages",),
    account_links=(("/ratings", "Answers to rate"),),
    links=(("/ratings/manage", "Ratings", "manager"),),
    migrations={"ratings": "argot.ratings.store.rating_store:MIGRATIONS"},
    personal_data=("argot.ratings.personal_data:KEEPER",),
    text_keepers=("argot.ratings.text_keeper:KEEPER",),
    shared_turns=("argot.ratings.usecases.shared_turns:forget_turns",),
)
