package mcp

import (
	"maps"
	"slices"
)

// State is the state of a server.
type State string

// The states.
const (
	StateConnecting   State = "connecting"
	StateConnected    State = "connected"
	StateReconnecting State = "reconnecting"
	StateFailed       State = "failed"
	StateDisconnected State = "disconnected"
	// StateNeedsSignIn: the server waits for a person to sign in.
	StateNeedsSignIn State = "needs sign-in"
)

// wantedServer is a server that should run.
type wantedServer struct {
	key   string
	retry bool // retry it now if it is down
	force bool // restart it if it is up
}

// runningServer is a server that has an actor.
type runningServer struct {
	key   string
	state State
}

// verb is what should happen to a server.
type verb string

const (
	verbStart   verb = "start"
	verbStop    verb = "stop"
	verbRestart verb = "restart" // its target changed, or a restart was asked for
	verbRetry   verb = "retry"   // it is down and should be retried now
	verbKeep    verb = "keep"
)

type action struct {
	name string
	verb verb
}

// reconcile returns the actions that turn the running servers into the wanted ones.
func reconcile(wanted map[string]wantedServer, running map[string]runningServer) []action {
	names := slices.Collect(maps.Keys(wanted))
	for name := range running {
		if _, ok := wanted[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	out := make([]action, 0, len(names))
	for _, name := range names {
		want, isWanted := wanted[name]
		have, runs := running[name]
		runs = runs && have.state != StateDisconnected
		switch {
		case !isWanted && !runs:
		case !isWanted:
			out = append(out, action{name, verbStop})
		case !runs:
			out = append(out, action{name, verbStart})
		case want.key != have.key:
			out = append(out, action{name, verbRestart})
		case want.force && have.state != StateConnecting:
			out = append(out, action{name, verbRestart})
		case want.retry && (have.state == StateFailed || have.state == StateReconnecting || have.state == StateNeedsSignIn):
			out = append(out, action{name, verbRetry})
		default:
			out = append(out, action{name, verbKeep})
		}
	}
	return out
}
