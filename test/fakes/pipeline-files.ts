/** Texts of the files that make a pipeline: a Kptfile with functions of the catalog, and the config of apply-setters. */
import type { PackageFiles } from '@backporch/kyaml/files'

export const CATALOG = 'ghcr.io/kptdev/krm-functions-catalog'

/**
 * The Kptfile of `web`.
 *
 * @param mutators entries of the list, indented, the last line with its end; they begin at line 7
 */
export function webKptfile(mutators: string): string {
  return `apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: web
pipeline:
  mutators:
${mutators}`
}

/** The first mutator of such a Kptfile: apply-setters with the setters in `setters.yaml`. */
export const APPLY_SETTERS = `    - image: ${CATALOG}/apply-setters:v0.2.0
      configPath: setters.yaml
`

/**
 * The ConfigMap `setters`, which stays in git.
 *
 * @param data entries, indented, the last line with its end; they begin at line 8
 */
export function settersConfig(data: string): string {
  return `apiVersion: v1
kind: ConfigMap
metadata:
  name: setters
  annotations:
    config.kubernetes.io/local-config: "true"
data:
${data}`
}

/** The files of a package by their texts, sorted by path. */
export function filesOf(texts: { readonly [path: string]: string }): PackageFiles {
  return Object.entries(texts)
    .map(([path, text]) => ({
      path,
      mode: '100644' as const,
      content: new TextEncoder().encode(text),
    }))
    .sort((one, other) => (one.path < other.path ? -1 : 1))
}
