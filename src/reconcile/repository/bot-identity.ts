/** Identifies the commits of Backporch. */
import type { CommitView } from '@backporch/git-store/package-repository'
import type { PushedBranch } from '../../record/pushed-branch.ts'

/** A branch with a commit of another identity is foreign. */
export interface BotIdentity {
  readonly email: string
  /** Login that is the author of commits that a forge makes for us, and commits itself; absent where none does. */
  readonly account?: string
  /** Committers of what people merge in the pages of a forge: no persons either. */
  readonly forges?: readonly string[]
}

/** Whether the author and the committer are the bot. Anyone can write that. An amended commit keeps its author, so the committer counts too. */
export function claimsBot({ author, committer, parents }: CommitView, bot: BotIdentity): boolean {
  if (parents.length !== 1) return false
  if (author.email === bot.email) return committer.email === bot.email
  return isBot(author.email, bot) && bot.forges?.includes(committer.email) === true
}

/** Whether it is an address of the bot: its own, or the one that a forge gives its account, with or without a number before it. */
export function isBot(email: string, bot: BotIdentity): boolean {
  return (
    email === bot.email ||
    (bot.account !== undefined &&
      email.replace(/^\d+\+/, '').startsWith(`${bot.account}@users.noreply.`))
  )
}

/** Whether the ledger has the commit as the last one that we pushed to its branch; undefined where it has none. */
export function isLastPushed(
  commit: string,
  pushed: PushedBranch | undefined,
): boolean | undefined {
  const last = pushed?.spec.commits.at(-1)?.commit
  return last === undefined ? undefined : last === commit
}

/** The ledger and, with a signing key, the signature prove it. Without an entry in the ledger the signature alone proves it. */
export function isProven({ id, signed }: CommitView, pushed: PushedBranch | undefined): boolean {
  return signed !== false && (isLastPushed(id, pushed) ?? signed === true)
}
