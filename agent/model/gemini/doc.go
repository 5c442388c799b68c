// Package gemini speaks Google's generateContent, of the Gemini API and of Vertex AI.
//
// It must not know how a key is found or a model is chosen. Begin with client.go.
package gemini
