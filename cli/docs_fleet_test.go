package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"jcode/cli/config"
	"jcode/tasks"
)

// The fields of compose files that the docs use, by the names of the Compose specification.
type (
	composeFile struct {
		Services map[string]composeService
		Volumes  map[string]struct{}
		Secrets  map[string]struct{ File string }
		Configs  map[string]struct{ Content string }
	}
	composeService struct {
		Image       string
		Command     []string
		Environment map[string]*string
		Secrets     []string
		Volumes     []string
		Ports       []string
		Restart     string
		Deploy      struct{ Replicas int }
		StopGrace   string `yaml:"stop_grace_period"`
		Healthcheck struct {
			Test     []string
			Interval string
		}
		DependsOn map[string]struct{ Condition string } `yaml:"depends_on"`
		Configs   []struct{ Source, Target string }
	}
)

// The fields of Kubernetes objects that the docs use.
type (
	metadataOf struct {
		Name   string
		Labels map[string]string
	}
	object struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Metadata   metadataOf
		StringData map[string]string `yaml:"stringData"`
		Data       map[string]string
		Spec       yaml.Node
	}
	deployment struct {
		Selector struct {
			MatchLabels map[string]string `yaml:"matchLabels"`
		}
		Template struct {
			Metadata metadataOf
			Spec     struct {
				Grace           int            `yaml:"terminationGracePeriodSeconds"`
				SecurityContext map[string]any `yaml:"securityContext"`
				Containers      []container
				InitContainers  []container `yaml:"initContainers"`
				Volumes         []struct {
					Name  string
					Claim struct {
						Name string `yaml:"claimName"`
					} `yaml:"persistentVolumeClaim"`
					ConfigMap metadataOf `yaml:"configMap"`
					Secret    struct {
						Name string `yaml:"secretName"`
					}
				}
			}
		}
	}
	container struct {
		Name, Image   string
		Args, Command []string
		Env           []struct {
			Name, Value string
			From        struct {
				Secret struct{ Name, Key string } `yaml:"secretKeyRef"`
			} `yaml:"valueFrom"`
		}
		Resources       map[string]map[string]string
		SecurityContext map[string]any `yaml:"securityContext"`
		Mounts          []struct {
			Name    string
			Path    string `yaml:"mountPath"`
			SubPath string `yaml:"subPath"`
		} `yaml:"volumeMounts"`
	}
	authentication struct {
		Secrets []struct{ Parameter, Name, Key string } `yaml:"secretTargetRef"`
	}
	scaled struct {
		Target   metadataOf `yaml:"scaleTargetRef"`
		Min      int        `yaml:"minReplicaCount"`
		Max      int        `yaml:"maxReplicaCount"`
		Cooldown int        `yaml:"cooldownPeriod"`
		Triggers []struct {
			Type     string
			By       metadataOf `yaml:"authenticationRef"`
			Metadata struct {
				Query  string
				Target string `yaml:"targetQueryValue"`
			}
		}
	}
)

// decode reads YAML whose keys are all known.
func decode(t *testing.T, from io.Reader, v any) (more bool) {
	t.Helper()
	d := yaml.NewDecoder(from)
	d.KnownFields(true)
	err := d.Decode(v)
	if err != nil && !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	return err == nil
}

// checkLine checks a command line of jcode.
func checkLine(t *testing.T, words []string) {
	t.Helper()
	var g grammar
	if _, err := parse(&g, words); err != nil {
		t.Errorf("jcode %s: %v", strings.Join(words, " "), err)
	}
}

// checkSettings checks settings that name a queue.
func checkSettings(t *testing.T, text string) {
	t.Helper()
	paths := config.Paths{Config: t.TempDir()}
	if err := os.WriteFile(paths.File(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	loaded := config.Load(config.Options{Paths: paths})
	if len(loaded.Problems) > 0 || !tasks.Shared(loaded.Config.Tasks.Queue) {
		t.Errorf("%s: %v", text, loaded.Problems)
	}
}

func TestComposeFilesInTheDocsAreRight(t *testing.T) {
	t.Parallel()
	for _, b := range blocks(t) {
		if b.info != "yaml compose" {
			continue
		}
		var file composeFile
		decode(t, strings.NewReader(b.text), &file)
		for name, s := range file.Services {
			if s.Image == "" {
				t.Errorf("%s has no image", name)
			}
			if strings.HasPrefix(s.Image, "jcode") {
				checkLine(t, s.Command)
			}
			for _, secret := range s.Secrets {
				if _, ok := file.Secrets[secret]; !ok {
					t.Errorf("%s: there is no secret %s", name, secret)
				}
			}
			for _, c := range s.Configs {
				checkSettings(t, file.Configs[c.Source].Content)
			}
			for _, v := range s.Volumes {
				from, _, _ := strings.Cut(v, ":")
				if _, ok := file.Volumes[from]; !ok && !strings.HasPrefix(from, "./") {
					t.Errorf("%s: there is no volume %s", name, from)
				}
			}
			for of := range s.DependsOn {
				if _, ok := file.Services[of]; !ok {
					t.Errorf("%s depends on %s, which is not there", name, of)
				}
			}
		}
	}
}

func TestKubernetesObjectsInTheDocsAreRight(t *testing.T) {
	t.Parallel()
	for _, b := range blocks(t) {
		if b.info != "yaml kubernetes" {
			continue
		}
		d := yaml.NewDecoder(strings.NewReader(b.text))
		d.KnownFields(true)
		known, kinds := map[string]bool{}, 0
		var deployments []deployment
		for {
			var o object
			if err := d.Decode(&o); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			kinds++
			for key := range o.StringData {
				known[o.Metadata.Name+"/"+key] = true
			}
			spec, err := yaml.Marshal(&o.Spec)
			if err != nil {
				t.Fatal(err)
			}
			switch o.APIVersion + " " + o.Kind {
			case "v1 Secret":
			case "v1 ConfigMap":
				for _, text := range o.Data {
					checkSettings(t, text)
				}
			case "apps/v1 Deployment":
				var one deployment
				decode(t, bytes.NewReader(spec), &one)
				deployments = append(deployments, one)
				known["deployment "+o.Metadata.Name] = true
			case "keda.sh/v1alpha1 TriggerAuthentication":
				var a authentication
				decode(t, bytes.NewReader(spec), &a)
				for _, s := range a.Secrets {
					if !known[s.Name+"/"+s.Key] {
						t.Errorf("there is no secret %+v", s)
					}
				}
				known["authentication "+o.Metadata.Name] = true
			case "keda.sh/v1alpha1 ScaledObject":
				var s scaled
				decode(t, bytes.NewReader(spec), &s)
				if !known["deployment "+s.Target.Name] || len(s.Triggers) != 1 || !known["authentication "+s.Triggers[0].By.Name] || s.Min < 1 {
					t.Errorf("%+v", s)
				}
			default:
				t.Errorf("what is %s %s?", o.APIVersion, o.Kind)
			}
		}
		for _, one := range deployments {
			pod := one.Template.Spec
			volumes := map[string]bool{}
			for _, v := range pod.Volumes {
				volumes[v.Name] = true
			}
			for _, c := range append(pod.Containers, pod.InitContainers...) {
				if len(c.Command) == 0 {
					checkLine(t, c.Args)
				}
				for _, m := range c.Mounts {
					if !volumes[m.Name] {
						t.Errorf("%s mounts %s, which is not there", c.Name, m.Name)
					}
				}
				for _, e := range c.Env {
					if s := e.From.Secret; s.Name != "" && !known[s.Name+"/"+s.Key] {
						t.Errorf("%s: there is no secret %+v", c.Name, s)
					}
				}
			}
			if one.Selector.MatchLabels["app"] != one.Template.Metadata.Labels["app"] {
				t.Error("the selector finds no pod")
			}
		}
		if kinds != 5 {
			t.Errorf("%d objects", kinds)
		}
	}
}

func TestUnitsInTheDocsAreRight(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var units []string
	for _, b := range blocks(t) {
		name, ok := strings.CutPrefix(b.info, "ini systemd ")
		if !ok {
			continue
		}
		for line := range strings.Lines(b.text) {
			if command, ok := strings.CutPrefix(strings.TrimSpace(line), "ExecStart=/usr/bin/jcode "); ok {
				checkLine(t, strings.Fields(command))
			}
		}
		text := strings.NewReplacer("/usr/bin/jcode", "/bin/true", "User=jcode", "User=root").Replace(b.text) // what is there
		path := filepath.Join(dir, strings.Replace(name, "@", "@1", 1))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		units = append(units, path)
	}
	if len(units) == 0 {
		t.Fatal("there are none")
	}
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not here: only the command lines were checked")
	}
	for _, unit := range units {
		out, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", "--man=no", unit).CombinedOutput()
		for line := range strings.Lines(string(out)) {
			if strings.Contains(line, filepath.Base(unit)) {
				t.Error(strings.TrimSpace(line))
			}
		}
		if err != nil && len(out) > 0 {
			t.Logf("%v: %s", err, out)
		}
	}
}
