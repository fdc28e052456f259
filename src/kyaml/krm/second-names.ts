/**
 * Fields that the server keeps equal to another one. Source: Kubernetes API reference, PodSpec (`serviceAccount` is an alias) and ServiceSpec
 * (`clusterIPs[0]` equals `clusterIP`).
 */
const FIRST_NAMES = new Map([
  ['serviceAccount', 'serviceAccountName'],
  ['clusterIPs', 'clusterIP'],
])

/** Name of the field beside it whose value it repeats; undefined for any other field. */
export function firstNameOf(name: string): string | undefined {
  return FIRST_NAMES.get(name)
}

/** Name of the field beside it that repeats its value; undefined without one. */
export function secondNameOf(name: string): string | undefined {
  return [...FIRST_NAMES].find(([, first]) => first === name)?.[0]
}
