permission-look = See clusters and tools
tool-list-clusters = List the clusters you may see, with their ids.
tool-help = List all tools, or explain one: give its name as the topic.
permission-see = See a cluster
resource-tools = Every tool in full.
resource-permissions = Who you are and what you may do.
resource-clusters = The clusters you may see.
resource-cluster = One cluster.
