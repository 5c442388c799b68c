package cli

import (
	"fmt"

	"jcode/agent/event"
	"jcode/cli/telemetry"
	"jcode/internal/otlp"
	"jcode/tools"
)

// openTelemetry begins to send spans and metrics if the environment names a collector.
func openTelemetry(a *app) error {
	if !otlp.Enabled(a.std.Getenv) {
		return nil
	}
	if origin, off := a.std.managed.NoTelemetry(); off {
		a.board.Say(event.LevelWarn, "telemetry: nothing is sent to OTEL_EXPORTER_OTLP_ENDPOINT: %s says off", origin)
		return nil
	}
	opt, err := otlp.FromEnv(a.std.Getenv, "jcode", Version())
	if err != nil {
		a.board.Say(event.LevelWarn, "telemetry: %v", err)
		return nil
	}
	ends := make(chan struct{})
	opt.Failed = func(err error) {
		select {
		case <-ends:
			fmt.Fprintln(a.std.Err, "jcode:", err)
		default:
			a.board.Say(event.LevelWarn, "%v", err)
		}
	}
	out := otlp.New(opt)
	a.tracer = telemetry.New(out, a.config.Telemetry.Content, a.std.Getenv("TRACEPARENT"))
	a.onClose(func() {
		close(ends)
		a.tracer.Wait() // the conversations are closed by now
		out.Close()
	})
	return nil
}

// commandVariables returns what says what a caller's command gets besides the usual environment.
func commandVariables(a *app) func(caller tools.Caller, call string, confined bool) []string {
	return func(caller tools.Caller, call string, confined bool) []string {
		vars := a.hookVariables.ForCommand(caller, confined)
		if a.tracer != nil {
			vars = append(vars, a.tracer.Variables(caller, call)...)
		}
		return vars
	}
}

// serverVariables returns what gives a server that starts variables besides its own; nil for nothing.
func serverVariables(a *app) func() []string {
	if a.tracer == nil {
		return nil
	}
	return a.tracer.Server
}
