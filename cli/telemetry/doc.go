// Package telemetry tells a collector of OpenTelemetry what conversations do: a span for each turn, request and call,
// by the conventions for generative AI, and metrics.
//
// It must not know how spans are sent. Begin with tracer.go.
package telemetry
