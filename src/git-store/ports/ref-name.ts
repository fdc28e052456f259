/**
 * Porch's naming (design §7): a Porch server lists these as package revisions. One branch with
 * fewer than two segments after `drafts/` or `proposed/` hides the whole repository from Porch
 * (docs/facts/porch-listing.md), so every name is checked before it is pushed.
 */
import { Failure } from '@backporch/kyaml/failure'

/** A separate history: live status and every decision. */
export const LEDGER_BRANCH = 'drift-ledger'

/** It enrols the repository (docs/adr/0015). Porch reads only `drafts/` and `proposed/`. */
export const CONFIGURE_BRANCH = 'drift/configure'

type DraftState = 'drafts' | 'proposed'

export interface WorkspaceBranch {
  readonly state: DraftState
  /** Path of the package from the root of the repository, with `/`: `apps/web`. Never empty. */
  readonly packagePath: string
  /** DNS label, at most 63 characters. */
  readonly workspace: string
}

interface RevisionTag {
  readonly packagePath: string
  readonly revision: number
}

export type OwnedRef =
  | ({ readonly kind: 'workspace' } & WorkspaceBranch)
  | ({ readonly kind: 'revision' } & RevisionTag)
  | { readonly kind: 'ledger' }
  | { readonly kind: 'configure' }
  | { readonly kind: 'policy' }

const BRANCH = 'refs/heads/'
const TAG = 'refs/tags/'
const POLICY_REF = /^refs\/heads\/drift\/(?:ignore|unignore|import)-[0-9a-f]{8}$/
const WORKSPACE = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const REVISION = /^v?([0-9]+)$/
const CANONICAL_REVISION = /^v(?:0|[1-9][0-9]*)$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: git forbids exactly these
const FORBIDDEN_IN_REF = /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|^\/|\/$|\.$|^@$/

export function shortenBranch(ref: string): string {
  return ref.startsWith(BRANCH) ? ref.slice(BRANCH.length) : ref
}

/** Branches of Porch and Backporch hold changes and records. */
export function isBaseBranch(name: string): boolean {
  return (
    !/^(?:drafts|proposed|deletionProposed)\//.test(name) &&
    parseOwnedRef(BRANCH + name) === undefined
  )
}

/** @param head short name; undefined if HEAD is detached or unborn */
export function findDefaultBaseBranch(
  head: string | undefined,
  exists: (branch: string) => boolean,
): string | undefined {
  return head === undefined || isBaseBranch(head) ? head : ['main', 'master'].find(exists)
}

/** `git check-ref-format` (git documentation, git-check-ref-format). */
export function isWellFormedRefName(name: string): boolean {
  if (name === '' || FORBIDDEN_IN_REF.test(name)) return false
  return name.split('/').every((segment) => !segment.startsWith('.') && !segment.endsWith('.lock'))
}

/** @throws Failure BP4004 if a ref name cannot contain the package path or the workspace */
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
 * @throws Failure BP4004 if a ref name cannot contain the package path, or the revision is not a
 * number from 0
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
 * As Porch: `v` is optional and `v007` is 7. `undefined` without a package path, or if the last
 * segment is not a number (Porch lists such a tag as revision -1).
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

export function computeNextRevision(tags: Iterable<string>, packagePath: string): number {
  let highest = 0
  for (const name of tags) {
    const tag = parseRevisionTag(name)
    if (tag?.packagePath === packagePath) highest = Math.max(highest, tag.revision)
  }
  return highest + 1
}

export function parseOwnedRef(ref: string): OwnedRef | undefined {
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
 * Also allows the base branch that the caller names (short name), which is never deleted.
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
  if (parseOwnedRef(ref) !== undefined) return
  const short = /^refs\/heads\/(?:drafts|proposed)(?:\/|$)/.test(ref)
  refuse(
    ref,
    short
      ? 'it is not <state>/<package path>/<workspace>, and Porch could no longer list the repository'
      : 'backporch does not own this ref',
    'push only to drafts/, proposed/, drift-ledger, drift/configure, drift/ignore-*, drift/unignore-*, drift/import-*, <package path>/v<N> or the base branch',
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
