/** The variables of Flux's `postBuild` in a text that a field comes from, and the values that would give the wanted text. */
import { fluxVariables } from '../../../render/flux/flux-kustomization.ts'
import { BadSubstitution, substituteVariables, variablesIn } from '../../../render/flux/shell-variables.ts'
import type { SourceFiles } from '../../../render/kustomize/kustomize-build.ts'
import { syncerObject } from '../../../render/syncer/syncer-build.ts'
import type { Wanted } from '../../locate/candidate.ts'
import { fields, type SyncedFolder, syncerFields } from './kustomization-node.ts'
import type { SourceCandidate, SourceLocations } from './source-edits.ts'

interface VariableQuestion {
  readonly synced: SyncedFolder
  readonly files: SourceFiles
  /** The authored texts. */
  readonly texts: readonly string[]
  readonly wanted: Wanted
}

/** Each variable by itself: that the field then has the value, and nothing else another one, is proven by a build. */
export function variableLocations({ synced, files, texts, wanted }: VariableQuestion): SourceLocations {
  const none: SourceLocations = { candidates: [], obstacles: [] }
  if (wanted === undefined || wanted === null || typeof wanted === 'object') return none
  const { build } = synced
  const spec = syncerFields(files, synced)
  const variables = fluxVariables(build, syncerObject(build, files))
  const { title } = build
  const candidates: SourceCandidate[] = []
  const obstacles = new Map<string, SourceLocations['obstacles'][number]>()
  for (const text of texts)
    for (const name of namesIn(text)) {
      const value = solved(text, name, String(wanted), (other) => variables.get(other))
      if (value === undefined) continue
      const at = fields('postBuild', 'substitute', name)
      if (spec?.has(at) === true) {
        candidates.push({ via: `variable:${name}`, what: `the variable ${name} (${spec.location(at)})`, edits: [spec.edit(at, value)] })
        continue
      }
      if (!variables.has(name)) continue
      obstacles.set(name, {
        where: title,
        why: `the value comes from the variable ${name} of ${title}, which no file of this repository sets`,
        remedy: `set ${name} where it is authored (spec.postBuild of ${title}), or choose restore`,
      })
    }
  return { candidates, obstacles: [...obstacles.values()] }
}

/** None in a text that cannot be substituted. */
export function namesIn(text: string): readonly string[] {
  if (!text.includes('${')) return []
  try {
    return [...variablesIn(text)]
  } catch (thrown) {
    if (thrown instanceof BadSubstitution) return []
    throw thrown
  }
}

/** A text that no manifest has. */
const PLACE = '\u0000'

/** The value of one variable that makes the text the wanted one, where the text has it once and as it is. */
function solved(text: string, name: string, wanted: string, valueFor: (name: string) => string | undefined): string | undefined {
  const [before, after, ...more] = substituteVariables(text, (each) => (each === name ? PLACE : valueFor(each))).split(PLACE)
  if (before === undefined || after === undefined || more.length > 0) return undefined
  if (wanted.length < before.length + after.length || !wanted.startsWith(before) || !wanted.endsWith(after)) return undefined
  const value = wanted.slice(before.length, wanted.length - after.length)
  return value === '' || value.includes('\n') ? undefined : value
}
