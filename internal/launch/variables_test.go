package launch_test

import (
	"testing"

	"jcode/internal/launch"
)

func TestVariablesOfOthersReachOnlyWhatTheyCannotSteer(t *testing.T) {
	t.Parallel()
	for reach, names := range map[launch.Reach][]string{
		launch.Nowhere: {
			"LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "GIT_DIR", "GIT_SSH_COMMAND", "GIT_CONFIG_COUNT", "BASH_ENV", "BASH_FUNC_ls%%", "ENV", "PS4", "IFS", "HOME",
			"XDG_CONFIG_HOME", "ld_preload", "GODEBUG", "SSH_AUTH_SOCK", "DOCKER_HOST", "PROMPT_COMMAND", "SHELL", "TMPDIR", "GLIBC_TUNABLES", "CLAUDE_PROJECT_DIR", "JCODE_HOME",
		},
		launch.Confined: {
			"PATH", "Path", "NODE_OPTIONS", "NODE_PATH", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "PERL5OPT", "RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS", "MAKEFLAGS", "GOFLAGS", "GOENV",
			"CARGO_BUILD_RUSTC_WRAPPER", "RUSTC_WRAPPER", "npm_config_script_shell", "EDITOR", "PAGER", "CC", "CFLAGS", "HTTPS_PROXY", "https_proxy", "MY_TOOL_CONFIG", "VIRTUAL_ENV", "JAVA_HOME",
			"LESSOPEN", "PIP_INDEX_URL", "AWS_CONFIG_FILE", "KUBECONFIG", "MANPATH", "UV_PYTHON",
		},
		launch.Everywhere: {"NODE_ENV", "DATABASE_URL", "FOO", "API_BASE", "DEBUG", "RAILS_ENV", "LOG_LEVEL", "PORT", "CI", "TZ", "LANG"},
	} {
		for _, name := range names {
			if got := launch.ReachOf(name); got != reach {
				t.Errorf("%s reaches %d, want %d", name, got, reach)
			}
		}
	}
}
