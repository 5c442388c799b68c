package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// archiveName is the name of a target's archive.
func (r *release) archiveName(t target) string {
	ending := ".tar.gz"
	if t.os == "windows" {
		ending = ".zip"
	}
	return fmt.Sprintf("jcode-%s-%s-%s%s", r.version, t.os, t.arch, ending)
}

// archive packs the binary with everything that belongs to it.
func (r *release) archive(t target, stage string, shared []item) error {
	items := append([]item{{from: built(stage, t), name: t.binary(), mode: 0o755}}, shared...)
	var b bytes.Buffer
	var err error
	if t.os == "windows" {
		err = r.zip(&b, items)
	} else {
		err = r.tar(&b, items)
	}
	if err != nil {
		return fmt.Errorf("archive for %s/%s: %w", t.os, t.arch, err)
	}
	return r.add(r.archiveName(t), b.Bytes())
}

// add writes a finished file of the release.
func (r *release) add(name string, data []byte) error {
	r.files = append(r.files, name)
	return os.WriteFile(filepath.Join(r.out, name), data, 0o644)
}

func (r *release) tar(out io.Writer, items []item) error {
	z, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := tar.NewWriter(z)
	for _, it := range items {
		if it.name == "" {
			continue
		}
		data, err := os.ReadFile(it.from)
		if err != nil {
			return err
		}
		h := &tar.Header{Name: it.name, Mode: int64(it.mode), Size: int64(len(data)), ModTime: r.stamp, Format: tar.FormatPAX}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return z.Close()
}

func (r *release) zip(out io.Writer, items []item) error {
	w := zip.NewWriter(out)
	for _, it := range items {
		if it.name == "" {
			continue
		}
		data, err := os.ReadFile(it.from)
		if err != nil {
			return err
		}
		h := &zip.FileHeader{Name: it.name, Method: zip.Deflate, Modified: r.stamp}
		h.SetMode(os.FileMode(it.mode))
		f, err := w.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := f.Write(data); err != nil {
			return err
		}
	}
	return w.Close()
}

// packages makes deb, rpm, apk and Arch packages of a Linux target with nfpm.
func (r *release) packages(ctx context.Context, t target, stage string, shared []item) error {
	if r.nfpm == "" || t.os != "linux" {
		return nil
	}
	items := append([]item{{from: built(stage, t), installed: "/usr/bin/jcode", mode: 0o755}}, shared...)
	config := filepath.Join(stage, "nfpm-"+t.arch+".yaml")
	if err := os.WriteFile(config, r.nfpmConfig(t, items), 0o644); err != nil {
		return err
	}
	for _, format := range formats() {
		ending := map[string]string{"archlinux": "pkg.tar.zst"}[format]
		if ending == "" {
			ending = format
		}
		name := fmt.Sprintf("jcode-%s-%s.%s", r.version, t.arch, ending)
		cmd := exec.CommandContext(ctx, r.nfpm, "package", "--config", config, "--packager", format, "--target", filepath.Join(r.out, name))
		cmd.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.stamp.Unix()))
		if text, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", name, err, text)
		}
		r.files = append(r.files, name)
	}
	return nil
}

// formats are the kinds of packages, as nfpm calls them.
func formats() []string { return []string{"deb", "rpm", "apk", "archlinux"} }

// nfpmConfig describes a package.
func (r *release) nfpmConfig(t target, items []item) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `name: jcode
arch: %s
platform: linux
version: %q
version_schema: semver
release: "1"
section: devel
priority: optional
maintainer: "jcode maintainers <maintainers@jcode.invalid>"
license: MIT
description: |
  A coding agent in the terminal.
  It reads, edits, runs tests, and asks before it touches anything; it connects MCP servers
  and writes itself Lua tools while it runs.
mtime: %q
recommends: [git, ca-certificates]
rpm: {buildhost: jcode}
contents:
`, t.arch, r.version, r.stamp.Format("2006-01-02T15:04:05Z07:00"))
	for _, it := range items {
		if it.installed == "" {
			continue
		}
		for _, format := range formats() {
			place, only := it.installed, ""
			if it.debian != "" {
				only = ", packager: " + format
				if format == "deb" {
					place = it.debian
				}
			}
			fmt.Fprintf(&b, "  - {src: %q, dst: %q%s, file_info: {mode: 0%o, owner: root, group: root, mtime: %q}}\n",
				it.from, place, only, it.mode, r.stamp.Format("2006-01-02T15:04:05Z07:00"))
			if only == "" {
				break // it holds for all
			}
		}
	}
	return b.Bytes()
}
