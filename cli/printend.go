package cli

import (
	"errors"
	"strings"

	"jcode/agent/event"
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
			return &exitError{code: exitNone, silent: true, err: errors.New(why)}
		}
		return nil
	case event.StopLimit:
		return &exitError{code: exitLimit, silent: true, err: err}
	case event.StopInterrupted:
		return &exitError{code: exitInt, silent: true, err: errors.New("interrupted")}
	case event.StopError:
	}
	return &exitError{code: exitModel, silent: true, err: err}
}
