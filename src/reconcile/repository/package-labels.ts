import { readKptfile } from '@backporch/kpt/kptfile'
import { type FoundPackage, PACKAGE_FILE } from '@backporch/kpt/package'
import { Failure } from '@backporch/kyaml/failure'
import { type LabelSelector, matchesLabels } from '@backporch/kyaml/resource'
import { readTexts } from '../../sources/commit/commit-files.ts'
import { joinFolderPath } from '../../sources/kustomize/files/kustomization-walk.ts'
import type { RepositoryView } from './repository-view.ts'

/**
 * An unreadable Kptfile is selected: its labels are unknown.
 * @throws Failure BP1011 when there is none: a slip in a selector must not look like "nothing
 * differs"
 */
export async function selectByLabels(
  view: RepositoryView,
  packages: readonly FoundPackage[],
  selector: LabelSelector,
  signal: AbortSignal,
): Promise<readonly FoundPackage[]> {
  const pathOf = (found: FoundPackage): string => joinFolderPath(found.path, PACKAGE_FILE)
  const wanted = new Set(packages.map(pathOf))
  const texts = await readTexts(
    view.repository,
    view.tree.filter(({ path }) => wanted.has(path)),
    signal,
  )
  const selected = packages.filter((found) => {
    if (found.source === 'folder') return matchesLabels(selector, new Map())
    const where = pathOf(found)
    const reading = readKptfile(texts.get(where) ?? '', where)
    return 'failures' in reading || matchesLabels(selector, reading.kptfile.labels)
  })
  if (selected.length === 0) throw selectsNothing(packages.length)
  return selected
}

function selectsNothing(packages: number): Failure {
  return new Failure({
    code: 'BP1011',
    what: 'the label selector selects no package',
    why: `none of the ${packages} ${packages === 1 ? 'package' : 'packages'} has such labels in the metadata of its Kptfile`,
    remedy:
      'correct -l, or give the packages the labels: metadata.labels of the Kptfile on the base branch',
    retry: 'on-change',
  })
}
