/**
 * A package copied from a Backporch revision has the other package's condition `Drifted`, which
 * says nothing about the copy.
 */
import type { PackageFiles } from '@backporch/kyaml/files'
import { filterObjects, getPartAt, getTextAt } from '@backporch/kyaml/json'
import type { Note } from '@backporch/kyaml/note'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import type { ClosedEpisode } from '../../record/documents/closed-episode.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import { joinFolderPath } from '../../sources/kustomize/files/kustomization-walk.ts'

interface KnownEpisodes {
  readonly closed: readonly ClosedEpisode[]
  readonly reports: ReadonlyMap<string, DriftReport>
}

export function createCopiedConditionNotes(
  packagePath: string,
  files: PackageFiles,
  { closed, reports }: KnownEpisodes,
): readonly Note[] {
  const kptfile = files.find(({ path }) => path === 'Kptfile')
  const text = kptfile === undefined ? '' : new TextDecoder().decode(kptfile.content)
  // Most Kptfiles name none, and are not parsed again.
  const named = /drift-[0-9a-f]{8}/.test(text)
    ? parseGoYaml(text, 'Kptfile').documents[0]?.value
    : undefined
  const condition = filterObjects(getPartAt(named, 'status', 'conditions')).find(
    (one) => getTextAt(one, 'type') === 'Drifted',
  )
  const episode = getTextAt(condition, 'message').replace(/^drift-/, '') || undefined
  if (episode === undefined) return []
  const owners = new Set([
    ...closed.flatMap(({ spec }) => (spec.episode === episode ? [spec.unit.package] : [])),
    ...[...reports.values()].flatMap(({ spec, status }) =>
      status.episode === episode ? [spec.unit.package] : [],
    ),
  ])
  const [other] = owners
  if (other === undefined || owners.has(packagePath)) return []
  const file = joinFolderPath(packagePath, 'Kptfile')
  return [
    {
      cause: 'condition-copied',
      subject: file,
      text: `the condition Drifted is of drift-${episode} of ${other || 'the repository'}, and came with a copy: the next proposal of the package replaces it`,
    },
  ]
}
