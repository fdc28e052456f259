/**
 * `#name` refers to a definition; `any` accepts everything. Null is valid wherever a field is not
 * required, as on the server.
 */
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
  readonly kubernetesVersion: string
  readonly kinds: { readonly [kind: string]: string }
  readonly definitions: { readonly [name: string]: ReducedSchema }
}

/** One sorted definition per line, so that a new Kubernetes version gives a readable diff. */
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
