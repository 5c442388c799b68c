//go:build linux || darwin

package tui

import (
	"strings"
	"testing"

	"jcode/tui/tuitest"
)

// A role switch that takes a while is shown and delays prompts; esc cancels the switch and returns the prompts.
func TestRoleSwitchShowsPromptsWaitAndEscTakesItBack(t *testing.T) {
	t.Parallel()
	for name, taken := range map[string]bool{"entered": false, "taken back": true} {
		t.Run(name, func(t *testing.T) {
			p, conv := still(t, 80, 24, nil)
			conv.SlowRole = make(chan struct{})
			entered := p.settings.enterRole("slow")
			if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "entering the role slow (esc takes it back)") {
				t.Fatalf("it does not show:\n%s", s)
			}
			press(p, "h", "i", "enter")
			if got := conv.Sent(); len(got) > 0 {
				t.Fatalf("sent in the old role: %q", got)
			}
			if taken {
				press(p, "esc")
			} else {
				close(conv.SlowRole)
			}
			settleCmd(p, entered)
			s := tuitest.Stripped(p.frameText())
			if strings.Contains(s, "entering the role") {
				t.Errorf("it still shows:\n%s", s)
			}
			if got := strings.Join(conv.Sent(), "|"); taken && (got != "" || p.in.Text() != "hi" || p.state.Role != "" || !strings.Contains(s, "everything is as before")) ||
				!taken && (got != "hi" || p.state.Role != "slow") {
				t.Errorf("sent %q, the input is %q, the role %q:\n%s", got, p.in.Text(), p.state.Role, s)
			}
		})
	}
}
