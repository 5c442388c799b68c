// Package webcli is what settings say of the web: which tools reach it (Tools), where the key of a search service is, and
// the doctor's check. The tools are in package tools/builtin.
package webcli
