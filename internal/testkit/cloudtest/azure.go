package cloudtest

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"jcode/internal/testkit/modeltest"
)

// Azure is Azure OpenAI: its v1 addresses, and those with a deployment and a date.
type Azure struct {
	Models      *modeltest.Handler
	Key         string                 // of the resource, in the header api-key
	Token       func(token string) int // the status for a token of Entra, 0 if it is good; nil for none
	Deployments []string
	Log         Log
}

// ServeHTTP answers one request.
func (a *Azure) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key, bearer := r.Header.Get("Api-Key"), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	status := http.StatusUnauthorized
	switch {
	case key != "" && bearer != "":
	case key != "" && key == a.Key:
		status = 0
	case bearer != "" && a.Token != nil:
		status = a.Token(bearer)
	}
	if status != 0 {
		a.Log.refuse(w, status, `{"error":{"code":"`+http.StatusText(status)+`","message":"Access denied due to invalid subscription key or wrong API endpoint."}}`)
		return
	}
	r.Header.Set("Authorization", "Bearer checked") // as the models behind it want it
	rest, ok := strings.CutPrefix(r.URL.Path, "/openai/")
	version := r.URL.Query().Get("api-version")
	dated := regexp.MustCompile(`^20\d\d-\d\d-\d\d(-preview)?$`).MatchString(version)
	notFound := func(code, message string) {
		a.Log.refuse(w, http.StatusNotFound, `{"error":{"code":"`+code+`","message":"`+message+`"}}`)
	}
	deployment, of, old := strings.Cut(strings.TrimPrefix(rest, "deployments/"), "/")
	switch {
	case !ok:
		notFound("404", "Resource not found")
	case strings.HasPrefix(rest, "v1/"):
		if version != "" && version != "v1" && version != "preview" {
			notFound("400", "api-version is not valid")
			return
		}
		r.URL.Path = "/" + rest
		a.Log.pass(r)
		a.Models.ServeHTTP(w, r)
	case !dated:
		notFound("404", "Resource not found: api-version is missing")
	case rest == "models":
		r.URL.Path = "/v1/models"
		a.Models.ServeHTTP(w, r)
	case !strings.HasPrefix(rest, "deployments/") || !old || !slices.Contains(a.Deployments, deployment):
		notFound("DeploymentNotFound", "The API deployment for this resource does not exist.")
	default:
		r.URL.Path = "/v1/" + of
		a.Log.pass(r)
		a.Models.ServeHTTP(w, r)
	}
}
