// Command bundle validates a directory with an OLM bundle by the rules of the Operator Framework:
//
//	bundle [-kubernetes 1.36] DIR
//
// It prints one line for each error or warning, and exits with 1 if it cannot read the bundle.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"github.com/operator-framework/api/pkg/validation"
	"sigs.k8s.io/yaml"
)

var kubernetes = flag.String("kubernetes", "1.36", "version of Kubernetes that must still serve the APIs")

func main() {
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	bundle, err := manifests.GetBundleFromDir(flag.Arg(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := readStrictly(flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// All validators for bundles except a deprecated one and one that fetches images.
	validators := validation.DefaultBundleValidators.WithValidators(
		validation.OperatorHubV2Validator,
		validation.StandardCategoriesValidator,
		validation.StandardCapabilitiesValidator,
		validation.ObjectValidator,
		validation.AlphaDeprecatedAPIsValidator,
		validation.GoodPracticesValidator,
	)
	objects := append(bundle.ObjectsToValidate(), map[string]string{"k8s-version": *kubernetes})
	for _, result := range validators.Validate(objects...) {
		for _, err := range append(result.Errors, result.Warnings...) {
			fmt.Println(err.Error())
		}
	}
}

// readStrictly reports unknown fields, which GetBundleFromDir ignores.
func readStrictly(directory string) error {
	found, err := filepath.Glob(filepath.Join(directory, "manifests", "*.clusterserviceversion.yaml"))
	if err != nil {
		return err
	}
	for _, path := range found {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := yaml.UnmarshalStrict(text, &v1alpha1.ClusterServiceVersion{}); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}
