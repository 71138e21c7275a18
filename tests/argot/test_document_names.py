"""Documents of one name are told apart by their folders."""

from argot.document_names import find_telling_folders


def test_as_much_of_the_folder_is_given_as_tells_documents_apart() -> None:
    folders = {
        "file:///srv/north/pumps/read%20me.md": "north/pumps",
        "file:///srv/south/pumps/read%20me.md": "south/pumps",
        "file:///srv/north/valves/read%20me.md": "valves",
        "file:///srv/north/valves/plan.md": "",
        "upload://ann/manuals.zip!/plan.md": "",
        "upload://ann/rota.md": "ann",
        "upload://ann/old/rota.md": "old",
    }
    assert find_telling_folders(folders) == folders
    assert find_telling_folders(["https://a.example/travel/index.html", "index.md"]) == {
        "https://a.example/travel/index.html": "travel",
        "index.md": "",
    }
    assert find_telling_folders(["rota.md", "a/rota.md"]) == {"rota.md": "", "a/rota.md": "a"}
