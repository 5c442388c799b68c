package model

// Info is what is known of a model.
type Info struct {
	// Window is the context window in tokens, 0 when unknown.
	Window int `json:"window,omitempty"`
	// MaxOutput is the longest answer in tokens, 0 when unknown.
	MaxOutput int `json:"max_output,omitempty"`
	// Input, Output and Cached are prices in US dollars per million tokens.
	Input  float64 `json:"input,omitempty"`
	Output float64 `json:"output,omitempty"`
	Cached float64 `json:"cached,omitempty"`
	// Images says that it sees pictures.
	Images bool `json:"images,omitempty"`
	// Reasons says that it thinks before it answers.
	Reasons bool `json:"reasons,omitempty"`
}
