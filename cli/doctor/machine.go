package doctorcli

import (
	"cmp"
	"runtime"
	"strings"

	"jcode/cli/console"
	"jcode/cli/health"
	"jcode/internal/launch"
	"jcode/internal/system"
)

// Program reports which jcode this is, and what it runs on.
func Program(version string, r *health.Report) {
	r.OK("jcode", "%s, %s on %s/%s", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// Terminal reports what the terminal can do, judging by what it says about itself.
func Terminal(std console.Streams, r *health.Report) {
	env := std.Getenv
	if !std.OutIsTerminal {
		r.OK("terminal", "the output is not a terminal: use -p")
		return
	}
	term := env("TERM")
	switch {
	case system.HasTTY() && (term == "" || term == "dumb"):
		r.Warn("terminal", "use a terminal that sets TERM, or --plain", "TERM is %q: only --plain works", term)
		return
	case env("NO_COLOR") != "":
		r.OK("terminal", "%s, without colours because NO_COLOR is set", term)
	case strings.Contains(env("COLORTERM"), "truecolor"), strings.Contains(env("COLORTERM"), "24bit"):
		r.OK("terminal", "%s, true colour", term)
	default:
		r.OK("terminal", "%s, 256 colours or fewer", term)
	}
	locale := cmp.Or(env("LC_ALL"), env("LC_CTYPE"), env("LANG"))
	if upper := strings.ToUpper(locale); system.HasTTY() && !strings.Contains(upper, "UTF-8") && !strings.Contains(upper, "UTF8") {
		r.Warn("terminal", "set LANG to a UTF-8 locale, such as C.UTF-8", "the locale %q is not UTF-8: wide characters may look wrong", locale)
	}
}

// Programs reports the optional programs that jcode uses.
func Programs(found launch.Programs, r *health.Report) {
	switch path, err := found.Find("git"); {
	case err == nil:
		r.OK("programs", "git at %s", path)
	case launch.IsPassedOver(err):
		r.Warn("programs", "", "%v", err)
	default:
		r.Warn("programs", "install git if your projects use it", "git is not in PATH")
	}
}
