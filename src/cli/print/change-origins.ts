import { catchFailure, Failure } from '@backporch/kyaml/failure'
import { isSecret } from '@backporch/kyaml/redaction'
import type { Drift, ObjectVerdict } from '../../drift/compare/drift.ts'
import { computeItemFingerprint } from '../../drift/compare/fingerprint.ts'
import { getAuthoredSecretPath } from '../../drift/compare/secret-data.ts'
import type { Observation } from '../../plan/observation/observation.ts'
import type { LinesOf } from '../../sources/build/built-source.ts'
import { attempt } from '../../sources/programs/questions.ts'
import { getSource } from '../../sources/registry.ts'

/**
 * Empty for a whole object, for one that git does not declare, in a unit whose files are used
 * unchanged, and if a function would have to run first.
 */
export function createOriginFormatter(
  observed: Observation,
): (drift: Drift, verdict: ObjectVerdict) => readonly string[] {
  let linesOf: LinesOf | undefined
  return (drift, { desired }) => {
    if (desired === undefined || drift.path.length === 0) return []
    const tried = catchFailure(() =>
      attempt(() => {
        linesOf ??= createOriginLines(observed)
        return linesOf(
          desired,
          isSecret(desired.id) ? getAuthoredSecretPath(desired.object, drift.path) : drift.path,
        )
      }),
    )
    // Rendering and Adopt report it.
    return tried instanceof Failure || 'question' in tried ? [] : tried.value
  }
}

function createOriginLines({
  unit: { packagePath },
  git: { files },
  functions,
  policy,
  built,
  verdicts,
}: Observation): LinesOf {
  const resources = verdicts.flatMap(({ desired }) => desired ?? [])
  return getSource(policy.render).originOf({ packagePath, files, functions, built, resources })
}

/** By fingerprint. */
export function changeOrigins(observed: Observation): ReadonlyMap<string, readonly string[]> {
  const of = createOriginFormatter(observed)
  return new Map(
    observed.verdicts.flatMap((verdict) =>
      verdict.items.map(
        (drift) => [computeItemFingerprint(drift, observed.key), of(drift, verdict)] as const,
      ),
    ),
  )
}
