package provider

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// fill writes out what the address and the headers take from the environment and the settings of a cloud.
func (p *Config) fill() error {
	if err := p.place(); err != nil {
		return err
	}
	address, err := expand(p.BaseURL, p.variable)
	if err != nil {
		return fmt.Errorf("its address: %w, or set providers.%s.base_url", err, p.Name)
	}
	p.BaseURL = address
	headers := maps.Clone(p.Headers)
	for name, value := range headers {
		if headers[name], err = expand(value, p.Getenv); err != nil {
			return fmt.Errorf("its header %s: %w", name, err)
		}
	}
	p.Headers = headers
	return nil
}

// variable returns what a variable of the address stands for.
func (p *Config) variable(name string) string {
	switch name {
	case "region":
		return p.Region
	case "project":
		return p.Project
	case "host":
		return vertexHost(p.Region)
	}
	value := strings.TrimRight(p.Getenv(name), "/")
	if name == "AZURE_OPENAI_ENDPOINT" { // some have the path of the API, too
		value, _, _ = strings.Cut(value, "/openai")
	}
	return value
}

// vertexHost returns the host of Google's models in a region, in one of the large areas, or anywhere.
func vertexHost(region string) string {
	switch region {
	case "global":
		return "aiplatform.googleapis.com"
	case "us", "eu":
		return "aiplatform." + region + ".rep.googleapis.com"
	}
	return region + "-aiplatform.googleapis.com"
}

// onVertex chooses the protocol for a model of Vertex, and returns the ID by which it is asked.
func (p *Config) onVertex(id string) string {
	if p.Cloud != Vertex || p.Protocol != "" || id == "" {
		return id
	}
	if strings.HasPrefix(id, "claude") {
		p.Protocol = Messages
		return id
	}
	p.Protocol = Chat
	address, query := SplitURL(p.BaseURL)
	if p.BaseURL = address + "/endpoints/openapi"; query != "" {
		p.BaseURL += "?" + query
	}
	if strings.HasPrefix(id, "gemini") {
		id = "google/" + id
	}
	if strings.HasPrefix(id, "google/") {
		p.Quirks = Quirks{SimpleSchemas: new(true)}.with(p.Quirks)
	}
	return id
}

// place finds where a cloud serves the models, and on whose account.
func (p *Config) place() error {
	env := p.Getenv
	switch {
	case p.Cloud == Bedrock:
		p.Region = cmp.Or(p.Region, env("AWS_REGION"), env("AWS_DEFAULT_REGION"))
		if p.Region == "" {
			profile, err := ReadAWSProfile(env, p.Profile)
			if err != nil {
				return err
			}
			p.Region = profile.Values["region"]
		}
		if p.Region == "" {
			return fmt.Errorf("no region: set AWS_REGION or providers.%s.region, such as eu-central-1", p.Name)
		}
	case p.Cloud == Vertex:
		p.Region = cmp.Or(p.Region, env("GOOGLE_CLOUD_LOCATION"), env("CLOUD_ML_REGION"), "global")
		p.Project = cmp.Or(p.Project, env("GOOGLE_CLOUD_PROJECT"), env("ANTHROPIC_VERTEX_PROJECT_ID"))
		if p.Project == "" && strings.Contains(p.BaseURL, "${project}") {
			return fmt.Errorf("no project: set GOOGLE_CLOUD_PROJECT or providers.%s.project", p.Name)
		}
		if gcloud := []string{"gcloud", "auth", "print-access-token"}; slices.Equal(p.KeyCommand, gcloud) && env("GOOGLE_APPLICATION_CREDENTIALS") != "" {
			p.KeyCommand = []string{"gcloud", "auth", "application-default", "print-access-token"} // of that account
		}
	}
	return nil
}

// expand replaces each ${NAME} in a text.
func expand(s string, value func(string) string) (string, error) {
	var out strings.Builder
	for {
		before, after, ok := strings.Cut(s, "${")
		out.WriteString(before)
		if !ok {
			return out.String(), nil
		}
		name, rest, ok := strings.Cut(after, "}")
		if !ok || name == "" {
			return "", errors.New("${ without a name and }")
		}
		v := value(name)
		if v == "" {
			return "", fmt.Errorf("%s is not set", name)
		}
		out.WriteString(v)
		s = rest
	}
}

// Variables returns the names of the variables that a text has places for.
func Variables(s string) (names []string) {
	for {
		_, after, ok := strings.Cut(s, "${")
		name, rest, closed := strings.Cut(after, "}")
		if !ok || !closed {
			return names
		}
		names, s = append(names, name), rest
	}
}
