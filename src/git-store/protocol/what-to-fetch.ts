import type { ObjectId } from '@backporch/kyaml/files'
import { findDefaultBaseBranch, LEDGER_BRANCH, parseRevisionTag } from '../ports/ref-name.ts'
import type { Advertisement } from './advertisement.ts'

/** `partial`: tips, and everything else by id. `whole`: every server supports it. */
type Way = 'partial' | 'whole'

/**
 * Request by request. Depth is the shortest way to a commit: with late merges, 16 already goes back
 * a hundred first parents. 200 commits of a package's history are read.
 */
export const DEPTHS: readonly number[] = [16, 64, 160, 1024, 8192]
export const DEEPEST = 2 ** 31 - 1
/** A base branch that moved further is fetched from scratch. */
export const FURTHEST = 512
/** Backporch's branches differ from their base by a few files. */
export const SMALL_FILES = 'blob:limit=262144'

const OURS = /^refs\/heads\/(?:drafts|proposed|deletionProposed)\//

export function chooseFetchWay({ version, capabilities }: Advertisement): Way {
  // Version 2: "wants can be anything and are not limited to advertised objects" (gitprotocol-v2,
  // `fetch`).
  const byId = version === 2 || capabilities.has('allow-any-sha1-in-want')
  return byId && capabilities.has('shallow') ? 'partial' : 'whole'
}

export function findDefaultBranch({ refs, head }: Pick<Advertisement, 'refs' | 'head'>): {
  readonly named: string | undefined
  readonly base: string | undefined
} {
  const named =
    head?.startsWith('refs/heads/') === true && refs.has(head)
      ? head.slice('refs/heads/'.length)
      : undefined
  return { named, base: findDefaultBaseBranch(named, (branch) => refs.has(`refs/heads/${branch}`)) }
}

/** The packages' branch, those that come from it, and the ledger. */
export function selectOurTips(
  { refs, head }: Advertisement,
  baseBranch: string | undefined,
): Readonly<Record<'base' | 'branches' | 'ledger', ReadonlyMap<string, ObjectId>>> {
  const { base } = findDefaultBranch({ refs, head })
  const isBase = (name: string): boolean =>
    name === `refs/heads/${base}` || name === `refs/heads/${baseBranch}`
  const named = (wanted: (name: string) => boolean) =>
    new Map([...refs].filter(([name]) => wanted(name)))
  return {
    base: named(isBase),
    branches: named((name) => !isBase(name) && OURS.test(name)),
    ledger: named((name) => !isBase(name) && name === `refs/heads/${LEDGER_BRANCH}`),
  }
}

export function listBranchesAndTags({ refs }: Advertisement): ReadonlyMap<string, ObjectId> {
  return new Map(
    [...refs].filter(([name]) => name.startsWith('refs/heads/') || name.startsWith('refs/tags/')),
  )
}

export function listTipsNaming(
  advertisement: Advertisement,
  ids: readonly ObjectId[],
): ReadonlyMap<string, ObjectId> {
  const wanted = new Set(ids)
  const { peeled } = advertisement
  return new Map(
    [...listBranchesAndTags(advertisement)].filter(
      ([name, id]) => wanted.has(id) || wanted.has(peeled.get(name) ?? id),
    ),
  )
}

/** A reader of one reads the others next. */
export function listLatestRevisions({ refs, peeled }: Advertisement): readonly ObjectId[] {
  const latest = new Map<string, { readonly revision: number; readonly id: ObjectId }>()
  for (const [name, id] of refs) {
    const tag = name.startsWith('refs/tags/') ? parseRevisionTag(name) : undefined
    if (tag === undefined || (latest.get(tag.packagePath)?.revision ?? -1) >= tag.revision) continue
    latest.set(tag.packagePath, { revision: tag.revision, id: peeled.get(name) ?? id })
  }
  return [...latest.values()].map(({ id }) => id)
}

/** A request names only a limited number. */
export function orderLongestFirst(
  tips: ReadonlyMap<string, ObjectId>,
  { head }: Advertisement,
  baseBranch: string | undefined,
): readonly ObjectId[] {
  const long = [head, `refs/heads/${baseBranch}`, `refs/heads/${LEDGER_BRANCH}`].flatMap(
    (name) => tips.get(name ?? '') ?? [],
  )
  return [...new Set([...long, ...tips.values()])]
}
