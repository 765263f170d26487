"""Apache Kafka's jars, resolved once through Maven, and the Java that runs them."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from pipeline.errors import Unavailable

VERSION = "4.1.0"
"""The one that docker-compose.yml runs."""
OLDEST_JAVA = 17
CACHE = Path(__file__).parents[2] / "build" / "kafka"

_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>rolestream</groupId> <artifactId>kafka-for-tests</artifactId> <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    {}
  </dependencies>
</project>
"""
_ARTIFACTS = (
    ("org.apache.kafka", "kafka_2.13", VERSION),
    ("org.apache.kafka", "kafka-tools", VERSION),
    # Kafka's jars log through SLF4J 1.7 and bring no logger; this one needs no file of settings.
    ("org.slf4j", "slf4j-simple", "1.7.36"),
)


def java() -> str:
    """The Java to run; raises Unavailable where there is none that is new enough."""
    home = os.environ.get("JAVA_HOME")
    program = shutil.which("java", path=f"{home}/bin" if home else None)
    needed = f"install Java {OLDEST_JAVA} or newer (a JRE, Debian: default-jre-headless), or set JAVA_HOME to one"
    if program is None:
        raise Unavailable(f"Apache Kafka needs Java, and there is none: {needed}")
    said = subprocess.run([program, "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(?:1\.)?(\d+)', said)
    if version is None or int(version[1]) < OLDEST_JAVA:
        raise Unavailable(f"{program} is too old for Apache Kafka {VERSION}: {needed}; it says: {said.strip()}")
    return program


def jars(cache: Path = CACHE) -> Path:
    """The folder with Kafka's jars, filled by Maven where it is not there; raises Unavailable."""
    lib = cache / VERSION / "lib"
    if lib.is_dir():
        return lib
    program = shutil.which("mvn")
    if program is None:
        raise Unavailable(
            f"Apache Kafka {VERSION} is not in {lib}, and Maven, which gets it, is not here:"
            " install Maven (Debian: maven), so that `mvn` is on the PATH"
        )
    lib.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=lib.parent) as folder:
        _resolve(program, Path(folder))
        try:
            # One step, so that a folder of this name is always whole, whoever is interrupted or resolves beside us.
            (Path(folder) / "lib").rename(lib)
        except OSError:
            if not lib.is_dir():
                raise
    return lib


def _resolve(maven: str, folder: Path) -> None:
    dependencies = (
        f"<dependency> <groupId>{group}</groupId> <artifactId>{artifact}</artifactId>"
        f" <version>{version}</version> </dependency>"
        for group, artifact, version in _ARTIFACTS
    )
    (folder / "pom.xml").write_text(_POM.format("\n    ".join(dependencies)))
    goals = [_PLUGIN, "-DincludeScope=runtime", f"-DoutputDirectory={folder / 'lib'}"]
    command = [maven, "--batch-mode", "--quiet", "--file", str(folder / "pom.xml"), *goals]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"Maven could not get Apache Kafka {VERSION}, run it again once it can: {done.stdout}")
