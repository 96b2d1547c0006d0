"""All tools, by name."""

from tools_copies import ARCHIVES, BACKUPS, COPIERS
from tools_files import READERS, SEARCHERS, WALKERS
from tools_sources import MEDIA, SOURCES

TOOLS = {tool.name: tool for group in (WALKERS, READERS, SEARCHERS, COPIERS, BACKUPS, ARCHIVES, SOURCES, MEDIA)
         for tool in group}
