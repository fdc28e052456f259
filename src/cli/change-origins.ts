/** Where the values in git come from, for `diff -o wide` and `explain`. */
import type { Drift, ObjectVerdict } from '../drift/drift.ts'
import { itemFingerprint } from '../drift/fingerprint.ts'
import type { Observation } from '../plan/observation.ts'
import { FieldOrigins, originLines } from '../proposal/field-origin.ts'
import { MissingAnswer } from '../render/package-renderer.ts'

/** Lines of one difference; none for a whole object, for one that git does not declare, in a unit that kpt does not render, and where a function
 * would have to run first. */
export function originsOf({ unit, git, functions, policy }: Observation): (drift: Drift, verdict: ObjectVerdict) => readonly string[] {
  let origins: FieldOrigins | undefined
  return (drift, { desired }) => {
    if (desired === undefined || drift.path.length === 0 || policy.render.tool !== 'kpt') return []
    try {
      origins ??= new FieldOrigins({ packagePath: unit.packagePath, files: git.files, functions })
      const origin = origins.of(desired, drift.path)
      return origin === undefined ? [] : originLines(origin)
    } catch (thrown) {
      if (thrown instanceof MissingAnswer) return []
      throw thrown
    }
  }
}

/** By the fingerprint of each difference. */
export function changeOrigins(seen: Observation): ReadonlyMap<string, readonly string[]> {
  const of = originsOf(seen)
  return new Map(
    seen.verdicts.flatMap((verdict) => verdict.items.map((drift) => [itemFingerprint(drift, seen.key), of(drift, verdict)] as const)),
  )
}
