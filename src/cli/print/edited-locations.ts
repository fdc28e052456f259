import { structuredPatch } from 'diff'
import type { Observation } from '../../plan/observation/observation.ts'
import type { UnitPlan } from '../../plan/observation/unit-plan.ts'
import { DRIFT_FOLDER } from '../../record/record-paths.ts'
import { joinFolderPath } from '../../sources/kustomize/files/kustomization-walk.ts'

const MOST_PLACES = 8
const MOST_RANGES = 12

export interface EditedFile {
  readonly path: string
  /** Undefined: new file. */
  readonly before: string | undefined
  /** Undefined: deleted file. */
  readonly after: string | undefined
}

/** Excludes records and the Kptfile condition that every proposal sets. */
export function listEditedFiles(
  { unit, git, built }: Pick<Observation, 'unit' | 'git' | 'built'>,
  { writes }: Pick<UnitPlan, 'writes'>,
): readonly EditedFile[] {
  const prefix = joinFolderPath(unit.packagePath, '')
  // kustomize may read files outside the package.
  const sources = [...(built?.source.files ?? [])].map(
    ([path, { content }]) => [path, content] as const,
  )
  const authored = new Map([
    ...sources,
    ...git.files.map(({ path, content }) => [prefix + path, content] as const),
  ])
  const edited = new Map<string, EditedFile>()
  for (const { path, content } of writes.commits.flatMap(({ changes }) => changes)) {
    const was = authored.get(path)
    if (was === undefined && path.startsWith(`${DRIFT_FOLDER}/`)) continue
    const before = was === undefined ? undefined : getAuthoredText(path, was)
    const after = content === null ? undefined : getAuthoredText(path, content)
    if (before !== after) edited.set(path, { path, before, after })
  }
  return [...edited.values()].sort((one, other) => (one.path < other.path ? -1 : 1))
}

/** Lines after the edit; for removed lines, the following line. */
export function formatEditedLocations(files: readonly EditedFile[]): readonly string[] {
  const locations = files.map(({ path, before, after }) => {
    if (before === undefined) return `${path} (new)`
    return after === undefined
      ? `${path} (deleted)`
      : `${path}:${formatLineRanges(before, after).join(',')}`
  })
  return locations.length <= MOST_PLACES
    ? locations
    : [...locations.slice(0, MOST_PLACES), `${locations.length - MOST_PLACES} more`]
}

function getAuthoredText(path: string, content: Uint8Array): string {
  const text = new TextDecoder().decode(content)
  if (!/(^|\/)Kptfile$/.test(path)) return text
  const status = text.search(/^status:/m)
  return `${(status === -1 ? text : text.slice(0, status)).trimEnd()}\n`
}

function formatLineRanges(before: string, after: string): string[] {
  const { hunks } = structuredPatch('', '', before, after, undefined, undefined, { context: 0 })
  const ranges = hunks.map(({ newStart, newLines }) => {
    return newLines <= 1 ? `${newStart}` : `${newStart}-${newStart + newLines - 1}`
  })
  return ranges.length <= MOST_RANGES
    ? ranges
    : [...ranges.slice(0, MOST_RANGES), `and ${ranges.length - MOST_RANGES} more`]
}
