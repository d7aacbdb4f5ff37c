# SPDX-License-Identifier: GPL-2.0-or-later
"""pprof's profiles as protoc reads them."""

import gzip
import os
import subprocess

from protoc import SOURCE, message


def first(fields, name, default=0):
    return fields.get(name, [default])[0]


class Profile:
    """A profile, with texts instead of their numbers."""

    def __init__(self, packed):
        done = subprocess.run(["protoc", "--decode=perftools.profiles.Profile", "-I", os.path.join(SOURCE, "src/export"),
                               "pprof.proto"], input=gzip.decompress(packed), capture_output=True, check=True)
        self.fields = message(iter(done.stdout.decode().splitlines()))
        self.strings = self.fields["string_table"]
        assert self.strings[0] == "", self.strings[0]
        self.types = [(self.text(t, "type"), self.text(t, "unit")) for t in self.fields["sample_type"]]
        names = {first(f, "id"): self.text(f, "name") for f in self.fields.get("function", [])}
        self.locations = {first(l, "id"): l for l in self.fields.get("location", [])}
        self.names = {i: names[first(l["line"][0], "function_id")] if "line" in l else None
                      for i, l in self.locations.items()}
        self.mappings = {first(m, "id"): m for m in self.fields.get("mapping", [])}
        self.samples = [self.sample(s) for s in self.fields.get("sample", [])]

    def text(self, fields, name):
        return self.strings[first(fields, name)]

    def sample(self, fields):
        labels = {self.text(l, "key"): self.text(l, "str") if "str" in l else first(l, "num") for l in fields["label"]}
        assert len(fields["value"]) == len(self.types), fields
        return [self.names[i] for i in fields.get("location_id", [])], dict(zip([t for t, _ in self.types], fields["value"])), labels

    def places(self, filename):
        """Of each sample: its weights, and of its frames in that file, innermost first, (place in the stack, address, name)."""
        ours = {i for i, m in self.mappings.items() if self.text(m, "filename") == filename}
        for fields in self.fields.get("sample", []):
            stack = [self.locations[i] for i in fields.get("location_id", [])]
            yield dict(zip([t for t, _ in self.types], fields["value"])), [
                (nr, first(l, "address"), self.names[first(l, "id")]) for nr, l in enumerate(stack) if first(l, "mapping_id") in ours]

    def sum(self, weight, function=None):
        """Weight of the samples that contain a function."""
        return sum(values[weight] for stack, values, _ in self.samples if not function or function in stack)
