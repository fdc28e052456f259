/**
 * The package revisions that a Porch server lists for a repository: from refs, and from the packages on the registered branch. The rules were
 * tested with Porch's git adapter and server (docs/facts/porch-listing.md). With them Backporch answers without a server.
 */
import type { Note } from '../note.ts'
import { type KptAnnotation, workspaceIn } from './kpt-annotation.ts'
import type { ObjectId } from './object-id.ts'

export type Lifecycle = 'Draft' | 'Proposed' | 'Published' | 'DeletionProposed'

export interface PackageRevision {
  /** Porch's object name, `<repository>.<path with dots>.<workspace>`. */
  readonly name: string
  /** From the root of the repository. */
  readonly packagePath: string
  /** Relative to the registered directory, as Porch prints it. */
  readonly packageName: string
  readonly workspace: string
  /** 0 for an unpublished change; -1 for the branch itself and for a tag that is no number. */
  readonly revision: number
  readonly lifecycle: Lifecycle
  /** Whether it is the highest published number of its package. */
  readonly latest: boolean
  /** Full ref name it comes from. */
  readonly ref: string
  readonly commit: ObjectId
}

export interface PorchListing {
  /** By package path, then published ones by number, the branch, proposed ones, drafts by workspace. */
  readonly revisions: readonly PackageRevision[]
  /** Why a Porch server lists nothing of this repository; undefined where it lists it. */
  readonly unlistable: string | undefined
  /** Notes: two revisions of one name, names that Porch lists and cannot use. */
  readonly problems: readonly Note[]
}

export interface PorchSources {
  /** Name of the Porch Repository. */
  readonly repository: string
  /** The registered branch, short. */
  readonly branch: string
  /** `spec.git.directory` of the Repository; '' for the root. Packages outside of it are not listed. */
  readonly directory: string
  /** Commits by full ref name, tags peeled. */
  readonly refs: ReadonlyMap<string, ObjectId>
  /** Paths of the packages on the registered branch, from the root. */
  readonly packages: readonly string[]
  /** `kpt:` lines by commit; only tagged commits are looked up. */
  readonly annotations: ReadonlyMap<ObjectId, readonly KptAnnotation[]>
  /** Whether the commit has a package at the path: Porch skips a draft or a tag without one. Without an answer it counts as present. */
  readonly hasPackage?: (commit: ObjectId, packagePath: string) => boolean
}

const REF = /^refs\/(heads|tags)\/(.+)$/
const UNPUBLISHED = { drafts: 'Draft', proposed: 'Proposed' } as const

export function listPackageRevisions(sources: PorchSources): PorchListing {
  const found: Omit<PackageRevision, 'latest' | 'name' | 'packageName'>[] = []
  const unlistable: string[] = []
  const present = sources.hasPackage ?? (() => true)
  const withdrawn = withdrawnTags(sources.refs)
  for (const [ref, commit] of sources.refs) {
    const [, space, name] = REF.exec(ref) ?? []
    if (space === undefined || name === undefined) continue
    const first = name.slice(0, name.indexOf('/'))
    if (space === 'heads' && name === sources.branch) {
      for (const packagePath of sources.packages) {
        found.push({ packagePath, workspace: sources.branch, revision: -1, lifecycle: 'Published', ref, commit })
      }
    } else if (space === 'heads' && (first === 'drafts' || first === 'proposed')) {
      const cut = name.lastIndexOf('/')
      const packagePath = name.slice(first.length + 1, Math.max(cut, first.length + 1))
      if (packagePath === '') unlistable.push(name)
      else if (present(commit, packagePath)) {
        found.push({ packagePath, workspace: name.slice(cut + 1), revision: 0, lifecycle: UNPUBLISHED[first], ref, commit })
      }
    } else if (space === 'tags' && name.includes('/')) {
      const packagePath = name.slice(0, name.lastIndexOf('/'))
      if (!present(commit, packagePath)) continue
      const suffix = name.slice(name.lastIndexOf('/') + 1)
      const workspace = workspaceIn(sources.annotations.get(commit) ?? [], packagePath) ?? suffix
      const lifecycle = withdrawn.has(name) ? 'DeletionProposed' : 'Published'
      found.push({ packagePath, workspace, revision: revisionNumber(suffix), lifecycle, ref, commit })
    }
  }
  const revisions = withNames(found, sources)
  return {
    revisions,
    unlistable:
      unlistable.length === 0
        ? undefined
        : `${unlistable.sort().join(', ')}: a branch with one segment after drafts/ or proposed/ hides the whole repository from Porch`,
    problems: problemsOf(revisions),
  }
}

/** Go's `strconv.Atoi` after an optional `v`: `v007` is 7, `rc1` and `1.2.3` are -1. */
function revisionNumber(suffix: string): number {
  const digits = /^v?([+-]?[0-9]+)$/.exec(suffix)?.[1]
  const number = Number(digits ?? -1)
  return Number.isSafeInteger(number) ? number : -1
}

function withdrawnTags(refs: ReadonlyMap<string, ObjectId>): ReadonlySet<string> {
  const prefix = 'refs/heads/deletionProposed/'
  return new Set([...refs.keys()].filter((ref) => ref.startsWith(prefix)).map((ref) => ref.slice(prefix.length)))
}

function withNames(
  found: readonly Omit<PackageRevision, 'latest' | 'name' | 'packageName'>[],
  { repository, directory }: PorchSources,
): readonly PackageRevision[] {
  const highest = new Map<string, number>()
  for (const { packagePath, revision } of found) highest.set(packagePath, Math.max(highest.get(packagePath) ?? 0, revision))
  return found
    .flatMap((item) => {
      const packageName = directory === '' ? item.packagePath : below(directory, item.packagePath)
      if (packageName === undefined) return []
      const name = `${repository}.${packageName.replaceAll('/', '.')}.${item.workspace}`
      return [{ ...item, name, packageName, latest: item.revision > 0 && item.revision === highest.get(item.packagePath) }]
    })
    .sort(byPackageAndState)
}

function below(directory: string, path: string): string | undefined {
  return path.startsWith(`${directory}/`) ? path.slice(directory.length + 1) : undefined
}

const STATE_ORDER: Readonly<Record<Lifecycle, number>> = { Published: 0, DeletionProposed: 0, Proposed: 2, Draft: 3 }

function byPackageAndState(left: PackageRevision, right: PackageRevision): number {
  const order = ({ lifecycle, revision }: PackageRevision) => (revision === -1 ? 1 : STATE_ORDER[lifecycle])
  if (left.packagePath !== right.packagePath) return left.packagePath < right.packagePath ? -1 : 1
  return order(left) - order(right) || left.revision - right.revision || (left.ref < right.ref ? -1 : 1)
}

const DNS_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

function problemsOf(revisions: readonly PackageRevision[]): readonly Note[] {
  const problems: Note[] = []
  const byName = Map.groupBy(revisions, ({ name }) => name)
  for (const [name, same] of byName) {
    if (same.length > 1)
      problems.push({
        cause: 'porch-name-twice',
        subject: same.map(({ ref }) => ref).join(' and '),
        text: `both are ${name} to Porch, which shows one of them or neither`,
      })
  }
  for (const { ref, packageName, workspace, revision } of revisions) {
    if (packageName === '')
      problems.push({ cause: 'package-is-repository', subject: ref, text: 'a package at the root of the repository has no name in Porch' })
    else if (![...packageName.split('/'), workspace].every((part) => DNS_LABEL.test(part))) {
      problems.push({
        cause: 'porch-name-not-label',
        subject: ref,
        text: 'Porch lists it and can neither read nor propose it by name, since a part of it is no DNS label',
      })
    }
    if (revision < 0 && ref.startsWith('refs/tags/'))
      problems.push({ cause: 'porch-tag-not-number', subject: ref, text: 'the tag is no number, so Porch lists it as revision -1' })
  }
  return problems
}
