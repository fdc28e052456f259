import { Failure, orFailure } from '@backporch/kyaml/failure'
import { isSecret } from '@backporch/kyaml/redaction'
import type { Drift, ObjectVerdict } from '../../drift/compare/drift.ts'
import { itemFingerprint } from '../../drift/compare/fingerprint.ts'
import { authoredSecretPath } from '../../drift/compare/secret-data.ts'
import type { Observation } from '../../plan/observation/observation.ts'
import type { LinesOf } from '../../sources/build/built-source.ts'
import { attempt } from '../../sources/programs/questions.ts'
import { sourceOf } from '../../sources/registry.ts'

/**
 * Empty for a whole object, for one that git does not declare, in a unit whose files are used
 * unchanged, and if a function would have to run first.
 */
export function originsOf(
  observed: Observation,
): (drift: Drift, verdict: ObjectVerdict) => readonly string[] {
  let linesOf: LinesOf | undefined
  return (drift, { desired }) => {
    if (desired === undefined || drift.path.length === 0) return []
    const tried = orFailure(() =>
      attempt(() => {
        linesOf ??= linesIn(observed)
        return linesOf(
          desired,
          isSecret(desired.id) ? authoredSecretPath(desired.object, drift.path) : drift.path,
        )
      }),
    )
    // Rendering and Adopt report it.
    return tried instanceof Failure || 'question' in tried ? [] : tried.value
  }
}

function linesIn({
  unit: { packagePath },
  git: { files },
  functions,
  policy,
  built,
  verdicts,
}: Observation): LinesOf {
  const resources = verdicts.flatMap(({ desired }) => desired ?? [])
  return sourceOf(policy.render).originOf({ packagePath, files, functions, built, resources })
}

/** By fingerprint. */
export function changeOrigins(observed: Observation): ReadonlyMap<string, readonly string[]> {
  const of = originsOf(observed)
  return new Map(
    observed.verdicts.flatMap((verdict) =>
      verdict.items.map(
        (drift) => [itemFingerprint(drift, observed.key), of(drift, verdict)] as const,
      ),
    ),
  )
}
