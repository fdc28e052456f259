/**
 * Finds the GitRepository that a Flux resource follows, as source-controller
 * `docs/spec/v1/gitrepositories.md`.
 */
import { shortenBranch } from '@backporch/git-store/ref-name'
import { getPartAt, getTextAt } from '@backporch/kyaml/json'
import { getMetadataText } from '@backporch/kyaml/resource'
import {
  type ArtifactContent,
  getArtifactContent,
} from '../../syncers/flux-artifact/artifact-content.ts'
import { isWithin } from '../../syncers/flux-artifact/artifact-files.ts'
import { isFilled } from '../../syncers/own-resource.ts'
import type { SourceArtifact } from '../build/built-source.ts'
import type { ResourcesOf, SourcedRepository } from '../build/unit-source.ts'

export const SOURCE_TOOLKIT = 'source.toolkit.fluxcd.io'

interface FollowedRepository {
  /** As `tag v1`; a name below `refs/heads/` is a branch. */
  readonly fixed: string | undefined
  readonly isBase: boolean
  readonly artifact: SourceArtifact
}

/**
 * Undefined for another repository; if only files are known, one that no file declares counts as
 * this one.
 */
export function findFollowedRepository(
  at: { readonly namespace: string; readonly name: string },
  of: ResourcesOf,
  repository: SourcedRepository,
): FollowedRepository | undefined {
  const source = of(SOURCE_TOOLKIT, 'GitRepository').find(
    (one) =>
      getMetadataText(one, 'name') === at.name &&
      getMetadataText(one, 'namespace') === at.namespace,
  )
  if (
    source === undefined
      ? !repository.isFiles
      : !repository.isHere(getTextAt(source, 'spec', 'url'))
  )
    return undefined
  const ref = getPartAt(source, 'spec', 'ref')
  const decides = ['commit', 'name', 'semver', 'tag', 'branch'].find((field) =>
    isFilled(getPartAt(ref, field)),
  )
  const isBranch =
    decides === undefined ||
    decides === 'branch' ||
    (decides === 'name' && getTextAt(ref, 'name').startsWith('refs/heads/'))
  const branch =
    decides === undefined
      ? source === undefined
        ? repository.baseBranch
        : 'master'
      : shortenBranch(getTextAt(ref, decides))
  return {
    fixed: isBranch ? undefined : `${decides} ${getTextAt(ref, decides)}`,
    isBase: isBranch && branch === repository.baseBranch,
    artifact: {
      title: `GitRepository ${at.namespace}/${at.name}`,
      ...getArtifactContent(source),
      all: listArtifactContents(of, repository),
    },
  }
}

export function explainNotInArtifact(
  { title, sparse, included }: SourceArtifact,
  folder: string,
): string | undefined {
  const other = included.find(({ path }) => isWithin(folder, path) || isWithin(path, folder))
  if (other !== undefined)
    return `its folder has files of another repository: ${other.title} is copied to ${other.path || 'the root'} by spec.include of ${title}`
  const inside = `${folder}/`
  const isThere =
    folder === '' ||
    sparse.length === 0 ||
    sparse.some((each) => inside.startsWith(each) || each.startsWith(inside))
  return isThere ? undefined : `its folder is not in spec.sparseCheckout of ${title}`
}

function listArtifactContents(
  of: ResourcesOf,
  repository: SourcedRepository,
): readonly ArtifactContent[] {
  const own = of(SOURCE_TOOLKIT, 'GitRepository').filter((source) =>
    repository.isHere(getTextAt(source, 'spec', 'url')),
  )
  return own.length === 0 ? [getArtifactContent(undefined)] : own.map(getArtifactContent)
}
