package otlp

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Options say where to send what.
type Options struct {
	// Endpoint is the address below which /v1/traces and /v1/metrics are.
	Endpoint string
	Headers  http.Header
	// Limit is how long one request may take; 0 means 10 s.
	Limit time.Duration
	// Resource says who sends; Name and Version are what measures.
	Resource      []Attr
	Name, Version string
	// Failed is told of the first fault of a kind; may be nil.
	Failed func(err error)
}

// Enabled reports whether the environment asks for telemetry.
func Enabled(getenv func(string) string) bool {
	return strings.TrimSpace(getenv("OTEL_EXPORTER_OTLP_ENDPOINT")) != "" && !strings.EqualFold(strings.TrimSpace(getenv("OTEL_SDK_DISABLED")), "true")
}

// FromEnv reads the variables of OpenTelemetry.
func FromEnv(getenv func(string) string, service, version string) (Options, error) {
	opt := Options{Name: service, Version: version, Headers: http.Header{}}
	endpoint := strings.TrimSpace(getenv("OTEL_EXPORTER_OTLP_ENDPOINT"))
	at, err := url.Parse(endpoint)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" {
		return opt, fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT: no address such as http://localhost:4318")
	}
	if p := getenv("OTEL_EXPORTER_OTLP_PROTOCOL"); strings.Contains(p, "grpc") {
		return opt, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %s: jcode sends http/json, which collectors take at port 4318; leave the variable out and set the endpoint to that", p)
	}
	opt.Endpoint = strings.TrimRight(endpoint, "/")
	for name, v := range pairs(getenv("OTEL_EXPORTER_OTLP_HEADERS")) {
		opt.Headers.Set(name, v)
	}
	resource := pairs(getenv("OTEL_RESOURCE_ATTRIBUTES"))
	if _, named := resource["service.name"]; !named {
		resource["service.name"] = service
	}
	if name := strings.TrimSpace(getenv("OTEL_SERVICE_NAME")); name != "" {
		resource["service.name"] = name
	}
	if _, named := resource["service.version"]; !named {
		resource["service.version"] = version
	}
	for _, key := range sorted(resource) {
		opt.Resource = append(opt.Resource, String(key, resource[key]))
	}
	if ms, err := strconv.Atoi(strings.TrimSpace(getenv("OTEL_EXPORTER_OTLP_TIMEOUT"))); err == nil && ms > 0 {
		opt.Limit = time.Duration(ms) * time.Millisecond
	}
	return opt, nil
}

// pairs reads a list such as "a=1,b=x%20y".
func pairs(list string) map[string]string {
	out := map[string]string{}
	for part := range strings.SplitSeq(list, ",") {
		name, v, ok := strings.Cut(part, "=")
		name, v = strings.TrimSpace(name), strings.TrimSpace(v)
		if !ok || name == "" {
			continue
		}
		if plain, err := url.PathUnescape(v); err == nil {
			v = plain
		}
		out[name] = v
	}
	return out
}
