package launch

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// override is a setting that git gets from its environment while it only looks; it takes precedence over the
// repository's.
type override struct{ key, value string }

// overrides are the settings under which git runs nothing of the repository's, and accepts no folder as a
// repository that is not marked as one.
func overrides() []override {
	return []override{
		{"core.fsmonitor", "false"},
		{"core.hooksPath", os.DevNull},
		{"core.pager", "cat"},
		{"core.sshCommand", "false"},
		{"core.gitProxy", ""},
		{"core.alternateRefsCommand", "false"},
		{"core.askPass", "true"},
		{"credential.helper", ""},
		{"gpg.program", "false"},
		{"gpg.ssh.program", "false"},
		{"gpg.x509.program", "false"},
		{"log.showSignature", "false"},
		{"protocol.allow", "never"},
		{"safe.bareRepository", "explicit"},
		{"status.submoduleSummary", "false"},
		{"maintenance.auto", "false"},
		{"gc.auto", "0"},
	}
}

// GitOverrides returns an environment that carries these settings. GIT_CONFIG_COUNT reaches git itself,
// GIT_CONFIG_PARAMETERS also the git of a submodule.
func GitOverrides(env []string) []string {
	out := make([]string, 0, len(env)+48)
	count, parameters := 0, ""
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case name == "GIT_CONFIG_PARAMETERS":
			parameters = value + " "
			continue
		case strings.HasPrefix(name, "GIT_CONFIG_"):
			if name == "GIT_CONFIG_GLOBAL" || name == "GIT_CONFIG_SYSTEM" || name == "GIT_CONFIG_NOSYSTEM" {
				break
			}
			continue // settings that a person made for one command do not apply to these
		case name == "GIT_EXTERNAL_DIFF", name == "GIT_SSH", name == "GIT_SSH_COMMAND", name == "GIT_PROXY_COMMAND", strings.HasPrefix(name, "GIT_TRACE"):
			continue
		}
		out = append(out, kv)
	}
	var quoted bytes.Buffer
	for _, o := range overrides() {
		n := strconv.Itoa(count)
		out = append(out, "GIT_CONFIG_KEY_"+n+"="+o.key, "GIT_CONFIG_VALUE_"+n+"="+o.value)
		if count++; quoted.Len() > 0 {
			quoted.WriteByte(' ')
		}
		quoted.WriteString("'" + o.key + "=" + o.value + "'")
	}
	return append(out,
		"GIT_CONFIG_COUNT="+strconv.Itoa(count), "GIT_CONFIG_PARAMETERS="+parameters+quoted.String(),
		"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=")
}
