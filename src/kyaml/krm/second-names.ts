/**
 * Kubernetes API reference, PodSpec (`serviceAccount` is an alias) and ServiceSpec (`clusterIPs[0]`
 * equals `clusterIP`).
 */
const FIRST_NAMES = new Map([
  ['serviceAccount', 'serviceAccountName'],
  ['clusterIPs', 'clusterIP'],
])

export function findFirstName(name: string): string | undefined {
  return FIRST_NAMES.get(name)
}

export function findSecondName(name: string): string | undefined {
  return [...FIRST_NAMES].find(([, first]) => first === name)?.[0]
}
