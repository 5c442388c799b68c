package cli

import (
	"errors"
	"strings"

	"jcode/agent/event"
	"jcode/cli/console"
)

// unanswered says why a turn that ended by itself has no whole answer; "" if it has one. An empty answer is one if the
// model did something before.
func unanswered(end event.TurnEnd) string {
	switch {
	case end.Reason != event.StopDone:
		return ""
	case end.Finish == "content_filter":
		return "the provider refused to answer"
	case end.Finish == "length":
		return "the answer was cut at the model's output limit"
	case end.Calls == 0 && strings.TrimSpace(end.Text) == "":
		return "the model gave an empty answer"
	}
	return ""
}

// endError returns the exit code for the end of a turn; what happened was printed.
func endError(end event.TurnEnd) error {
	err := errors.New(end.Error)
	//exhaustive:enforce
	switch end.Reason {
	case event.StopDone:
		if why := unanswered(end); why != "" {
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
