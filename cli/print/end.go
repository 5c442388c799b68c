package printcli

import (
	"errors"

	"jcode/agent/event"
	"jcode/cli/console"
)

// EndError returns the exit code for the end of a turn; what happened was printed.
func EndError(end event.TurnEnd) error {
	err := errors.New(end.Error)
	//exhaustive:enforce
	switch end.Reason {
	case event.StopDone:
		if why := end.Unanswered(); why != "" {
			return &console.Exit{Code: console.ExitNone, Silent: true, Err: errors.New(why)}
		}
		return nil
	case event.StopLimit:
		return &console.Exit{Code: console.ExitLimit, Silent: true, Err: err}
	case event.StopInterrupted:
		return &console.Exit{Code: console.ExitInt, Silent: true, Err: errors.New("interrupted")}
	case event.StopError:
	}
	return &console.Exit{Code: console.ExitModel, Silent: true, Err: err}
}
