/** A repository given by a path may be a clone whose remote lacks the branches. */
import type { RefUpdate } from '@backporch/git-store/package-repository'
import { LEDGER_BRANCH, parseOwnedRef } from '@backporch/git-store/ref-name'
import type { ObjectId } from '@backporch/kyaml/files'
import { convertToOneLine, quoteShellWord } from '@backporch/kyaml/text'
import type { OpenBranch } from '../../plan/observation/observation.ts'
import type { CliContext } from '../context/cli-context.ts'
import type { RepositoryOptions } from '../flags/options.ts'
import type { Printer } from './printer.ts'

export type RepositoryLocation =
  /** By address, or bare: everybody sees the branches. */
  | { readonly kind: 'shared' }
  /** `git`: `git` or `git -C folder`. `origin`: whether the clone has one. */
  | {
      readonly kind: 'clone'
      readonly git: string
      readonly name: string
      readonly origin: boolean
    }

/** @throws Failure BP4009 if git is not installed */
export async function resolveRepositoryLocation(
  { repo }: Pick<RepositoryOptions, 'repo'>,
  cli: Pick<CliContext, 'cloneState'>,
): Promise<RepositoryLocation> {
  if (/^[^/]+:/.test(repo)) return { kind: 'shared' }
  const state = await cli.cloneState(repo)
  if (state === 'none') return { kind: 'shared' }
  const origin = state === 'clone'
  const what = origin ? 'clone' : 'repository'
  if (repo === '.') return { kind: 'clone', git: 'git', name: `this ${what}`, origin }
  return {
    kind: 'clone',
    git: `git -C ${formatShellWord(repo)}`,
    name: `the ${what} ${convertToOneLine(repo, 200)}`,
    origin,
  }
}

type Written = Pick<RefUpdate, 'ref' | 'from' | 'to'>

const MOST_REVIEWS = 5

/** Empty if nothing was written, if the repository is shared, or without an origin. */
export function formatPublishedLines(
  updates: readonly Written[],
  baseBranch: string,
  location: RepositoryLocation,
): readonly string[] {
  const publish = publishCommand(updates, location)
  if (location.kind === 'shared' || publish === undefined) return []
  const written = updates.filter(({ to }) => to !== null).map(({ ref }) => shortenRefName(ref))
  const reviews = updates
    .filter(({ ref, to }) => to !== null && isForReview(ref))
    .map(({ ref }) => shortenRefName(ref))
  return [
    ...(written.length === 0
      ? []
      : [`  written to ${location.name}: ${convertToOneLine(written.join(', '), 1_000)}`]),
    ...reviews
      .slice(0, MOST_REVIEWS)
      .map(
        (branch) =>
          `  review:  ${location.git} diff ${formatShellWord(`${baseBranch}...${branch}`)}`,
      ),
    `  publish: ${publish}`,
    ...(isLedgerStart(updates)
      ? [
          `  if origin rejects drift-ledger because it already has one: ${beginAgain(written, location)}, and scan again`,
        ]
      : []),
  ]
}

/** A clone that has not fetched the ledger of its origin starts another one. */
function isLedgerStart(updates: readonly Written[]): boolean {
  return updates.some(
    ({ ref, from, to }) => ref === `refs/heads/${LEDGER_BRANCH}` && from === null && to !== null,
  )
}

function beginAgain(
  written: readonly string[],
  location: RepositoryLocation & { readonly kind: 'clone' },
): string {
  return `${location.git} branch -D ${written.map(formatShellWord).join(' ')} && ${fetchRecorded(location)}`
}

/** Branches of origin would count as deleted without the fetch. */
export function fetchRecorded({ git }: { readonly git: string }): string {
  const all = ['drafts', 'proposed'].map((state) => `'refs/heads/${state}/*:refs/heads/${state}/*'`)
  return `${git} fetch origin ${all.join(' ')} ${LEDGER_BRANCH}:${LEDGER_BRANCH}`
}

/** @throws Failure BP4009 if git is not installed */
export async function printPublished(
  updates: readonly Written[],
  baseBranch: string,
  options: Pick<RepositoryOptions, 'repo'>,
  printer: Printer,
): Promise<void> {
  if (printer.quiet || updates.length === 0) return
  const lines = formatPublishedLines(
    updates,
    baseBranch,
    await resolveRepositoryLocation(options, printer.cli),
  )
  printer.write(lines.map((line) => `${line}\n`).join(''))
}

/**
 * One atomic push; undefined without an origin. Git rejects a different base branch, ledger or tag
 * on origin; a new review branch replaces the one published from here.
 */
export function publishCommand(
  updates: readonly Written[],
  location: RepositoryLocation,
): string | undefined {
  if (location.kind === 'shared' || !location.origin || updates.length === 0) return undefined
  const leases = updates.filter(
    ({ ref, from, to }) => from !== null && to !== null && isForReview(ref),
  )
  const words = [
    ...(updates.length > 1 ? ['--atomic'] : []),
    ...leases.map(({ ref }) => formatShellWord(`--force-with-lease=${shortenRefName(ref)}`)),
    'origin',
    // The full name, because git rejects a short name that origin never had.
    ...updates.map(({ ref, to }) => formatShellWord(to === null ? `:${ref}` : shortenRefName(ref))),
  ]
  return `${location.git} push ${words.join(' ')}`
}

interface DecidedRefs {
  readonly reviewed: {
    readonly observation: {
      readonly unit: { readonly packageName: string }
      readonly git: { readonly baseBranch: string }
    }
    readonly proposal: Pick<OpenBranch, 'ref' | 'commit'>
  }
  readonly commit: ObjectId | undefined
  readonly revision: string | undefined
}

/**
 * An approval moves the base branch, the tag of its `revision` if any, and the ledger; a rejection
 * only the ledger. Both delete the proposal branch.
 */
export function listDecisionUpdates({
  reviewed: { observation, proposal },
  commit,
  revision,
}: DecidedRefs): readonly Written[] {
  const { unit, git } = observation
  const merged = { ref: `refs/heads/${git.baseBranch}`, from: null, to: commit ?? null }
  const tags =
    revision === undefined
      ? []
      : [{ ref: `refs/tags/${unit.packageName}/${revision}`, from: null, to: commit ?? null }]
  return [
    ...(commit === undefined ? [] : [merged, ...tags]),
    { ref: proposal.ref, from: proposal.commit, to: null },
    // A scan before the decision wrote the ledger.
    { ref: `refs/heads/${LEDGER_BRANCH}`, from: proposal.commit, to: proposal.commit },
  ]
}

function isForReview(ref: string): boolean {
  return ['workspace', 'configure', 'policy'].includes(parseOwnedRef(ref)?.kind ?? '')
}

/** A branch may have the same name as a tag. */
function shortenRefName(ref: string): string {
  return ref.replace(/^refs\/heads\//, '')
}

/** A word of a command that a person copies from the terminal. */
export function formatShellWord(text: string): string {
  return convertToOneLine(quoteShellWord(text))
}
