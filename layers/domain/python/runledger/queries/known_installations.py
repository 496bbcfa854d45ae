"""Which installations there are. One is never unregistered, so who was found once is not looked for again."""

from runledger.tables.installations import InstallationsRegistry


class KnownInstallations:
    def __init__(self, registry: InstallationsRegistry) -> None:
        self._registry = registry
        self._ids: frozenset[int] = frozenset()

    def ids(self) -> list[int]:
        self._ids = frozenset(each["installation_id"] for each in self._registry.all())
        return sorted(self._ids)

    def exists(self, installation_id: int) -> bool:
        return installation_id in self._ids or installation_id in self.ids()
