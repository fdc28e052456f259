/** v0.3 (`GetOldNamespace` of the original). */
import { goQuote } from '@backporch/kyaml/text'
import type { VisitedNamespace } from './every-namespace.ts'

type OldNamespace =
  | { readonly is: 'found'; readonly namespace: string }
  | { readonly is: 'none' | 'unclear'; readonly why: string }

export function findOldNamespace(
  visited: readonly VisitedNamespace[],
  matcher: string | undefined,
): OldNamespace {
  const given = visited.filter(({ namespace }) => namespace !== '')
  const names = given.filter(({ isName }) => isName).map(({ namespace }) => namespace)
  if (matcher !== undefined)
    return names.length === 0
      ? { is: 'found', namespace: matcher }
      : createUnclearNamespace(
          'found Namespace objects from the input resources, you cannot use `namespaceMatcher` in FunctionConfig together with Namespace objects',
        )
  const [name, second] = new Set(names)
  if (second !== undefined)
    return createUnclearNamespace(
      `cannot accept more than one Namespace objects from the input resources, found ${goCounts(names)}`,
    )
  if (name !== undefined)
    return names.length === 1
      ? { is: 'found', namespace: name }
      : createUnclearNamespace(
          `found more than one Namespace objects of the same name ${goQuote(name)}`,
        )
  const all = [...new Set(given.map(({ namespace }) => namespace))].sort()
  const [only] = all
  if (only === undefined)
    return {
      is: 'none',
      why: 'could not find any namespace fields to update. This function requires at least one of Namespace objects or namespace-scoped resources to have their namespace field set.',
    }
  if (all.length === 1) return { is: 'found', namespace: only }
  return createUnclearNamespace(
    `all input namespace-scoped resources should be under the same namespace but found different namespaces: ${goQuote(all.join(','))} `,
  )
}

function createUnclearNamespace(why: string): OldNamespace {
  return { is: 'unclear', why }
}

function goCounts(names: readonly string[]): string {
  const counts = [...new Set(names)]
    .sort()
    .map((name) => `${name}:${names.filter((each) => each === name).length}`)
  return `map[${counts.join(' ')}]`
}
