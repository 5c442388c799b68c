package manifest_test

import (
	"slices"
	"testing"

	"jcode/lua/manifest"
	"jcode/lua/wire"
)

func TestRightsAreSaidInWords(t *testing.T) {
	t.Parallel()
	for declared, want := range map[string][]string{
		`{}`:                                {"may only compute: no files, no network, no commands, no tools"},
		`{"fs":{"read":[]}}`:                {"may only compute: what it declares is empty"},
		`{"fs":{"read":["**"]}}`:            {"may read: every file of the project"},
		`{"fs":{"read":["src/**","*.md"]}}`: {"may read: everything in src, *.md"},
		`{"fs":{"write":["*/gen/**"]}}`:     {"may read and write: */gen/**"},
		`{"network":{"allowed_hosts":["api.example.com","*.example.org:8443"],"methods":["post"]}}`: {"may reach over the network (POST): api.example.com, *.example.org:8443"},
		`{"exec":[["git","log"],["make","a b"]]}`:                                                   {"may run the commands that begin with: git log …, make 'a b' …"},
		`{"intents":["grep","read"],"mcp":["docs:find"],"env":["LANG"]}`:                            {"may call the tools: grep, read", "may call the tools of MCP servers: docs:find", "may read the environment variables: LANG"},
		`{"capabilities":["read"],"events":["` + wire.Events[0] + `"],"mcp_admin":true}`:            {"may use any tool that needs only: READ", "gets the events: " + wire.Events[0], "may add, change and remove MCP servers"},
	} {
		v, err := wire.DecodeJSON([]byte(declared))
		if err != nil {
			t.Fatal(err)
		}
		p, err := manifest.PluginPermissions(v.(*wire.Object))
		if err != nil {
			t.Fatalf("%s: %v", declared, err)
		}
		if got := p.Rights(); !slices.Equal(got, want) {
			t.Errorf("%s: %q", declared, got)
		}
	}
}
