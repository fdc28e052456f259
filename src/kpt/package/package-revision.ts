/**
 * From refs and packages on the registered branch, so that Backporch needs no Porch server. Tested
 * with Porch's git adapter and server (docs/facts/porch-listing.md).
 */
import type { FileMode, ObjectId } from '@backporch/kyaml/files'
import type { Note } from '@backporch/kyaml/note'
import { findAnnotatedWorkspace, type KptAnnotation } from './kpt-annotation.ts'
import { PACKAGE_FILE } from './walk-package.ts'

type Lifecycle = 'Draft' | 'Proposed' | 'Published' | 'DeletionProposed'

export interface PackageRevision {
  /**
   * `<repository>.<path with dots>.<workspace>`; undefined if the package is the whole
   * registered directory.
   */
  readonly name: string | undefined
  readonly packagePath: string
  /** Relative to the registered directory; '' if it is the directory itself. */
  readonly packageName: string
  readonly workspace: string
  /** 0 for an unpublished change; -1 for the branch itself and for a tag that is not a number. */
  readonly revision: number
  readonly lifecycle: Lifecycle
  /** The highest published number. */
  readonly latest: boolean
  readonly ref: string
  readonly commit: ObjectId
}

export interface PorchListing {
  /** By path, then: published ones by number, the branch, proposed ones, drafts. */
  readonly revisions: readonly PackageRevision[]
  /** Branches that hide the repository or that Porch skips, equal names, unusable names. */
  readonly problems: readonly Note[]
}

export interface PorchRepository {
  readonly repository: string
  readonly branch: string
  /** `spec.git.directory`; '' for the root. Packages outside are not listed. */
  readonly directory: string
}

export interface PorchSources extends PorchRepository {
  readonly refs: ReadonlyMap<string, ObjectId>
  readonly files: Iterable<{ readonly path: string; readonly mode: FileMode }>
  /** Only tagged commits are looked up. */
  readonly annotations: ReadonlyMap<ObjectId, readonly KptAnnotation[]>
  /** Porch skips a branch or tag without one. */
  readonly hasPackage: (commit: ObjectId, packagePath: string) => boolean
}

interface RevisionRef {
  readonly ref: string
  readonly commit: ObjectId
  readonly packagePath: string
  readonly suffix: string
  readonly lifecycle: 'Draft' | 'Proposed' | 'Published'
}

type Found = Omit<PackageRevision, 'latest' | 'name' | 'packageName'>

const REF = /^refs\/(heads|tags)\/((?:([^/]+)\/)?.+)$/
const UNPUBLISHED: { readonly [first: string]: 'Draft' | 'Proposed' } = {
  drafts: 'Draft',
  proposed: 'Proposed',
}

export function selectRevisionRefs(
  refs: ReadonlyMap<string, ObjectId>,
  { branch, directory }: Pick<PorchRepository, 'branch' | 'directory'>,
): {
  readonly candidates: readonly RevisionRef[]
  readonly unlistable: readonly string[]
} {
  const candidates: RevisionRef[] = []
  const unlistable: string[] = []
  for (const [ref, commit] of refs) {
    const [, space, name = '', first = ''] = REF.exec(ref) ?? []
    const state = Object.hasOwn(UNPUBLISHED, first) ? UNPUBLISHED[first] : undefined
    const lifecycle = space === 'tags' ? 'Published' : name === branch ? undefined : state
    if (space === undefined || lifecycle === undefined) continue
    const path = space === 'tags' ? name : name.slice(first.length + 1)
    const cut = path.lastIndexOf('/')
    const packagePath = path.slice(0, Math.max(cut, 0))
    if (cut >= 0 && isInside(directory, packagePath))
      candidates.push({ ref, commit, packagePath, suffix: path.slice(cut + 1), lifecycle })
    else if (cut < 0 && space === 'heads') unlistable.push(name)
  }
  return { candidates, unlistable: unlistable.sort() }
}

export function listPackageRevisions(sources: PorchSources): PorchListing {
  const { branch, refs } = sources
  const { candidates, unlistable } = selectRevisionRefs(refs, sources)
  const isThere = ({ commit, packagePath }: RevisionRef): boolean =>
    sources.hasPackage(commit, packagePath)
  const present = candidates.filter(isThere)
  const published = present
    .filter(({ lifecycle }) => lifecycle === 'Published')
    .map((tag) => createTaggedRevision(tag, sources))
  const revisions = assignNames(
    [
      ...[...published, ...createPlaceholders(sources)].map((found) => ({
        ...found,
        lifecycle: getPublishedLifecycle(found, refs),
      })),
      ...present.flatMap(({ lifecycle, suffix, ...found }) =>
        lifecycle === 'Published' ? [] : [{ ...found, lifecycle, workspace: suffix, revision: 0 }],
      ),
    ],
    sources,
  )
  const skipped = candidates.filter((found) => found.lifecycle !== 'Published' && !isThere(found))
  return {
    revisions,
    problems: [
      ...unlistable.map(
        (subject): Note => ({ cause: 'porch-cannot-list', subject, text: HIDES_ALL }),
      ),
      ...skipped.map(
        ({ ref }): Note => ({ cause: 'porch-skips-branch', subject: ref, text: SKIPPED }),
      ),
      ...listRevisionProblems(revisions, branch),
    ],
  }
}

const HIDES_ALL =
  'a Porch server lists nothing of this repository, because the branch has one segment after drafts/ or proposed/'
const SKIPPED =
  'Porch does not list it, because its commit has no Kptfile at the path of the package'

/** Only of the tagged commit, and not for a tag that is not a number. */
function createTaggedRevision(
  { suffix, lifecycle: _lifecycle, ...tag }: RevisionRef,
  { annotations }: PorchSources,
): Omit<Found, 'lifecycle'> {
  const revision = parseRevisionNumber(suffix)
  if (revision === -1) return { ...tag, revision, workspace: suffix }
  return {
    ...tag,
    revision,
    workspace:
      findAnnotatedWorkspace(annotations.get(tag.commit) ?? [], tag.packagePath) ?? `v${revision}`,
  }
}

/** Porch treats a branch `v1` as revision 1. */
function createPlaceholders({
  refs,
  branch,
  files,
  directory,
}: PorchSources): readonly Omit<Found, 'lifecycle'>[] {
  const ref = `refs/heads/${branch}`
  const commit = refs.get(ref)
  if (commit === undefined) return []
  const revision = parseRevisionNumber(branch)
  const workspace = revision === -1 ? branch : `v${revision}`
  return listOutermostPackages(files, directory).map((packagePath) => ({
    packagePath,
    workspace,
    revision,
    ref,
    commit,
  }))
}

/** A folder below another one is part of it. Porch treats a link as a file. */
function listOutermostPackages(files: PorchSources['files'], directory: string): readonly string[] {
  const folders = new Set<string>()
  for (const { path, mode } of files) {
    const cut = path.lastIndexOf('/')
    const folder = path.slice(0, Math.max(cut, 0))
    if (path.slice(cut + 1) === PACKAGE_FILE && mode !== '160000' && isInside(directory, folder))
      folders.add(folder)
  }
  const isPart = (path: string): boolean => {
    for (let at = path.length; at > 0; ) {
      at = Math.max(path.lastIndexOf('/', at - 1), 0)
      if (folders.has(path.slice(0, at))) return true
    }
    return false
  }
  return [...folders].filter((path) => !isPart(path))
}

function getPublishedLifecycle(
  { packagePath, revision, workspace }: Omit<Found, 'lifecycle'>,
  refs: ReadonlyMap<string, ObjectId>,
): 'Published' | 'DeletionProposed' {
  const name = [packagePath, revision > 0 ? `v${revision}` : workspace]
    .filter((part) => part !== '')
    .join('/')
  return refs.has(`refs/heads/deletionProposed/${name}`) ? 'DeletionProposed' : 'Published'
}

/** Go's `strconv.Atoi` after an optional `v`: `v007` is 7, `rc1` is -1. */
function parseRevisionNumber(suffix: string): number {
  const digits = /^v?([+-]?[0-9]+)$/.exec(suffix)?.[1]
  const number = Number(digits ?? -1)
  return Number.isSafeInteger(number) ? number : -1
}

function assignNames(
  found: readonly Found[],
  { repository, directory }: PorchSources,
): readonly PackageRevision[] {
  const highest = new Map<string, number>()
  const canBeLatest = ({ lifecycle, revision }: Found) =>
    revision !== -1 && (lifecycle === 'Published' || lifecycle === 'DeletionProposed')
  for (const item of found) {
    const { packagePath, revision } = item
    if (canBeLatest(item))
      highest.set(packagePath, Math.max(highest.get(packagePath) ?? revision, revision))
  }
  return found
    .map((item) => {
      const packageName = item.packagePath.slice(directory === '' ? 0 : directory.length + 1)
      // Porch then gives no object name.
      const dotted = packageName.replaceAll('/', '.').replace(/^\.+|\.+$/g, '')
      const name = packageName === '' ? undefined : `${repository}.${dotted}.${item.workspace}`
      return {
        ...item,
        name,
        packageName,
        latest: canBeLatest(item) && item.revision === highest.get(item.packagePath),
      }
    })
    .sort(comparePackageAndState)
}

function isInside(directory: string, path: string): boolean {
  return directory === '' || path === directory || path.startsWith(`${directory}/`)
}

const STATE_ORDER: Readonly<Record<Lifecycle, number>> = {
  Published: 0,
  DeletionProposed: 0,
  Proposed: 2,
  Draft: 3,
}

function comparePackageAndState(left: PackageRevision, right: PackageRevision): number {
  const order = ({ lifecycle, revision }: PackageRevision) =>
    revision === -1 ? 1 : STATE_ORDER[lifecycle]
  if (left.packagePath !== right.packagePath) return left.packagePath < right.packagePath ? -1 : 1
  return (
    order(left) - order(right) || left.revision - right.revision || (left.ref < right.ref ? -1 : 1)
  )
}

const DNS_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

function listRevisionProblems(
  revisions: readonly PackageRevision[],
  branch: string,
): readonly Note[] {
  const problems: Note[] = []
  const byName = Map.groupBy(revisions, ({ name }) => name)
  const subjectOf = ({ ref, packagePath }: PackageRevision): string =>
    ref === `refs/heads/${branch}` && packagePath !== '' ? `${packagePath} on ${branch}` : ref
  for (const [name, same] of byName) {
    if (same.length > 1 && name !== undefined)
      problems.push({
        cause: 'porch-name-twice',
        subject: same.map(subjectOf).join(' and '),
        text: `both are ${name} to Porch, which shows one of them or neither`,
      })
  }
  for (const revision of revisions) {
    const { packageName, packagePath, workspace } = revision
    if (packageName === '')
      problems.push({
        cause: 'package-is-repository',
        subject: subjectOf(revision),
        text: `a Kptfile ${packagePath === '' ? 'at the root' : `in ${packagePath}`} makes all of it one package without a name, which Porch lists and cannot use`,
      })
    else if (![...packageName.split('/'), workspace].every((part) => DNS_LABEL.test(part))) {
      problems.push({
        cause: 'porch-name-not-label',
        subject: subjectOf(revision),
        text: 'Porch lists it and can neither read nor propose it by name, because a part of it is not a DNS label',
      })
    }
    if (revision.revision < 0 && revision.ref.startsWith('refs/tags/'))
      problems.push({
        cause: 'porch-tag-not-number',
        subject: revision.ref,
        text: 'the tag is not a number, so Porch lists it as revision -1',
      })
  }
  return problems
}
