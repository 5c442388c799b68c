// Package catalogue knows the common models: window, price, and what requests to them must take into account.
//
// It must not know how a model is reached. Begin with table.go.
package catalogue
