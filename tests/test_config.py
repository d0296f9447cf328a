"""Configuration: a TOML file, then the environment; an unknown key is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from paddock.config import Config, MontyConfig
from paddock.errors import ConfigError
from paddock.model.environments import BUILT_IN, EnvironmentConfig, problem
from paddock.model.limits import CAPS, Limits


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def written(text: str, name: str = "other.toml") -> Path:
    path = Path(name)
    path.write_text(text, encoding="utf-8")
    return path


def test_without_a_file_or_environment_the_defaults_apply() -> None:
    assert Config.load(environ={}) == Config()


def test_a_file_overrides_the_defaults() -> None:
    path = written('engine = "monty"\ncode_bytes = 10\n[limits]\nwall_seconds = 5\n[monty]\nmax_workers = 3\n')
    assert Config.load(path, environ={}) == Config(
        engine="monty", code_bytes=10, limits=Limits(wall_seconds=5.0), monty=MontyConfig(1, 3)
    )


def test_the_environment_overrides_the_file() -> None:
    path = written("[limits]\nwall_seconds = 5\ncalls = 7\n")
    environ = {"PADDOCK_LIMITS__WALL_SECONDS": "2.5", "PADDOCK_ENGINE": "monty", "HOME": "/root", "PADDOCKS": "x"}
    assert Config.load(path, environ=environ) == Config(engine="monty", limits=Limits(wall_seconds=2.5, calls=7))


def test_the_environment_may_name_the_file() -> None:
    path = written('engine = "monty"\n')
    assert Config.load(environ={"PADDOCK_CONFIG": str(path)}) == Config(engine="monty")


def test_a_file_in_the_working_directory_is_found() -> None:
    written('engine = "monty"\n', "paddock.toml")
    assert Config.load(environ={}) == Config(engine="monty")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_a_file_of_another_user_in_the_working_directory_is_used_only_if_it_is_named() -> None:
    path = written('engine = "monty"\n', "paddock.toml")
    os.chown(path, 1234, 1234)
    with pytest.raises(ConfigError, match=r"\./paddock\.toml belongs to another user \(uid 1234\)"):
        Config.load()
    assert Config.load(path).engine == Config.load(environ={"PADDOCK_CONFIG": str(path)}).engine == "monty"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a link to another user")
def test_a_link_in_the_working_directory_belongs_to_whoever_made_it() -> None:
    link = Path("paddock.toml")
    link.symlink_to(written('engine = "monty"\n', "downloaded.toml"))
    assert Config.load(environ={}).engine == "monty"
    os.lchown(link, 1234, 1234)
    with pytest.raises(ConfigError, match=r"\./paddock\.toml belongs to another user \(uid 1234\)"):
        Config.load(environ={})


@pytest.mark.parametrize(
    "text",
    [
        f"engine{'.a' * 3000} = 1",
        f"packages.install{'.a' * 3000} = 1",
        f"limits.wall_seconds = 0x{'f' * 50_000}",
        'server.url = "http://a"\nauth.audience = "a"\nauth.issuer = "http://[::1"',
    ],
    ids=lambda text: text[:24],
)
def test_a_value_that_is_hard_to_show_is_refused_like_any_other(text: str) -> None:
    with pytest.raises(ConfigError, match=r"other\.toml"):
        Config.load(written(text), environ={})


def test_a_named_file_takes_precedence_over_one_in_the_working_directory() -> None:
    written('engine = "monty"\n', "paddock.toml")
    assert Config.load(written('engine = "cpython"\n'), environ={}) == Config(engine="cpython")


def test_a_whole_number_is_accepted_for_a_fraction() -> None:
    seconds = Config.load(written("limits.wall_seconds = 5\n"), environ={}).limits.wall_seconds
    assert (seconds, type(seconds)) == (5.0, float)


BEGINS, BUCKETS = "must be empty or begin with one of", "file://, s3://, gs://, az://, memory://"
POSITIVE = "wall_seconds must be a positive, finite number"
WORKERS = "other.toml: 1 <= monty.min_workers <= monty.max_workers <= 1000 must hold"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("artifacts.days = -1", "other.toml: artifacts.days must be positive, or 0 for no limit, not -1.0"),
        ("artifacts.url = 's3://'", f"other.toml: artifacts.url {BEGINS} {BUCKETS}, not 's3://'"),
        ("artifacts.url = 'http://x'", f"other.toml: artifacts.url {BEGINS} {BUCKETS}, not 'http://x'"),
        ("artifacts.base_url = 'x'", f"other.toml: artifacts.base_url {BEGINS} http://, https://, not 'x'"),
        ("engin = 'monty'", "other.toml: unknown setting 'engin'; did you mean 'engine'?"),
        ("[limits]\nwall_secs = 1", "other.toml: unknown setting 'limits.wall_secs'; did you mean 'wall_seconds'?"),
        ("[limit]\ncalls = 1", "other.toml: unknown setting 'limit'; did you mean 'limits'?"),
        (
            "zzz = 1",
            "other.toml: unknown setting 'zzz'; known here: engine, code_bytes, data_directory, limits, caps, monty, "
            "cpython, quickjs, node, jail, sessions, environments, packages, network, tools, upstreams, context, "
            "connections, "
            "server, auth, store, artifacts",
        ),
        ('jail.hash_seed = "x"', "other.toml: jail.hash_seed must be `random` or a number below 2**32, not 'x'"),
        ("jail.template_runs = 0", "other.toml: jail.template_runs must be positive, not 0"),
        (
            'server.origins = ["*"]',
            "other.toml: server.origins must be origins such as http://localhost:6274, "
            "or http://localhost:* for any port, not ('*',)",
        ),
        ("store.run_days = -1", "other.toml: store.run_days must be positive, or 0 for no limit, not -1.0"),
        ("store.run_count = 1.5", "other.toml: 'store.run_count' must be a whole number, not 1.5"),
        ("store.session_days = nan", "other.toml: store.session_days must be positive, or 0 for no limit, not nan"),
        ("store.sweep_seconds = 0", "other.toml: store.sweep_seconds must be positive, not 0.0"),
        ("engine = 5", "other.toml: 'engine' must be text, not 5"),
        ("engine = 'zzz'", "other.toml: engine must be one of auto, monty, cpython, quickjs, node, not 'zzz'"),
        ("code_bytes = 1.5", "other.toml: 'code_bytes' must be a whole number, not 1.5"),
        ("code_bytes = true", "other.toml: 'code_bytes' must be a whole number, not True"),
        ("code_bytes = 0", "other.toml: code_bytes must be positive, not 0"),
        ("limits = 5", "other.toml: 'limits' is a table of settings, not 5"),
        ("engine = {a = 1}", "other.toml: 'engine' must be text, not {'a': 1}"),
        ("limits.wall_seconds = true", "other.toml: 'limits.wall_seconds' must be a number, not True"),
        ("limits.wall_seconds = nan", "other.toml: limits.wall_seconds must be a positive, finite number, not nan"),
        ("limits.wall_seconds = -1", "other.toml: limits.wall_seconds must be a positive, finite number, not -1.0"),
        ("limits.wall_seconds = 901", "other.toml: limits.wall_seconds may be at most 900 s here, not 901 s"),
        (
            f"limits.wall_seconds = 1{'0' * 400}",
            f"other.toml: 'limits.wall_seconds' must be a number, not 1{'0' * 400}",
        ),
        ("caps.wall_seconds = 10", "other.toml: limits.wall_seconds may be at most 10 s here, not 30 s"),
        ("caps.calls = -1", "other.toml: caps.calls must be a positive, finite number, not -1"),
        ("monty.min_workers = 0", f"{WORKERS}; here they are 0 and {MontyConfig().max_workers}"),
        ("data_directory = ''", "other.toml: data_directory must be the path of a directory, not ''"),
        (r'data_directory = "a\u0000"', r"other.toml: data_directory must be the path of a directory, not 'a\x00'"),
        (
            "jail.uid_base = 4294901760",
            "other.toml: jail.uid_base must be below 4293918720, because guests use 2^20 ids from there on, "
            "not 4294901760",
        ),
        ("environments = 5", "other.toml: 'environments' must contain a table for each environment, not 5"),
        ("environments.a = 5", "other.toml: 'environments' must contain a table for each environment, not 5"),
        (
            "environments.a.b = 5",
            "other.toml: unknown setting 'environments.a.b'; known here: packages, preload, extra_packages, python",
        ),
        (
            "environments.a.package = []",
            "other.toml: unknown setting 'environments.a.package'; did you mean 'packages'?",
        ),
        (
            "environments.a.packages = 'six'",
            "other.toml: 'environments.a.packages' must be a list of strings, such as [\"a\", \"b\"], not 'six'",
        ),
        (
            "environments.a.preload = [1]",
            'other.toml: \'environments.a.preload\' must be a list of strings, such as ["a", "b"], not [1]',
        ),
        (
            "environments.'../x'.preload = []",
            "other.toml: environments.../x: '../x' cannot name an environment: "
            "use lower-case letters, digits, - and _, at most 64 characters",
        ),
        (
            "environments.a.packages = ['./six']",
            "other.toml: environments.a: packages: './six' is a path; "
            "name the package, and set its folder in uv or pip (find-links)",
        ),
        (
            "monty = {min_workers = 3, max_workers = 2}",
            f"{WORKERS}; here they are 3 and 2",
        ),
    ],
)
def test_a_setting_that_cannot_be_used_is_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Config.load(written(text), environ={})
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("PADDOCK_ENGIN", "monty", "PADDOCK_ENGIN: unknown setting 'engin'; did you mean 'engine'?"),
        ("PADDOCK_LIMITS__CALS", "1", "PADDOCK_LIMITS__CALS: unknown setting 'limits.cals'; did you mean 'calls'?"),
        ("PADDOCK_LIMITS__CALLS", "many", "PADDOCK_LIMITS__CALLS: 'limits.calls' must be a whole number, not 'many'"),
        ("PADDOCK_LIMITS__CALLS", "", "PADDOCK_LIMITS__CALLS: 'limits.calls' must be a whole number, not ''"),
        ("PADDOCK_LIMITS", "5", "PADDOCK_LIMITS: 'limits' is a table of settings, not '5'"),
        ("PADDOCK_LIMITS__WALL_SECONDS", "inf", f"PADDOCK_LIMITS__WALL_SECONDS: limits.{POSITIVE}, not inf"),
        ("PADDOCK_CAPS__CALLS", "9999999", "PADDOCK_CAPS__CALLS: caps.calls may be at most 1000000 here, not 9999999"),
        ("PADDOCK_CODE_BYTES", "-1", "PADDOCK_CODE_BYTES: code_bytes must be positive, not -1"),
        ("PADDOCK_CONFIG", "nowhere.toml", "PADDOCK_CONFIG: cannot read nowhere.toml: No such file or directory"),
        ("PADDOCK_ENGINE__X", "5", "PADDOCK_ENGINE__X: 'engine' must be text, not {'x': '5'}"),
    ],
)
def test_an_environment_that_cannot_be_used_is_refused(name: str, value: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Config.load(environ={name: value})
    assert str(caught.value) == message


def test_a_missing_file_is_named() -> None:
    with pytest.raises(ConfigError, match=r"^cannot read missing\.toml: No such file or directory$"):
        Config.load("missing.toml", environ={})


def test_a_folder_is_not_a_file() -> None:
    with pytest.raises(ConfigError, match=r"^cannot read \.: Is a directory$"):
        Config.load(".", environ={})


@pytest.mark.parametrize("data", [b"engine = ", b"\xff\xfe", b"a = 1\na = 2", b"engine = \x00"])
def test_a_file_that_is_not_toml_is_named(data: bytes) -> None:
    Path("bad.toml").write_bytes(data)
    with pytest.raises(ConfigError, match=r"^bad\.toml is not TOML: "):
        Config.load("bad.toml", environ={})


def test_environments_override_the_built_in_ones() -> None:
    text = '[environments.default]\npackages = ["six>=1"]\n[environments.maps]\npackages = ["shapely[x]"]\n'
    environ = {"PADDOCK_ENVIRONMENTS__MAPS__PRELOAD": '["shapely.geometry"]'}
    assert Config.load(written(text), environ=environ).environments == {
        **BUILT_IN,
        "default": EnvironmentConfig(("six>=1",), ()),
        "maps": EnvironmentConfig(("shapely[x]",), ("shapely.geometry",)),
    }


def test_the_default_environment_keeps_the_preloads_of_its_packages() -> None:
    packages = "[environments.default]\npackages = ['pandas>=3', 'numpy']\n"
    assert Config.load(written(packages), environ={}).environments["default"].preload == ("numpy", "pandas")
    named = Config.load(written(f"{packages}preload = ['six']"), environ={})
    assert named.environments["default"].preload == ("six",)


def test_a_table_of_an_engine_overrides_its_defaults() -> None:
    config = Config.load(written("[node]\nmax_waiting = 7\n[quickjs]\nmin_waiting = 0\n"), environ={})
    assert (config.node.environment, config.node.min_waiting, config.node.max_waiting) == ("node", 1, 7)
    assert (config.quickjs.environment, config.quickjs.min_waiting) == ("quickjs", 0)


def test_extra_packages_join_the_built_in_ones(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text('[environments.default]\nextra_packages = ["humanize"]\n')
    default = Config.load(path, environ={}).environments["default"]
    assert default.all_packages() == (*Config().environments["default"].packages, "humanize")
    assert default.preload == Config().environments["default"].preload


def test_the_data_directory_follows_the_desktop_convention(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/somewhere")
    assert Config().data_directory == "/somewhere/paddock"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", "/home/ada")
    assert Config().data_directory == "/home/ada/.local/share/paddock"
    assert Config.load(environ={"PADDOCK_DATA_DIRECTORY": "/data"}).data_directory == "/data"


def test_booleans_in_the_environment_are_written_as_in_toml() -> None:
    assert Config.load(environ={"PADDOCK_JAIL__ACCEPT_CONFINED": "true"}).jail.accept_confined is True
    assert Config.load(environ={"PADDOCK_JAIL__ACCEPT_CONFINED": "false"}).jail.accept_confined is False
    with pytest.raises(ConfigError, match=r"'jail\.accept_confined' must be true or false, not 'yes'"):
        Config.load(environ={"PADDOCK_JAIL__ACCEPT_CONFINED": "yes"})


REQUIREMENTS = [
    *("six", "six>=1", "six >= 1, < 2", "six==1.*", "six~=1.4", "six!=1.5", "six===1.0+local.1", "six (>=1,<2)"),
    *("requests[socks]", "requests[socks, use-chardet-on-py3]>=2", "ruamel.yaml", "Foo_Bar-9", "a"),
    *("six; python_version < '3.12'", "six>=1 ; sys_platform == 'linux' and extra == \"x\""),
]


def test_requirements_with_versions_extras_and_markers_are_accepted() -> None:
    assert problem(EnvironmentConfig(tuple(REQUIREMENTS))) is None


@pytest.mark.parametrize(
    ("requirement", "why"),
    [
        ("six @ file:///tmp/six.whl", "is an address"),
        ("git+https://example.org/six", "is an address"),
        ("./six", "is a path"),
        ("/opt/six-1.0.tar.gz", "is a path"),
        ("six-1.0-py3-none-any.whl", "is a path"),
        ("--index-url=x", "is not a package with optional versions"),
        ("-r", "is not a package with optional versions"),
        ("", "is not a package with optional versions"),
        ("six idna", "is not a package with optional versions"),
        ("six>", "is not a package with optional versions"),
        ("six>=1,", "is not a package with optional versions"),
        ("six\n--pre", "is not a package with optional versions"),
        ("six; x\n--pre", "is not a package with optional versions"),
        ("six[", "is not a package with optional versions"),
    ],
)
def test_an_invalid_requirement_is_refused(requirement: str, why: str) -> None:
    assert (problem(EnvironmentConfig((requirement,))) or "").startswith(f"packages: {requirement!r} {why}")


@pytest.mark.parametrize("module", ["", "1a", "a.", ".a", "a b", "a;b", "a-b"])
def test_an_invalid_module_name_is_refused(module: str) -> None:
    wrong = f"preload: {module!r} is not the name of a module, such as 'numpy' or 'xml.etree.ElementTree'"
    assert problem(EnvironmentConfig(preload=(module,))) == wrong


def test_raised_caps_allow_higher_limits() -> None:
    config = Config.load(written("caps.wall_seconds = 2000\nlimits.wall_seconds = 1000\n"), environ={})
    assert (config.limits.wall_seconds, config.caps.wall_seconds, CAPS.wall_seconds) == (1000.0, 2000.0, 900.0)


def test_the_wrong_file_or_variable_is_named_if_both_are_present() -> None:
    path = written("limits.calls = 5\ncaps.calls = 8\n")
    with pytest.raises(ConfigError, match=r"^PADDOCK_LIMITS__CALLS: limits\.calls may be at most 8 here, not 9$"):
        Config.load(path, environ={"PADDOCK_LIMITS__CALLS": "9"})
    with pytest.raises(ConfigError, match=r"^other\.toml: limits\.calls may be at most 4 here, not 5$"):
        Config.load(path, environ={"PADDOCK_CAPS__CALLS": "4"})


def test_a_file_may_begin_with_a_byte_order_mark() -> None:
    assert Config.load(written('\ufeffengine = "monty"\n'), environ={}) == Config(engine="monty")


KUBERNETES = {
    "PADDOCK_PORT": "tcp://10.0.0.1:8080",
    "PADDOCK_PORT_8080_TCP": "tcp://10.0.0.1:8080",
    "PADDOCK_PORT_8080_TCP_ADDR": "10.0.0.1",
    "PADDOCK_PORT_8080_TCP_PORT": "8080",
    "PADDOCK_PORT_8080_TCP_PROTO": "tcp",
    "PADDOCK_SERVICE_HOST": "10.0.0.1",
    "PADDOCK_SERVICE_PORT": "8080",
    "PADDOCK_SERVICE_PORT_HTTP": "8080",
    "PADDOCK_API_SERVICE_HOST": "10.0.0.2",
    "PADDOCK_API_PORT_53_UDP_ADDR": "10.0.0.2",
}


def test_variables_that_kubernetes_sets_for_a_service_are_ignored() -> None:
    assert Config.load(environ={**KUBERNETES, "PADDOCK_ENGINE": "monty"}) == Config(engine="monty")


@pytest.mark.parametrize("name", ["PADDOCK_SERVICE", "PADDOCK_LIMITS__PORT", "PADDOCK_PORT_HTTP", "PADDOCK_HOME"])
def test_any_other_variable_with_our_prefix_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=f"^{name}: unknown setting "):
        Config.load(environ={name: "1"})


def test_an_empty_file_name_means_no_file() -> None:
    assert Config.load(environ={"PADDOCK_CONFIG": ""}) == Config()


@pytest.mark.parametrize(
    "environ",
    [
        {"PADDOCK_UPSTREAMS": '{"crm": {"headers": {"Authorization": "Bearer s3cret"}}'},
        {"PADDOCK_UPSTREAMS": '["s3cret"]'},
    ],
)
def test_an_error_does_not_show_a_value_that_may_be_secret(environ: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="must be a table") as problem:
        Config.load(environ=environ)
    assert "s3cret" not in str(problem.value)
    file = tmp_path / "paddock.toml"
    file.write_text('[server]\ntoken = ["s3cret"]')
    with pytest.raises(ConfigError, match=r"'server\.token' must be text$") as problem:
        Config.load(file)
    assert "s3cret" not in str(problem.value)
