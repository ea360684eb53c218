"""What is installed where: packages, versions, files, and the cache of facts about each file."""
