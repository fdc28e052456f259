/** Where a proposal edits authored files, for the person who has just asked for it. */
import type { Observation } from '../plan/observation.ts'
import type { UnitPlan } from '../plan/plan-reconcile.ts'

/** Places that are told; of more, only how many there are. */
const MOST_PLACES = 8

/**
 * `apps/web/setters.yaml:16`, of each file the first line that changes. Records, and the condition in the Kptfile that every
 * proposal sets, are none.
 */
export function editedPlaces({ unit, git }: Pick<Observation, 'unit' | 'git'>, { writes }: Pick<UnitPlan, 'writes'>): readonly string[] {
  const prefix = unit.packagePath === '' ? '' : `${unit.packagePath}/`
  const before = new Map(git.files.map(({ path, content }) => [prefix + path, content]))
  const places = writes.commits.flatMap(({ changes }) =>
    changes.flatMap(({ path, content }) => {
      const was = before.get(path)
      if (was === undefined || !path.startsWith(prefix)) return []
      if (content === null) return [`${path} (deleted)`]
      const line = firstChange(authoredLines(path, was), authoredLines(path, content))
      return line === undefined ? [] : [`${path}:${line}`]
    }),
  )
  const sorted = [...new Set(places)].sort()
  return sorted.length <= MOST_PLACES ? sorted : [...sorted.slice(0, MOST_PLACES), `${sorted.length - MOST_PLACES} more`]
}

function authoredLines(path: string, content: Uint8Array): readonly string[] {
  const lines = new TextDecoder().decode(content).split('\n')
  if (!/(^|\/)Kptfile$/.test(path)) return lines
  const status = lines.findIndex((line) => /^status:/.test(line))
  return (status === -1 ? lines : lines.slice(0, status)).join('\n').trimEnd().split('\n')
}

/** From 1, in the edited text; undefined where nothing differs. */
function firstChange(was: readonly string[], is: readonly string[]): number | undefined {
  const place = is.findIndex((line, index) => line !== was[index])
  if (place !== -1) return place + 1
  return is.length === was.length ? undefined : is.length
}
