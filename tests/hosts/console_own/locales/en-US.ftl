permission-look = See clusters and tools
tool-list-clusters = List the clusters you may see, with their ids.
tool-help = List all tools, or explain one: give its name as the topic.
