// Package endpoint owns what every protocol shares on the way to a provider: connections
// that are believed to live, the limit of silence, refusals in the words of many servers,
// and the decision whether to ask again.
//
// A protocol makes an Endpoint, and drives each request with Ask: Attempt sends it once over
// RoundTrip, notes in an Exchange what came back, and lets Judge say what a failure means.
//
// It must not know how a request is encoded or a stream is read. Begin with ask.go.
package endpoint
