"""Print the CustomResourceDefinition of Robot: ``python hack/generate_crd.py``."""

from steersman.manifests import as_document, crd_of, yaml_of

from robot_operator.robot import Robot

if __name__ == "__main__":
    print(yaml_of([as_document(crd_of(Robot))]), end="")
