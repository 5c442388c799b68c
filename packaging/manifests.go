package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

const summary = "A coding agent in the terminal"

// manifests writes what Homebrew, Scoop and winget need, where it is known from where the
// archives will be downloaded.
func (r *release) manifests(context.Context, string) error {
	if r.url == "" {
		fmt.Println("no -url: the manifests of Homebrew, Scoop and winget are left out")
		return nil
	}
	sums := map[target]string{}
	for _, t := range r.targets {
		sum, err := r.sum(r.archiveName(t))
		if err != nil {
			return err
		}
		sums[t] = sum
	}
	for _, t := range []target{{"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"}} {
		if !slices.Contains(r.targets, t) {
			return fmt.Errorf("the manifests need %s/%s: leave -only or -url out", t.os, t.arch)
		}
	}
	if err := r.add("jcode.rb", []byte(r.cask(sums))); err != nil {
		return err
	}
	if err := r.scoop(sums); err != nil {
		return err
	}
	return r.winget(sums)
}

func (r *release) address(t target) string { return r.url + "/" + r.archiveName(t) }

// cask is a Homebrew cask.
func (r *release) cask(sums map[target]string) string {
	arm, intel := target{"darwin", "arm64"}, target{"darwin", "amd64"}
	return fmt.Sprintf(`cask "jcode" do
  arch arm: "arm64", intel: "amd64"

  version "%s"
  sha256 arm:   "%s",
         intel: "%s"

  url "%s/jcode-#{version}-darwin-#{arch}.tar.gz"
  name "jcode"
  desc "Coding agent in the terminal"
  homepage "%s"

  binary "jcode"
  manpage "jcode.1"
  bash_completion "completions/jcode.bash"
  fish_completion "completions/jcode.fish"
  zsh_completion "completions/_jcode"

  zap trash: [
    "~/.config/jcode",
    "~/.local/share/jcode",
  ]
end
`, r.version, sums[arm], sums[intel], r.url, r.url)
}

// scoop writes a Scoop manifest.
func (r *release) scoop(sums map[target]string) error {
	arch := func(t target) map[string]string { return map[string]string{"url": r.address(t), "hash": sums[t]} }
	return r.addJSON("jcode.scoop.json", map[string]any{
		"version": r.version, "description": summary, "homepage": r.url, "license": "MIT", "bin": "jcode.exe",
		"architecture": map[string]any{"64bit": arch(target{"windows", "amd64"}), "arm64": arch(target{"windows", "arm64"})},
	})
}

// winget writes the three files of a winget manifest.
func (r *release) winget(sums map[target]string) error {
	head := fmt.Sprintf("PackageIdentifier: jcode.jcode\nPackageVersion: %s\n", r.version)
	foot := func(kind string) string { return "ManifestType: " + kind + "\nManifestVersion: 1.6.0\n" }
	if err := r.add("jcode.jcode.yaml", []byte(head+"DefaultLocale: en-US\n"+foot("version"))); err != nil {
		return err
	}
	locale := head + "PackageLocale: en-US\nPublisher: jcode maintainers\nPackageName: jcode\nLicense: MIT\nShortDescription: " + summary + "\n"
	if err := r.add("jcode.jcode.locale.en-US.yaml", []byte(locale+foot("defaultLocale"))); err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString(head + "InstallerType: zip\nNestedInstallerType: portable\nNestedInstallerFiles:\n- RelativeFilePath: jcode.exe\n  PortableCommandAlias: jcode\nInstallers:\n")
	for _, t := range []target{{"windows", "amd64"}, {"windows", "arm64"}} {
		arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[t.arch]
		fmt.Fprintf(&b, "- Architecture: %s\n  InstallerUrl: %s\n  InstallerSha256: %s\n", arch, r.address(t), strings.ToUpper(sums[t]))
	}
	return r.add("jcode.jcode.installer.yaml", []byte(b.String()+foot("installer")))
}
