# SPDX-License-Identifier: BSD-3-Clause
"""On a worker: a package that is imported from memory, and leaves as it came.

Python files are compiled from the bytes they travelled as. An extension module has to
be a file for the system's loader: it is one without a name (memfd), or for a moment one
in a folder. Nothing can unload it again, so a second copy of the same bytes is given
the same path: the loader then knows that it has it, and the package that was left on
its shelf is used once more. Travels as source: standard library only.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import zlib
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from typing import Any

SUFFIX = ".abi3.so"
HIGH_DESCRIPTOR = 900  # so that it is the same one every time
PUBLIC = ("roastcoffea", "coffea_metrics")


class Files(Loader, MetaPathFinder):
    """Finds and loads the modules of a package in memory, also under a public name."""

    def __init__(self, name: str, files: dict[str, bytes], folders: list[str]) -> None:
        self.name = name
        self.files = files
        self.folders = folders
        self.public = ""  # the name of ours that was free here
        self.users: set[object] = set()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if self.public and name.startswith(self.public + "."):
            private = self.name + name[len(self.public) :]
            known = private in sys.modules or self._file_of(private)
            return ModuleSpec(name, Alias(private)) if known else None
        file = self._file_of(name)
        if not file:
            return None
        if file.endswith(SUFFIX):
            return self.extension(name, file)
        is_package = file.endswith("__init__.py")
        spec = ModuleSpec(name, self, origin=self._origin(file), is_package=is_package)
        spec.has_location = True  # so that tracebacks and the profile name the file
        return spec

    def _file_of(self, name: str) -> str:
        if name != self.name and not name.startswith(self.name + "."):
            return ""
        base = name[len(self.name) + 1 :].replace(".", "/")
        within = base + "/" if base else ""
        candidates = (within + "__init__.py", base + ".py", base + SUFFIX)
        return next((file for file in candidates if file in self.files), "")

    def _origin(self, file: str) -> str:
        return f"<memory>/{self.name}/{file}"

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: Any) -> None:
        if module.__name__ == self.name and self.put_shelved():
            return  # importlib takes what is there now
        file = self._file_of(module.__name__)
        code = compile(self.get_source(module.__name__), self._origin(file), "exec")
        exec(code, module.__dict__)

    def get_source(self, name: str) -> str:
        return zlib.decompress(self.files[self._file_of(name)]).decode()

    # ---- extensions --------------------------------------------------------------

    def extension(self, name: str, file: str) -> ModuleSpec:
        """How to load an extension module; it is a file until that is done."""
        loader = FromMemory(name, "", zlib.decompress(self.files[file]), self)
        return ModuleSpec(name, loader, origin=self._origin(file))

    def put_shelved(self) -> bool:
        """Use the package once more that was left on the shelf, if there is one."""
        spec = self.extension(self.name + "._probe", "_probe" + SUFFIX)
        shelved = module_from_spec(spec).ambient_shelved()  # one that nobody imports
        sys.modules.update(shelved or {})
        return bool(shelved)


class Alias(Loader):
    """A module of a public name that is the one of the private name."""

    def __init__(self, private: str) -> None:
        self.private = private

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: Any) -> None:
        sys.modules[module.__name__] = import_module(self.private)


class FromMemory(ExtensionFileLoader):
    """Loads an extension module from bytes."""

    def __init__(self, name: str, path: str, data: bytes, files: Files) -> None:
        super().__init__(name, path)
        self.data = data
        self.package = files.name
        self.folders = files.folders

    def create_module(self, spec: ModuleSpec) -> Any:
        errors = []
        for place in (self._without_name, *map(self._in_folder, self.folders)):
            try:
                with place() as path:
                    return self._load(spec, path)
            except (OSError, ImportError, AttributeError) as error:
                errors.append(error)
        raise ImportError(f"{errors[0]}" if errors else "no folder to write to")

    def _load(self, spec: ModuleSpec, path: str) -> Any:
        self.path = path
        real = spec_from_file_location(spec.name, path, loader=self)
        return super().create_module(real)  # type: ignore[arg-type]

    @contextlib.contextmanager
    def _without_name(self) -> Any:
        """A file in memory. Its path says which bytes it has: the loader of the system
        takes two paths that are equal for the same, whatever they lead to now."""
        made = os.memfd_create(self.package, os.MFD_CLOEXEC)
        try:
            with open(made, "wb", closefd=False) as file:
                file.write(self.data)
            descriptor = _moved_up(made)
            try:
                slashes = f"{zlib.crc32(self.package.encode()):032b}"
                same = slashes.replace("0", "/").replace("1", "./")
                yield f"/proc/self/fd/{same}{descriptor}"
            finally:
                os.close(descriptor)
        finally:
            os.close(made)

    def _in_folder(self, folder: str) -> Any:
        @contextlib.contextmanager
        def write() -> Any:
            own = folder or tempfile.mkdtemp(prefix="roastcoffea-")
            path = os.path.join(own, self.package + SUFFIX)
            try:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
                with open(os.open(path, flags, 0o700), "wb") as file:
                    file.write(self.data)
                yield path
            finally:
                with contextlib.suppress(OSError):
                    os.unlink(path)
                if not folder:
                    os.rmdir(own)

        return write


def _moved_up(descriptor: int) -> int:
    import fcntl

    try:
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR)
    except OSError:  # this process may not have so many
        return os.dup(descriptor)


# ---- in and out ----------------------------------------------------------------------


def claim(name: str, files: dict[str, bytes], folders: list[str]) -> Files:
    """Who finds the package in this process, put in place if nobody does. It stays
    while it has users."""
    for finder in sys.meta_path:
        if getattr(finder, "name", None) == name:
            return finder  # type: ignore[return-value]
    files_here = Files(name, files, folders)
    sys.meta_path.append(files_here)
    return files_here


def bring(name: str, files: dict[str, bytes], folders: list[str]) -> Any:
    """Import the package under its name, and under a public one that is free. Several
    threads may do so at once: the lock is importlib's, of that name."""
    files_here = claim(name, files, folders)
    try:
        package = import_module(name)
        import_module(name + "._probe")
    except BaseException:
        if not files_here.users:
            remove(name)
        raise
    for public in PUBLIC:
        if is_free(public):
            sys.modules[public] = package
            files_here.public = files_here.public or public
    return package


def give_back(finder: Files, user: object) -> None:
    """The last one who needs the package takes it away."""
    finder.users.discard(user)
    if not finder.users:
        remove(finder.name)


def is_free(public: str) -> bool:
    """Whether nothing can be imported under a name, and nobody forbids it."""
    if public in sys.modules:
        return False
    try:
        return find_spec(public) is None
    except Exception:
        return False


def remove(name: str) -> None:
    """Take the package away again; what is in use goes on, and is found on the shelf by
    the next one."""
    everything = list(sys.modules.items())  # others may import meanwhile
    ours = {
        key: module
        for key, module in everything
        if key == name or key.startswith(name + ".")
    }
    for key, module in everything:
        if key in ours or any(module is mine for mine in ours.values()):
            sys.modules.pop(key, None)
    sys.meta_path[:] = [
        finder for finder in sys.meta_path if getattr(finder, "name", None) != name
    ]
    probe = ours.get(name + "._probe")
    if probe is not None and name in ours:
        probe.ambient_shelve(ours)
