"""Sources that the documents stay in step with: folders, git repositories, web sites, LangChain's loaders."""
