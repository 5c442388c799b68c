// Package debuglog is the log of --debug: what happened, without what was said and without any key.
//
// It must not know where keys come from.
package debuglog
