/** Marks can be forged or copied, so a mark that names its object is compared with it. */
import type { JsonObject } from '@backporch/kyaml/json'
import { getAnnotations, getLabels, type LiveView, readResource } from '@backporch/kyaml/resource'
import type { Phrase } from '@backporch/kyaml/text'
import { APPLIER_KINDS, getApplierKind } from './registry.ts'
import type { Claim, MarkedObject } from './syncer.ts'

export function listClaims(live: LiveView): readonly Claim[] {
  const claims = new Map<string, Claim & { readonly objects: Set<string> }>()
  for (const [key, state] of live) {
    for (const named of state.state === 'present' ? listNamedClaims(state.object) : []) {
      const location = `${named.tool} ${named.kind} ${named.namespace} ${named.name}`
      const claim = claims.get(location) ?? { ...named, objects: new Set<string>() }
      claim.objects.add(key)
      claims.set(location, claim)
    }
  }
  return [...claims]
    .sort(
      ([left, one], [right, other]) =>
        other.objects.size - one.objects.size || (left < right ? -1 : 1),
    )
    .map(([, claim]) => claim)
}

function listNamedClaims(object: JsonObject): readonly Omit<Claim, 'objects'>[] {
  const read = readResource(object)
  if ('problem' in read) return []
  const marked: MarkedObject = {
    id: read.id,
    labels: getLabels(read.object),
    annotations: getAnnotations(read.object),
    object: read.object,
  }
  const found = APPLIER_KINDS.flatMap((kind) => {
    const named = kind.claim(marked)
    return named === undefined ? [] : [{ kind, named }]
  })
  // The outer tool decides: Config Sync uses kpt's library, Flux and Fleet use Helm's.
  const wrapped = new Set(found.flatMap(({ kind }) => kind.wraps))
  return found.flatMap(({ kind: { tool }, named }) =>
    wrapped.has(tool) ? [] : [{ tool, ...named }],
  )
}

export function isMarkedBy({ tool, kind, namespace, name }: Claim, object: JsonObject): boolean {
  return listNamedClaims(object).some(
    (one) =>
      one.tool === tool && one.kind === kind && one.namespace === namespace && one.name === name,
  )
}

export function formatClaimTitle(claim: Claim): Phrase {
  return getApplierKind(claim.tool).title(claim)
}
