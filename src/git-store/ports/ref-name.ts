/**
 * The branches and tags that Backporch writes (design §7), with Porch's own names: a Porch server that registers the repository lists them
 * as package revisions. One branch with fewer than two segments after `drafts/` or `proposed/` hides the whole repository from a Porch server
 * (docs/facts/porch-listing.md), so every name is checked before it is pushed.
 */
import { Failure } from '@backporch/kyaml/failure'

/** Branch with a history of its own, for the live status and every decision. */
export const LEDGER_BRANCH = 'drift-ledger'

/** Branch of the one proposal that enrols the repository (docs/adr/0015). Porch reads `drafts/` and `proposed/` only, so it does not see it. */
export const CONFIGURE_BRANCH = 'drift/configure'

/** State of an unpublished change: the first segment of its branch. */
type DraftState = 'drafts' | 'proposed'

/** A branch of Porch: a change to one package. */
export interface WorkspaceBranch {
  readonly state: DraftState
  /** Path of the package from the root of the repository, with `/`: `apps/web`. Never empty. */
  readonly packagePath: string
  /** DNS label: lower-case letters, digits and `-`, at most 63. */
  readonly workspace: string
}

/** The tag of a published revision. */
interface RevisionTag {
  readonly packagePath: string
  /** 0 or more. */
  readonly revision: number
}

/** The meaning of a full ref name. */
export type OwnedRef =
  | ({ readonly kind: 'workspace' } & WorkspaceBranch)
  | ({ readonly kind: 'revision' } & RevisionTag)
  | { readonly kind: 'ledger' }
  | { readonly kind: 'configure' }
  /** A proposal of files that no drift is about: a rule of the policy, a package that is imported. */
  | { readonly kind: 'policy' }

const BRANCH = 'refs/heads/'
const TAG = 'refs/tags/'
const POLICY_REF = /^refs\/heads\/drift\/(?:ignore|unignore|import)-[0-9a-f]{8}$/
const WORKSPACE = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const REVISION = /^v?([0-9]+)$/
const CANONICAL_REVISION = /^v(?:0|[1-9][0-9]*)$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: git forbids exactly these
const FORBIDDEN_IN_REF = /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|^\/|\/$|\.$|^@$/

/** The name of a branch without `refs/heads/`; any other text as it is. */
export function shortBranch(ref: string): string {
  return ref.startsWith(BRANCH) ? ref.slice(BRANCH.length) : ref
}

/** Whether packages are published on a branch of this short name: those of Porch and of Backporch hold changes and records. */
export function isBaseBranch(name: string): boolean {
  return (
    !/^(?:drafts|proposed|deletionProposed)\//.test(name) && ownedRef(BRANCH + name) === undefined
  )
}

/**
 * The base branch of a repository whose HEAD names a branch: that one, or `main` or else `master` where it cannot be one.
 * @param head short name; undefined where HEAD is detached or unborn
 */
export function defaultBaseBranch(
  head: string | undefined,
  exists: (branch: string) => boolean,
): string | undefined {
  return head === undefined || isBaseBranch(head) ? head : ['main', 'master'].find(exists)
}

/** The rules of `git check-ref-format` for a name of one or more levels (git documentation, git-check-ref-format). */
export function isWellFormedRefName(name: string): boolean {
  if (name === '' || FORBIDDEN_IN_REF.test(name)) return false
  return name.split('/').every((segment) => !segment.startsWith('.') && !segment.endsWith('.lock'))
}

/**
 * Short branch name: `proposed/apps/web/drift-1a2b3c4d`.
 * @throws Failure BP4004 when a ref name cannot contain the package path or the workspace
 */
export function formatWorkspaceBranch(branch: WorkspaceBranch): string {
  const name = `${branch.state}/${branch.packagePath}/${branch.workspace}`
  if (branch.packagePath === '')
    refuse(name, 'a branch needs the path of its package', 'give the package a folder of its own')
  if (!WORKSPACE.test(branch.workspace)) {
    refuse(
      name,
      `the workspace ${JSON.stringify(branch.workspace)} is not a DNS label`,
      'use lower-case letters, digits and -, at most 63',
    )
  }
  if (!isWellFormedRefName(name))
    refuse(name, 'git does not allow this ref name', 'rename the folder of the package')
  return name
}

/** Reads a short or full branch name; `undefined` for any other than a well-formed draft or proposed branch. */
export function parseWorkspaceBranch(name: string): WorkspaceBranch | undefined {
  const short = name.startsWith(BRANCH) ? name.slice(BRANCH.length) : name
  const segments = short.split('/')
  const state = segments[0]
  const workspace = segments.at(-1) ?? ''
  if ((state !== 'drafts' && state !== 'proposed') || segments.length < 3) return undefined
  if (!WORKSPACE.test(workspace) || !isWellFormedRefName(short)) return undefined
  return { state, packagePath: segments.slice(1, -1).join('/'), workspace }
}

/**
 * Short tag name: `apps/web/v3`.
 * @throws Failure BP4004 when a ref name cannot contain the package path, or the revision is no number from 0
 */
export function formatRevisionTag(tag: RevisionTag): string {
  const name = `${tag.packagePath}/v${tag.revision}`
  if (tag.packagePath === '')
    refuse(name, 'a revision needs the path of its package', 'give the package a folder of its own')
  if (!Number.isSafeInteger(tag.revision) || tag.revision < 0)
    refuse(name, 'a revision is a whole number', 'use max + 1')
  if (!isWellFormedRefName(name))
    refuse(name, 'git does not allow this ref name', 'rename the folder of the package')
  return name
}

/**
 * Reads a short or full tag name as Porch does: `v` is optional and `v007` is 7. `undefined` without a package path, or where the last
 * segment is no number (Porch lists such a tag as revision -1).
 */
export function parseRevisionTag(name: string): RevisionTag | undefined {
  const short = name.startsWith(TAG) ? name.slice(TAG.length) : name
  const cut = short.lastIndexOf('/')
  const digits = REVISION.exec(short.slice(cut + 1))?.[1]
  const revision = Number(digits)
  if (
    cut < 1 ||
    digits === undefined ||
    !Number.isSafeInteger(revision) ||
    !isWellFormedRefName(short)
  )
    return undefined
  return { packagePath: short.slice(0, cut), revision }
}

/** Number of the next published revision: 1 more than the highest among the tags (short or full names), 1 at first. */
export function nextRevision(tags: Iterable<string>, packagePath: string): number {
  let highest = 0
  for (const name of tags) {
    const tag = parseRevisionTag(name)
    if (tag?.packagePath === packagePath) highest = Math.max(highest, tag.revision)
  }
  return highest + 1
}

/** The meaning of a full ref name (`refs/heads/…`, `refs/tags/…`); `undefined` for the base branch and refs of others. */
export function ownedRef(ref: string): OwnedRef | undefined {
  if (ref === BRANCH + LEDGER_BRANCH) return { kind: 'ledger' }
  if (ref === BRANCH + CONFIGURE_BRANCH) return { kind: 'configure' }
  if (POLICY_REF.test(ref)) return { kind: 'policy' }
  if (ref.startsWith(BRANCH)) {
    const branch = parseWorkspaceBranch(ref)
    return branch === undefined ? undefined : { kind: 'workspace', ...branch }
  }
  if (!ref.startsWith(TAG) || !CANONICAL_REVISION.test(ref.slice(ref.lastIndexOf('/') + 1)))
    return undefined
  const tag = parseRevisionTag(ref)
  return tag === undefined ? undefined : { kind: 'revision', ...tag }
}

/**
 * Allows a push only to refs of Backporch: drafts, proposed, the ledger, drift/configure, revision tags, and the base branch that the caller
 * names (short name), which is never deleted.
 * @throws Failure BP4004 for everything else
 */
export function assertPushable(
  update: { readonly ref: string; readonly to: string | null },
  baseBranch?: string,
): void {
  const { ref, to } = update
  if (baseBranch !== undefined && ref === BRANCH + baseBranch) {
    if (!isWellFormedRefName(ref))
      refuse(ref, 'git does not allow this ref name', 'name an existing branch')
    if (to === null)
      refuse(ref, 'the base branch is never deleted', 'delete it by hand if that is meant')
    return
  }
  if (ownedRef(ref) !== undefined) return
  const short = /^refs\/heads\/(?:drafts|proposed)(?:\/|$)/.test(ref)
  refuse(
    ref,
    short
      ? 'it is not <state>/<package path>/<workspace>, and Porch could no longer list the repository'
      : 'it is none of the refs that backporch owns',
    'push only to drafts/, proposed/, drift-ledger, drift/configure, <package path>/v<N> or the base branch',
  )
}

function refuse(name: string, why: string, remedy: string): never {
  throw new Failure({
    code: 'BP4004',
    what: `cannot use the ref name ${JSON.stringify(name.slice(0, 300))}`,
    why,
    remedy,
  })
}
