import type { CommitView } from '@backporch/git-store/package-repository'
import type { PushedBranch } from '../../record/pushed-branch.ts'

/** A branch with a commit of another identity is foreign. */
export interface BotIdentity {
  readonly email: string
  /** For commits that a forge creates; absent without a login. */
  readonly account?: string
  /** Committers of merges in a forge's pages. */
  readonly forges?: readonly string[]
}

/**
 * Anyone can write author and committer. An amended commit keeps its author, so the committer
 * counts too.
 */
export function hasBotIdentity(
  { author, committer, parents }: CommitView,
  bot: BotIdentity,
): boolean {
  if (parents.length !== 1) return false
  if (author.email === bot.email) return committer.email === bot.email
  return isBot(author.email, bot) && bot.forges?.includes(committer.email) === true
}

/** Its own, or the one that a forge gives its account, with or without a number prefix. */
export function isBot(email: string, bot: BotIdentity): boolean {
  return (
    email === bot.email ||
    (bot.account !== undefined &&
      email.replace(/^\d+\+/, '').startsWith(`${bot.account}@users.noreply.`))
  )
}

/** Undefined without a ledger entry. */
export function isLastPushed(
  commit: string,
  pushed: PushedBranch | undefined,
): boolean | undefined {
  const last = pushed?.spec.commits.at(-1)?.commit
  return last === undefined ? undefined : last === commit
}

/**
 * By the ledger and, with a signing key, the signature. Without a ledger entry the signature alone
 * proves it.
 */
export function isProven({ id, signed }: CommitView, pushed: PushedBranch | undefined): boolean {
  return signed !== false && (isLastPushed(id, pushed) ?? signed === true)
}
