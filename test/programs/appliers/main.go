// The tools that people apply packages with, as one program: it reads an order
// from its standard input and writes what the tool did to its standard output.
//
//	appliers apply helm3|helm4|helm4-client-side|flux|argo-client-side|argo-server-side
//	appliers rollback|uninstall helm3|helm4
//	appliers diff flux|argo-client-side|argo-server-side
//	appliers answer flux, with any number of questions on standard input
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

type order struct {
	Kubeconfig string `json:"kubeconfig"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
	Manifests  string `json:"manifests"`
	// Manifests of a chart that the chart depends on; Helm only.
	Subchart string `json:"subchart"`
	// Without what says whose object it is.
	Unmarked bool `json:"unmarked"`
	// As HELM_DRIVER.
	Driver string `json:"driver"`
	// What a rollback goes back to.
	Revision int `json:"revision"`
}

type objectName struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
}

type result struct {
	Object objectName `json:"object"`
	What   string     `json:"what"`
}

var commands = map[string]func(order) ([]result, error){
	"apply helm3":             helm3Apply,
	"apply helm4":             func(o order) ([]result, error) { return helm4Apply(o, true) },
	"apply helm4-client-side": func(o order) ([]result, error) { return helm4Apply(o, false) },
	"rollback helm3":          helm3Rollback,
	"rollback helm4":          helm4Rollback,
	"uninstall helm3":         helm3Uninstall,
	"uninstall helm4":         helm4Uninstall,
	"apply flux":              fluxApply,
	"apply argo-client-side":  func(o order) ([]result, error) { return argoApply(o, false) },
	"apply argo-server-side":  func(o order) ([]result, error) { return argoApply(o, true) },
	"diff flux":               fluxDiff,
	"diff argo-client-side":   func(o order) ([]result, error) { return argoDiff(o, false) },
	"diff argo-server-side":   func(o order) ([]result, error) { return argoDiff(o, true) },
}

func main() {
	// What the libraries log is not for whoever reads the answer.
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) == 3 && os.Args[1] == "answer" && os.Args[2] == "flux" {
		return fluxAnswers(os.Stdin, os.Stdout)
	}
	if len(os.Args) != 3 || commands[os.Args[1]+" "+os.Args[2]] == nil {
		return errors.New("usage: appliers apply|rollback|uninstall|diff|answer <tool>, with an order on standard input")
	}
	var o order
	if err := json.NewDecoder(os.Stdin).Decode(&o); err != nil {
		return fmt.Errorf("the order cannot be read: %w", err)
	}
	results, err := commands[os.Args[1]+" "+os.Args[2]](o)
	if err != nil {
		return err
	}
	if results == nil {
		results = []result{}
	}
	return json.NewEncoder(os.Stdout).Encode(results)
}

// objects reads the manifests.
func (o order) objects() ([]*unstructured.Unstructured, error) {
	var found []*unstructured.Unstructured
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader([]byte(o.Manifests)), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, fmt.Errorf("the manifests cannot be read: %w", err)
		}
		if len(object.Object) > 0 {
			found = append(found, object)
		}
	}
}

// config is the way to the cluster, without a limit on requests.
func (o order) config() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", o.Kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	return config, nil
}

func nameOf(object *unstructured.Unstructured) objectName {
	return objectName{object.GetAPIVersion(), object.GetKind(), object.GetNamespace(), object.GetName()}
}

func isDefinition(object *unstructured.Unstructured) bool {
	return object.GetKind() == "CustomResourceDefinition"
}
