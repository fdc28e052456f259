/** The remote's refs show the outcome. */
import { Failure } from '@backporch/kyaml/failure'
import type { ObjectId } from '@backporch/kyaml/files'
import { formatForeignLine } from '@backporch/kyaml/text'
import type { NewObjects } from '../objects/new-objects.ts'
import { encodePack } from '../objects/object-format.ts'
import type { ObjectSource } from '../objects/object-source.ts'
import { type RefUpdate, RefusedPush } from '../ports/package-repository.ts'
import { LEDGER_BRANCH } from '../ports/ref-name.ts'
import { createUnreachableFailure } from '../program/git-failure.ts'
import type { Advertisement } from '../protocol/advertisement.ts'
import type { GitSession, GitTransport } from '../protocol/git-transport.ts'
import { type PushReport, sendPush } from './push-pack.ts'

interface PushParts {
  readonly remote: string
  readonly transport: GitTransport
  readonly objects: ObjectSource
  readonly created: NewObjects
  readonly explainRefusal: (
    updates: readonly RefUpdate[],
    signal: AbortSignal,
  ) => Promise<Failure | undefined>
}

/**
 * Succeeds if all refs are already at their targets: the answer of the same push was lost. An
 * update with `from` equal to `to` asserts the ref and moves nothing.
 */
export async function pushRefs(
  parts: PushParts,
  updates: readonly RefUpdate[],
  signal: AbortSignal,
): Promise<void> {
  let session: GitSession | undefined = await parts.transport.open('git-receive-pack', signal)
  try {
    const { advertisement } = session
    if (
      updates.every(
        (update) => getSeenCommit(advertisement, parts.objects.known, update) === update.to,
      )
    )
      return
    const moved = updates.filter(
      (update) => getSeenCommit(advertisement, parts.objects.known, update) !== update.from,
    )
    if (moved.length > 0) throw createLeaseLostFailure(parts.remote, moved, [])
    const wanted = updates.filter(({ from, to }) => from !== to)
    assertCapable(parts.remote, advertisement, wanted)
    assertFree(parts.remote, advertisement, wanted)
    const done: RefUpdate[] = []
    for (const stage of splitIntoStages(advertisement, wanted)) {
      session ??= await parts.transport.open('git-receive-pack', signal)
      const commands = stage.map(({ ref, from, to }) => ({
        ref,
        to,
        from: from === null ? null : (advertisement.refs.get(ref) ?? from),
      }))
      const tips = commands.flatMap(({ to }) => (to === null ? [] : [to]))
      const pack = encodePack(
        parts.created.listMissingFrom(tips, new Set(session.advertisement.refs.values())),
      )
      const report = await sendPush(session, commands, pack).catch((thrown: unknown) =>
        explainLostAnswer(parts, thrown, signal),
      )
      await session.close()
      session = undefined
      await judge(
        parts,
        { updates: stage.length === wanted.length ? updates : stage, before: done },
        report,
        signal,
      )
      done.push(...stage)
    }
  } finally {
    await session?.close()
  }
}

/**
 * A server that moves refs one by one may be cut off: the ledger must never name a branch that does
 * not exist.
 */
function splitIntoStages(
  { capabilities }: Advertisement,
  updates: readonly RefUpdate[],
): readonly (readonly RefUpdate[])[] {
  if (capabilities.has('atomic')) return [updates]
  const isLedger = ({ ref }: RefUpdate): boolean => ref === `refs/heads/${LEDGER_BRANCH}`
  const stages = [
    updates.filter((update) => !isLedger(update) && update.to !== null),
    updates.filter(isLedger),
    updates.filter((update) => !isLedger(update) && update.to === null),
  ]
  return stages.filter((stage) => stage.length > 0)
}

function getSeenCommit(
  advertisement: Advertisement,
  known: Advertisement | undefined,
  { ref }: RefUpdate,
): ObjectId | null {
  const id = advertisement.refs.get(ref) ?? null
  return id !== null && known?.refs.get(ref) === id ? (known.peeled.get(ref) ?? id) : id
}

function assertCapable(
  remote: string,
  { capabilities }: Advertisement,
  updates: readonly RefUpdate[],
): void {
  const refuse = (capability: string, refused: readonly RefUpdate[]): void => {
    if (capabilities.has(capability) || refused.length === 0) return
    const why = `the server does not offer ${capability}`
    throw createRuleRefusal(remote, why, new Map(refused.map(({ ref }) => [ref, why])))
  }
  refuse('report-status', updates)
  refuse(
    'delete-refs',
    updates.filter(({ to }) => to === null),
  )
}

/** git keeps no ref below another one, even one that the same push deletes. */
function assertFree(remote: string, { refs }: Advertisement, updates: readonly RefUpdate[]): void {
  const taken = updates.flatMap(({ ref, from, to }) => {
    const inWay =
      from !== null || to === null
        ? undefined
        : [...refs.keys()].find((there) => isBelow(ref, there) || isBelow(there, ref))
    return inWay === undefined ? [] : [{ ref, inWay }]
  })
  const failures = new Map(taken.map((name) => [name.ref, createTakenNameFailure(remote, name)]))
  for (const failure of failures.values()) throw new RefusedPush(failure.toJSON(), failures)
}

function createTakenNameFailure(
  remote: string,
  { ref, inWay }: { readonly ref: string; readonly inWay: string },
): Failure {
  const name = inWay.replace(/^refs\/heads\//, '')
  return new Failure({
    code: 'BP4002',
    what: `${ref.replace(/^refs\/heads\//, '')} cannot be created`,
    where: remote,
    why: `${inWay} exists, and git keeps no branch below another one`,
    remedy: `rename ${name} on the remote: git push origin ${inWay}:refs/heads/NEW-NAME :${inWay}`,
    retry: 'on-change',
  })
}

function isBelow(ref: string, above: string): boolean {
  return ref.startsWith(`${above}/`)
}

function explainLostAnswer(parts: PushParts, thrown: unknown, signal: AbortSignal): Failure {
  const explained = parts.transport.explain(thrown, signal)
  if (explained instanceof Failure && explained.code === 'BP4001') return explained
  throw explained
}

interface SentUpdates {
  readonly updates: readonly RefUpdate[]
  readonly before: readonly RefUpdate[]
}

async function judge(
  parts: PushParts,
  { updates, before }: SentUpdates,
  report: PushReport | Failure,
  signal: AbortSignal,
): Promise<void> {
  if (!(report instanceof Failure) && report.unpacked === 'ok' && report.refused.size === 0) return
  const now = await parts.objects.advertise(signal).catch((thrown: unknown) => {
    throw report instanceof Failure ? report : thrown
  })
  const at = (update: RefUpdate) => getSeenCommit(now, now, update)
  if (updates.every((update) => at(update) === update.to)) return
  const moved = updates.filter((update) => update.from !== update.to && at(update) === update.to)
  const done = [...before, ...moved]
  const strangers = updates.filter(
    (update) => at(update) !== update.from && !moved.includes(update),
  )
  if (strangers.length > 0) throw createLeaseLostFailure(parts.remote, strangers, done)
  if (report instanceof Failure)
    throw done.length === 0
      ? report
      : createUnreachableFailure(
          parts.remote,
          `${report.why}; ${formatRefNames('moved', done)}`,
          report,
        )
  const better = await parts.explainRefusal(updates, signal)
  if (better !== undefined) throw better
  const reasons = updates.flatMap(({ ref }) => {
    const reason = report.refused.get(ref)
    return reason === undefined ? [] : [`${ref}: ${reason}`]
  })
  const line = (text: readonly string[]): string =>
    formatForeignLine(text.join('\n'), { secrets: parts.transport.secrets })
  const unpacked = report.unpacked === 'ok' ? '' : report.unpacked
  const all = [
    unpacked,
    ...reasons,
    report.messages,
    done.length === 0 ? '' : formatRefNames('moved nevertheless', done),
  ]
  const whys = [...selectOwnReasons(report.refused)].map(
    ([ref, reason]) => [ref, line([unpacked, reason, report.messages])] as const,
  )
  throw createRuleRefusal(parts.remote, line(all), new Map(whys))
}

/** Rejected because of another ref. */
const ALONG = /\b(?:atomic|transaction)\b/

function selectOwnReasons(refused: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const own = [...refused].filter(([, reason]) => !ALONG.test(reason))
  return own.length === 0 ? refused : new Map(own)
}

function createRuleRefusal(
  remote: string,
  why: string,
  whys: ReadonlyMap<string, string>,
): RefusedPush {
  const detail = {
    code: 'BP4002',
    what: 'the repository refused the push',
    where: remote,
    why,
    remedy:
      'change the rule (branch protection, hook) for this account, or push with an account that may',
    retry: 'on-change',
  } as const
  const failureOf = (ref: string, own: string): Failure =>
    new Failure({
      ...detail,
      where: ref,
      why: own,
      remedy: ref.startsWith('refs/tags/')
        ? `${detail.remedy}; or set tags: none in the policy`
        : detail.remedy,
    })
  return new RefusedPush(detail, new Map([...whys].map(([ref, own]) => [ref, failureOf(ref, own)])))
}

function createLeaseLostFailure(
  remote: string,
  moved: readonly RefUpdate[],
  done: readonly RefUpdate[],
): Failure {
  return new Failure({
    code: 'BP4003',
    what: 'the branch moved between reading and pushing',
    where: remote,
    why: `${formatRefNames('somebody else moved', moved)}${done.length === 0 ? '' : `; ${formatRefNames('backporch had already moved', done)}`}`,
    remedy: 'read the repository again and repeat',
    retry: 'backoff',
  })
}

function formatRefNames(verb: string, updates: readonly RefUpdate[]): string {
  return `${verb} ${updates.map(({ ref }) => ref).join(', ')}`
}
