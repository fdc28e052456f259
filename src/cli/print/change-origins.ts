/** Where the values in git come from, for `diff -o wide` and `explain`. */
import type { DesiredResource } from '@backporch/kpt/desired-set'
import { Failure } from '@backporch/kyaml/failure'
import { type FieldPath, formatFieldPath, valueAt } from '@backporch/kyaml/field'
import { isSecret } from '@backporch/kyaml/redaction'
import type { Drift, ObjectVerdict } from '../../drift/compare/drift.ts'
import { itemFingerprint } from '../../drift/compare/fingerprint.ts'
import { authoredSecretPath } from '../../drift/compare/secret-data.ts'
import type { Observation } from '../../plan/observation/observation.ts'
import { FieldOrigins, originLines } from '../../proposal/edits/field-origin.ts'
import { builtOriginLines, KustomizeOrigins } from '../../proposal/origins/kustomize-origins.ts'
import { MissingAnswer } from '../../render/build/package-renderer.ts'
import { TemplateTrace } from '../../render/helm/template-trace.ts'
import type { BuiltSource } from '../../render/read-built.ts'

type LinesOf = (desired: DesiredResource, path: FieldPath) => readonly string[]

/** Lines of one difference; none for a whole object, for one that git does not declare, in a unit whose files stand as they are, and where a
 * function would have to run first. */
export function originsOf(observed: Observation): (drift: Drift, verdict: ObjectVerdict) => readonly string[] {
  let linesOf: LinesOf | undefined
  return (drift, { desired }) => {
    if (desired === undefined || drift.path.length === 0) return []
    try {
      linesOf ??= linesIn(observed)
      return linesOf(desired, isSecret(desired.id) ? authoredSecretPath(desired.object, drift.path) : drift.path)
    } catch (thrown) {
      // Rendering and Adopt report what cannot be read here.
      if (thrown instanceof MissingAnswer || thrown instanceof Failure) return []
      throw thrown
    }
  }
}

function linesIn({ unit, git, functions, policy, built, verdicts }: Observation): LinesOf {
  if (policy.render.tool === 'kpt') {
    const origins = new FieldOrigins({ packagePath: unit.packagePath, files: git.files, functions })
    return (desired, path) => {
      const origin = origins.of(desired, path)
      return origin === undefined ? [] : originLines(origin)
    }
  }
  if (built === undefined) return () => []
  const { source } = built
  if (source.tool === 'command') return (desired, path) => [printedBy(source, desired, path)]
  if (source.tool === 'helm') return (desired, path) => [renderedBy(source, desired, path)]
  const resources = verdicts.flatMap(({ desired }) => desired ?? [])
  const origins = new KustomizeOrigins({ folder: source.folder, files: source.files, synced: source.synced, resources })
  return (desired, path) => {
    const origin = origins.of(desired, path)
    return origin === undefined ? [] : builtOriginLines(origin)
  }
}

/** A command does not report the origins of values. */
function printedBy({ command }: BuiltSource, { object }: DesiredResource, path: FieldPath): string {
  const name = command.join(' ')
  return valueAt(object, path) === undefined ? `not there; the object is printed by ${name}` : `printed by ${name}`
}

/** The line of the template with the values that it reads, where the chart is in the repository. */
function renderedBy({ files, folder, synced }: BuiltSource, { id, location }: DesiredResource, path: FieldPath): string {
  const trace = new TemplateTrace({ folder, files })
  const [writer] = files.has(location.path) ? trace.writers({ template: location.path, id, field: path }) : []
  if (writer === undefined) return `rendered by ${synced?.title ?? 'a chart'}`
  const refs = writer.refs.slice(0, 3).map((ref) => formatFieldPath(ref))
  const isWritten = writer.isField || refs.length > 0
  return `${writer.path}:${writer.line}${isWritten ? '' : ' (the nearest line of the template)'}${refs.length === 0 ? '' : `, from the values ${refs.join(', ')}`}`
}

/** By the fingerprint of each difference. */
export function changeOrigins(observed: Observation): ReadonlyMap<string, readonly string[]> {
  const of = originsOf(observed)
  return new Map(
    observed.verdicts.flatMap((verdict) =>
      verdict.items.map((drift) => [itemFingerprint(drift, observed.key), of(drift, verdict)] as const),
    ),
  )
}
