// Package otlp sends spans and metrics to an OpenTelemetry collector: OTLP over HTTP, in its JSON form.
//
// It must not know what the spans are of. Begin with exporter.go.
package otlp
