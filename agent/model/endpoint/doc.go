// Package endpoint owns what every protocol shares on the way to a provider: live connections, the limit of
// silence, refusals in the words of many servers, and the decision whether to ask again.
//
// A protocol creates an Endpoint, and drives each request with Ask: Attempt sends it once over RoundTrip,
// records the reply in an Exchange, and lets Judge say what a failure means.
//
// It must not know how a request is encoded or a stream is read. Begin with ask.go.
package endpoint
