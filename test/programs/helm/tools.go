//go:build tools

// Package helm names the programs that this module builds.
package helm

import (
	_ "helm.sh/helm/v3/cmd/helm"
	_ "helm.sh/helm/v4/cmd/helm"
)
