"""What the wing `ratings` brings."""

from argot.wings import Wing

WING = Wing(
    name="ratings",
    use_cases=(
        "argot.ratings.usecases.answers",
        "argot.ratings.usecases.questions",
        "argot.ratings.usecases.studies",
    ),
    commands=("argot.ratings.commands:register",),
    pages=("argot.ratings.pages.study_pages:rating_study_pages", "argot.ratings.pages.rating_pages:rating_pages"),
    templates=("argot.ratings.pages",),
    links=(("/ratings/manage", "Ratings", "manager"),),
)
