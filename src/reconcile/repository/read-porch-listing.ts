import { type KptAnnotation, parseKptAnnotations } from '@backporch/kpt/kptfile'
import { PACKAGE_FILE } from '@backporch/kpt/package'
import {
  listPackageRevisions,
  type PorchListing,
  type PorchRepository,
  selectRevisionRefs,
} from '@backporch/kpt/revision'
import { convertToFailure } from '@backporch/kyaml/failure'
import type { ObjectId } from '@backporch/kyaml/files'
import type { Note } from '@backporch/kyaml/note'
import { mapConcurrent } from './each-of.ts'
import type { RepositoryView } from './repository-view.ts'

/** One request to a remote covers what many commits need. */
const WIDTH = 256

/** @throws Failure BP40xx */
export async function readPorchListing(
  {
    repository,
    baseBranch,
    refs,
    tree,
  }: Pick<RepositoryView, 'repository' | 'baseBranch' | 'refs' | 'tree'>,
  registered: Pick<PorchRepository, 'repository' | 'directory'>,
  signal: AbortSignal,
): Promise<PorchListing> {
  const porch = { ...registered, branch: baseBranch }
  const annotations = new Map<ObjectId, readonly KptAnnotation[]>()
  const present = new Set<string>()
  const problems: Note[] = []
  await mapConcurrent(
    selectRevisionRefs(refs, porch).candidates,
    WIDTH,
    async ({ ref, commit, packagePath, lifecycle }) => {
      try {
        const { message } = await repository.commit(commit, signal)
        annotations.set(commit, parseKptAnnotations(message).annotations)
        const found = await repository.list(commit, `${packagePath}/${PACKAGE_FILE}`, signal)
        if (found.some(({ path, mode }) => path === '' && mode !== '160000'))
          present.add(`${commit} ${packagePath}`)
      } catch (thrown) {
        const { code, why } = convertToFailure(thrown)
        // A tag may name a file, which Porch skips.
        if (lifecycle !== 'Published' || code !== 'BP4006') throw thrown
        problems.push({
          cause: 'porch-tag-not-read',
          subject: ref,
          text: `its commit cannot be read: ${why}`,
        })
      }
    },
  )
  const hasPackage = (commit: ObjectId, packagePath: string): boolean =>
    present.has(`${commit} ${packagePath}`)
  const listing = listPackageRevisions({ ...porch, refs, files: tree, annotations, hasPackage })
  return { ...listing, problems: [...listing.problems, ...problems] }
}
