// What Argo CD makes of the sources of Applications, without a cluster and without
// git. Reads questions, one JSON value each, and answers each with a line. helm and
// kustomize are run from the PATH, as Argo CD does it.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	"github.com/sirupsen/logrus"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

type question struct {
	// Text by path, of the repository that the sources of the Application name.
	Files map[string]string `json:"files"`
	// Target by path: symbolic links.
	Links map[string]string `json:"links"`
	// Text by path, by the address of another repository.
	Others      map[string]map[string]string `json:"others"`
	Application v1alpha1.Application         `json:"application"`
	// Of Argo CD itself.
	Namespace   string   `json:"namespace"`
	KubeVersion string   `json:"kubeVersion"`
	APIVersions []string `json:"apiVersions"`
	// spec.sourceRepos, the build options and so on are those of a new installation.
	TrackingMethod string `json:"trackingMethod"`
	AppLabelKey    string `json:"appLabelKey"`
	// Kinds of the cluster that have no namespace, as `<group>/<kind>`.
	ClusterScoped []string `json:"clusterScoped"`
}

// An error is an answer.
type answer struct {
	Sources []generated `json:"sources,omitempty"`
	// What is applied, of all sources, in no order.
	Objects  []*unstructured.Unstructured `json:"objects"`
	Warnings []string                     `json:"warnings,omitempty"`
	Error    string                       `json:"error,omitempty"`
}

// What the repository server answers about one source.
type generated struct {
	Type     string   `json:"type"`
	Commands []string `json:"commands,omitempty"`
}

func main() {
	// Argo CD logs every command.
	logrus.SetOutput(io.Discard)
	if err := answers(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func answers(in io.Reader, out io.Writer) error {
	decoder := json.NewDecoder(in)
	writer := bufio.NewWriter(out)
	for {
		var asked question
		if err := decoder.Decode(&asked); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("the question cannot be read: %w", err)
		}
		answered, err := asked.answer()
		if err != nil {
			answered.Objects = nil
			answered.Error = err.Error()
		}
		if err := json.NewEncoder(writer).Encode(answered); err != nil {
			return err
		}
		if err := writer.Flush(); err != nil {
			return err
		}
	}
}

// written puts files into a new folder.
func written(folder string, files, links map[string]string) error {
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	for path, text := range files {
		full := filepath.Join(folder, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			return err
		}
	}
	for path, target := range links {
		full := filepath.Join(folder, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			return err
		}
		if err := os.Symlink(target, full); err != nil {
			return err
		}
	}
	return nil
}
