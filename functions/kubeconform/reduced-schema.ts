/** The built-in schemas of one Kubernetes version: the parts of its OpenAPI that validation needs. */

/** `#name` is a definition; `any` is not looked into. Null is allowed wherever a field is not required, as the server allows it. */
export type ReducedSchema =
  | 'any'
  | 'boolean'
  | 'byte'
  | 'date-time'
  | 'int-or-string'
  | 'int32'
  | 'integer'
  | 'number'
  | 'quantity'
  | 'string'
  | `#${string}`
  | { readonly enum: readonly string[] }
  | { readonly list: ReducedSchema }
  | { readonly map: ReducedSchema }
  | {
      readonly fields: { readonly [name: string]: ReducedSchema }
      readonly required?: readonly string[]
    }

export interface ReducedSchemas {
  /** As reported by the server: `v1.34.3`. */
  readonly kubernetesVersion: string
  /** From `apps/v1/Deployment` to the name of its definition. */
  readonly kinds: { readonly [kind: string]: string }
  readonly definitions: { readonly [name: string]: ReducedSchema }
}

/** The file, a definition a line, in the order of their names: a new version of Kubernetes is a diff that people can read. */
export function formatReducedSchemas({
  kubernetesVersion,
  kinds,
  definitions,
}: ReducedSchemas): string {
  const lines = (entries: object): string =>
    Object.entries(entries)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)}`)
      .join(',\n')
  const version = JSON.stringify(kubernetesVersion)
  return `{\n  "kubernetesVersion": ${version},\n  "kinds": {\n${lines(kinds)}\n  },\n  "definitions": {\n${lines(definitions)}\n  }\n}\n`
}
