"""A canary: whatever adapters and tests do with a secret, no file and no output holds its value (H72)."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import logging
import re
import sys
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

import pytest

from tests.plugin.conftest import Project

TOKEN = "test-secret-123"
PHRASE = 'open "sésame\'s" door/4711 + a few words more'
LONG = "".join(hashlib.sha256(bytes([number])).hexdigest() for number in range(6))
SECRETS = {"TOKEN": TOKEN, "PHRASE": PHRASE, "LONG": LONG}
LOUD = ("-vv", "--showlocals", "-rA", "--junitxml=junit.xml", "-o", "junit_logging=all", "--log-file=log.txt",
        "-W", "default", "--continue-on-collection-errors", "--durations=3")  # fmt: skip

ADAPTER = """
import atexit, base64, gc, json, logging, os, sys, threading, urllib.parse, warnings
import pytest
from pytest_speval import EmotionRead, Identity, Response, Usage
from pytest_speval.errors import AdapterFault, AnswerFault

LOG = logging.getLogger("leaking")


class Leaking:
    sample_rate = 16000

    def __init__(self, headers, phrase, more, leaks):
        self.token = headers["Authorization"].removeprefix("Bearer ")
        self.phrase, (self.long,) = phrase, more
        self.leaks = leaks
        assert "$" not in self.token + self.phrase + self.long
        self.act("init")

    def say(self, kind):
        return f"<{kind}:{self.token}|{self.phrase}|{self.long}>"

    def act(self, kind):
        if kind in self.leaks:
            print(self.say(f"{kind}-printed"))
            print(self.say(f"{kind}-error"), file=sys.stderr)
            raise RuntimeError(self.say(f"{kind}-raised"))

    def identity(self):
        self.act("identity")
        parts = {self.say("key"): self.say("part")}
        return Identity(self.say("identity"), version=self.say("version"), components=parts)

    def bound(self, seconds, text):
        self.act("bound")
        return Usage()

    def warm_up(self):
        self.act("warm_up")
        LOG.addHandler(logging.FileHandler("mine.log"))
        atexit.register(print, self.say("exit-printed"))
        atexit.register(lambda: print(self.say("exit-error"), file=sys.stderr))
        atexit.register(LOG.error, self.say("exit-logged"))
        return {"facts": [self.say("facts"), {self.say("fact-key"): None}]}

    def classify(self, pcm, sample_rate):
        return getattr(self, "clip_" + self.leaks[round(float(pcm[0]) * 32768) - 100])()

    def clip_raise(self):
        secret = self.say("local")
        raise RuntimeError(self.say("raise"))

    def clip_key_error(self):
        {}[self.say("key-error")]

    def clip_cut(self):
        raise RuntimeError("cut" + "x" * 1984 + self.token)

    def clip_fault(self):
        raise AnswerFault(self.say("fault-code"), self.say("fault"))

    def clip_type(self):
        return {"raw": self.say("type")}

    def clip_leave(self):
        sys.exit(self.say("leave"))

    def clip_skip(self):
        pytest.skip(self.say("skip"))

    def clip_label(self):
        return EmotionRead(label=self.say("label"))

    def clip_scores(self):
        return EmotionRead(scores={self.say("score"): 0.75, "yes": 0.25})

    def clip_nan(self):
        return EmotionRead(scores={self.say("nan"): float("nan")})

    def clip_response(self):
        response = Response({"told": [self.say("body")], "headers": {"x": self.token}}, self.say("request"))
        return EmotionRead(label="yes", response=response)

    def clip_print(self):
        print(self.say("print"), json.dumps(self.say("json")), repr(self.say("repr")), repr(self.say("bytes").encode()))
        for quote in (urllib.parse.quote, urllib.parse.quote_plus):
            print(quote(self.say(quote.__name__), safe="<:|"), file=sys.stderr)
        for value in (self.token, self.phrase, self.long):
            for text in (value, f"user:{value}"):
                print("base64", base64.b64encode(text.encode()).decode())
        os.write(1, self.say("written").encode())
        return EmotionRead(label="yes")

    def clip_log(self):
        LOG.warning("%s", self.say("log"))
        LOG.error(self.say("log-stack"), stack_info=True)
        try:
            raise ValueError(self.say("log-inner"))
        except ValueError:
            LOG.exception("told %r", {"secret": self.say("log-args")})
        return EmotionRead(label="yes")

    def clip_warn(self):
        warnings.warn(self.say("warning"))
        warnings.warn(UserWarning(self.say("warning-args"), 5))
        return EmotionRead(label="yes")

    def clip_thread(self):
        def run():
            raise ValueError(self.say("thread"))
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        return EmotionRead(label="yes")

    def clip_unraisable(self):
        said = self.say("unraisable")
        class Bad:
            def __del__(self):
                raise ValueError(said)
        Bad()
        gc.collect()
        return EmotionRead(label="yes")

    def clip_die(self):
        print(self.say("dying"), flush=True)
        LOG.error(self.say("dying-log"))
        os._exit(17)

    def clip_interrupt(self):
        raise KeyboardInterrupt(self.say("interrupt"))

    def clip_right(self):
        return EmotionRead(label="yes")

    def close(self):
        print(self.say("close-printed"))
        print(self.say("close-error"), file=sys.stderr)
        sys.stdout.writelines([self.say("close-line")])
        raise OSError(self.say("close"))


def pytest_speval_adapters():
    return {"leaking": Leaking}
"""

TESTS = """
import os
import pytest

TOKEN, PHRASE, LONG = os.environ["TOKEN"], os.environ["PHRASE"], os.environ["LONG"]


def say(kind):
    return f"<{kind}:{TOKEN}|{PHRASE}|{LONG}>"


def post(url, headers, body):
    text, data = f"{say('wrapped')} " * 3, body * 3
    nested = {"some": [{"headers": headers, "text": text}]}
    raise ValueError(say("post"))


def test_locals_and_arguments():
    post("https://localhost/" + LONG, {"Authorization": "Bearer " + LONG}, f"{PHRASE}{TOKEN}".encode())


def test_assertion():
    assert say("left") == say("right") + "!"


def test_skipped():
    pytest.skip(say("skipped"))


def test_expected():
    pytest.xfail(say("expected"))


def test_passes(caplog):
    print(say("passes"))
    assert True


@pytest.fixture
def broken():
    yield
    raise RuntimeError(say("teardown"))


def test_teardown(broken):
    print(say("with-teardown"))
"""


def project_with(project: Project, *leaks: str, conftest: str = "", gates: str = "") -> Project:
    """A project whose adapter gives its secrets away, clip by clip or at a step of its life."""
    project.write(["yes"] * len(leaks))
    (project.path / "conftest.py").write_text(ADAPTER + conftest)
    (project.path / "suites/voice.yaml").write_text(
        "task: emotion\n"
        "corpus: {root: .., manifest: clips.csv}\n"
        'labels: {set: ["yes", "no"], absent: zero}\n'
        "run: {max_failed: 100}\n"
        'adapter: {use: leaking, headers: {Authorization: "Bearer ${TOKEN}"}, phrase: "${PHRASE}", more: ["${LONG}"],'
        f" leaks: [{', '.join(leaks)}]}}\n{gates}\n"
    )
    (project.path / "tmp").mkdir()
    return project


def run(project: Project, *arguments: str, loud: tuple[str, ...] = LOUD) -> str:
    """Run a session; returns all that it printed and all files that there are now, as one text."""
    environment = {**SECRETS, "TMPDIR": str(project.path / "tmp"), "PYTHONUTF8": "1"}
    result = project.run(*loud, *arguments, environment=environment)
    paths = [path for path in project.path.rglob("*") if path.is_file()]
    files = [
        f"\n=== {path.relative_to(project.path)}\n{path.read_bytes().decode('utf-8', 'replace')}" for path in paths
    ]
    return "\n".join([result.stdout.str(), result.stderr.str(), *files])


def shapes(value: str) -> Iterator[str]:
    """What a value looks like in text, JSON, Python, URLs and base64."""
    yield from (value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], repr(value)[1:-1])
    yield from (repr(value.encode())[2:-1], quote(value), quote(value, safe=""), quote_plus(value))
    yield base64.b64encode(value.encode()).decode().rstrip("=")
    yield base64.b64encode(f"user:{value}".encode()).decode().rstrip("=")[8:]


def leaks_in(text: str) -> list[str]:
    """Places of the text where a secret shows, in whatever shape; a long one also in parts."""
    seen = []
    for whole in (text, html.unescape(text), re.sub(r"['\"]\n(?:E )?[ +-]*b?['\"]", "", text)):
        parts = [LONG[place : place + 16] for place in range(0, len(LONG) - 16, 8)]
        for shape in [shape for value in SECRETS.values() for shape in shapes(value)] + parts:
            place = whole.find(shape)
            if place >= 0:
                seen.append(whole[max(0, place - 200) : place + 50])
    return seen


def missing(text: str, kinds: str) -> list[str]:
    """Kinds of leaks whose text is nowhere to be seen, not even redacted."""
    return [kind for kind in kinds.split() if not re.search(rf"<{kind}:\$\{{TOKEN\}}\|\$\{{PHRASE\}}\|", text)]


def test_the_search_itself_finds_every_shape() -> None:
    for value in SECRETS.values():
        for shape in shapes(value):
            assert leaks_in(f"a{shape}b")
    assert leaks_in(html.escape(PHRASE))
    assert leaks_in(PHRASE[:10] + "'\n   '" + PHRASE[10:])
    assert leaks_in(f"{LONG[:100]}...")
    assert not leaks_in("${TOKEN} ${PHRASE} ${LONG}")


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "n2"])
def test_h72_no_canary_is_left_by_clips_and_tests(project: Project, workers: tuple[str, ...]) -> None:
    clips = "raise key_error cut fault type leave skip label scores nan response print log warn thread unraisable right"
    project_with(project, *clips.split(), gates="gates: {accuracy: {metric: accuracy, min: 0.1, why: chance}}")
    (project.path / "test_mine.py").write_text(TESTS)
    (project.path / "test_broken.py").write_text(
        f"{TESTS}\nprint(say('import'))\nraise RuntimeError(say('collection'))\n"
    )
    text = run(project, *workers)
    assert leaks_in(text) == []
    assert missing(text, "raise key-error fault fault-code type leave skip label score nan body request") == []
    assert missing(text, "print json repr quote quote_plus written log log-stack log-inner log-args") == []
    assert missing(text, "warning thread unraisable identity version key part facts fact-key close") == []
    assert missing(text, "post wrapped left skipped expected passes teardown with-teardown import collection") == []
    assert missing(text, "exit-printed exit-error exit-logged") == []
    assert "<testcase" in (project.path / "junit.xml").read_text()
    assert project.document()["counts"]["failed"] == 8
    assert project.document()["counts"]["planned"] == 17
    keys = json.loads((project.folder() / "plan.json").read_text())["question"]["adapter"]["keys"]
    assert keys["headers"] == {"Authorization": "Bearer ${TOKEN}"}


@pytest.mark.parametrize(
    ("step", "code"),
    [
        ("init", "adapter-broken"),
        ("identity", "adapter-broken"),
        ("warm_up", "adapter-broken"),
        ("bound", "bound-invalid"),
    ],
)
def test_no_canary_is_left_by_an_adapter_that_cannot_start(project: Project, step: str, code: str) -> None:
    project_with(project, step)
    suite = project.path / "suites/voice.yaml"
    suite.write_text(suite.read_text().replace("max_failed: 100", "budget: {requests: 9}"))
    text = run(project)
    assert leaks_in(text) == []
    assert missing(text, f"{step}-raised {step}-printed {step}-error") == []
    assert code in (project.folder() / "audits.json").read_text()


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "n2"])
def test_no_canary_is_left_where_the_process_dies(project: Project, workers: tuple[str, ...]) -> None:
    project_with(project, "raise", "die", "right", "right")
    text = run(project, *workers)
    assert leaks_in(text) == []
    assert missing(text, "identity raise") == []
    assert bool(workers) == (project.path / ".speval/summary.json").exists()


def test_no_canary_is_left_by_an_interrupt(project: Project) -> None:
    text = run(project_with(project, "right", "interrupt", "right"), "--full-trace")
    assert leaks_in(text) == []
    assert missing(text, "interrupt") == []


BROKEN_HOOK = """

def pytest_runtest_logreport(report):
    if report.when == "call" and "clip" in report.nodeid:
        headers = {"Authorization": "Bearer " + os.environ["TOKEN"]}
        raise ValueError(Leaking(headers, os.environ["PHRASE"], [os.environ["LONG"]], ()).say("internal"))
"""


@pytest.mark.parametrize("arguments", [("--full-trace",), ("-n", "2")], ids=["full-trace", "n2"])
def test_no_canary_is_left_by_an_error_of_a_plugin(project: Project, arguments: tuple[str, ...]) -> None:
    project_with(project, "right", conftest=BROKEN_HOOK)
    text = run(project, *arguments)
    assert leaks_in(text) == []
    assert "INTERNALERROR" in text
    assert missing(text, "internal") == []


def test_no_canary_is_left_by_an_adapter_that_starts_where_nothing_is_captured(project: Project) -> None:
    text = run(project_with(project, "identity"), "-n", "2", "-k", "clip")
    assert leaks_in(text) == []
    assert missing(text, "identity-printed identity-error identity-raised") == []


SPEAKING = """
import json, os, sys

TOKEN, PHRASE, LONG = (os.environ[name] for name in ("KEY", "WORDS", "LENGTH"))
said = f"{TOKEN}|{PHRASE}|{LONG}>"

for line in sys.stdin:
    asked = json.loads(line)
    answer = {"split": asked["split"], "id": asked["id"]}
    if asked["id"] == "c0":
        answer["label"] = f"<label:{said}"
    elif asked["id"] == "c1":
        answer["error"] = f"<error:{said}"
    elif asked["id"] == "c2":
        sys.exit(f"{LONG * 4} <words:{said}")
    else:
        answer = f"<line:{said}" if asked["id"] == "c3" else "x" * 150 + LONG
    print(json.dumps(answer), flush=True)
"""


def test_no_canary_is_left_by_a_process_of_its_own(project: Project) -> None:
    project_with(project, *["right"] * 5)
    (project.path / "speak.py").write_text(SPEAKING)
    suite = project.path / "suites/voice.yaml"
    variables = '{KEY: "${TOKEN}", WORDS: "${PHRASE}", LENGTH: "${LONG}", PYTHONUTF8: "1"}'
    command = f"adapter: {{use: command, argv: [{sys.executable}, ../speak.py], env: {variables}}}"
    suite.write_text(suite.read_text().partition("adapter:")[0] + command)
    text = run(project)
    assert leaks_in(text) == []
    assert missing(text, "label error words line") == []
    assert project.document()["counts"]["failed"] == 4
    assert "its last words: …${LONG}${LONG}" in text


QUIET = ("--showlocals", "--tb=long", "-o", "log_cli=true", "-o", "log_cli_level=0", "-W", "error::UserWarning")


def test_no_canary_is_left_where_values_are_cut_and_warnings_are_errors(project: Project) -> None:
    project_with(project, "raise", "log", "warn", "label")
    (project.path / "test_mine.py").write_text(TESTS)
    text = run(project, loud=QUIET)
    assert leaks_in(text) == []
    assert missing(text, "raise warning label post facts") == []
    assert re.search(r"\$\{LONG\}\.\.\.\$\{LONG\}", text)
    assert "UserWarning" in text


@pytest.mark.parametrize("hook", ["raise RuntimeError(TOKEN)", "return {'leaking': [TOKEN]}"])
def test_no_canary_is_left_by_a_hook_that_offers_nothing_usable(project: Project, hook: str) -> None:
    project_with(project, "right")
    conftest = f"import os\nTOKEN = os.environ['TOKEN']\ndef pytest_speval_adapters():\n    {hook}\n"
    (project.path / "conftest.py").write_text(conftest)
    text = run(project)
    assert leaks_in(text) == []
    assert "${TOKEN}" in text
    assert "[adapter-not-callable]" in text


WATCHING = """
import logging

def pytest_sessionfinish(session):
    plugins = session.config.pluginmanager
    with open("watched.txt", "a") as file:
        print(plugins.hasplugin("speval-redaction"), logging.getLogRecordFactory() is logging.LogRecord, file=file)
"""


def test_a_session_without_secrets_is_left_alone(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    before = logging.getLogRecordFactory(), sys.stdout
    project_with(project, "right")
    (project.path / "conftest.py").write_text(re.sub(r".*atexit\.register.*", "", ADAPTER) + WATCHING)
    for value in (TOKEN[:5], TOKEN):
        monkeypatch.setenv("TOKEN", value)
        project.run()
        assert (logging.getLogRecordFactory(), sys.stdout) == before
    assert (project.path / "watched.txt").read_text().splitlines() == ["False True", "True False"]
