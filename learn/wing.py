"""The wing `learn`: training pairs, trainings of models on them, and the adoption of models."""

from argot.wings import Wing

WING = Wing(
    name="learn",
    use_cases=(
        "argot.learn.usecases.candidate_search",
        "argot.learn.usecases.generator_asking",
        "argot.learn.usecases.learning_data",
        "argot.learn.usecases.learning_data_making",
        "argot.learn.usecases.model_adoption",
        "argot.learn.usecases.training_queue",
        "argot.learn.usecases.training_runs",
        "argot.learn.usecases.tunings",
    ),
    commands=(
        "argot.learn.commands.learn_commands:register",
        "argot.learn.commands.run_commands:register",
        "argot.learn.commands.tuning_commands:register",
    ),
    pages=(
        "argot.learn.pages.learning_data_pages:build_learning_data_pages",
        "argot.learn.pages.tuning_pages:build_tuning_pages",
        "argot.learn.pages.workbench_pages:build_workbench_pages",
    ),
    addresses=("argot.learn.addresses:ADDRESSES",),
    templates=("argot.learn.pages",),
    workbench=(
        ("/workbench", "Overview", ""),
        ("/workbench/tune", "Tune", ""),
        ("/workbench/data", "Data", ""),
        ("/workbench/train/embedder", "Train", ""),
        ("/workbench/ask", "Ask", ""),
    ),
    question_sets=("argot.learn.usecases.question_sets:SETS",),
    links=(("/workbench", "Workbench", "builder"),),
    migrations={"learning": "argot.learn.store.pair_store:MIGRATIONS"},
    folder_checks=("argot.learn.doctor_checks:check_trainings",),
    personal_data=("argot.learn.personal_data:KEEPER",),
    text_keepers=("argot.learn.text_keepers:PAIRS", "argot.learn.text_keepers:TRAININGS"),
)
