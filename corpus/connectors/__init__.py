"""Sources with which documents are synchronised: folders, git repositories, web sites, LangChain's loaders."""
