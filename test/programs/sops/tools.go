//go:build tools

// Package sops names the programs that this module builds.
package sops

import (
	_ "filippo.io/age/cmd/age-keygen"
	_ "github.com/getsops/sops/v3/cmd/sops"
)
