/** A case: files of a repository, and an Application that has a folder of it as its source. */
import type { JsonObject } from '@backporch/kyaml/json'

/** Text by path, from the root of the repository. */
export type FileTexts = { readonly [path: string]: string }

export interface ArgoCase {
  readonly files: FileTexts
  /** Symbolic links: target by path. */
  readonly links?: { readonly [path: string]: string }
  /** Files of other repositories, by address. */
  readonly others?: { readonly [address: string]: FileTexts }
  /** Fields of `spec.source` beside its address, its path `app` and its revision `main`. */
  readonly source?: JsonObject
  /** `spec.sources` in place of it: each has the address and the revision, and no path of its own. */
  readonly sources?: readonly JsonObject[]
  /** Fields of the specification beside the sources. The namespace of its destination is `shop`. */
  readonly spec?: JsonObject
  /** Name and namespace of the Application: `shop` in `argocd`, where Argo CD is. */
  readonly metadata?: JsonObject
  /** Of the cluster, as Argo CD asks for it. */
  readonly kubeVersion?: string
  /** Of the cluster, sorted, with and without kinds. */
  readonly apiVersions?: readonly string[]
}

export type ArgoCases = { readonly [name: string]: ArgoCase }

export const REPOSITORY = 'https://git.example.com/deploy.git'
/** Of Argo CD itself. */
export const NAMESPACE = 'argocd'
export const KUBE_VERSION = '1.32'
export const API_VERSIONS: readonly string[] = [
  'apps/v1',
  'apps/v1/Deployment',
  'batch/v1',
  'batch/v1/Job',
  'v1',
  'v1/ConfigMap',
  'v1/Service',
]
/** Kinds of the cluster that have no namespace. */
export const CLUSTER_SCOPED: readonly string[] = [
  '/Namespace',
  '/Node',
  '/PersistentVolume',
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration',
  'apiextensions.k8s.io/CustomResourceDefinition',
  'rbac.authorization.k8s.io/ClusterRole',
  'rbac.authorization.k8s.io/ClusterRoleBinding',
  'scheduling.k8s.io/PriorityClass',
  'storage.k8s.io/StorageClass',
]

export function applicationOf({ source, sources, spec, metadata }: ArgoCase): JsonObject {
  const here = { repoURL: REPOSITORY, targetRevision: 'main' }
  const from =
    sources === undefined
      ? { source: { ...here, path: 'app', ...source } }
      : { sources: sources.map((each) => ({ ...here, ...each })) }
  return {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    metadata: { name: 'shop', namespace: NAMESPACE, ...metadata },
    spec: {
      project: 'default',
      destination: { server: 'https://kubernetes.default.svc', namespace: 'shop' },
      ...from,
      ...spec,
    },
  }
}

/** The case as the program of `go/generate` reads it. */
export function questionOf(each: ArgoCase): JsonObject {
  return {
    files: each.files,
    links: each.links ?? {},
    others: each.others ?? {},
    application: applicationOf(each),
    namespace: NAMESPACE,
    kubeVersion: each.kubeVersion ?? KUBE_VERSION,
    apiVersions: [...(each.apiVersions ?? API_VERSIONS)],
    clusterScoped: [...CLUSTER_SCOPED],
  }
}
